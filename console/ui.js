// SPDX-License-Identifier: Apache-2.0
// Elements, dialogs and messages. Text becomes text nodes only, never markup.

// h('button', {class: 'primary', onclick: f, disabled: true, 'aria-label': 'Close'}, 'text', child, [more])
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value') element.value = value;
    else if (name === 'class') element.className = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((c) => c !== undefined && c !== null && c !== false));
  return element;
}

export const $ = (selector, root = document) => root.querySelector(selector);
let ids = 0;
export const newId = (prefix = 'id') => `${prefix}-${++ids}`;

// ---- Formats

export const count = (n) => (n === undefined ? '–' : Number(n).toLocaleString('en-US'));
export function size(bytes) {
  if (bytes === undefined) return '–';
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let i = 0;
  let n = Number(bytes);
  while (n >= 1024 && i < units.length - 1) { n /= 1024; i++; }
  return `${i && n < 100 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${Number(n) === 1 ? one : many}`;
export const time = (seconds) => (seconds ? new Date(seconds * 1000).toLocaleString('en-US',
  {dateStyle: 'medium', timeStyle: 'medium'}) : '–');
export const units = (capacity) => {
  const n = capacity?.CapacityUnits ?? 0;
  return plural(Number.isInteger(n) ? n : n.toFixed(1), 'capacity unit');
};

// ---- Form parts

// A labeled control. If the control is a group of several, the label has no `for`.
export function field(label, control, hint) {
  const labelable = control.matches('input, select, textarea');
  const hintId = hint ? newId('hint') : undefined;
  if (labelable) {
    control.id ||= newId('field');
    if (hintId) control.setAttribute('aria-describedby', hintId);
  } else {
    control.setAttribute('aria-label', label);
    control.setAttribute('role', control.getAttribute('role') ?? 'group');
  }
  return h('div', {class: 'field'},
    labelable ? h('label', {for: control.id}, label) : h('span', {class: 'label', 'aria-hidden': 'true'}, label),
    control, hint && h('small', {id: hintId}, hint));
}

export function select(options, value, properties = {}) {
  return h('select', {...properties, value: undefined}, options.map((option) => {
    const [v, text] = Array.isArray(option) ? option : [option, option];
    const element = h('option', {value: v}, text);
    element.selected = v === value;
    return element;
  }));
}

export function checkbox(label, checked, properties = {}) {
  const input = h('input', {type: 'checkbox', ...properties});
  input.checked = Boolean(checked);
  return Object.assign(h('label', {class: 'check'}, input, h('span', {}, label)), {input});
}

export const input = (value = '', properties = {}) =>
  h('input', {type: 'text', autocomplete: 'off', spellcheck: 'false', autocapitalize: 'off', ...properties, value});

export function button(text, onclick, properties = {}) {
  return h('button', {type: 'button', ...properties, onclick}, text);
}

export function formOf(onsubmit, ...children) {
  return h('form', {class: 'form', novalidate: true, onsubmit: (event) => { event.preventDefault(); onsubmit(); }}, ...children);
}

export const badge = (text, kind = '') => h('span', {class: `badge ${kind}`}, text);
export function status(text) {
  const kinds = {ACTIVE: 'good', AVAILABLE: 'good', ENABLED: 'good', COMPLETED: 'good', FAILED: 'bad', CANCELLED: 'bad'};
  return badge(text.toLowerCase().replaceAll('_', ' '), kinds[text] ?? (/ING$|IN_PROGRESS/.test(text) ? 'busy' : ''));
}

export function dataTable(caption, columns, rows, empty = 'None.') {
  if (!rows.length) return h('p', {class: 'empty'}, empty);
  return h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption}, h('table', {class: 'data'},
    h('caption', {class: 'hidden'}, caption),
    h('thead', {}, h('tr', {}, columns.map((c) => h('th', {scope: 'col'}, c)))),
    h('tbody', {}, rows.map((row) => h('tr', {}, row.map((cell, i) => h(i ? 'td' : 'th', i ? {} : {scope: 'row'}, cell)))))));
}

export const definitions = (pairs) =>
  h('dl', {class: 'facts'}, pairs.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))));

export const section = (title, ...children) => h('section', {class: 'card'}, h('h2', {}, title), ...children);

// ---- Messages

export function say(text, kind = 'info') {
  const box = h('div', {class: `toast ${kind}`}, h('span', {}, text),
    button('×', () => box.remove(), {class: 'plain', 'aria-label': 'Dismiss'}));
  $(kind === 'error' ? '#alerts' : '#messages').append(box);
  setTimeout(() => box.remove(), kind === 'error' ? 15000 : 5000);
}

export const errorText = (error) =>
  (error.name && error.name !== 'Error' ? `${error.name}: ${error.message}` : error.message);

export const errorBox = (error) => h('div', {class: 'error', role: 'alert'}, errorText(error));

// Runs an action of a button: disables it until the end, and shows the error if it fails.
export async function run(control, action, onError = (error) => say(errorText(error), 'error')) {
  const had = document.activeElement === control;
  if (control) control.disabled = true;
  try {
    await action();
    return true;
  } catch (error) {
    if (error.name !== 'AbortError') onError(error);
    return false;
  } finally {
    if (control) {
      control.disabled = false;
      if (had && control.isConnected && document.activeElement === document.body) control.focus();
    }
  }
}

// ---- Dialogs

// Opens a modal dialog. `accept` runs on submit; the dialog stays open with the error if it throws.
// Resolves to the result of `accept` (true if it has none), or to null if the dialog was closed.
export function dialog({title, body, accept, acceptText = 'OK', danger = false, wide = false, cancelText = 'Cancel', ready}) {
  return new Promise((resolve) => {
    const titleId = newId('title');
    const problem = h('div', {'aria-live': 'assertive'});
    let result = null;
    const submit = accept && h('button', {type: 'submit', class: danger ? 'danger' : 'primary'}, acceptText);
    const form = formOf(() => run(submit, async () => {
      problem.replaceChildren();
      result = (await accept()) ?? true;
      box.close();
    }, (error) => problem.replaceChildren(errorBox(error))),
    h('h2', {id: titleId}, title), h('div', {class: 'body'}, body), problem,
    h('div', {class: 'actions'}, button(accept ? cancelText : 'Close', () => box.close(), {class: accept ? '' : 'primary'}), submit));
    const box = h('dialog', {class: wide ? 'wide' : '', 'aria-labelledby': titleId}, form);
    box.addEventListener('close', () => { box.remove(); resolve(result); });
    document.body.append(box);
    box.showModal();
    const first = $('.body input, .body select, .body textarea', box) ?? submit;
    first?.focus();
    ready?.({box, submit});
  });
}

export const confirmDialog = (title, text, acceptText, accept) =>
  dialog({title, body: h('p', {}, text), acceptText, danger: true, accept});

// Asks for a name to be typed before something irreversible.
export function confirmByName(title, text, name, acceptText, accept, extra) {
  const typed = input('', {'data-test': 'confirm-name'});
  return dialog({
    title, danger: true, acceptText, accept,
    body: [h('p', {}, text), field(`Type ${name} to confirm`, typed), extra],
    ready: ({submit}) => {
      submit.disabled = true;
      typed.addEventListener('input', () => { submit.disabled = typed.value !== name; });
    },
  });
}

export function download(name, type, parts) {
  const url = URL.createObjectURL(new Blob(parts, {type}));
  const link = h('a', {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    say('Copied.');
  } catch { say('the browser did not allow copying', 'error'); }
}

// Repeats `work` every `ms` until it returns false or the returned function is called.
export function poll(work, ms) {
  let stopped = false;
  let timer;
  const turn = async () => {
    if (stopped) return;
    let more = true;
    try { more = await work(); } catch { /* shown by the work, and tried again */ }
    if (!stopped && more !== false) timer = setTimeout(turn, ms);
  };
  timer = setTimeout(turn, ms);
  return () => { stopped = true; clearTimeout(timer); };
}
