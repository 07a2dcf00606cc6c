// SPDX-License-Identifier: Apache-2.0
// Sets the chosen theme before the page is drawn, so this is not a module.
try {
  const theme = localStorage.getItem('theme');
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
} catch { /* storage is disabled */ }
