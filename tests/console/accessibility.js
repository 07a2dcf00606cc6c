// SPDX-License-Identifier: Apache-2.0
// The body of a function that returns the problems of the page, for WebDriver.
const problems = [];
const show = (e) => e.outerHTML.slice(0, 140);
const bad = (what, e) => problems.push(`${what}: ${show(e)}`);
const visible = (e) => e.getClientRects().length > 0 && e.checkVisibility({visibilityProperty: true});
const root = [...document.querySelectorAll('dialog[open]')].pop() ?? document.body;
const every = (css) => [...root.querySelectorAll(css)].filter(visible);

const byIds = (e, attribute) => (e.getAttribute(attribute) ?? '').split(/\s+/).filter(Boolean)
  .map((id) => document.getElementById(id) ?? bad(`${attribute} names no element`, e));
const nameOf = (e) => e.getAttribute('aria-label') || byIds(e, 'aria-labelledby').map((x) => x?.textContent).join(' ') ||
  [...(e.labels ?? [])].map((l) => l.textContent).join(' ') || e.querySelector?.('img[alt]')?.alt || e.textContent || e.title;

for (const e of every('input, select, textarea, button, a[href], summary, [role=grid], [role=listbox], [role=region], dialog')) {
  if (e.matches('input, select, textarea') ? !(e.labels?.length || e.getAttribute('aria-label')) : !nameOf(e).trim()) bad('no name', e);
}
for (const e of every('[aria-describedby]')) byIds(e, 'aria-describedby');
for (const e of every('[aria-controls]')) byIds(e, 'aria-controls');
for (const e of every('[aria-activedescendant]')) byIds(e, 'aria-activedescendant');
for (const e of every('[tabindex]')) if (e.tabIndex > 0) bad('positive tabindex', e);
for (const e of every('img')) if (!e.hasAttribute('alt')) bad('no alt', e);
for (const e of every('th')) if (!e.scope && !e.getAttribute('role')) bad('header without scope', e);
const roles = ['alert', 'status', 'region', 'grid', 'group', 'listbox', 'option', 'tab', 'tablist', 'log', 'search', 'row', 'columnheader',
  'gridcell', 'combobox', 'radiogroup', 'rowgroup'];
for (const e of every('[role]')) if (!roles.includes(e.getAttribute('role'))) bad('unknown role', e);
const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) problems.push(`repeated id ${id}`);
if (!document.documentElement.lang) problems.push('no language');
if (!document.title) problems.push('no title');
if (document.querySelectorAll('main').length !== 1) problems.push('not one main');

let level = root === document.body ? 0 : 1;
for (const e of every('h1, h2, h3, h4')) {
  const own = Number(e.tagName[1]);
  if (own > level + 1) bad('heading level skipped', e);
  level = own;
}
if (root === document.body && every('h1').length !== 1) problems.push('not one h1');

// ---- Contrast, as WCAG 2 AA computes it.
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const rgba = (color) => {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = color;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const backgroundOf = (e) => {
  for (let x = e; x; x = x.parentElement) {
    const color = rgba(getComputedStyle(x).backgroundColor);
    if (color[3] > 250) return color;
  }
  return [255, 255, 255, 255];
};
const luminance = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
  .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
const ratio = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((m, n) => n - m); return (x + 0.05) / (y + 0.05); };
const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
const checked = new Set();
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const e = node.parentElement;
  if (!node.data.trim() || checked.has(e) || !visible(e) || e.closest('option, :disabled, .hidden, .skip')) continue;
  checked.add(e);
  const style = getComputedStyle(e);
  const color = rgba(style.color);
  if (color[3] === 0) continue;
  const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
  const value = ratio(color, backgroundOf(e));
  if (value < (large ? 3 : 4.5)) bad(`contrast ${value.toFixed(2)}`, e);
}
for (const e of every('input:not([type=checkbox], [type=radio], [type=file]):enabled, select:enabled')) {
  const value = ratio(rgba(getComputedStyle(e).borderTopColor), backgroundOf(e.parentElement));
  if (value < 3) bad(`border contrast ${value.toFixed(2)}`, e);
}
return problems;
