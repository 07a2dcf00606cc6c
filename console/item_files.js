// SPDX-License-Identifier: Apache-2.0
// Items to and from files: JSON, DynamoDB JSON in lines, CSV.
import {batchWrite, send} from './api.js';
import {csvColumns, csvHeader, csvRow, itemToPlain, itemsFromCsv, itemsFromJson, printJson} from './values.js';
import {count, dialog, download, field, h, plural, say, select} from './ui.js';

const FORMATS = [['json', 'JSON'], ['lines', 'DynamoDB JSON, one item per line'], ['csv', 'CSV']];
const FILE_BYTES_MAX = 200 * 1024 * 1024;

function serialize(items, format) {
  if (format === 'lines') return {suffix: 'jsonl', type: 'application/x-ndjson', parts: items.map((i) => `${JSON.stringify({Item: i})}\n`)};
  if (format === 'csv') {
    const columns = csvColumns(items);
    return {suffix: 'csv', type: 'text/csv', parts: [csvHeader(columns), ...items.map((i) => csvRow(i, columns))]};
  }
  return {suffix: 'json', type: 'application/json', parts: [`[${items.map((i) => `\n  ${printJson(itemToPlain(i), '  ')}`).join(',')}\n]\n`]};
}

// `requestFrom(start)` builds the request for the page after `start`.
export function exportItems(table, selected, page, requestFrom) {
  const scope = select([...(selected.length ? [['selected', `Selected items (${selected.length})`]] : []),
    ['page', `This page (${page.length})`], ['all', 'All pages of this query']], selected.length ? 'selected' : 'page');
  const format = select(FORMATS, 'json');
  const progress = h('p', {role: 'status'});
  const stop = new AbortController();
  return dialog({
    title: 'Export items', acceptText: 'Export',
    body: [field('Items', scope), field('Format', format,
      'JSON has no sets and no binary values; DynamoDB JSON and CSV keep all types.'), progress],
    accept: async () => {
      let items = scope.value === 'selected' ? selected : page;
      if (scope.value === 'all') {
        items = [];
        let from;
        do {
          const {operation, input} = requestFrom(from);
          const {output} = await send(operation, {...input, Limit: 1000}, {signal: stop.signal});
          for (const item of output.Items) items.push(item);
          progress.textContent = `${count(items.length)} items read`;
          from = output.LastEvaluatedKey;
        } while (from);
      }
      const {suffix, type, parts} = serialize(items, format.value);
      download(`${table.TableName}.${suffix}`, type, parts);
      say(`${plural(items.length, 'item')} exported.`);
    },
  }).finally(() => stop.abort());
}

// Resolves to true if items were written.
export async function importItems(table) {
  const TableName = table.TableName;
  const types = new Map(table.AttributeDefinitions.map((a) => [a.AttributeName, a.AttributeType]));
  const file = h('input', {type: 'file', accept: '.json,.jsonl,.ndjson,.csv,application/json,text/csv'});
  const format = select([['auto', 'By the name of the file'], ['json', 'JSON, plain or DynamoDB, also in lines'], ['csv', 'CSV']], 'auto');
  const progress = h('p', {role: 'status'});
  const stop = new AbortController();
  let written = 0;
  await dialog({
    title: `Import into ${TableName}`, acceptText: 'Import',
    body: [field('File', file), field('Format', format,
      'CSV: the first row has the names, each with an optional type, as in year:N. Items with the same key are replaced.'), progress],
    accept: async () => {
      const chosen = file.files[0];
      if (!chosen) throw new Error('choose a file');
      if (chosen.size > FILE_BYTES_MAX) throw new Error(`the file has more than ${FILE_BYTES_MAX >> 20} MB; use ImportTable or stator import`);
      const text = await chosen.text();
      const csv = format.value === 'csv' || (format.value === 'auto' && /\.csv$/i.test(chosen.name));
      const items = csv ? itemsFromCsv(text, Object.fromEntries(types)) : itemsFromJson(text);
      if (!items.length) throw new Error('the file contains no items');
      const byKey = new Map();  // a batch must not have the same key twice
      items.forEach((item, i) => {
        const key = table.KeySchema.map(({AttributeName: name}) => {
          const value = item[name]?.[types.get(name)];
          if (value === undefined) throw new Error(`item ${i + 1} has no key attribute '${name}' of type ${types.get(name)}`);
          return value;
        });
        byKey.set(JSON.stringify(key), item);
      });
      await batchWrite(TableName, [...byKey.values()].map((Item) => ({PutRequest: {Item}})), (done) => {
        written = done;
        progress.textContent = `${count(done)} of ${count(byKey.size)} written`;
      }, stop.signal);
      say(`${plural(written, 'item')} imported.`);
    },
  });
  stop.abort();
  return written > 0;
}
