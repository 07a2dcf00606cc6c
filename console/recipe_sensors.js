// SPDX-License-Identifier: Apache-2.0
// Sensors by location, with plots of their readings and roll-ups.
import {call} from './api.js';
import {plot} from './plot.js';
import {escapePart, indexNamed, keysOf, numberIn, queryAll, readSettings, textIn, timeKey, timeOfKey, unescapePart} from './recipe_items.js';
import {badge, button, count, definitions, errorBox, field, formOf, h, input, plural, run, section, select} from './ui.js';

const CITY = 'CITY#';
const LOCATION = 'LOCATION#';
const READ = 'READ#';
const PAGE = 500;
const VALUES_MAX = 5000;
const HOUR = 3600000;
const DAY = 24 * HOUR;
const FIRST_MS = -62135596800000;  // the years 1 to 9999
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59);
const SPANS = [['hour', 'An hour', HOUR], ['day', 'A day', DAY], ['week', '7 days', 7 * DAY], ['month', '30 days', 30 * DAY], ['year', '365 days', 365 * DAY]];
const RESOLUTIONS = [['', 'Readings'], ['MINUTE', 'Minutes'], ['HOUR', 'Hours'], ['DAY', 'Days']];
const lengthOf = (span) => SPANS.find(([name]) => name === span)[2];

// ---- Places

// Returns {city, building, floor, room, id} from the keys of either layout, or null.
export function placeOf(city, path) {
  if (!city?.startsWith(CITY) || !path?.startsWith(LOCATION)) return null;
  // The keys of a city's further shards end with a number.
  const parts = [city.slice(CITY.length).split('#')[0], ...path.slice(LOCATION.length).split('#').slice(0, 4)].map(unescapePart);
  if (parts.length !== 5 || parts.includes(null)) return null;
  const [cityName, building, floor, room, id] = parts;
  return {city: cityName, building, floor, room, id};
}

// Reads places page by page: next() resolves to them, `more` says whether others follow.
function placesOf(table, prefix, settings, city) {
  const TableName = table.TableName;
  const {pk, sk} = keysOf(table);
  const index = indexNamed(table, 'ByLocation');
  const [cityKey, pathKey] = index ? index.KeySchema.map((k) => k.AttributeName) : [pk, sk];
  const composed = !index || index.KeySchema.length === 2;
  const read = (item) => {
    if (composed) return placeOf(textIn(item, cityKey), textIn(item, pathKey));
    const place = Object.fromEntries(['city', 'building', 'floor', 'room', 'id'].map((name) => [name, textIn(item, name)]));
    return textIn(item, pk)?.startsWith(prefix) && !Object.values(place).includes(undefined) ? place : null;
  };
  const base = {TableName, ...index && {IndexName: index.IndexName}};
  // One request after another: a query for each shard of a city, or a scan.
  let requests;
  if (city) {
    const shards = Number(settings.city_shards?.[city]?.M?.count?.N ?? 1);
    const sharded = !composed && index.KeySchema.some((k) => k.AttributeName === 'shard');
    requests = Array.from({length: composed || sharded ? Math.min(256, shards) : 1}, (_, shard) => ({
      ...base,
      KeyConditionExpression: sharded ? '#c = :c AND shard = :s' : '#c = :c',
      ExpressionAttributeNames: {'#c': cityKey},
      ExpressionAttributeValues: {':c': {S: composed ? CITY + escapePart(city) + (shard ? `#${shard}` : '') : city}, ...sharded && {':s': {N: String(shard)}}},
    }));
  } else if (index) {
    requests = [base];
  } else {
    requests = [{...base, FilterExpression: 'begins_with(#s, :l)', ExpressionAttributeNames: {'#s': sk}, ExpressionAttributeValues: {':l': {S: LOCATION}}}];
  }
  const operation = city ? 'Query' : 'Scan';
  let at = 0;
  let start;
  const pages = {
    more: true,
    async next() {
      const page = await call(operation, {...requests[at], ExclusiveStartKey: start, ...(index || city) && {Limit: PAGE}});
      start = page.LastEvaluatedKey;
      if (!start) at++;
      pages.more = at < requests.length;
      return page.Items.map(read).filter(Boolean);
    },
  };
  return pages;
}

function grouped(places, name) {
  const groups = new Map();
  for (const place of places) {
    if (!groups.has(place[name])) groups.set(place[name], []);
    groups.get(place[name]).push(place);
  }
  return [...groups].sort(([a], [b]) => a.localeCompare(b, undefined, {numeric: true}));
}

function tree(places, names, linkOf, open) {
  const [name, ...rest] = names;
  if (!name) {
    return h('ul', {}, places.sort((a, b) => a.id.localeCompare(b.id, undefined, {numeric: true})).map((place) => h('li', {}, linkOf(place.id))));
  }
  const groups = grouped(places, name);
  return h('ul', {}, groups.map(([text, inside]) => h('li', {}, h('details', {open: open || groups.length === 1},
    h('summary', {}, `${name === 'city' ? '' : `${name[0].toUpperCase()}${name.slice(1)} `}${text} `, h('small', {}, `(${count(inside.length)})`)), tree(inside, rest, linkOf, open)))));
}

// ---- Values

const fullNumber = (text, unit) => `${text}${unit ? ` ${unit}` : ''}`;

// Series of readings, one for each unit.
export function readingSeries(items, sk) {
  const byUnit = new Map();
  for (const item of items) {
    const at = timeOfKey(textIn(item, sk).slice(READ.length));
    if (!at || item.value?.N === undefined) continue;
    const unit = textIn(item, 'unit') ?? '';
    if (!byUnit.has(unit)) byUnit.set(unit, []);
    byUnit.get(unit).push([at.ms, Number(item.value.N), item.value.N, at.text]);
  }
  return [...byUnit].map(([unit, points]) => ({name: unit ? `Readings in ${unit}` : 'Readings', points, dots: points.length <= 200, text: (p) => fullNumber(p[2], unit)}));
}

// Series of roll-ups, one for each unit: the mean in a band from the least to the greatest value.
export function rollUpSeries(items, sk, period) {
  const byUnit = new Map();
  for (const item of items) {
    const at = timeOfKey(textIn(item, sk).slice(period.length + 1, period.length + 22));
    const n = numberIn(item, 'count');
    if (!at || !n || !item.min?.N || !item.max?.N || !item.last?.N) continue;
    const unit = textIn(item, 'unit') ?? '';
    if (!byUnit.has(unit)) byUnit.set(unit, {points: [], band: []});
    const {points, band} = byUnit.get(unit);
    // A sum that does not fit into a number is not stored.
    const mean = item.sum ? Number(item.sum.N) / n : Number(item.last.N);
    points.push([at.ms, mean, n, item.min.N, item.max.N]);
    band.push([at.ms, Number(item.min.N), Number(item.max.N)]);
  }
  return [...byUnit].map(([unit, {points, band}]) => ({
    name: unit ? `Mean in ${unit}` : 'Mean', points, band, dots: points.length <= 100,
    text: (p) => `${fullNumber(Number(p[1].toPrecision(6)), unit)}, ${p[3]} to ${p[4]}, ${plural(p[2], 'reading')}`,
  }));
}

// ---- The page

export async function showSensors(panel, table, {query, prefix, linkTo, remember}) {
  const TableName = table.TableName;
  const {pk, sk} = keysOf(table);
  const settings = await readSettings(table, prefix);
  const state = {
    city: query.get('city') ?? '', sensor: query.get('sensor') ?? '', by: RESOLUTIONS.some(([v]) => v === query.get('by')) ? query.get('by') : '',
    span: SPANS.some(([v]) => v === query.get('span')) ? query.get('span') : 'day', from: query.get('from') ?? '',
  };
  const withoutDefaults = () => ({...state, span: state.span === 'day' ? '' : state.span});
  const keep = () => remember(withoutDefaults());
  let ends = () => {};
  let turn = 0;  // increases with each displayed sensor

  // ---- The tree
  let places = [];
  let pages;
  const city = input(state.city, {type: 'search', placeholder: 'All cities'});
  const known = input('', {placeholder: 'Its id'});
  const branches = h('nav', {class: 'tree', 'aria-label': 'Sensors by location'});
  const facts = h('span', {class: 'facts-line', role: 'status'});
  const more = button('Load more sensors', () => run(more, load), {hidden: true});
  const linkOf = (id) => h('a', {
    href: linkTo({...withoutDefaults(), sensor: id, from: ''}), 'aria-current': id === state.sensor ? 'true' : undefined,
    onclick: (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      choose(id);
    },
  }, id);
  function drawTree() {
    branches.replaceChildren(places.length ? tree(places, ['city', 'building', 'floor', 'room'], linkOf, places.length <= 50) :
      h('p', {class: 'empty'}, pages.more ? 'None yet in what was read.' : state.city ? `No sensors in ${state.city}.` : 'No sensors. `stator sensor add` registers one.'));
    more.hidden = !pages.more;
    facts.textContent = `${plural(places.length, 'sensor')}${pages.more ? ', more may follow' : ''}`;
    for (let e = branches.querySelector('[aria-current]')?.closest('details'); e; e = e.parentElement.closest('details')) e.open = true;
  }
  async function load() {
    const mine = pages;
    const found = await mine.next();
    if (mine !== pages) return;
    places = places.concat(found);
    drawTree();
  }
  function restart() {
    places = [];
    pages = placesOf(table, prefix, settings, state.city);
    return load();
  }
  function choose(id) {
    Object.assign(state, {sensor: id, from: ''});
    keep();
    for (const link of branches.querySelectorAll('a')) {
      if (link.textContent === id) link.setAttribute('aria-current', 'true'); else link.removeAttribute('aria-current');
    }
    return drawSensor();
  }

  // ---- One sensor
  const sensor = h('div', {class: 'panel'});
  const partition = (id) => prefix + escapePart(id);
  const range = (id, first, last) => ({
    TableName, ConsistentRead: true, KeyConditionExpression: '#p = :p AND #s BETWEEN :a AND :b',
    ExpressionAttributeNames: {'#p': pk, '#s': sk}, ExpressionAttributeValues: {':p': {S: partition(id)}, ':a': {S: first}, ':b': {S: last}},
  });
  const retainedFrom = (seconds) => (seconds === undefined ? -Infinity : Date.now() - seconds * 1000);

  async function drawSensor() {
    ends();
    ends = () => {};
    const mine = ++turn;
    const id = state.sensor;
    if (!id) return sensor.replaceChildren(h('p', {class: 'empty'}, 'Choose a sensor to see its readings.'));
    sensor.replaceChildren(h('p', {class: 'empty'}, 'Loading…'));
    try {
      const [{Item: info}, {Items: latest}] = await Promise.all([
        call('GetItem', {TableName, Key: {[pk]: {S: partition(id)}, [sk]: {S: 'SENSORINFO'}}, ConsistentRead: true}),
        call('Query', {...range(id, READ, `${READ}:`), ScanIndexForward: false, Limit: 1})]);
      if (mine === turn) showOne(mine, id, info, latest[0]);
    } catch (error) {
      if (mine === turn) sensor.replaceChildren(errorBox(error));
    }
    return undefined;
  }

  function showOne(mine, id, info, latest) {
    const latestAt = latest && timeOfKey(textIn(latest, sk).slice(READ.length));
    const decommissioned = textIn(info, 'decommissioned_at');
    const chart = plot({label: `Values of ${id}`, format: (v) => String(Number(v.toPrecision(6))), utc: true, height: 300});
    ends = chart.end;
    const by = select(RESOLUTIONS, state.by);
    const span = select(SPANS, state.span);
    const from = h('input', {type: 'datetime-local', step: '1'});
    const result = h('span', {class: 'facts-line', role: 'status'});
    const problem = h('div', {});
    // The chosen start. By default, the range ends with the day or hour of the latest reading.
    const startOf = () => {
      const given = /^\d{4}-\d\d-\d\dT[\d:]{5,8}$/.test(state.from) ? Date.parse(`${state.from}Z`) : NaN;
      if (Number.isFinite(given)) return given;
      const unit = Math.min(DAY, lengthOf(state.span));
      return Math.floor((latestAt?.ms ?? Date.now()) / unit + 1) * unit - lengthOf(state.span);
    };
    const written = (ms) => new Date(Math.min(LAST_MS, Math.max(FIRST_MS, ms))).toISOString().slice(0, 19);

    async function draw() {
      const begin = Date.parse(`${written(startOf())}Z`);
      const end = begin + lengthOf(state.span);
      from.value = written(begin);
      const readings = !state.by;
      const head = readings ? READ : `${state.by}#`;
      const oldest = retainedFrom(readings ? settings.retention_s : settings.roll_up_retention_s);
      // The last key is a nanosecond before the end; a roll-up's key continues after the time.
      const request = range(id, head + timeKey(Math.max(begin, oldest)), head + timeKey(end, -1n) + (readings ? '' : '~'));
      try {
        const {items, more: cut} = await queryAll(request, VALUES_MAX);
        if (mine !== turn || begin !== Date.parse(`${from.value}Z`)) return;
        const series = readings ? readingSeries(items, sk) : rollUpSeries(items, sk, state.by);
        const shown = series.reduce((n, {points}) => n + points.length, 0);
        chart.set({from: begin, to: end, series});
        result.textContent = shown ? `${plural(shown, readings ? 'reading' : 'roll-up')}${cut ? `: the first ${count(VALUES_MAX)} of this time, choose less of it or roll-ups for all` : ''}` :
          readings ? 'No readings in this time.' : `No roll-ups in this time. stator sensor summarize makes them: --by ${state.by.toLowerCase()}.`;
        problem.replaceChildren();
      } catch (error) {
        problem.replaceChildren(errorBox(error));
      }
    }
    const change = (values) => { Object.assign(state, values); keep(); return draw(); };
    by.addEventListener('change', () => change({by: by.value}));
    span.addEventListener('change', () => change({span: span.value, from: ''}));
    from.addEventListener('change', () => { if (from.value) change({from: from.value.length === 16 ? `${from.value}:00` : from.value}); });
    const step = (direction) => change({from: written(Date.parse(`${from.value}Z`) + direction * lengthOf(state.span))});
    sensor.replaceChildren(section(id,
      definitions([
        ['Location', info ? ['city', 'building', 'floor', 'room'].map((name) => textIn(info, name) ?? '–').join(' / ') : 'Not registered: only readings are stored.'],
        ['Type', textIn(info, 'type') ?? '–'],
        ['State', decommissioned ? badge(`decommissioned ${decommissioned}`, 'bad') : info ? badge('in use', 'good') : badge('unknown')],
        ['Latest', latest ? `${fullNumber(latest.value?.N ?? '–', textIn(latest, 'unit'))} at ${latestAt?.text}` : 'No readings.']])),
    section('Values', h('div', {class: 'pair'}, field('Resolution', by), field('Time', span), field('From (UTC)', from)),
      h('div', {class: 'actions start'}, button('Earlier', () => step(-1)), button('Later', () => step(1)), button('Latest', () => change({from: ''})), result),
      problem, chart.element));
    draw();
  }

  panel.append(h('div', {class: 'split'},
    section('By location',
      formOf(() => { state.city = city.value.trim(); keep(); run(null, restart); }, field('City', city), h('button', {type: 'submit', class: 'hidden', tabindex: '-1'}, 'Show the city')),
      branches, h('div', {class: 'result'}, facts, more),
      formOf(() => { if (known.value.trim()) choose(known.value.trim()); }, field('Open a sensor', known), h('div', {class: 'actions start'}, h('button', {type: 'submit'}, 'Open')))),
    sensor));
  await Promise.all([restart(), drawSensor()]);
  return () => { turn++; ends(); };
}
