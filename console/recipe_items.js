// SPDX-License-Identifier: Apache-2.0
// Keys and items of the recipes, as docs/formats/recipes.md describes them.
import {call} from './api.js';

// ---- Keys

export const escapePart = (text) => text.replaceAll('%', '%25').replaceAll('#', '%23');
// Returns null for text that escapePart() cannot return.
export function unescapePart(text) {
  if (/#|%(?!25|23)/.test(text)) return null;
  return text.replaceAll('%23', '#').replaceAll('%25', '%');
}

const YEAR_ONE_S = 62135596800n;  // seconds from the year 1 to 1970
const SECOND_NS = 1000000000n;
const TIME_DIGITS = 21;

// Milliseconds since 1970, with a fraction, as the 21 digits of a key.
export function timeKey(ms, addNs = 0n) {
  const whole = Math.floor(ms);
  const ns = BigInt(whole) * 1000000n + BigInt(Math.round((ms - whole) * 1e6)) + YEAR_ONE_S * SECOND_NS + addNs;
  const bounded = ns < 0n ? 0n : ns;
  return String(bounded / SECOND_NS).padStart(12, '0') + String(bounded % SECOND_NS).padStart(9, '0');
}

// {ms, text} of the digits: `text` has all of them. Null for another form.
export function timeOfKey(digits) {
  if (digits.length !== TIME_DIGITS || /\D/.test(digits)) return null;
  const seconds = Number(BigInt(digits.slice(0, 12)) - YEAR_ONE_S);
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return null;
  const fraction = digits.slice(12).replace(/0+$/, '');
  return {ms: seconds * 1000 + Number(digits.slice(12)) / 1e6, text: `${date.toISOString().slice(0, -5)}${fraction && `.${fraction}`}Z`};
}

// ---- Items

export const textIn = (item, name) => item?.[name]?.S;
export const numberIn = (item, name) => (item?.[name]?.N === undefined ? undefined : Number(item[name].N));
export const keysOf = (table) => Object.fromEntries(table.KeySchema.map((k) => [k.KeyType === 'HASH' ? 'pk' : 'sk', k.AttributeName]));
const typeIn = (table, name) => table.AttributeDefinitions.find((a) => a.AttributeName === name)?.AttributeType;
export const indexNamed = (table, name) => table.GlobalSecondaryIndexes?.find((index) => index.IndexName === name);

// The settings of a table's toggles or sensors by their prefix, as {name: value}; empty if none are stored.
export async function readSettings(table, prefix) {
  const {pk, sk} = keysOf(table);
  const {Item} = await call('GetItem', {TableName: table.TableName, Key: {[pk]: {S: `${prefix}#SETTINGS`}, [sk]: {S: 'SETTINGS'}}, ConsistentRead: true});
  const stored = Item?.stator_settings?.M ?? {};
  return Object.fromEntries(Object.entries(stored).map(([name, value]) => [name, value.S ?? (value.N !== undefined ? Number(value.N) : value.M)]));
}

// The items of a query, page after page, at most `max`: {items, more}.
export async function queryAll(input, max, {signal} = {}) {
  const items = [];
  let ExclusiveStartKey = input.ExclusiveStartKey;
  do {
    const page = await call('Query', {...input, ExclusiveStartKey, Limit: Math.min(1000, max - items.length)}, {signal});
    items.push(...page.Items);
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey && items.length < max);
  return {items, more: ExclusiveStartKey};
}

// ---- Recognition

export const KINDS = {sensors: 'Sensors', toggles: 'Toggles', locks: 'Locks', feeds: 'Feeds'};
export const PREFIXES = {sensors: 'SENSOR#', toggles: 'TOGGLE#', locks: 'LOCK#', feeds: ''};
const PROBED_MAX = 25;  // items read per table

export const isFollowers = (table) => {
  const {pk, sk} = keysOf(table);
  return pk === 'author' && sk === 'follower';
};

function kindsOfItem(item, {pk, sk}) {
  const key = textIn(item, pk);
  const sort = textIn(item, sk) ?? '';
  if (key === undefined) return [];
  if (item.stator_settings?.M && sort === 'SETTINGS' && key.endsWith('#SETTINGS')) {
    const prefix = key.slice(0, -'#SETTINGS'.length);
    if (item.stator_settings.M.mode) return [['toggles', prefix]];
    if (item.stator_settings.M.layout) return [['sensors', prefix]];
  }
  const prefixed = (kind) => [[kind, key.startsWith(PREFIXES[kind]) ? PREFIXES[kind] : key.slice(0, key.lastIndexOf('#') + 1)]];
  if (/^LOG#\d{21}#/.test(sort) && item.state) return prefixed('toggles');
  if ((sort === 'SENSORINFO' && item.city) || (/^READ#\d{21}$/.test(sort) && item.value?.N)) return prefixed('sensors');
  if (item.fence?.N && item.permits?.N && item.held?.N) return prefixed('locks');
  if (item.author?.S && (item.content?.S || item.retracted?.BOOL)) return [['feeds', '']];
  return [];
}

// The recipes whose items a table contains: [{kind, prefix}], according to its settings, its
// indexes and some of its items.
export async function recipesOf(table) {
  const keys = keysOf(table);
  const TableName = table.TableName;
  if (typeIn(table, keys.pk) !== 'S') return [];
  const found = new Map();
  const add = (kind, prefix) => found.set(`${kind} ${prefix}`, {kind, prefix});
  if (keys.sk && typeIn(table, keys.sk) === 'S') {
    for (const kind of ['toggles', 'sensors']) {
      const prefix = PREFIXES[kind];
      const {Item} = await call('GetItem', {TableName, Key: {[keys.pk]: {S: `${prefix}#SETTINGS`}, [keys.sk]: {S: 'SETTINGS'}}});
      if (Item?.stator_settings) add(kind, prefix);
    }
  }
  if (indexNamed(table, 'ByLocation')) add('sensors', PREFIXES.sensors);
  if (indexNamed(table, 'Outbox')?.KeySchema[0].AttributeName === 'outbox') add('feeds', '');
  const {Items} = await call('Scan', {TableName, Limit: PROBED_MAX});
  for (const item of Items) for (const [kind, prefix] of kindsOfItem(item, keys)) add(kind, prefix);
  return [...found.values()];
}
