// SPDX-License-Identifier: Apache-2.0
// The Test mode page: the faults that the server injects into responses, by rules.
import {get, isTestMode, put} from './api.js';
import {names, wholeNumber} from './table_form.js';
import {button, checkbox, confirmDialog, count, dataTable, dialog, errorBox, field, h, input, poll, run, say, select} from './ui.js';

const PATH = '/_stator/test-mode';
const POLL_MS = 2000;

const REQUESTS = ['operations', 'first', 'last', 'probability'];
// By fault: its text, and the members that its rules can have in addition to `tables`.
const FAULTS = {
  throttling: ['Throttling', 'error', 'limit', ...REQUESTS],
  internal_error: ['Internal error', 'applied', ...REQUESTS],
  delay: ['Delay', 'ms', ...REQUESTS],
  transaction_conflict: ['Transaction conflict', ...REQUESTS],
  transaction_in_progress: ['Transaction in progress', ...REQUESTS],
  unprocessed: ['Unprocessed items', ...REQUESTS],
  read_lag: ['Lag of reads', 'ms'],
  index_lag: ['Lag of global indexes', 'ms'],
  creating: ['Tables stay CREATING', 'ms'],
  provisioned_throughput: ['Provisioned throughput', 'burst_seconds'],
};

const whole = (what) => (text) => wholeNumber(text, what);
function milliseconds(text) {
  const list = names(text).map(whole('milliseconds'));
  return list.length === 1 ? list[0] : list;
}
const options = (list) => ({control: (value) => select(list, value ?? list[0][0])});
// By member: its label, its hint, and its control or the function that parses its text.
const MEMBERS = {
  tables: {label: 'Tables', hint: 'Names, separated by commas. Empty: all tables', parse: names},
  ms: {label: 'Milliseconds', hint: 'A delay can have two, such as 50, 200: a random time between them', parse: milliseconds},
  burst_seconds: {label: 'Seconds for which unused units are kept', hint: '1 to 300. Empty: 300', parse: whole('seconds')},
  error: {label: 'Exception', ...options([['ProvisionedThroughputExceededException', 'Provisioned throughput exceeded'],
    ['ThrottlingException', 'Throttling'], ['RequestLimitExceeded', 'Request limit exceeded']])},
  limit: {label: 'Reason', ...options([['', 'The usual one of the exception'], 'ProvisionedThroughputExceeded', 'KeyRangeThroughputExceeded',
    'MaxOnDemandThroughputExceeded', 'AccountLimitExceeded'])},
  applied: {label: 'The operation runs, and only its response is lost', control: (value) => checkbox('', value).input},
  operations: {label: 'Operations', hint: 'Names, separated by commas. Empty: those that the fault can apply to', parse: names},
  first: {label: 'First request', hint: 'Matching requests are counted from 1. Empty: 1', parse: whole('first request')},
  last: {label: 'Last request', hint: 'Empty: no last one', parse: whole('last request')},
  probability: {label: 'Probability', hint: '0 to 1. Empty: 1', parse: Number},
};

// The fields of a rule. read() returns the rule.
function ruleFields(rule = {}) {
  const fault = select(Object.entries(FAULTS).map(([name, [text]]) => [name, text]), rule.fault);
  const controls = Object.entries(MEMBERS).map(([name, {label, hint, parse, control}]) => {
    const element = control ? control(rule[name]) : input([rule[name] ?? []].flat().join(', '));
    return {name, parse, element, field: field(label, element, hint)};
  });
  const has = (name) => name === 'tables' || FAULTS[fault.value].includes(name, 1);
  const update = () => { for (const control of controls) control.field.hidden = !has(control.name); };
  fault.addEventListener('change', update);
  update();
  return {
    element: h('div', {class: 'stack'}, field('Fault', fault), controls.map((control) => control.field)),
    read() {
      const read = {fault: fault.value};
      for (const {name, parse, element} of controls.filter((control) => has(control.name))) {
        const value = element.type === 'checkbox' ? element.checked : element.value.trim();
        if (value) read[name] = parse ? parse(value) : value;
      }
      return read;
    },
  };
}

function requestsText({first = 1, last, probability = 1}) {
  const share = probability === 1 ? '' : `, probability ${probability}`;
  if (last === undefined) return (first === 1 ? 'all' : `from ${count(first)}`) + share;
  return (first === last ? count(first) : `${count(first)} to ${count(last)}`) + share;
}

function detailsText(rule) {
  const details = [rule.error, rule.limit, rule.applied && 'the operation runs',
    rule.ms && `${[rule.ms].flat().map(count).join(' to ')} ms`,
    rule.burst_seconds && `unused units are kept for ${count(rule.burst_seconds)} s`];
  return details.filter(Boolean).join(', ') || '–';
}

const operationsText = (list) => (list.length <= 3 ? list.join(', ') :
  h('details', {}, h('summary', {}, `${list.length} operations`), list.join(', ')));

const uncounted = ({matched, injected, ...rule}) => rule;

export async function showTestMode(root) {
  if (isTestMode() === null) await get('/health/live');
  root.append(h('div', {class: 'head'}, h('h1', {}, 'Test mode'),
    isTestMode() && h('div', {class: 'actions'}, button('Edit as JSON', () => editText()), button('Delete all rules', () => removeAll()),
      button('Add rule', () => edit(), {class: 'primary'}))));
  if (!isTestMode()) {
    root.append(h('p', {}, 'Test mode is off. It is on if the server was started with --test-mode.'));
    return undefined;
  }
  const seed = h('p', {class: 'quiet'});
  const table = h('div', {});
  const problem = h('div', {});
  root.append(h('p', {}, 'This server injects faults into its responses, by these rules. The first rule that has a fault for a request decides.'),
    problem, table, seed);
  let rules = [];  // as they are displayed, without their counts
  let counts = [];  // by rule: the cells of both counts

  function draw(state) {
    const next = state.rules.map(uncounted);
    if (!counts.length || JSON.stringify(next) !== JSON.stringify(rules)) {
      rules = next;
      counts = rules.map(() => [h('span', {}), h('span', {})]);
      table.replaceChildren(dataTable('Rules', ['', 'Fault', 'Details', 'Tables', 'Operations', 'Requests', 'Matched', 'Injected', ''],
        rules.map((rule, i) => [
          String(i + 1), FAULTS[rule.fault]?.[0] ?? rule.fault, detailsText(rule), rule.tables?.join(', ') ?? 'all',
          rule.operations ? operationsText(rule.operations) : 'all', requestsText(rule), ...counts[i],
          h('div', {class: 'actions'}, button('Edit', () => edit(i), {'aria-label': `Edit rule ${i + 1}`}),
            button('Delete', (event) => run(event.target, () => remove(i)), {'aria-label': `Delete rule ${i + 1}`})),
        ]), 'There are no rules: no faults are injected.'));
    }
    state.rules.forEach(({matched, injected}, i) => {
      counts[i][0].textContent = count(matched);
      counts[i][1].textContent = count(injected);
    });
    seed.textContent = Number.isSafeInteger(state.seed) ? `Seed ${state.seed}. A change of the rules sets the counts to 0.` : '';
  }

  // Stores rules in place of those that were displayed, unless another client has changed these.
  async function replace(displayed, text) {
    const state = await get(PATH);
    if (JSON.stringify(state.rules.map(uncounted)) !== JSON.stringify(displayed)) {
      draw(state);
      throw new Error('the rules were changed by another client; check them and try again');
    }
    draw(await put(PATH, text));
  }
  const without = (list, i, ...added) => JSON.stringify({rules: list.toSpliced(i, 1, ...added)});
  async function remove(i) {
    await replace(rules, without(rules, i));
    say('The rule is deleted.');
  }
  async function removeAll() {
    if (await confirmDialog('Delete all rules?', 'No more faults are injected.', 'Delete all rules', async () => draw(await put(PATH, '{}')))) {
      say('The rules are deleted.');
    }
  }
  // Adds a rule if `i` is not given.
  async function edit(i = rules.length) {
    const displayed = rules;
    const fields = ruleFields(displayed[i]);
    if (await dialog({title: displayed[i] ? `Rule ${i + 1}` : 'Add a rule', body: fields.element, acceptText: 'Save rule',
      accept: () => replace(displayed, without(displayed, i, fields.read()))})) say('The rule is saved.');
  }
  async function editText() {
    const displayed = rules;
    const text = h('textarea', {rows: 16, spellcheck: 'false', value: JSON.stringify({rules}, null, 2)});
    if (await dialog({title: 'Rules as JSON', wide: true, body: field('Rules', text, 'Without a seed, the seed stays'), acceptText: 'Save rules',
      accept: () => replace(displayed, text.value)})) say('The rules are saved.');
  }

  async function load() {
    try {
      draw(await get(PATH));
      problem.replaceChildren();
    } catch (error) {
      problem.replaceChildren(errorBox(error));
      throw error;
    }
  }
  try { await load(); } catch { /* shown in the page */ }
  return poll(load, POLL_MS);
}
