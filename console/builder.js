// SPDX-License-Identifier: Apache-2.0
// The form for a Query or a Scan. Its state is described in expressions.js.
import {DEFAULT_LIMIT, KEY_OPERATORS, OPERATORS, RULE_TYPES, sourceOf} from './expressions.js';
import {allIndexes, keyText, projectionText} from './table.js';
import {TYPE_NAMES} from './values.js';
import {button, checkbox, field, h, input, select} from './ui.js';

const NO_VALUE = ['exists', 'not_exists'];

// `names`: attributes to propose for paths. Returns {element, read()}.
export function makeBuilder(table, state, names, onRun) {
  const sources = [['', `Table: ${keyText(table.KeySchema)}`], ...allIndexes(table).map((index) =>
    [index.IndexName, `${index.IndexName}: ${keyText(index.KeySchema)}, ${projectionText(index.Projection)}`])];
  const operation = select([['Scan', 'Scan'], ['Query', 'Query']], state.op ?? 'Scan');
  const source = select(sources, state.index ?? '');
  const direction = select([['', 'Ascending'], ['desc', 'Descending']], state.desc ? 'desc' : '');
  const directionField = field('Order', direction);
  directionField.classList.add('narrow');
  const limit = input(state.limit ?? DEFAULT_LIMIT, {inputmode: 'numeric'});
  const limitField = field('Items per page', limit);
  limitField.classList.add('narrow');
  const project = input(state.project ?? '', {placeholder: 'All'});
  const consistent = checkbox('Consistent read', state.consistent);
  const keyBox = h('div', {class: 'stack', role: 'group', 'aria-label': 'Key conditions'});
  const ruleBox = h('div', {class: 'stack', role: 'group', 'aria-label': 'Filters'});
  const joint = select([['', 'All filters match'], ['any', 'Any filter matches']], state.any ? 'any' : '', {'aria-label': 'Combination of filters'});
  const attributeList = h('datalist', {id: 'attribute-names'}, names.map((name) => h('option', {value: name})));
  let hash = [];
  let range = [];
  const rules = new Map();
  let made = 0;  // number of rules, including removed ones, so that labels are unique

  function drawKeys() {
    const keys = sourceOf(table, source.value);
    const query = operation.value === 'Query';
    directionField.hidden = !query;
    keyBox.hidden = !query;
    consistent.hidden = keys.global;
    const old = {hash: hash.map((i) => i.value), range: range.map((r) => r.read())};
    hash = keys.hash.map(({name, type}, i) => input(old.hash[i] ?? state.hash?.[i] ?? '', {'aria-label': `Value of ${name}`, placeholder: TYPE_NAMES[type]}));
    range = keys.range.map(({name, type}, i) => {
      const known = old.range[i] ?? state.range?.[i] ?? {};
      const op = select(KEY_OPERATORS.filter(([o]) => o !== 'begins_with' || type !== 'N'), known.op ?? '', {'aria-label': `Condition on ${name}`});
      const a = input(known.a ?? '', {'aria-label': `Value of ${name}`, placeholder: TYPE_NAMES[type]});
      const b = input(known.b ?? '', {'aria-label': `End of the range of ${name}`, placeholder: TYPE_NAMES[type]});
      const update = () => { a.hidden = !op.value; b.hidden = op.value !== 'between'; };
      op.addEventListener('change', update);
      update();
      return {op, a, b, read: () => ({op: op.value, a: a.value, b: b.value})};
    });
    keyBox.replaceChildren(
      ...keys.hash.map(({name}, i) => h('div', {class: 'rule key'}, h('strong', {class: 'keyname'}, name), h('span', {}, '='), h('div', {class: 'values'}, hash[i]))),
      ...keys.range.map(({name}, i) => h('div', {class: 'rule key'}, h('strong', {class: 'keyname'}, name), range[i].op,
        h('div', {class: 'values'}, range[i].a, range[i].b))));
  }

  function addRule(rule = {path: '', op: '=', type: 'S', a: '', b: '', not: false}) {
    const number = ++made;
    const path = input(rule.path, {'aria-label': `Attribute of filter ${number}`, list: 'attribute-names', placeholder: 'Attribute, as in a.b[0]'});
    const op = select(OPERATORS, rule.op, {'aria-label': `Operator of filter ${number}`});
    const type = select(RULE_TYPES, rule.type ?? 'S', {'aria-label': `Type of filter ${number}`});
    const a = input(rule.a ?? '', {'aria-label': `Value of filter ${number}`});
    const b = input(rule.b ?? '', {'aria-label': `End of the range of filter ${number}`});
    const typeNames = select(Object.entries(TYPE_NAMES), rule.op === 'type' && rule.a ? rule.a : 'S', {'aria-label': `Type to find with filter ${number}`});
    const not = checkbox('Not', rule.not, {'aria-label': `Negate filter ${number}`});
    const update = () => {
      const size = op.value.startsWith('size ');
      const none = NO_VALUE.includes(op.value);
      type.hidden = none || size || op.value === 'type';
      typeNames.hidden = op.value !== 'type';
      a.hidden = none || op.value === 'type' || (type.value === 'NULL' && !size);
      b.hidden = op.value !== 'between';
      a.placeholder = op.value === 'in' ? 'Values, separated by commas' : size ? 'Number' : type.value === 'BOOL' ? 'true or false' :
        type.value === 'JSON' ? '{"L": [{"S": "a"}]}' : type.value === 'B' ? 'Base64' : '';
    };
    for (const control of [op, type]) control.addEventListener('change', update);
    update();
    const row = h('div', {class: 'rule'}, path, op, type, h('div', {class: 'values wide'}, typeNames, a, b),
      h('div', {class: 'actions'}, not, button('×', () => {
        rules.delete(row);
        row.remove();
        updateJoint();
        add.focus();
      }, {'aria-label': `Remove filter ${number}`})));
    rules.set(row, () => ({path: path.value, op: op.value, type: type.value, a: op.value === 'type' ? typeNames.value : a.value, b: b.value, not: not.input.checked}));
    ruleBox.append(row);
    updateJoint();
    return path;
  }
  const updateJoint = () => { joint.hidden = rules.size < 2; };
  const add = button('Add filter', () => addRule().focus());
  const clear = button('Reset', () => onRun({op: 'Scan'}));
  const runButton = h('button', {type: 'submit', class: 'primary'}, 'Run');

  operation.addEventListener('change', drawKeys);
  source.addEventListener('change', () => { hash = []; range = []; state = {...state, hash: [], range: []}; drawKeys(); });
  drawKeys();
  for (const rule of state.rules ?? []) addRule(rule);
  updateJoint();
  const operationField = field('Operation', operation);
  operationField.classList.add('narrow');

  return {
    runButton,
    element: h('form', {class: 'card builder', role: 'search', 'aria-label': 'Query builder', novalidate: true,
      onsubmit: (event) => { event.preventDefault(); onRun(); }},
    attributeList,
    h('div', {class: 'pair'}, operationField, field('Source', source), directionField, limitField),
    keyBox, ruleBox,
    h('div', {class: 'pair'}, field('Attributes to return, separated by commas', project)),
    h('div', {class: 'head'}, h('div', {class: 'actions start'}, add, joint, consistent), h('div', {class: 'actions'}, clear, runButton))),
    read() {
      const size = Number(limit.value);
      if (!Number.isInteger(size) || size < 1 || size > 1000) throw new Error('items per page: enter a number from 1 to 1000');
      const result = {op: operation.value, index: source.value || undefined, limit: size === DEFAULT_LIMIT ? undefined : size};
      if (operation.value === 'Query') {
        result.hash = hash.map((i) => i.value);
        result.range = range.map((r) => r.read());
        if (direction.value) result.desc = true;
      }
      const list = [...rules.values()].map((read) => read());
      if (list.length) result.rules = list;
      if (list.length > 1 && joint.value) result.any = true;
      if (project.value.trim()) result.project = project.value;
      if (consistent.input.checked && !consistent.hidden) result.consistent = true;
      return result;
    },
    propose(more) { attributeList.replaceChildren(...more.map((name) => h('option', {value: name}))); },
  };
}
