// SPDX-License-Identifier: Apache-2.0
// A grid of items: types, selection, editing in place. Arrow keys move between cells.
import {scalarFromText, shortText, typeOf, TYPE_NAMES} from './values.js';
import {button, h, newId, run, select} from './ui.js';

const SCALARS = [['S', 'String'], ['N', 'Number'], ['BOOL', 'Boolean'], ['NULL', 'Null'], ['B', 'Binary']];
const COLUMNS_MAX = 300;

// Names of the attributes: keys first, then by their first appearance.
export function columnsOf(items, keys) {
  const names = new Set(keys);
  for (const item of items) for (const name of Object.keys(item)) names.add(name);
  return [...names].slice(0, COLUMNS_MAX);
}

// `keys`: [{name, role}], the first columns. Optional: `onOpen(item)` edits an item as a whole,
// `onSave(item, name, value)` stores one attribute, `onSelect(items)` receives the selection.
export function makeGrid({label, items, keys, onOpen, onSave, onSelect}) {
  const roles = new Map(keys.map(({name, role}) => [name, role]));
  const columns = columnsOf(items, keys.map(({name}) => name).filter((name) => items.some((i) => i[name] !== undefined)));
  const selected = new Set();
  const boxes = [];
  const everything = onSelect && h('input', {type: 'checkbox', 'aria-label': 'Select all items of the page', tabindex: '-1', onchange: () => {
    selected.clear();
    boxes.forEach(({box, item, row}) => mark(box, item, row, everything.checked));
    onSelect([...selected]);
  }});
  const mark = (box, item, row, on) => {
    box.checked = on;
    row.setAttribute('aria-selected', String(on));
    if (on) selected.add(item); else selected.delete(item);
  };

  function fill(cell, item, name) {
    const value = item[name];
    cell.dataset.name = name;
    if (value === undefined) {
      delete cell.dataset.text;
      cell.title = '';
      cell.replaceChildren(h('span', {class: 'missing', 'aria-label': 'absent'}, '·'));
      return;
    }
    const type = typeOf(value);
    const text = shortText(value);
    cell.dataset.text = shortText(value, 1000);
    cell.title = `${TYPE_NAMES[type]}: ${shortText(value, 2000)}`;
    cell.replaceChildren(h('span', {class: 'type', 'aria-label': TYPE_NAMES[type]}, type), h('span', {class: `v-${type}`}, text));
  }

  const rowOf = (item, r) => {
    const row = h('tr', {'aria-selected': onSelect ? 'false' : undefined, 'aria-rowindex': r + 2});
    if (onSelect) {
      const box = h('input', {type: 'checkbox', 'aria-label': `Select item ${r + 1}`, tabindex: '-1', onchange: () => {
        mark(box, item, row, box.checked);
        everything.checked = selected.size === items.length;
        onSelect([...selected]);
      }});
      boxes.push({box, item, row});
      row.append(h('td', {class: 'pick', role: 'gridcell', tabindex: '-1'}, box));
    }
    if (onOpen) {
      row.append(h('td', {class: 'row-tools', role: 'gridcell', tabindex: '-1'},
        button(onSave ? 'Edit' : 'View', () => onOpen(item), {tabindex: '-1', 'aria-label': `${onSave ? 'Edit' : 'View'} item ${r + 1} as JSON`})));
    }
    for (const name of columns) {
      const cell = h('td', {role: 'gridcell', tabindex: '-1'});
      fill(cell, item, name);
      if (onOpen) cell.addEventListener('dblclick', () => edit(cell, item, name));
      cell.item = item;
      row.append(cell);
    }
    return row;
  };

  function edit(cell, item, name) {
    if (cell.classList.contains('editing')) return;
    const value = item[name];
    const type = value ? typeOf(value) : 'S';
    if (!onSave || isTableKey(name) || !SCALARS.some(([t]) => t === type)) {
      onOpen?.(item);
      return;
    }
    const id = newId('cell');
    const text = h('input', {type: 'text', id, 'aria-label': `Value of ${name}`, value: value && type !== 'NULL' ? String(value[type]) : '', spellcheck: 'false', autocomplete: 'off'});
    const kind = select(SCALARS, type, {'aria-label': `Type of ${name}`});
    const close = () => {
      cell.classList.remove('editing');
      fill(cell, item, name);
      cell.focus();
    };
    const save = async () => {
      await run(null, async () => {
        const changed = scalarFromText(kind.value, text.value);
        await onSave(item, name, changed);
        item[name] = changed;
        close();
      });
    };
    const form = h('form', {novalidate: true, onsubmit: (event) => { event.preventDefault(); save(); }}, text, kind,
      h('button', {type: 'submit', class: 'primary'}, 'Save'));
    form.addEventListener('keydown', (event) => {
      event.stopPropagation();
      if (event.key === 'Escape') close();
    });
    form.addEventListener('focusout', (event) => { if (!form.contains(event.relatedTarget) && event.relatedTarget && form.isConnected) close(); });
    cell.classList.add('editing');
    cell.title = '';
    cell.replaceChildren(form);
    text.focus();
    text.select();
  }
  const isTableKey = (name) => /^(partition|sort)$/.test(roles.get(name) ?? '');

  const body = h('tbody', {}, items.map(rowOf));
  const header = h('tr', {'aria-rowindex': 1},
    onSelect && h('th', {scope: 'col', class: 'pick', role: 'columnheader'}, everything),
    onOpen && h('th', {scope: 'col', class: 'row-tools', role: 'columnheader'}, h('span', {class: 'hidden'}, 'Actions')),
    columns.map((name) => h('th', {scope: 'col', role: 'columnheader', title: name}, name,
      roles.get(name) && h('span', {class: 'role'}, roles.get(name)))));
  const table = h('table', {class: 'grid', role: 'grid', 'aria-label': label, 'aria-rowcount': items.length + 1,
    'aria-multiselectable': onSelect ? 'true' : undefined}, h('thead', {}, header), body);

  const cellsOf = (row) => [...row.children];
  let current = null;
  const focusCell = (cell) => {
    if (!cell) return;
    if (current) current.tabIndex = -1;
    current = cell;
    cell.tabIndex = 0;
    cell.focus();
    cell.scrollIntoView({block: 'nearest', inline: 'nearest'});
  };
  const firstCell = body.firstChild?.children[onSelect ? 1 : 0] ?? null;
  if (firstCell) { current = firstCell; firstCell.tabIndex = 0; }
  table.addEventListener('mousedown', (event) => {
    const cell = event.target.closest('td');
    if (cell && !cell.classList.contains('editing')) {
      if (current) current.tabIndex = -1;
      current = cell;
      cell.tabIndex = 0;
    }
  });
  table.addEventListener('keydown', (event) => {
    const cell = event.target.closest('td');
    if (!cell) return;
    const row = cell.parentElement;
    const column = cellsOf(row).indexOf(cell);
    const at = (r, c) => body.children[r]?.children[c];
    const r = [...body.children].indexOf(row);
    const moves = {
      ArrowRight: () => row.children[column + 1], ArrowLeft: () => row.children[column - 1],
      ArrowDown: () => at(r + 1, column), ArrowUp: () => at(r - 1, column),
      Home: () => (event.ctrlKey ? at(0, 0) : row.firstChild),
      End: () => (event.ctrlKey ? body.lastChild.lastChild : row.lastChild),
      PageDown: () => at(Math.min(r + 15, body.children.length - 1), column), PageUp: () => at(Math.max(r - 15, 0), column),
    };
    if (moves[event.key]) {
      event.preventDefault();
      focusCell(moves[event.key]());
    } else if (event.key === 'Enter' || event.key === 'F2') {
      if (event.target.matches('button')) return;
      event.preventDefault();
      const inner = cell.querySelector('button, input');
      if (inner) inner.click();
      else if (onOpen) edit(cell, cell.item, cell.dataset.name);
    } else if (event.key === 'a' && (event.ctrlKey || event.metaKey) && onSelect) {
      event.preventDefault();
      everything.click();
      focusCell(cell);
    } else if (event.key === ' ' && onSelect && !event.target.matches('button, input')) {
      event.preventDefault();
      boxes[r].box.click();
      focusCell(cell);
    }
  });

  return {
    element: h('div', {class: 'gridbox'}, table),
    selected: () => [...selected],
    focus: () => focusCell(current),
  };
}
