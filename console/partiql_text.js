// SPDX-License-Identifier: Apache-2.0
// The text of PartiQL statements: tokens, completions, and the position of errors.

export const KEYWORDS = ['SELECT', 'FROM', 'WHERE', 'AND', 'OR', 'NOT', 'IN', 'BETWEEN', 'IS', 'MISSING', 'NULL', 'TRUE', 'FALSE', 'ORDER', 'BY',
  'ASC', 'DESC', 'INSERT', 'INTO', 'VALUE', 'UPDATE', 'SET', 'REMOVE', 'DELETE', 'RETURNING', 'ALL', 'MODIFIED', 'OLD', 'NEW', 'EXISTS'];
const FUNCTIONS = ['attribute_type', 'begins_with', 'contains', 'size', 'list_append', 'set_add', 'set_delete'];
const TOKEN = /(--[^\n]*|\/\*[\s\S]*?\*\/)|('(?:[^']|'')*')|("(?:[^"]|"")*")|(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z_$][\w$]*)|(<<|>>|<>|<=|>=|!=|\|\||[=<>+\-*/%,.()[\]{}?:;@])|(\s+)|(['"]|\/\*|[\s\S])/g;
const KINDS = ['comment', 'string', 'name', 'number', 'word', 'operator', 'space', 'wrong'];

// [{kind, text, at}]; together they are the whole text.
export function tokens(text) {
  return [...text.matchAll(TOKEN)].map((found) => {
    let kind = KINDS[found.slice(1).findIndex((group) => group !== undefined)];
    if (kind === 'word') kind = KEYWORDS.includes(found[0].toUpperCase()) ? 'keyword' : 'name';
    return {kind, text: found[0], at: found.index};
  });
}

const OPENING = {'(': ')', '[': ']', '{': '}', '<<': '>>'};

// The position of the error in a refused statement: {at, length}. The server reports some positions
// as line:column:length. Otherwise, finds the part of the statement that the message names.
export function locate(text, message) {
  const whole = tokens(text);
  const parts = whole.filter(({kind}) => kind !== 'space' && kind !== 'comment');
  const mark = (token) => ({at: token.at, length: token.text.length});
  const lines = text.split('\n');
  const named = /at (\d+):(\d+):(\d+)/.exec(message);
  if (named) {
    const [line, column, length] = named.slice(1).map(Number);
    const at = lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0) + column - 1;
    return {at, length: Math.max(length, 1)};
  }
  const wrong = parts.find(({kind}) => kind === 'wrong');
  if (wrong) return {at: wrong.at, length: /['"/]/.test(wrong.text[0]) ? text.length - wrong.at : wrong.text.length};

  const open = [];
  for (const part of parts) {
    if (OPENING[part.text]) open.push(part);
    else if (Object.values(OPENING).includes(part.text)) {
      const last = open.pop();
      if (!last || OPENING[last.text] !== part.text) return mark(part);
    }
  }
  if (open.length) return mark(open.at(-1));

  // The names of tables, indexes, functions and operators that a message quotes.
  for (const [, quoted] of message.matchAll(/(?:: |'|\[)([\w.$<>=!+*/%-]+)(?:'|\]|$|\s)/g)) {
    const found = parts.find((part) => part.text === quoted || part.text === `"${quoted}"` || part.text.toUpperCase() === quoted.toUpperCase());
    if (found) return mark(found);
  }
  if (/resource not found|does not have the specified index|unexpected from source/i.test(message)) {
    const source = parts.findIndex((part) => /^(from|into|update)$/i.test(part.text));
    const name = parts[source + (/index/i.test(message) && parts[source + 2]?.text === '.' ? 3 : 1)];
    if (source >= 0 && name) return mark(name);
  }
  if (/wasn't well formed/.test(message)) return firstMisplaced(parts, text);
  return null;
}

// The first token that cannot follow the one before it, or the end of the statement.
function firstMisplaced(parts, text) {
  const mark = (token) => (token ? {at: token.at, length: token.text.length} : {at: Math.max(text.trimEnd().length - 1, 0), length: 1});
  if (!parts.length) return null;
  if (!/^(select|insert|update|delete|exists)$/i.test(parts[0].text)) return mark(parts[0]);
  const operand = ({kind, text: t}) => ['string', 'number', 'name'].includes(kind) || [')', ']', '}', '>>', '?'].includes(t) ||
    /^(null|true|false|missing)$/i.test(t);
  const begins = ({kind, text: t}) => ['string', 'number', 'name'].includes(kind) || ['?', '{', '<<'].includes(t) || /^(null|true|false|missing)$/i.test(t);
  const infix = ({text: t}) => ['=', '<>', '<', '<=', '>', '>=', '!=', '||', ',', '.'].includes(t) || /^(and|or|in|between)$/i.test(t);
  const select = /^select$/i.test(parts[0].text);
  const from = parts.findIndex(({text: t}) => /^from$/i.test(t));
  if (select && from < 0) {
    // The token where FROM belongs: the second operand in a row.
    const at = parts.findIndex((part, i) => i > 1 && begins(part) && (operand(parts[i - 1]) || parts[i - 1].text === '*'));
    return mark(parts[at]);
  }
  for (let i = 1; i < parts.length; i++) {
    const before = parts[i - 1];
    const part = parts[i];
    if (operand(before) && begins(part)) return mark(part);
    if (infix(before) && (infix(part) || /^(where|from|order|set|remove|returning)$/i.test(part.text))) return mark(part);
    if (/^(where|from|into|by|and|or)$/i.test(before.text) && (infix(part) || /^(where|order|from)$/i.test(part.text))) return mark(part);
  }
  return mark(infix(parts.at(-1)) || parts.at(-1).kind === 'keyword' ? parts.at(-1) : undefined);
}

const quoteIfNeeded = (name) => (/^[A-Za-z_]\w*$/.test(name) && !KEYWORDS.includes(name.toUpperCase()) ? name : `"${name.replaceAll('"', '""')}"`);

// The table that a statement reads or writes; empty if it is unknown.
export function tableOf(text) {
  const parts = tokens(text).filter(({kind}) => kind !== 'space' && kind !== 'comment');
  const at = parts.findIndex((part) => /^(from|into|update)$/i.test(part.text));
  const name = at >= 0 ? parts[at + 1] : undefined;
  return name?.kind === 'name' ? name.text.replace(/^"|"$/g, '').replaceAll('""', '"') : '';
}

// The table whose items a SELECT returns by the names of their attributes, so that results can be
// written back; empty for other statements, and if a column is a part of an attribute.
export function editableTable(text) {
  const parts = tokens(text).filter(({kind}) => kind !== 'space' && kind !== 'comment');
  const from = parts.findIndex((part) => /^from$/i.test(part.text));
  if (!/^select$/i.test(parts[0]?.text) || from < 0) return '';
  const columns = parts.slice(1, from);
  const all = columns.length === 1 && columns[0].text === '*';
  const names = columns.length % 2 === 1 && columns.every(({kind, text: t}, i) => (i % 2 ? t === ',' : kind === 'name'));
  return all || names ? tableOf(text) : '';
}

// The completions at a position: {from, list: [{text, kind}]}. `known`: {tables: [name],
// indexes(table), attributes(table)}.
export function completions(text, at, known) {
  const before = text.slice(0, at);
  const current = /(?:"(?:[^"\n]|"")*|[\w$]+)$/.exec(before)?.[0] ?? '';
  const previous = tokens(before.slice(0, before.length - current.length)).filter(({kind}) => kind !== 'space' && kind !== 'comment');
  // Nothing is completed within a string or a comment.
  if (previous.some(({kind, text: t}) => kind === 'wrong' && t === "'") || /--[^\n]*$/.test(before)) return {from: at, list: []};
  const last = previous.at(-1)?.text ?? '';
  const prefix = current.replace(/^"/, '').toLowerCase();
  const quoted = current.startsWith('"');
  const table = tableOf(text);
  const as = (kind) => (name) => ({text: quoted ? `"${name.replaceAll('"', '""')}"` : quoteIfNeeded(name), name, kind});
  let list;
  if (/^(from|into|update)$/i.test(last)) list = known.tables.map(as('table'));
  else if (last === '.' && /^(from|into|update)$/i.test(previous.at(-3)?.text ?? '')) list = known.indexes(table).map(as('index'));
  else {
    list = known.attributes(table).map(as('attribute'));
    if (!quoted) {
      list.push(...KEYWORDS.map((word) => ({text: word, name: word, kind: 'keyword'})),
        ...FUNCTIONS.map((word) => ({text: `${word}(`, name: word, kind: 'function'})));
    }
  }
  const starts = list.filter(({name}) => name.toLowerCase().startsWith(prefix));
  const contains = list.filter(({name}) => !name.toLowerCase().startsWith(prefix) && prefix.length > 1 && name.toLowerCase().includes(prefix));
  return {from: at - current.length, list: [...starts, ...contains].slice(0, 60)};
}
