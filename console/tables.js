// SPDX-License-Identifier: Apache-2.0
// The list of tables, and the page that creates one.
import {call, describe, inParallel} from './api.js';
import {go, href} from './router.js';
import {badge, button, count, errorBox, errorText, formOf, h, input, poll, run, say, size, status} from './ui.js';

const PAGE = 50;
const WIDTH = 4;  // tables described at a time

export const recoveryOf = (output) =>
  output.ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === 'ENABLED';

function rowOf(name) {
  const cells = Array.from({length: 8}, () => h('td', {}, '…'));
  const row = h('tr', {'data-table': name},
    h('th', {scope: 'row'}, h('a', {href: href(['tables', name, 'items'])}, name)), cells);
  const labels = ['Status', 'Items', 'Size', 'Indexes', 'Stream', 'TTL', 'Recovery', 'Protection'];
  cells.forEach((cell, i) => cell.setAttribute('data-label', labels[i]));
  return {row, cells, name};
}

async function fillRow({cells, name}) {
  try {
    const [table, ttl, recovery] = await Promise.all([describe(name, {fresh: true}),
      call('DescribeTimeToLive', {TableName: name}), call('DescribeContinuousBackups', {TableName: name})]);
    const indexes = (table.GlobalSecondaryIndexes?.length ?? 0) + (table.LocalSecondaryIndexes?.length ?? 0) + (table.VectorIndexes?.length ?? 0);
    const life = ttl.TimeToLiveDescription;
    const off = h('span', {class: 'quiet'}, 'off');
    const stream = table.StreamSpecification?.StreamEnabled && table.StreamSpecification.StreamViewType;
    [status(table.TableStatus), count(table.ItemCount), size(table.TableSizeBytes), count(indexes),
      stream ? badge(stream.toLowerCase().replaceAll('_', ' ')) : off.cloneNode(true),
      /^ENABL/.test(life?.TimeToLiveStatus) ? h('code', {}, life.AttributeName) : off.cloneNode(true),
      recoveryOf(recovery) ? badge('on', 'good') : off.cloneNode(true),
      table.DeletionProtectionEnabled ? badge('on', 'good') : off.cloneNode(true),
    ].forEach((content, i) => cells[i].replaceChildren(content));
    return table.TableStatus !== 'ACTIVE';
  } catch (error) {
    cells[0].replaceChildren(badge(error.name === 'ResourceNotFoundException' ? 'deleted' : 'error', 'bad'));
    cells[0].title = errorText(error);
    cells.slice(1).forEach((cell) => cell.replaceChildren('–'));
    return false;
  }
}

export async function showTables(root, _, query) {
  let rows = [];
  let last;
  const filter = input(query.get('filter') ?? '', {type: 'search', 'aria-label': 'Filter tables by name', placeholder: 'Filter by name'});
  const body = h('tbody');
  const more = button('Load more tables', () => run(more, load), {hidden: true});
  const nothing = h('p', {class: 'empty', hidden: true});
  const table = h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Tables'}, h('table', {class: 'data tables'},
    h('caption', {class: 'hidden'}, 'Tables'),
    h('thead', {}, h('tr', {}, ['Name', 'Status', 'Items', 'Size', 'Indexes', 'Stream', 'TTL', 'Recovery', 'Protection'].map((c) =>
      h('th', {scope: 'col'}, c)))), body));
  const apply = () => {
    const text = filter.value.toLowerCase();
    for (const {row, name} of rows) row.hidden = !name.toLowerCase().includes(text);
    const shown = rows.filter(({row}) => !row.hidden).length;
    table.hidden = !shown;
    nothing.hidden = Boolean(shown);
    nothing.textContent = rows.length ? `None of the ${rows.length} tables loaded has a name with "${filter.value}".` :
      'There are no tables yet. Create one to begin.';
  };
  async function load() {
    const page = await call('ListTables', {Limit: PAGE, ExclusiveStartTableName: last});
    last = page.LastEvaluatedTableName;
    const added = page.TableNames.map(rowOf);
    rows = rows.concat(added);
    body.append(...added.map(({row}) => row));
    more.hidden = !last;
    apply();
    // The names are shown before their details arrive.
    inParallel(added, WIDTH, async (row) => { row.busy = await fillRow(row); }).then(() => performance.mark('details'));
  }
  filter.addEventListener('input', () => {
    go(href(['tables'], {filter: filter.value}), {replace: true, silent: true});
    apply();
  });
  root.append(
    h('div', {class: 'head'}, h('h1', {}, 'Tables'),
      h('div', {class: 'actions'}, filter, button('Refresh', () => showAgain()),
        h('a', {class: 'button primary', href: '#/create'}, 'Create table'))),
    nothing, table, more);
  function showAgain() {
    rows = [];
    last = undefined;
    body.replaceChildren();
    return load().catch((error) => root.append(errorBox(error)));
  }
  await load();
  return poll(async () => {
    await inParallel(rows.filter((row) => row.busy), WIDTH, async (row) => { row.busy = await fillRow(row); });
  }, 2000);
}

export async function showCreateTable(root) {
  const {tableForm} = await import('./table_form.js');
  const form = tableForm();
  const create = h('button', {type: 'submit', class: 'primary'}, 'Create table');
  const problem = h('div', {'aria-live': 'assertive'});
  root.append(h('div', {class: 'head'}, h('h1', {}, 'Create a table')),
    formOf(() => run(create, async () => {
      problem.replaceChildren();
      const {request, after} = form.read();
      await call('CreateTable', request);
      await after();
      say(`Table ${request.TableName} is created.`);
      go(href(['tables', request.TableName, 'overview']));
    }, (error) => problem.replaceChildren(errorBox(error))),
    form.element, problem,
    h('div', {class: 'actions'}, h('a', {class: 'button', href: '#/tables'}, 'Cancel'), create)));
  form.focus();
}
