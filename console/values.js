// SPDX-License-Identifier: Apache-2.0
// DynamoDB values: to and from plain JSON, text and CSV. Numbers are text everywhere, because a
// double has 17 digits and DynamoDB has 38.

export const TYPES = ['S', 'N', 'BOOL', 'NULL', 'B', 'SS', 'NS', 'BS', 'L', 'M'];
export const TYPE_NAMES = {
  S: 'String', N: 'Number', BOOL: 'Boolean', NULL: 'Null', B: 'Binary', SS: 'String set',
  NS: 'Number set', BS: 'Binary set', L: 'List', M: 'Map',
};
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const JSON_NUMBER = /-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;

export const typeOf = (value) => Object.keys(value)[0];
export const isNumber = (text) => NUMBER.test(text);

// A number of plain JSON, as its text.
export class PlainNumber {
  constructor(text) { this.text = text; }
}

export class JsonError extends Error {
  constructor(message, at) {
    super(message);
    this.at = at;  // the position in the text
  }
}

// JSON.parse, but numbers are PlainNumber, a repeated name is an error, and objects have no prototype.
export function parseJson(text) {
  let at = 0;
  const fail = (message) => { throw new JsonError(message, at); };
  const space = () => { while (' \t\r\n'.includes(text[at]) && at < text.length) at++; };
  const string = () => {
    const end = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;
    end.lastIndex = at;
    const found = end.exec(text);
    if (!found) fail('invalid string');
    let value;
    try { value = JSON.parse(found[0]); } catch { fail('invalid escape in a string'); }
    at = end.lastIndex;
    return value;
  };
  const value = (depth) => {
    if (depth > 64) fail('nested more than 64 levels');
    space();
    const c = text[at];
    if (c === '"') return string();
    if (c === '{') return object(depth);
    if (c === '[') return array(depth);
    for (const [word, meaning] of [['true', true], ['false', false], ['null', null]]) {
      if (text.startsWith(word, at)) { at += word.length; return meaning; }
    }
    JSON_NUMBER.lastIndex = at;
    const found = JSON_NUMBER.exec(text);
    if (!found) fail(at < text.length ? `unexpected '${text[at]}'` : 'unexpected end');
    at = JSON_NUMBER.lastIndex;
    return new PlainNumber(found[0]);
  };
  const object = (depth) => {
    const result = Object.create(null);
    at++;
    space();
    if (text[at] === '}') { at++; return result; }
    for (;;) {
      space();
      if (text[at] !== '"') fail("expected a name in double quotes");
      const begin = at;
      const name = string();
      if (name in result) { at = begin; fail(`repeated name '${name}'`); }
      space();
      if (text[at] !== ':') fail("expected ':'");
      at++;
      result[name] = value(depth + 1);
      space();
      if (text[at] === ',') { at++; continue; }
      if (text[at] !== '}') fail("expected ',' or '}'");
      at++;
      return result;
    }
  };
  const array = (depth) => {
    const result = [];
    at++;
    space();
    if (text[at] === ']') { at++; return result; }
    for (;;) {
      result.push(value(depth + 1));
      space();
      if (text[at] === ',') { at++; continue; }
      if (text[at] !== ']') fail("expected ',' or ']'");
      at++;
      return result;
    }
  };
  const result = value(0);
  space();
  if (at < text.length) fail(`unexpected '${text[at]}' after the end`);
  return result;
}

// JSON.stringify for values of parseJson.
export function printJson(value, indent = '', step = '  ') {
  if (value instanceof PlainNumber) return value.text;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const list = Array.isArray(value);
  const inner = indent + step;
  const parts = list ? value.map((v) => printJson(v, inner, step)) :
    Object.entries(value).map(([k, v]) =>
      `${JSON.stringify(k)}:${step ? ' ' : ''}${printJson(v, inner, step)}`);
  const [open, close] = list ? '[]' : '{}';
  if (!parts.length) return open + close;
  if (!step) return open + parts.join(',') + close;
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
}

const mapValues = (object, f) => {
  const result = Object.create(null);
  for (const [k, v] of Object.entries(object)) result[k] = f(v, k);
  return result;
};

export function toPlain(value) {
  const type = typeOf(value);
  const inner = value[type];
  switch (type) {
    case 'N': return new PlainNumber(jsonNumber(inner));
    case 'NULL': return null;
    case 'NS': return inner.map((n) => new PlainNumber(jsonNumber(n)));
    case 'L': return inner.map(toPlain);
    case 'M': return mapValues(inner, toPlain);
    default: return inner;
  }
}

// ".5", "+1" and "007" are numbers for DynamoDB, but not in JSON.
function jsonNumber(text) {
  const [, sign, whole, rest] = /^([+-]?)(\d*)(.*)$/s.exec(text);
  return (sign === '-' ? '-' : '') + (whole.replace(/^0+(?=\d)/, '') || '0') +
    rest.replace(/^\.(?=$|[eE])/, '');
}

// A value of plain JSON as a DynamoDB value. If `like` is a set or binary, the result is too, so
// that an item that was read as plain JSON keeps its types.
export function fromPlain(plain, like) {
  const type = like ? typeOf(like) : '';
  if (plain === null) return {NULL: true};
  if (plain instanceof PlainNumber) return {N: plain.text};
  if (typeof plain === 'boolean') return {BOOL: plain};
  if (typeof plain === 'string') return type === 'B' ? {B: plain} : {S: plain};
  if (Array.isArray(plain)) {
    const strings = plain.every((v) => typeof v === 'string');
    if (plain.length && (type === 'SS' || type === 'BS') && strings) return {[type]: plain};
    if (plain.length && type === 'NS' && plain.every((v) => v instanceof PlainNumber)) {
      return {NS: plain.map((v) => v.text)};
    }
    return {L: plain.map((v, i) => fromPlain(v, type === 'L' ? like.L[i] : undefined))};
  }
  return {M: mapValues(plain, (v, k) => fromPlain(v, type === 'M' ? like.M[k] : undefined))};
}

// Checks a value of DynamoDB JSON, as parseJson returns it; throws an Error that names the path.
export function checkValue(value, path = 'value') {
  const fail = (message) => { throw new Error(`${path}: ${message}`); };
  if (value === null || typeof value !== 'object' || Array.isArray(value) ||
      value instanceof PlainNumber || Object.keys(value).length !== 1) {
    fail(`expected one type, as in {"S": "text"}`);
  }
  const type = typeOf(value);
  const inner = value[type];
  const text = (v) => { if (typeof v !== 'string') fail(`expected text in ${type}`); return v; };
  const number = (v) => { if (!isNumber(text(v))) fail(`'${v}' is not a number`); return v; };
  const list = () => {
    if (!Array.isArray(inner)) fail(`expected an array in ${type}`);
    return inner;
  };
  switch (type) {
    case 'S': case 'B': return {[type]: text(inner)};
    case 'N': return {N: number(inner)};
    case 'BOOL': if (typeof inner !== 'boolean') fail('expected true or false'); return {BOOL: inner};
    case 'NULL': if (inner !== true) fail('expected true in NULL'); return {NULL: true};
    case 'SS': case 'BS': return {[type]: list().map(text)};
    case 'NS': return {NS: list().map(number)};
    case 'L': return {L: list().map((v, i) => checkValue(v, `${path}[${i}]`))};
    case 'M':
      if (inner === null || typeof inner !== 'object' || Array.isArray(inner)) fail('expected an object in M');
      return {M: mapValues(inner, (v, k) => checkValue(v, `${path}.${k}`))};
    default: return fail(`'${type}' is not a type`);
  }
}

export const itemToPlain = (item) => mapValues(item, toPlain);
export const itemFromPlain = (plain, like = {}) => mapValues(plain, (v, k) => fromPlain(v, like[k]));
export const checkItem = (item) => mapValues(item, (v, k) => checkValue(v, k));
export function printItem(item, plain) {
  return printJson(plain ? itemToPlain(item) : item);
}

export function parseItem(text, plain, like) {
  const parsed = parseJson(text);
  if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed) ||
      parsed instanceof PlainNumber) {
    throw new JsonError('expected an object', 0);
  }
  return plain ? itemFromPlain(parsed, like) : checkItem(parsed);
}

// Whether every member is a DynamoDB value, so that the object is an item in DynamoDB JSON.
export function looksTyped(item) {
  const values = Object.values(item);
  try { checkItem(item); } catch { return false; }
  return values.length > 0;
}

// One line of readable text, without the type.
export function shortText(value, max = 200) {
  const type = typeOf(value);
  const inner = value[type];
  const cut = (text) => (text.length > max ? `${text.slice(0, max)}…` : text);
  switch (type) {
    case 'S': return cut(inner);
    case 'N': case 'B': return cut(inner);
    case 'BOOL': return String(inner);
    case 'NULL': return 'null';
    default: return cut(printJson(toPlain(value), '', ''));
  }
}

// A scalar from typed text.
export function scalarFromText(type, text) {
  switch (type) {
    case 'N':
      if (!isNumber(text.trim())) throw new Error(`'${text}' is not a number`);
      return {N: text.trim()};
    case 'BOOL':
      if (text !== 'true' && text !== 'false') throw new Error(`'${text}' is neither true nor false`);
      return {BOOL: text === 'true'};
    case 'NULL': return {NULL: true};
    case 'B':
      try { atob(text); } catch { throw new Error('binary values are written in Base64'); }
      return {B: text};
    default: return {S: text};
  }
}

export function sameValue(a, b) {
  return a !== undefined && b !== undefined && printJson(a, '', '') === printJson(b, '', '');
}

// ---- CSV: one column for each attribute, named NAME:TYPE. JSON is DynamoDB JSON.

const CSV_TYPES = ['S', 'N', 'B', 'BOOL', 'NULL', 'JSON'];
const quoted = (text) => (/[",\r\n]|^\s|\s$/.test(text) || text === '' ? `"${text.replaceAll('"', '""')}"` : text);

export function csvColumns(items) {
  const types = new Map();
  for (const item of items) {
    for (const [name, value] of Object.entries(item)) {
      const type = typeOf(value);
      const csv = CSV_TYPES.includes(type) ? type : 'JSON';
      types.set(name, types.has(name) && types.get(name) !== csv ? 'JSON' : csv);
    }
  }
  return [...types];
}

export const csvHeader = (columns) => columns.map(([n, t]) => quoted(`${n}:${t}`)).join(',') + '\r\n';

export function csvRow(item, columns) {
  return columns.map(([name, type]) => {
    const value = item[name];
    if (value === undefined) return '';
    return quoted(type === 'JSON' ? printJson(value, '', '') : String(value[type]));
  }).join(',') + '\r\n';
}

// Rows of cells; a cell is text, or undefined if it is empty and not quoted.
export function parseCsv(text) {
  const rows = [];
  let row = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;
  if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
  let at = 0;
  while (at < text.length) {
    cell.lastIndex = at;
    const found = cell.exec(text);
    if (!found) throw new Error(`invalid CSV in row ${rows.length + 1}`);
    at = cell.lastIndex;
    row.push(found[1] !== undefined ? found[1].replaceAll('""', '"') : found[2] || undefined);
    if (found[3] !== ',') {
      if (row.length > 1 || row[0] !== undefined) rows.push(row);
      row = [];
    } else if (at >= text.length) {
      row.push(undefined);
      rows.push(row);
    }
  }
  return rows;
}

// `keyTypes`: the types of columns without one; others are strings.
export function itemsFromCsv(text, keyTypes = {}) {
  const [header, ...rows] = parseCsv(text);
  if (!header) throw new Error('the file is empty');
  const columns = header.map((title, i) => {
    if (title === undefined) throw new Error(`column ${i + 1} has no name`);
    const colon = title.lastIndexOf(':');
    const type = title.slice(colon + 1);
    if (colon > 0 && CSV_TYPES.includes(type)) return [title.slice(0, colon), type];
    return [title, keyTypes[title] ?? 'S'];
  });
  return rows.map((row, r) => {
    const item = Object.create(null);
    try {
      if (row.length > columns.length) throw new Error('more cells than columns');
      row.forEach((text, i) => {
        if (text === undefined) return;
        const [name, type] = columns[i];
        item[name] = type === 'JSON' ? checkValue(parseJson(text), name) : scalarFromText(type, text);
      });
    } catch (error) { throw new Error(`row ${r + 2}: ${error.message}`); }
    return item;
  });
}

// JSON arrays, single objects, and lines of either form, each also in {"Item": …}.
export function itemsFromJson(text) {
  let values;
  try {
    const parsed = parseJson(text);
    values = Array.isArray(parsed) ? parsed : parsed.Items && Array.isArray(parsed.Items) ? parsed.Items : [parsed];
  } catch (error) {
    const lines = text.split('\n').filter((line) => line.trim());
    if (lines.length < 2) throw error;
    values = lines.map((line, i) => {
      try { return parseJson(line); } catch (e) {
        if (i === 0) throw error;
        throw new Error(`line ${i + 1}: ${e.message}`);
      }
    });
  }
  return values.map((value, i) => {
    if (value === null || typeof value !== 'object' || Array.isArray(value) || value instanceof PlainNumber) {
      throw new Error(`item ${i + 1} is not an object`);
    }
    const names = Object.keys(value);
    if (names.length === 1 && names[0] === 'Item' && looksTyped(value.Item ?? {})) return checkItem(value.Item);
    return looksTyped(value) ? checkItem(value) : itemFromPlain(value);
  });
}
