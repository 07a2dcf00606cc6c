// SPDX-License-Identifier: Apache-2.0
// The builder's state as a Query or Scan, and as PartiQL. The state is plain JSON, because the URL
// holds it: {op, index, hash: [text], range: [{op, a, b}], any, rules: [{path, op, type, a, b, not}],
// project, desc, consistent, limit}.
import {checkValue, parseJson, scalarFromText, typeOf} from './values.js';

export const KEY_OPERATORS = [['', 'any value'], ['=', '='], ['<', '<'], ['<=', '≤'], ['>', '>'], ['>=', '≥'],
  ['between', 'between'], ['begins_with', 'begins with']];
export const OPERATORS = [['=', '='], ['<>', '≠'], ['<', '<'], ['<=', '≤'], ['>', '>'], ['>=', '≥'],
  ['between', 'between'], ['in', 'is one of'], ['begins_with', 'begins with'], ['contains', 'contains'],
  ['exists', 'exists'], ['not_exists', 'does not exist'], ['type', 'has the type'],
  ['size =', 'size ='], ['size <>', 'size ≠'], ['size <', 'size <'], ['size <=', 'size ≤'], ['size >', 'size >'], ['size >=', 'size ≥']];
export const RULE_TYPES = [['S', 'String'], ['N', 'Number'], ['BOOL', 'Boolean'], ['NULL', 'Null'], ['B', 'Binary'],
  ['JSON', 'DynamoDB JSON']];
export const DEFAULT_LIMIT = 50;

// The keys of a table or of one of its indexes: {hash: [{name, type}], range: [...], projection}.
export function sourceOf(table, indexName) {
  const index = [...(table.GlobalSecondaryIndexes ?? []), ...(table.LocalSecondaryIndexes ?? [])].find((i) => i.IndexName === indexName);
  if (indexName && !index) throw new Error(`the table has no index '${indexName}'`);
  const types = new Map(table.AttributeDefinitions.map((a) => [a.AttributeName, a.AttributeType]));
  const keys = (kind) => (index ?? table).KeySchema.filter((k) => k.KeyType === kind)
    .map((k) => ({name: k.AttributeName, type: types.get(k.AttributeName)}));
  return {hash: keys('HASH'), range: keys('RANGE'), projection: index?.Projection,
    global: (table.GlobalSecondaryIndexes ?? []).includes(index)};
}

export const tableKeys = (table) => table.KeySchema.map((k) => k.AttributeName);

// "a.b[2]" as ['a', 'b', 2]. Names with dots or brackets are in double quotes.
export function parsePath(text) {
  const parts = [];
  const step = /\s*(?:"((?:[^"]|"")+)"|([^.[\]"\s][^.[\]"]*)|\[(\d+)\])\s*(\.?)/y;
  let dotted = true;
  let at = 0;
  do {
    step.lastIndex = at;
    const found = step.exec(text);
    const isIndex = found?.[3] !== undefined;
    if (!found || isIndex === dotted) throw new Error(`'${text}' is not an attribute path; write a.b[0], or quote names: "a.b"`);
    parts.push(isIndex ? Number(found[3]) : found[1]?.replaceAll('""', '"') ?? found[2].trim());
    at = step.lastIndex;
    dotted = found[4] === '.';
  } while (at < text.length || dotted);
  return parts;
}

export function valueOf(type, text) {
  return type === 'JSON' ? checkValue(parseJson(text)) : scalarFromText(type, text);
}

// Parts separated by commas; one that contains a comma is in double quotes.
const listOf = (text) => [...text.matchAll(/\s*(?:"((?:[^"]|"")*)"\s*(?=,|$)|([^,]*))(?:,|$)/g)]
  .filter((found) => found[0] !== '' || found.index === 0)
  .map((found) => found[1]?.replaceAll('""', '"') ?? found[2].trim());

// Creates placeholders that resemble the attribute names.
class Placeholders {
  names = {};
  values = {};

  path(parts) {
    return parts.map((part, i) => (typeof part === 'number' ? `[${part}]` : (i ? '.' : '') + this.name(part))).join('');
  }

  name(name) {
    for (const [key, known] of Object.entries(this.names)) if (known === name) return key;
    return this.add(this.names, '#', name, name);
  }

  value(name, value) { return this.add(this.values, ':', name, value); }

  add(all, sign, name, meaning) {
    const base = sign + (String(name).replace(/\W+/g, '_').replace(/^_+|_+$/g, '').slice(0, 40) || 'x');
    let key = base;
    for (let i = 2; Object.hasOwn(all, key); i++) key = `${base}${i}`;
    all[key] = meaning;
    return key;
  }
}

function ruleText(rule, to) {
  const parts = parsePath(rule.path);
  const path = to.path(parts);
  const name = parts.findLast((part) => typeof part === 'string');
  const value = (text, type = rule.type) => to.value(name, valueOf(type, text));
  const [first, comparator] = rule.op.split(' ');
  if (first === 'size') return to.size(path, comparator, value(rule.a, 'N'));
  switch (rule.op) {
    case 'between': return to.between(path, value(rule.a), value(rule.b));
    case 'in': return to.in(path, listOf(rule.a).map((text) => value(text)));
    case 'begins_with': case 'contains': return `${rule.op}(${path}, ${value(rule.a)})`;
    case 'exists': return to.exists(path, true);
    case 'not_exists': return to.exists(path, false);
    case 'type': return `attribute_type(${path}, ${value(rule.a, 'S')})`;
    default: return `${path} ${rule.op} ${value(rule.a)}`;
  }
}

// The conditions of the state: {keys: [text], filter: text}.
function conditions(state, source, to) {
  const keys = [];
  if (state.op === 'Query') {
    source.hash.forEach(({name, type}, i) => {
      const text = state.hash?.[i] ?? '';
      if (text === '') throw new Error(`enter a value of '${name}'`);
      keys.push(`${to.path([name])} = ${to.value(name, scalarFromText(type, text))}`);
    });
    source.range.forEach(({name, type}, i) => {
      const {op, a = '', b = ''} = state.range?.[i] ?? {};
      if (op) keys.push(ruleText({path: `"${name.replaceAll('"', '""')}"`, op, type, a, b}, to));
    });
  }
  const rules = (state.rules ?? []).map((rule) => {
    const text = ruleText(rule, to);
    return rule.not ? `NOT (${text})` : text;
  });
  return {keys, filter: rules.join(state.any ? ' OR ' : ' AND '), count: rules.length};
}

Object.assign(Placeholders.prototype, {
  size: (path, comparator, value) => `size(${path}) ${comparator} ${value}`,
  between: (path, a, b) => `${path} BETWEEN ${a} AND ${b}`,
  in: (path, values) => `${path} IN (${values.join(', ')})`,
  exists: (path, yes) => `${yes ? 'attribute_exists' : 'attribute_not_exists'}(${path})`,
});

export function buildRequest(state, table, start) {
  const source = sourceOf(table, state.index);
  const to = new Placeholders();
  const {keys, filter} = conditions(state, source, to);
  const input = {TableName: table.TableName};
  if (state.index) input.IndexName = state.index;
  if (keys.length) input.KeyConditionExpression = keys.join(' AND ');
  if (filter) input.FilterExpression = filter;
  if (state.project?.trim()) {
    const wanted = listOf(state.project).filter(Boolean).map(parsePath);
    for (const name of tableKeys(table)) if (!wanted.some((p) => p[0] === name)) wanted.unshift([name]);
    input.ProjectionExpression = wanted.map((parts) => to.path(parts)).join(', ');
  }
  if (Object.keys(to.names).length) input.ExpressionAttributeNames = to.names;
  if (Object.keys(to.values).length) input.ExpressionAttributeValues = to.values;
  if (state.op === 'Query' && state.desc) input.ScanIndexForward = false;
  if (state.consistent && !source.global) input.ConsistentRead = true;
  input.Limit = state.limit || DEFAULT_LIMIT;
  if (start) input.ExclusiveStartKey = start;
  return {operation: state.op, input};
}

// ---- PartiQL

export const quoteName = (name) => `"${name.replaceAll('"', '""')}"`;
const quoteText = (text) => `'${text.replaceAll("'", "''")}'`;

export function literal(value) {
  const type = typeOf(value);
  const inner = value[type];
  switch (type) {
    case 'S': return quoteText(inner);
    case 'N': return inner;
    case 'BOOL': return String(inner);
    case 'NULL': return 'null';
    case 'SS': return `<<${inner.map(quoteText).join(', ')}>>`;
    case 'NS': return `<<${inner.join(', ')}>>`;
    case 'L': return `[${inner.map(literal).join(', ')}]`;
    case 'M': return `{${Object.entries(inner).map(([k, v]) => `${quoteText(k)}: ${literal(v)}`).join(', ')}}`;
    default: return null;
  }
}

export function buildStatement(state, table) {
  const source = sourceOf(table, state.index);
  const parameters = [];
  const path = (parts) => parts.map((part, i) => (typeof part === 'number' ? `[${part}]` : (i ? '.' : '') + quoteName(part))).join('');
  const to = {
    path,
    // Binary values have no literal.
    value: (name, value) => literal(value) ?? (parameters.push(value), '?'),
    size: (p, comparator, value) => `size(${p}) ${comparator} ${value}`,
    between: (p, a, b) => `${p} BETWEEN ${a} AND ${b}`,
    in: (p, values) => `${p} IN [${values.join(', ')}]`,
    exists: (p, yes) => `${p} IS ${yes ? 'NOT ' : ''}MISSING`,
  };
  const columns = state.project?.trim() ? listOf(state.project).filter(Boolean).map((text) => path(parsePath(text))).join(', ') : '*';
  const {keys, filter, count} = conditions(state, source, to);
  const where = [...keys, filter && (count > 1 && state.any && keys.length ? `(${filter})` : filter)].filter(Boolean);
  let text = `SELECT ${columns}\nFROM ${quoteName(table.TableName)}${state.index ? `.${quoteName(state.index)}` : ''}`;
  if (where.length) text += `\nWHERE ${where.join('\n  AND ')}`;
  if (state.op === 'Query' && state.desc && source.range.length) text += `\nORDER BY ${quoteName(source.range[0].name)} DESC`;
  return {statement: text, parameters};
}
