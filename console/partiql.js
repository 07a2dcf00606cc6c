// SPDX-License-Identifier: Apache-2.0
// The PartiQL page: an editor with completion and marked errors, history, results.
import {batchWrite, call, describe, send} from './api.js';
import {columnsOf, makeGrid} from './grid.js';
import {codeDialog} from './items.js';
import {editItem, hasKey, keyOf, readItem, saveAttribute} from './item_editor.js';
import {completions, editableTable, locate, tableOf, tokens} from './partiql_text.js';
import {go, href} from './router.js';
import {button, confirmDialog, errorBox, errorText, field, h, input, newId, plural, run, say, section, units} from './ui.js';
import {checkValue, parseJson} from './values.js';

const HISTORY = 'partiql-history';
const HISTORY_MAX = 100;
const TABLES_MAX = 1000;
const EXAMPLE = 'SELECT * FROM ';

function readHistory() {
  try {
    const list = JSON.parse(localStorage.getItem(HISTORY) ?? '[]');
    return Array.isArray(list) ? list.filter((s) => typeof s === 'string') : [];
  } catch { return []; }
}

function remember(statement) {
  const list = [statement, ...readHistory().filter((s) => s !== statement)].slice(0, HISTORY_MAX);
  try { localStorage.setItem(HISTORY, JSON.stringify(list)); } catch { /* storage is disabled or full */ }
}

// Tables with their indexes and attributes. Attributes of results are added by `learn`.
function makeKnown() {
  const details = new Map();
  const known = {
    tables: [],
    indexes: (table) => details.get(table)?.indexes ?? [],
    attributes: (table) => [...(details.get(table)?.attributes ?? [])],
    learn(table, names) { for (const name of names) details.get(table)?.attributes.add(name); },
    async load() {
      let last;
      do {
        const page = await call('ListTables', {ExclusiveStartTableName: last});
        known.tables.push(...page.TableNames);
        last = page.LastEvaluatedTableName;
      } while (last && known.tables.length < TABLES_MAX);
    },
    async about(name) {
      if (!known.tables.includes(name) || details.has(name)) return;
      details.set(name, {indexes: [], attributes: new Set()});
      try {
        const table = await describe(name);
        details.set(name, {
          indexes: [...(table.GlobalSecondaryIndexes ?? []), ...(table.LocalSecondaryIndexes ?? [])].map((i) => i.IndexName),
          attributes: new Set(table.AttributeDefinitions.map((a) => a.AttributeName)),
        });
        const {Items} = await call('Scan', {TableName: name, Limit: 20});
        known.learn(name, columnsOf(Items, []));
      } catch { details.delete(name); }
    },
  };
  return known;
}

// A textarea over a colored copy of its text. Returns {element, text, mark(range)}.
function makeEditor(value, known, onRun) {
  const listId = newId('options');
  const text = h('textarea', {id: newId('statement'), spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', rows: 7, 'aria-label': 'Statement',
    role: 'combobox', 'aria-autocomplete': 'list', 'aria-haspopup': 'listbox', 'aria-expanded': 'false', value});
  const colored = h('pre', {'aria-hidden': 'true'});
  const options = h('ul', {class: 'options', id: listId, role: 'listbox', 'aria-label': 'Completions', hidden: true});
  const element = h('div', {class: 'editor'}, colored, text, options);
  let wrong = null;
  let offered = {from: 0, list: []};
  let chosen = -1;

  function color() {
    const parts = [];
    for (const {kind, text: t, at} of tokens(text.value)) {
      // A token can be wrong in part.
      const begin = wrong ? Math.min(Math.max(wrong.at - at, 0), t.length) : 0;
      const end = wrong ? Math.min(Math.max(wrong.at + wrong.length - at, begin), t.length) : 0;
      const spanOf = (s, bad) => s && h('span', {class: `${kind}${bad ? ' wrong' : ''}`.replace(/^wrong(?! )/, '')}, s);
      parts.push(...[spanOf(t.slice(0, begin), false), spanOf(t.slice(begin, end), true), spanOf(t.slice(end), false)].filter(Boolean));
    }
    colored.replaceChildren(...parts, '\n ');
    text.rows = Math.min(Math.max(text.value.split('\n').length + 2, 6), 24);
    colored.scrollTop = text.scrollTop;
  }

  function close() {
    options.hidden = true;
    text.setAttribute('aria-expanded', 'false');
    text.removeAttribute('aria-controls');
    text.removeAttribute('aria-activedescendant');
  }

  function choose(i) {
    chosen = i;
    [...options.children].forEach((option, k) => option.setAttribute('aria-selected', String(k === i)));
    options.children[i]?.scrollIntoView({block: 'nearest'});
    text.setAttribute('aria-activedescendant', options.children[i]?.id ?? '');
  }

  // Shows the list under the caret. A mark in a copy of the text has the position of the caret.
  function offer(list) {
    if (!list.list.length) return close();
    offered = list;
    options.replaceChildren(...list.list.map(({name, kind}, i) => h('li', {role: 'option', id: `${listId}-${i}`, 'aria-selected': 'false',
      onmousedown: (event) => { event.preventDefault(); insert(i); }}, h('span', {}, name), h('small', {}, kind))));
    const caret = h('span', {}, '\u200b');
    const copy = h('pre', {}, text.value.slice(0, list.from), caret);
    element.append(copy);
    options.hidden = false;
    const left = Math.min(caret.offsetLeft, Math.max(element.clientWidth - options.offsetWidth - 4, 0));
    options.style.left = `${left}px`;
    options.style.top = `${caret.offsetTop + caret.offsetHeight - text.scrollTop + 2}px`;
    copy.remove();
    text.setAttribute('aria-expanded', 'true');
    text.setAttribute('aria-controls', listId);
    choose(0);
  }

  function insert(i) {
    const {text: inserted} = offered.list[i];
    const end = text.selectionEnd;
    // Unlike an assignment, this keeps the editor's undo history.
    text.setSelectionRange(offered.from, /^"?/.exec(text.value.slice(end))[0] === '"' && inserted.endsWith('"') ? end + 1 : end);
    if (!document.execCommand('insertText', false, inserted)) text.setRangeText(inserted, offered.from, end, 'end');
    close();
    changed(false);
  }

  function changed(complete) {
    wrong = null;
    color();
    known.about(tableOf(text.value));
    const before = text.value.slice(0, text.selectionEnd);
    if (!complete || !/[\w$"]$|\b(from|into|update)\s$|\.$/i.test(before)) return close();
    const list = completions(text.value, text.selectionEnd, known);
    // A complete word is not offered, so that Enter ends the line.
    if (before.slice(list.from).toLowerCase() === list.list[0]?.text.toLowerCase()) return close();
    offer(list);
  }

  text.addEventListener('input', (event) => changed(event.inputType !== 'insertFromPaste'));
  text.addEventListener('scroll', () => { colored.scrollTop = text.scrollTop; });
  text.addEventListener('blur', close);
  text.addEventListener('click', close);
  text.addEventListener('keydown', (event) => {
    const open = !options.hidden;
    const last = offered.list.length - 1;
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      close();
      onRun();
    } else if (event.key === ' ' && event.ctrlKey) {
      event.preventDefault();
      offer(completions(text.value, text.selectionEnd, known));
    } else if (open && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault();
      choose(event.key === 'ArrowDown' ? (chosen < last ? chosen + 1 : 0) : chosen > 0 ? chosen - 1 : last);
    } else if (open && (event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey) {
      event.preventDefault();
      insert(chosen);
    } else if (open && event.key === 'Escape') {
      event.preventDefault();
      close();
    } else if (open && /^(Home|End|ArrowLeft|ArrowRight)$/.test(event.key)) close();
  });
  color();
  return {
    element, text,
    set(statement) { text.value = statement; changed(false); },
    mark(range) {
      wrong = range;
      color();
      text.setAttribute('aria-invalid', String(Boolean(range)));
    },
  };
}

export async function showPartiql(root, _, query) {
  const known = makeKnown();
  let next;
  let current;  // the page that is displayed; see load()
  let grid = null;
  const results = h('div', {class: 'stack'});
  const facts = h('span', {class: 'facts-line', role: 'status'});
  const history = h('ul', {class: 'history'});
  const more = button('Next page', () => run(more, () => load({...current, from: next, page: current.page + 1})), {hidden: true});
  const remove = button('Delete selected', () => run(null, removeSelected), {class: 'danger', hidden: true});
  const runButton = button('Run', () => execute(), {class: 'primary'});
  const consistent = h('input', {type: 'checkbox'});
  const parameters = input(query.get('parameters') ?? '', {placeholder: '[{"S": "text"}, {"N": "1"}]'});
  const editor = makeEditor(query.get('statement') ?? EXAMPLE, known, () => execute());

  function drawHistory() {
    const list = readHistory();
    history.replaceChildren(...list.map((statement) => h('li', {}, button(statement.replace(/\s+/g, ' '), () => {
      editor.set(statement);
      editor.text.focus();
    }, {title: statement}))));
    if (!list.length) history.append(h('li', {class: 'empty'}, 'Statements that you run appear here. They stay in this browser.'));
  }

  // The values of the question marks, or undefined if there are none.
  function readParameters() {
    if (!parameters.value.trim()) return undefined;
    try {
      const list = parseJson(parameters.value);
      if (!Array.isArray(list)) throw new Error('expected an array');
      return list.map((value, i) => checkValue(value, `[${i}]`));
    } catch (error) { throw new Error(`parameters: ${error.message}`); }
  }

  // `turn`: {request, from, page}, one page of a statement. Throws errors; execute() marks those of
  // the first page.
  async function load(turn) {
    const {output, ms} = await send('ExecuteStatement', {...turn.request, NextToken: turn.from});
    current = turn;
    const {Statement} = turn.request;
    next = output.NextToken;
    more.hidden = !next;
    const items = output.Items ?? [];
    facts.textContent = [plural(items.length, 'item'), turn.page > 1 && `page ${turn.page}`, units(output.ConsumedCapacity), `${ms.toFixed(1)} ms`].filter(Boolean).join(' · ');
    known.learn(tableOf(Statement), columnsOf(items, []));
    const table = known.tables.includes(tableOf(Statement)) ? await describe(tableOf(Statement)).catch(() => null) : null;
    const keys = (table?.KeySchema ?? []).map((k, i) => ({name: k.AttributeName, role: i ? 'sort' : 'partition'}));
    const editable = table && editableTable(Statement) && items.every((item) => hasKey(table, item));
    remove.hidden = !editable || !items.length;
    select([]);
    grid = items.length ? makeGrid({label: 'Results', items, keys, ...(editable ? {
      onSelect: select, onOpen: (item) => edit(table, item),
      onSave: (item, name, value) => saveAttribute(table, item, name, value),
    } : {onOpen: (item) => editItem({KeySchema: []}, item, 'view')})}) : null;
    results.replaceChildren(grid ? grid.element :
      h('p', {class: 'empty'}, next ? 'None of the items examined matches. Continue with the next page.' : 'The statement is done. It returned no items.'));
  }

  function select(items) {
    remove.disabled = !items.length;
    remove.textContent = items.length ? `Delete selected (${items.length})` : 'Delete selected';
  }

  const edit = (table, item) => run(null, async () => {
    if (!await editItem(table, await readItem(table, item), 'edit')) return;
    say('The item is saved.');
    await load(current);
  });

  async function removeSelected() {
    const table = await describe(tableOf(current.request.Statement));
    const keys = grid.selected().map((item) => keyOf(table, item));
    if (!await confirmDialog(`Delete ${plural(keys.length, 'item')}?`, `The items are deleted from ${table.TableName}.`, 'Delete', () =>
      batchWrite(table.TableName, keys.map((Key) => ({DeleteRequest: {Key}}))))) return;
    say(`${plural(keys.length, 'item')} deleted.`);
    await load(current);
  }

  async function execute() {
    const statement = editor.text.value;
    await run(runButton, async () => {
      editor.mark(null);
      go(href(['partiql'], {statement, parameters: parameters.value}), {silent: true, replace: query.get('statement') === statement});
      remember(statement);
      drawHistory();
      try {
        await load({page: 1, request: {Statement: statement, Parameters: readParameters(), ReturnConsumedCapacity: 'TOTAL',
          ...(/^\s*select\b/i.test(statement) && {Limit: 100}), ...(consistent.checked && {ConsistentRead: true})}});
      } catch (error) {
        more.hidden = true;
        remove.hidden = true;
        facts.textContent = '';
        const range = locate(statement, error.message);
        editor.mark(range);
        const before = range ? statement.slice(0, range.at).split('\n') : null;
        results.replaceChildren(errorBox(range ? new Error(`Line ${before.length}, column ${before.at(-1).length + 1}: ${errorText(error)}`) : error));
        if (range) {
          editor.text.focus();
          editor.text.setSelectionRange(range.at, range.at);
        }
      }
    });
  }

  const showCode = button('Show as', () => run(showCode, async () => {
    const Parameters = readParameters();
    await codeDialog('ExecuteStatement', {Statement: editor.text.value, ...(Parameters && {Parameters})},
      () => ({statement: editor.text.value, parameters: Parameters ?? []}));
  }));
  root.append(h('div', {class: 'head'}, h('h1', {}, 'PartiQL')),
    editor.element, field('Parameters', parameters, 'Values of the question marks, as an array of DynamoDB JSON. Optional'),
    h('div', {class: 'head'}, h('span', {class: 'quiet'}, 'Ctrl+Enter runs the statement. Ctrl+Space completes names.'),
      h('div', {class: 'actions'}, h('label', {class: 'check'}, consistent, h('span', {}, 'Consistent read')),
        showCode, runButton)),
    h('div', {class: 'result'}, facts, h('div', {class: 'actions'}, remove, more)), results,
    section('History', history, h('div', {class: 'actions start'}, button('Clear history', () => {
      try { localStorage.removeItem(HISTORY); } catch { /* storage is disabled */ }
      drawHistory();
    }))));
  drawHistory();
  editor.text.focus();
  editor.text.setSelectionRange(editor.text.value.length, editor.text.value.length);
  await known.load();
  known.about(tableOf(editor.text.value));
  // A statement in the URL is not run, so that a link cannot write.
}
