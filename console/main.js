// SPDX-License-Identifier: Apache-2.0
// Starts the console: navigation, theme, the key, and the views.
import {canSign} from './sigv4.js';
import {forgetKey, mayAskForKey, onKeyNeeded, onTestMode, signedInAs, useKey} from './api.js';
import {$, button, dialog, errorBox, field, h, input, say} from './ui.js';
import {go, render, route, start} from './router.js';
import {showCreateTable, showTables} from './tables.js';

const view = $('#view');

// Shows a view. `draw(root, parameters, query)` returns a function that ends it. Modules other than
// that of the first view are loaded when they are needed.
function page(section, title, load) {
  return (parameters, query) => {
    document.title = `${title(parameters)} – Stator`;
    for (const link of document.querySelectorAll('nav a[data-section]')) {
      if (link.dataset.section === section) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
    let ended = false;
    let end = () => {};
    const root = h('div', {class: 'page'});
    view.replaceChildren(root);
    mayAskForKey();
    Promise.resolve(load()).then(async (draw) => {
      if (ended) return;
      end = (await draw(root, parameters, query)) ?? end;
      performance.mark('view');
      if (ended) end();
    }).catch((error) => root.replaceChildren(errorBox(error),
      button('Try again', render), ' ', h('a', {href: '#/tables'}, 'All tables')));
    return () => { ended = true; end(); };
  };
}

route('tables', page('tables', () => 'Tables', () => showTables));
route('create', page('tables', () => 'Create a table', () => showCreateTable));
route('tables/:table', (parameters) => { go(`#/tables/${encodeURIComponent(parameters.table)}/items`, {replace: true}); });
route('tables/:table/:tab', page('tables', (p) => p.table, async () => (await import('./table.js')).showTable));
route('partiql', page('partiql', () => 'PartiQL', async () => (await import('./partiql.js')).showPartiql));
route('transfers', page('transfers', () => 'Backups and transfers', async () => (await import('./transfers.js')).showTransfers));
route('server', page('server', () => 'Server', async () => (await import('./server.js')).showServer));
route('test-mode', page('test-mode', () => 'Test mode', async () => (await import('./test_mode.js')).showTestMode));
route('recipes', page('recipes', () => 'Recipes', async () => (await import('./recipes.js')).showRecipes));
route('recipes/:kind/:table', page('recipes', (p) => p.table, async () => (await import('./recipes.js')).showRecipe));
route('import', page('transfers', () => 'Import from a bucket', async () => (await import('./transfers.js')).showImport));

onTestMode((on) => { $('#test-mode').hidden = !on; });

// ---- Theme

const themeButton = $('#theme');
const dark = () => (document.documentElement.dataset.theme ??
  (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
function showTheme() {
  themeButton.textContent = dark() ? 'Light' : 'Dark';
  themeButton.setAttribute('aria-label', `Switch to the ${dark() ? 'light' : 'dark'} theme`);
}
themeButton.addEventListener('click', () => {
  const theme = dark() ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem('theme', theme); } catch { /* lasts for this page only */ }
  showTheme();
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', showTheme);
showTheme();

// ---- The key

const keyButton = $('#key');
function showKey() {
  const name = signedInAs();
  keyButton.hidden = !name;
  keyButton.textContent = name ? `Key ${name}` : '';
  keyButton.setAttribute('aria-label', name ? `Forget the key ${name}` : 'Key');
}
keyButton.addEventListener('click', () => {
  forgetKey();
  showKey();
  say('The key is forgotten.');
  render();
});

onKeyNeeded(async (problem) => {
  if (!canSign()) {
    await dialog({title: 'This server requires signatures', body: h('p', {},
      'Browsers sign on https and on localhost only. Open the console through one of them, ' +
      'for example with an SSH tunnel.')});
    return false;
  }
  const accessKey = input('', {autocomplete: 'username', required: true});
  const secret = h('input', {type: 'password', autocomplete: 'off', required: true});
  const done = await dialog({
    title: 'This server requires signatures',
    body: [problem && h('p', {class: 'error'}, problem),
      h('p', {}, 'Enter an access key. The page keeps the secret as a key that cannot be read back, until it is closed or reloaded.'),
      field('Access key ID', accessKey), field('Secret access key', secret)],
    acceptText: 'Use this key',
    accept: async () => {
      const entered = secret.value;
      await useKey(accessKey.value.trim(), entered);
      secret.value = '';
    },
  });
  showKey();
  return Boolean(done);
});

$('#skip').addEventListener('click', (event) => {
  event.preventDefault();
  view.focus();
});

start();
