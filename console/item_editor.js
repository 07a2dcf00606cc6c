// SPDX-License-Identifier: Apache-2.0
// Edits one item as JSON, plain or DynamoDB, and writes it on the condition that its attributes are unchanged.
import {call} from './api.js';
import {parseItem, printItem} from './values.js';
import {button, dialog, h, newId} from './ui.js';

const EXPRESSION_BYTES_MAX = 4000;

export const keyOf = (table, item) => Object.fromEntries(table.KeySchema.map((k) => [k.AttributeName, item[k.AttributeName]]));
export const hasKey = (table, item) => table.KeySchema.every((k) => item[k.AttributeName] !== undefined);
const sameKey = (table, a, b) => JSON.stringify(keyOf(table, a)) === JSON.stringify(keyOf(table, b));

function absent(table) {
  return {ConditionExpression: 'attribute_not_exists(#k)', ExpressionAttributeNames: {'#k': table.KeySchema[0].AttributeName}};
}

// The condition that the attributes of the item are unchanged. Attributes beyond the limit of an
// expression are not checked.
function unchanged(table, old) {
  const names = {'#k': table.KeySchema[0].AttributeName};
  const values = {};
  const terms = ['attribute_exists(#k)'];
  let bytes = terms[0].length;
  Object.entries(old).forEach(([name, value], i) => {
    const term = `#a${i} = :a${i}`;
    bytes += term.length + 5;
    if (bytes > EXPRESSION_BYTES_MAX) return;
    terms.push(term);
    names[`#a${i}`] = name;
    values[`:a${i}`] = value;
  });
  return {ConditionExpression: terms.join(' AND '), ExpressionAttributeNames: names, ExpressionAttributeValues: values};
}

// Replaces the message of an error with this name.
export function explain(error, text, name = 'ConditionalCheckFailedException') {
  return error.name === name ? new Error(text) : error;
}

// Reads the whole item, because an index or a projection might have returned only a part of it.
export async function readItem(table, item) {
  const {Item} = await call('GetItem', {TableName: table.TableName, Key: keyOf(table, item), ConsistentRead: true});
  if (!Item) throw new Error('the item no longer exists');
  return Item;
}

// Stores one attribute if it has not changed since it was read.
export async function saveAttribute(table, item, name, value) {
  const old = item[name];
  const input = {
    TableName: table.TableName, Key: keyOf(table, item), UpdateExpression: 'SET #a = :new',
    ConditionExpression: `attribute_exists(#k) AND ${old ? '#a = :old' : 'attribute_not_exists(#a)'}`,
    ExpressionAttributeNames: {'#a': name, '#k': table.KeySchema[0].AttributeName},
    ExpressionAttributeValues: {':new': value, ...(old && {':old': old})},
  };
  try { await call('UpdateItem', input); } catch (error) {
    throw explain(error, 'the item was changed or deleted since it was read; run the query again');
  }
}

// `mode`: 'edit' replaces the item, 'add' and 'duplicate' write an item that must not exist, 'view'
// only shows it. Resolves to the item that was written, or null.
export function editItem(table, item, mode) {
  let plain = false;
  let typed = item;  // the source of types for plain JSON
  const text = h('textarea', {rows: 18, spellcheck: 'false', 'aria-label': 'Item as JSON', readonly: mode === 'view', value: printItem(item, plain)});
  const note = h('p', {class: 'quiet'}, '');
  const buttons = [['DynamoDB JSON', false], ['Plain JSON', true]].map(([name, value]) =>
    button(name, () => show(value), {'aria-pressed': String(value === plain)}));
  const problem = h('div', {id: newId('problem'), 'aria-live': 'polite'});

  function read() {
    try { return parseItem(text.value, plain, typed); } catch (error) {
      if (error.at !== undefined) {
        text.focus();
        text.setSelectionRange(error.at, Math.min(error.at + 1, text.value.length));
        const before = text.value.slice(0, error.at).split('\n');
        throw new Error(`line ${before.length}, column ${before.at(-1).length + 1}: ${error.message}`);
      }
      throw error;
    }
  }
  function show(value) {
    problem.replaceChildren();
    try { typed = read(); } catch (error) {
      problem.replaceChildren(h('div', {class: 'error'}, error.message));
      return;
    }
    plain = value;
    text.value = printItem(typed, plain);
    buttons.forEach((b, i) => b.setAttribute('aria-pressed', String(Boolean(i) === plain)));
    note.textContent = plain ? 'Sets and binary values keep their types if they are replaced by arrays and texts of the same kind.' : '';
  }

  const titles = {edit: 'Edit item', add: 'Add item', duplicate: 'Duplicate item', view: 'Item'};
  return dialog({
    title: titles[mode], wide: true, acceptText: 'Save item',
    body: [h('div', {class: 'switch', role: 'group', 'aria-label': 'Format'}, buttons), text, note, problem],
    accept: mode === 'view' ? undefined : async () => {
      const Item = read();
      const keep = mode === 'edit' && sameKey(table, Item, item);
      try {
        await call('PutItem', {TableName: table.TableName, Item, ...(keep ? unchanged(table, item) : absent(table))});
      } catch (error) {
        throw explain(error, keep ? 'the item was changed or deleted since it was read' : 'an item with this key exists');
      }
      return Item;
    },
    ready: ({box}) => {
      text.addEventListener('keydown', (event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) box.querySelector('form').requestSubmit();
      });
    },
  });
}

export function templateItem(table) {
  const types = new Map(table.AttributeDefinitions.map((a) => [a.AttributeName, a.AttributeType]));
  return Object.fromEntries(table.KeySchema.map(({AttributeName: name}) =>
    [name, {[types.get(name)]: types.get(name) === 'N' ? '0' : ''}]));
}
