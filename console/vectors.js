// SPDX-License-Identifier: Apache-2.0
// Vector indexes of a table, and searches of them.
import {call, describe} from './api.js';
import {projectionText} from './table.js';
import {vectorIndexFields} from './table_form.js';
import {button, confirmByName, count, dataTable, dialog, field, h, input, say, section, size, status} from './ui.js';
import {parseJson, PlainNumber, scalarFromText, shortText} from './values.js';

const schemaText = (schema = []) => schema.map((element) =>
  `${element.AttributeName} (${element.SearchSchemaElementType === 'HASH' ? 'partition' : 'filter'})`).join(', ') || '–';

function vectorFrom(text, dimensions) {
  let list;
  try { list = parseJson(text); } catch { list = undefined; }
  if (!Array.isArray(list) || !list.every((number) => number instanceof PlainNumber)) {
    throw new Error('The vector must be a list of numbers, such as [0.25, -1]');
  }
  if (list.length !== dimensions) throw new Error(`The vector has ${list.length} numbers; the index has ${dimensions} dimensions`);
  return list.map(({text: N}) => ({N}));
}

function showResults(table, index, results) {
  const keys = table.KeySchema.map((k) => k.AttributeName);
  const rest = (item) => Object.entries(item).filter(([name]) => !keys.includes(name))
    .map(([name, value]) => `${name}: ${shortText(value, 60)}`).join(', ');
  return dialog({title: `Nearest in ${index.IndexName}`, wide: true,
    body: dataTable('Results', ['Score', ...keys, 'Other attributes'], results.map(({Item: item, Score: score}) =>
      [String(score), ...keys.map((name) => shortText(item[name], 60)), rest(item)]), 'Nothing was found.')});
}

async function search(table, index) {
  const vector = h('textarea', {rows: '4', spellcheck: 'false', placeholder: '[0.25, -1]'});
  const top = input('10', {inputmode: 'numeric'});
  const types = new Map(table.AttributeDefinitions.map((a) => [a.AttributeName, a.AttributeType]));
  const wanted = (index.SearchSchema ?? []).map((element) => ({...element, control: input()}));
  const results = await dialog({title: `Search ${index.IndexName}`, acceptText: 'Search',
    body: [field('Vector', vector, `A list of ${index.Dimensions} numbers`), field('Results', top, '1 to 100'),
      ...wanted.map(({AttributeName, SearchSchemaElementType: type, control}) =>
        field(AttributeName, control, type === 'HASH' ? undefined : 'Empty: any value'))],
    accept: async () => {
      const given = wanted.filter(({SearchSchemaElementType: type, control}) => type === 'HASH' || control.value !== '');
      return (await call('SearchVectors', {
        TableName: table.TableName, IndexName: index.IndexName, TopK: Number(top.value),
        SearchVector: vectorFrom(vector.value, index.Dimensions),
        ...given.length && {
          SearchConditionExpression: given.map((_, i) => `#a${i} = :v${i}`).join(' AND '),
          ExpressionAttributeNames: Object.fromEntries(given.map(({AttributeName}, i) => [`#a${i}`, AttributeName])),
          ExpressionAttributeValues: Object.fromEntries(given.map(({AttributeName, control}, i) =>
            [`:v${i}`, scalarFromText(types.get(AttributeName), control.value)])),
        }})).SearchResults;
    }});
  if (results) await showResults(table, index, results);
}

// Resolves to null if the dialog is closed.
export async function createVectorIndex(TableName) {
  const table = await describe(TableName);
  const fields = vectorIndexFields();
  return dialog({title: 'Create a vector index', body: fields.element, acceptText: 'Create index', accept: () => {
    const attributes = new Map(table.AttributeDefinitions.map((a) => [a.AttributeName, a]));
    const Create = fields.read(attributes);
    return call('UpdateTable', {TableName, AttributeDefinitions: [...attributes.values()], VectorIndexUpdates: [{Create}]});
  }});
}

// `changed` is called after a deletion.
export function vectorIndexes(table, changed) {
  const remove = async ({IndexName}) => {
    if (await confirmByName(`Delete the vector index ${IndexName}?`, 'Items stay in the table.', IndexName, 'Delete index',
      () => call('UpdateTable', {TableName: table.TableName, VectorIndexUpdates: [{Delete: {IndexName}}]}))) {
      say(`The vector index ${IndexName} is deleted.`);
      await changed();
    }
  };
  return section('Vector indexes', dataTable('Vector indexes',
    ['Name', 'Status', 'Vector', 'Dimensions', 'Distance', 'Search schema', 'Projection', 'Items', 'Size', ''],
    table.VectorIndexes.map((index) => [
      index.IndexName, status(index.IndexStatus), index.VectorAttribute.AttributeName, count(index.Dimensions),
      index.DistanceFunction.toLowerCase().replaceAll('_', ' '), schemaText(index.SearchSchema), projectionText(index.Projection),
      count(index.ItemCount), size(index.IndexSizeBytes),
      h('div', {class: 'actions'},
        button('Search', () => search(table, index), {'aria-label': `Search the vector index ${index.IndexName}`}),
        button('Delete', () => remove(index), {'aria-label': `Delete the vector index ${index.IndexName}`})),
    ])));
}
