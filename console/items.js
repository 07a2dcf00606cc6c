// SPDX-License-Identifier: Apache-2.0
// The Items tab: the builder, the results, and actions on items.
import {batchWrite, send} from './api.js';
import {makeBuilder} from './builder.js';
import {LANGUAGES, showAs} from './code.js';
import {buildRequest, buildStatement, sourceOf, tableKeys} from './expressions.js';
import {columnsOf, makeGrid} from './grid.js';
import {editItem, hasKey, keyOf, readItem, saveAttribute, templateItem} from './item_editor.js';
import {go, href} from './router.js';
import {button, confirmByName, confirmDialog, copy, count, dialog, errorBox, h, plural, run, say, units} from './ui.js';

// The state of the URL, or the first view if it is not valid.
function stateOf(query) {
  try {
    const state = JSON.parse(query.get('q') ?? '{}');
    const start = query.has('start') ? JSON.parse(query.get('start')) : undefined;
    if (state && typeof state === 'object' && !Array.isArray(state)) return {state: {op: 'Scan', ...state}, start};
  } catch { /* an address that was edited */ }
  return {state: {op: 'Scan'}, start: undefined};
}

export function codeDialog(operation, input, statement) {
  const endpoint = location.origin;
  const code = h('pre', {class: 'code', tabindex: '0', 'aria-label': 'Code'});
  let text = '';
  const buttons = LANGUAGES.map(([id, name]) => button(name, () => show(id), {'aria-pressed': 'false'}));
  function show(id) {
    try { text = showAs(id, operation, input, endpoint, statement()); } catch (error) { text = error.message; }
    code.textContent = text;
    buttons.forEach((b, i) => b.setAttribute('aria-pressed', String(LANGUAGES[i][0] === id)));
  }
  show('cli');
  return dialog({title: 'Show as', wide: true, body: [
    h('div', {class: 'switch', role: 'group', 'aria-label': 'Language'}, buttons), code,
    h('div', {class: 'actions start'}, button('Copy', () => copy(text)))]});
}

export function showItems(panel, table, query) {
  const name = table.TableName;
  let {state, start} = stateOf(query);
  let items = [];
  let next;
  let grid = null;
  let controller = new AbortController();
  try { sourceOf(table, state.index); } catch { state = {op: 'Scan'}; start = undefined; }

  const address = (s, from) => href(['tables', name, 'items'],
    {q: JSON.stringify(s) === '{"op":"Scan"}' ? undefined : JSON.stringify(s), start: from && JSON.stringify(from)});
  const clean = (s) => JSON.parse(JSON.stringify(s));  // without undefined members
  const earlier = () => history.state?.starts ?? [];

  const builder = makeBuilder(table, state, table.AttributeDefinitions.map((a) => a.AttributeName), (fixed) => run(builder.runButton, async () => {
    state = clean(fixed ?? builder.read());
    if (fixed) return go(address(state));
    buildRequest(state, table);  // throws before an invalid state reaches the URL
    start = undefined;
    go(address(state), {silent: true});
    return load();
  }, showProblem));

  const facts = h('span', {class: 'facts-line', role: 'status'});
  const previous = button('Previous page', () => turn(-1));
  const following = button('Next page', () => turn(1));
  const first = button('First page', () => turn(0));
  const box = h('div', {class: 'stack'});
  const act = {
    duplicate: button('Duplicate', () => open(grid.selected()[0], 'duplicate')),
    remove: button('Delete selected', () => removeSelected(), {class: 'danger'}),
  };
  const tools = h('div', {class: 'actions start', role: 'group', 'aria-label': 'Items'},
    button('Add item', () => open(templateItem(table), 'add')), act.duplicate, act.remove,
    button('Delete all matching…', () => removeAll(), {class: 'danger'}),
    button('Export', async () => (await import('./item_files.js')).exportItems(table, grid?.selected() ?? [], items, (from) => buildRequest(state, table, from))),
    button('Import', async () => { if (await (await import('./item_files.js')).importItems(table)) await load(); }),
    button('Show as', () => showCode()));
  panel.append(builder.element, tools,
    h('div', {class: 'result'}, facts, h('div', {class: 'actions'}, first, previous, following)), box);

  function showProblem(error) {
    facts.textContent = '';
    box.replaceChildren(errorBox(error));
  }

  function select(selected) {
    act.duplicate.disabled = selected.length !== 1;
    act.remove.disabled = !selected.length;
    act.remove.textContent = selected.length ? `Delete selected (${selected.length})` : 'Delete selected';
  }

  async function load() {
    controller.abort();
    controller = new AbortController();
    const {signal} = controller;
    let request;
    try {
      request = buildRequest(state, table, start);
      request.input.ReturnConsumedCapacity = 'TOTAL';
      const {output, ms} = await send(request.operation, request.input, {signal});
      items = output.Items;
      next = output.LastEvaluatedKey;
      facts.textContent = [plural(items.length, 'item'), output.ScannedCount !== items.length && `${count(output.ScannedCount)} examined`,
        units(output.ConsumedCapacity), `${ms.toFixed(1)} ms`].filter(Boolean).join(' · ');
    } catch (error) {
      if (error.name === 'AbortError') return;
      items = [];
      next = undefined;
      draw();
      showProblem(error);
      return;
    }
    draw();
  }

  function draw() {
    const source = sourceOf(table, state.index);
    const own = tableKeys(table);
    const keys = [...own.map((key, i) => ({name: key, role: i ? 'sort' : 'partition'})),
      ...(state.index ? [...source.hash, ...source.range].filter((k) => !own.includes(k.name)).map((k) => ({name: k.name, role: 'index'})) : [])];
    following.disabled = !next;
    previous.disabled = !earlier().length;
    first.disabled = !start;
    builder.propose(columnsOf(items, keys.map((k) => k.name)));
    grid = items.length ? makeGrid({label: `Items of ${name}`, items, keys, onSelect: select,
      onOpen: (item) => open(item, 'edit'), onSave: (item, attribute, value) => saveAttribute(table, item, attribute, value)}) : null;
    select([]);
    box.replaceChildren(grid ? grid.element : h('p', {class: 'empty'}, next ?
      'None of the items examined matches. Continue with the next page.' : state.op === 'Scan' && !state.rules && !start ?
        'There are no items.' : 'No items match.'));
  }

  async function turn(direction) {
    const starts = earlier();
    const from = start;
    const had = document.activeElement;
    for (const control of [first, previous, following]) control.disabled = true;  // until the page has arrived
    start = direction > 0 ? next : direction < 0 ? starts.at(-1) ?? undefined : undefined;
    go(address(state, start), {silent: true, state: {
      starts: direction > 0 ? [...starts, from ?? null] : direction < 0 ? starts.slice(0, -1) : []}});
    await load();
    if (document.activeElement === document.body || document.activeElement === had) (had.disabled ? [following, previous, first].find((c) => !c.disabled) : had)?.focus();
  }

  const open = (item, mode) => run(null, async () => {
    if (mode !== 'add' && !hasKey(table, item)) throw new Error('the item was read without its key');
    const whole = mode === 'add' ? item : await readItem(table, item);
    const written = await editItem(table, whole, mode);
    if (!written) return;
    say(mode === 'edit' ? 'The item is saved.' : 'The item is added.');
    await load();
  });

  async function removeSelected() {
    const keys = grid.selected().map((item) => keyOf(table, item));
    const done = await confirmDialog(`Delete ${plural(keys.length, 'item')}?`, `The items are deleted from ${name}.`, 'Delete', () =>
      batchWrite(name, keys.map((Key) => ({DeleteRequest: {Key}}))));
    if (!done) return;
    say(`${plural(keys.length, 'item')} deleted.`);
    await load();
  }

  // Deletes page by page, so that only one page is in memory.
  async function removeAll() {
    const stop = new AbortController();
    const progress = h('p', {role: 'status'});
    let deleted = 0;
    const done = await confirmByName('Delete all matching items?',
      'All items that the query above returns, on every page, are deleted from the table. Keep the dialog open until it is done; closing it stops.',
      name, 'Delete all matching', async () => {
        let from;
        do {
          const {operation, input} = buildRequest({...state, project: '', limit: 1000}, table, from);
          const names = input.ExpressionAttributeNames ?? {};
          input.ProjectionExpression = tableKeys(table).map((key, i) => { names[`#key${i}`] = key; return `#key${i}`; }).join(', ');
          input.ExpressionAttributeNames = names;
          const {output} = await send(operation, input, {signal: stop.signal});
          const before = deleted;
          await batchWrite(name, output.Items.map((item) => ({DeleteRequest: {Key: keyOf(table, item)}})),
            (n) => { deleted = before + n; progress.textContent = `${count(deleted)} deleted`; }, stop.signal);
          from = output.LastEvaluatedKey;
        } while (from);
      }, progress);
    stop.abort();
    if (done || deleted) {
      say(`${plural(deleted, 'item')} deleted.`);
      start = undefined;
      go(address(state), {silent: true});
      await load();
    }
  }

  function showCode() {
    run(null, async () => {
      const {operation, input} = buildRequest(builderState(), table, start);
      await codeDialog(operation, input, () => buildStatement(builderState(), table));
    });
  }
  const builderState = () => clean(builder.read());

  if (state.op === 'Scan' || state.hash) load();
  else { draw(); box.replaceChildren(h('p', {class: 'empty'}, 'Enter a key, and run the query.')); }
  return () => controller.abort();
}
