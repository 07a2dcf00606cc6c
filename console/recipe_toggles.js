// SPDX-License-Identifier: Apache-2.0
// A toggle's timeline: its state at each time, and which events arrived late or more than once.
import {call} from './api.js';
import {plot, timeText} from './plot.js';
import {escapePart, keysOf, queryAll, readSettings, textIn, timeOfKey, unescapePart} from './recipe_items.js';
import {badge, button, count, dataTable, definitions, errorBox, errorText, field, formOf, h, input, plural, run, section} from './ui.js';
import {shortText, typeOf} from './values.js';

const LOG = 'LOG#';
const TIME_END = LOG.length + 21;
const EVENTS = 500;  // per page
const IDS = 500;  // items per page of the table
const LEVELS_MAX = 20;
const RECORDS_MAX = 20000;  // of the stream
const READS_MAX = 200;

// ---- Events

// The events of log items, in their order: {key, ms, time, event, state}.
export function eventsOf(items, sk) {
  return items.map((item) => {
    const key = textIn(item, sk);
    const at = key?.startsWith(LOG) && key[TIME_END] === '#' ? timeOfKey(key.slice(LOG.length, TIME_END)) : null;
    return at && item.state && {key, ms: at.ms, time: at.text, event: key.slice(TIME_END + 1), state: item.state};
  }).filter(Boolean).sort((a, b) => (a.key < b.key ? -1 : 1));
}

// The keys of events that arrived after a later one. `arrivals` are keys in the order of the
// stream; all other events arrived earlier. Returns null if that order is unknown.
export function lateOnes(events, arrivals) {
  if (!arrivals) return null;
  const arrived = new Set(arrivals);
  let greatest = events.filter(({key}) => !arrived.has(key)).at(-1)?.key ?? '';
  const late = new Set();
  for (const key of arrivals) {
    if (key < greatest) late.add(key); else greatest = key;
  }
  return late;
}

// The keys of events with the id of an earlier event, and of events with the same time as the event
// before.
export function repeatedOnes(events) {
  const ids = new Set();
  const duplicates = new Set();
  const ties = new Set();
  events.forEach(({key, time, event}, i) => {
    // "=" begins ids derived from values
    if (ids.has(event) && !event.startsWith('=')) duplicates.add(key);
    ids.add(event);
    if (events[i - 1]?.time === time) ties.add(key);
  });
  return {duplicates, ties};
}

// How states are drawn: booleans and strings as levels, numbers as they are.
export function scaleOf(events) {
  const types = new Set(events.map(({state}) => typeOf(state)));
  if (types.size === 1 && types.has('N')) return {value: (state) => Number(state.N)};
  const text = (state) => (state.BOOL === undefined ? shortText(state, 60) : state.BOOL ? 'on' : 'off');
  const levels = types.size === 1 && types.has('BOOL') ? ['off', 'on'] : [...new Set(events.map(({state}) => text(state)))];
  if (levels.length > LEVELS_MAX) levels.splice(LEVELS_MAX - 1, levels.length, 'others');
  return {levels, value: (state) => { const i = levels.indexOf(text(state)); return i < 0 ? levels.length - 1 : i; }};
}
const stateText = (state) => (state.BOOL === undefined ? shortText(state, 200) : state.BOOL ? 'on' : 'off');

// The keys of a toggle's log items in the order of their arrival, from the stream of the last day.
// Returns null if the stream does not exist or has more records than this page reads.
async function arrivalsOf(table, {pk, sk}, partition) {
  if (!table.StreamSpecification?.StreamEnabled) return null;
  const StreamArn = table.LatestStreamArn;
  const found = [];
  let records = 0;
  let reads = 0;
  let last;
  do {
    const {StreamDescription: stream} = await call('DescribeStream', {StreamArn, ExclusiveStartShardId: last});
    for (const {ShardId} of stream.Shards) {
      let {ShardIterator: iterator} = await call('GetShardIterator', {StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON'});
      while (iterator) {
        const {Records, NextShardIterator} = await call('GetRecords', {ShardIterator: iterator, Limit: 1000});
        records += Records.length;
        if (++reads > READS_MAX || records > RECORDS_MAX) return null;
        for (const {eventName, dynamodb: {Keys, SequenceNumber}} of Records) {
          if (eventName === 'INSERT' && textIn(Keys, pk) === partition && textIn(Keys, sk)?.startsWith(LOG)) found.push([BigInt(SequenceNumber), textIn(Keys, sk)]);
        }
        iterator = Records.length ? NextShardIterator : null;
      }
    }
    last = stream.LastEvaluatedShardId;
  } while (last);
  return found.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
}

// ---- The page

export async function showToggles(panel, table, {query, prefix, linkTo, remember}) {
  const TableName = table.TableName;
  const keys = keysOf(table);
  const {pk, sk} = keys;
  const settings = await readSettings(table, prefix);
  let id = query.get('toggle') ?? '';
  let turn = 0;
  let end = () => {};

  // ---- The list of toggles
  const ids = new Set();
  let start;
  const list = h('nav', {class: 'tree', 'aria-label': 'Toggles'});
  const facts = h('span', {class: 'facts-line', role: 'status'});
  const more = button('Look for more toggles', () => run(more, load), {hidden: true});
  const known = input('', {placeholder: 'Its id'});
  async function load() {
    const page = await call('Scan', {TableName, Limit: IDS, ExclusiveStartKey: start, ProjectionExpression: '#p', FilterExpression: 'begins_with(#s, :l) AND begins_with(#p, :p)',
      ExpressionAttributeNames: {'#p': pk, '#s': sk}, ExpressionAttributeValues: {':l': {S: LOG}, ':p': {S: prefix}}});
    for (const item of page.Items) {
      const found = unescapePart(textIn(item, pk).slice(prefix.length));
      if (found !== null) ids.add(found);
    }
    start = page.LastEvaluatedKey;
    more.hidden = !start;
    drawList();
  }
  function drawList() {
    list.replaceChildren(ids.size ? h('ul', {}, [...ids].sort((a, b) => a.localeCompare(b, undefined, {numeric: true})).map((name) => h('li', {}, h('a', {
      href: linkTo({toggle: name}), 'aria-current': name === id ? 'true' : undefined,
      onclick: (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        choose(name);
      }}, name)))) : h('p', {class: 'empty'}, start ? 'None yet in what was read.' : 'No toggles.'));
    facts.textContent = `${plural(ids.size, 'toggle')}${start ? ', more may follow' : ''}`;
  }
  function choose(name) {
    id = name;
    remember({toggle: id});
    drawList();
    return drawToggle();
  }

  // ---- One toggle
  const toggle = h('div', {class: 'panel'});
  async function drawToggle() {
    end();
    end = () => {};
    const mine = ++turn;
    if (!id) return toggle.replaceChildren(h('p', {class: 'empty'}, 'Choose a toggle to see its timeline.'));
    toggle.replaceChildren(h('p', {class: 'empty'}, 'Loading…'));
    const partition = prefix + escapePart(id);
    const request = {TableName, ConsistentRead: true, ScanIndexForward: false, KeyConditionExpression: '#p = :p AND begins_with(#s, :l)',
      ExpressionAttributeNames: {'#p': pk, '#s': sk}, ExpressionAttributeValues: {':p': {S: partition}, ':l': {S: LOG}}};
    try {
      let {items, more: rest} = await queryAll(request, EVENTS);
      // Without permission for the stream the timeline is shown without marks of lateness.
      let problem = '';
      const arrivals = await arrivalsOf(table, keys, partition).catch((error) => { problem = errorText(error); return null; });
      if (mine !== turn) return undefined;
      const chart = plot({label: `Timeline of ${id}`, ...drawing(items), utc: true, height: 240, at: (t) => `As of ${timeText(t, true)}`});
      end = chart.end;
      const events = h('div', {});
      const earlier = button('Load earlier events', () => run(earlier, async () => {
        const next = await queryAll({...request, ExclusiveStartKey: rest}, EVENTS);
        if (mine !== turn) return;
        items = items.concat(next.items);
        rest = next.more;
        draw();
      }));
      const head = h('div', {});
      toggle.replaceChildren(head, section('Timeline', chart.element, lateness(arrivals, problem)), section('Events', events, h('div', {class: 'actions start'}, earlier)));
      const draw = () => {
        earlier.hidden = !rest;
        show(head, chart, events, eventsOf(items, sk), arrivals, Boolean(rest));
      };
      draw();
    } catch (error) {
      if (mine === turn) toggle.replaceChildren(errorBox(error));
    }
    return undefined;
  }
  const drawing = (items) => {
    const {levels} = scaleOf(eventsOf(items, sk));
    return levels ? {levels} : {format: (v) => String(Number(v.toPrecision(6)))};
  };

  // Explains which late events are marked.
  function lateness(arrivals, problem) {
    if (settings.mode === 'gated') return h('p', {class: 'quiet'}, 'This table keeps only events that were newest when they arrived (mode gated). Late events leave nothing behind.');
    if (arrivals) return h('p', {class: 'quiet'}, 'Events that arrived late are marked if they arrived in the last day: the stream of the table knows the order of arrival. An event that was delivered again has no effect and leaves no trace.');
    return h('p', {class: 'quiet'}, 'The log does not say when an event arrived, so late events are not marked. ',
      problem || (table.StreamSpecification?.StreamEnabled ? 'The stream has more records than this page reads.' : 'A stream of the table, with keys only or more, records the order of arrival for a day.'));
  }

  function show(head, chart, list_, events, arrivals, cut) {
    const latest = events.at(-1);
    const late = lateOnes(events, arrivals);
    const {duplicates, ties} = repeatedOnes(events);
    const retention = Math.min(settings.retention_s ?? Infinity, settings.retention_before_s ?? Infinity);
    const since = Number.isFinite(retention) ? Date.now() - retention * 1000 : -Infinity;
    head.replaceChildren(section(id, definitions([
      ['State', latest ? badge(stateText(latest.state), latest.state.BOOL ? 'good' : '') : 'No events.'],
      ['Since', latest ? `${latest.time}, event ${latest.event}` : '–'],
      ['Events', `${count(events.length)}${cut ? ', the newest ones' : ''}`],
      ['Mode', settings.mode === 'gated' ? 'gated: accepted events only' : settings.mode === 'ordered_log' ? 'ordered log: every event' : 'not stored'],
      ['Retention', Number.isFinite(retention) ? `${count(retention)} seconds: before that, what held is unknown` : 'none'],
    ])));
    if (!events.length) return;
    const {value} = scaleOf(events);
    const points = events.map((e) => [e.ms, value(e.state), e]);
    const from = Math.max(events[0].ms, Math.min(since, latest.ms));
    const to = Math.max(latest.ms, Math.min(Date.now(), latest.ms + Math.max(60000, (latest.ms - from) / 8)));
    const marksOf = (keysOfMarks) => events.filter(({key}) => keysOfMarks.has(key)).map((e) => [e.ms, value(e.state)]);
    chart.set({
      from, to,
      series: [{name: 'State', step: true, dots: events.length <= 100, points, text: (p) => `${stateText(p[2].state)} (event ${p[2].event} at ${p[2].time})`}],
      marks: [{name: 'Same time, ordered by id', kind: 'tie', points: marksOf(ties)}, {name: 'Id seen before', kind: 'duplicate', points: marksOf(duplicates)},
        ...late ? [{name: 'Arrived late', kind: 'late', points: marksOf(late)}] : []],
    });
    list_.replaceChildren(dataTable('Events', ['Time', 'State', 'Event', 'Marks'], [...events].reverse().slice(0, EVENTS).map((e) => [e.time, stateText(e.state), e.event,
      h('span', {class: 'badges'}, late?.has(e.key) && badge('arrived late', 'bad'), duplicates.has(e.key) && badge('id seen before', 'busy'), ties.has(e.key) && badge('same time'))])));
  }

  panel.append(h('div', {class: 'split'},
    section('Toggles', list, h('div', {class: 'result'}, facts, more),
      formOf(() => { if (known.value) choose(known.value); }, field('Open a toggle', known), h('div', {class: 'actions start'}, h('button', {type: 'submit'}, 'Open')))),
    toggle));
  await Promise.all([load(), drawToggle()]);
  return () => { turn++; end(); };
}
