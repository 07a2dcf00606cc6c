// SPDX-License-Identifier: Apache-2.0
// The Server page: the activity of the server in the last hour, from the samples that it keeps.
import {get} from './api.js';
import {plot} from './plot.js';
import {go, href} from './router.js';
import {badge, checkbox, count, dataTable, errorBox, field, h, poll, section, select, size} from './ui.js';

const POLL_MS = 5000;
const SPANS = [['60', 'The last hour'], ['15', 'The last 15 minutes'], ['5', 'The last 5 minutes']];
const MINUTE = 60000;
const POINTS_MAX = 120;
const NAMED_MAX = 5;  // series of a plot
const ALL = '';

// ---- Numbers

// A quantile of a histogram, in the unit of the bounds: interpolated in its bucket. The last bucket
// has no upper bound; its lower bound is returned.
export function quantile(buckets, bounds, share) {
  const total = buckets.reduce((a, b) => a + b, 0);
  if (!total) return null;
  const rank = share * total;
  let below = 0;
  for (let i = 0; i < buckets.length; i++) {
    if (buckets[i] && below + buckets[i] >= rank) {
      if (i >= bounds.length) return bounds.at(-1);
      const low = i ? bounds[i - 1] : 0;
      return low + (bounds[i] - low) * (rank - below) / buckets[i];
    }
    below += buckets[i];
  }
  return bounds.at(-1);
}

const sum = (list) => list.reduce((a, b) => a + b, 0);
function addTo(total, buckets) {
  buckets.forEach((n, i) => { total[i] = (total[i] ?? 0) + n; });
  return total;
}

// Merges samples into at most about `max`: adds counts, and keeps the last gauges.
export function merged(samples, max = POINTS_MAX) {
  const width = Math.max(1, Math.ceil(samples.length / max));
  const bins = new Map();
  for (const sample of samples) {
    const bin = Math.floor(sample.number / width);
    const into = bins.get(bin) ?? {length_ms: 0, operations: {}, errors: {}, throttles: 0, counters: sample.counters.map(() => 0)};
    into.end_ms = sample.end_ms;
    into.length_ms += sample.length_ms;
    for (const [name, buckets] of Object.entries(sample.operations)) into.operations[name] = addTo(into.operations[name] ?? [], buckets);
    for (const [name, n] of Object.entries(sample.errors)) into.errors[name] = (into.errors[name] ?? 0) + n;
    into.throttles += sample.throttles;
    into.counters = into.counters.map((n, i) => n + sample.counters[i]);
    into.gauges = sample.gauges;
    bins.set(bin, into);
  }
  return [...bins.values()];
}

export const rate = (n) => `${n >= 100 || Number.isInteger(n) ? count(Math.round(n)) : n >= 1 ? n.toFixed(1) : Number(n.toPrecision(2))}/s`;
export function milliseconds(ms) {
  if (ms === null) return '–';
  if (ms >= 1000) return `${Number((ms / 1000).toPrecision(3))} s`;
  return ms >= 1 ? `${Number(ms.toPrecision(3))} ms` : `${Number((ms * 1000).toPrecision(3))} µs`;
}
export function duration(seconds) {
  const parts = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  const i = Math.max(0, parts.findIndex(([n]) => seconds >= n));
  const at = seconds < 1 ? parts.length - 1 : i;
  const [n, unit] = parts[at];
  const rest = parts[at + 1] && Math.floor(seconds % n / parts[at + 1][0]);
  return `${Math.floor(seconds / n)} ${unit}${rest ? ` ${rest} ${parts[at + 1][1]}` : ''}`;
}

// ---- The page

export async function showServer(root, _, query) {
  const state = {minutes: SPANS.some(([m]) => m === query.get('minutes')) ? query.get('minutes') : '60', operation: query.get('operation') ?? ALL};
  let history = null;  // the last response, without its samples
  let samples = [];
  const span = select(SPANS, state.minutes);
  const live = checkbox('Follow', true);
  const operation = select([[ALL, 'All operations']], ALL);
  const tiles = h('dl', {class: 'tiles'});
  const table = h('div', {});
  const problem = h('div', {});

  const bytes = {format: size, base: 1024, zero: true};
  const plots = {
    requests: plot({label: 'Requests per second', format: rate, zero: true}),
    latency: plot({label: 'Latency', format: milliseconds, log: true}),
    errors: plot({label: 'Errors per second, by code', format: rate, zero: true}),
    throttles: plot({label: 'Throttled and rejected requests per second', format: rate, zero: true}),
    commits: plot({label: 'Commits and syncs per second', format: rate, zero: true}),
    memory: plot({label: 'Memory and cache', ...bytes}),
    connections: plot({label: 'Connections and queues', format: (n) => count(n), zero: true}),
    disk: plot({label: 'Disk', ...bytes}),
    free: plot({label: 'Free space on the disk', ...bytes}),
    jobs: plot({label: 'Jobs', format: (n) => count(n), zero: true}),
    cpu: plot({label: 'Processor time', format: (n) => `${Number((100 * n).toPrecision(2))}%`, zero: true}),
  };

  const gauge = (sample, name) => sample.gauges[history.gauges.indexOf(name)];
  const counter = (sample, name) => sample.counters[history.counters.indexOf(name)];
  const perSecond = (sample, n) => n * 1000 / sample.length_ms;
  const bucketsOf = (sample, name) => (name === ALL ? Object.values(sample.operations).reduce(addTo, []) : sample.operations[name] ?? []);

  // A series for each of the most frequent names, and one for all others.
  function byName(bins, countsOf) {
    const totals = {};
    for (const bin of bins) for (const [name, n] of Object.entries(countsOf(bin))) totals[name] = (totals[name] ?? 0) + n;
    const names = Object.keys(totals).sort((a, b) => totals[b] - totals[a]);
    const named = names.length > NAMED_MAX + 1 ? names.slice(0, NAMED_MAX) : names;
    const series = named.map((name) => ({name, points: bins.map((bin) => [bin.end_ms, perSecond(bin, countsOf(bin)[name] ?? 0)])}));
    if (named.length < names.length) {
      const others = names.slice(named.length);
      series.push({name: 'Others', points: bins.map((bin) => [bin.end_ms, perSecond(bin, sum(others.map((name) => countsOf(bin)[name] ?? 0)))])});
    }
    return series;
  }

  function draw() {
    const to = samples.at(-1)?.end_ms ?? Date.now();
    const begin = samples.length ? samples[0].end_ms - samples[0].length_ms : to;
    const from = Math.max(to - Number(state.minutes) * MINUTE, Math.min(begin, to - MINUTE));
    const shown = samples.filter((sample) => sample.end_ms > from);
    const bins = merged(shown);
    drawTiles(samples.at(-1));
    drawOperations(shown);
    const set = (name, series) => plots[name].set({from, to, series});
    const gauges = (list) => list.map(([name, key]) => ({name, points: bins.map((bin) => [bin.end_ms, gauge(bin, key)])}));
    const rates = (list) => list.map(([name, of]) => ({name, points: bins.map((bin) => [bin.end_ms, perSecond(bin, of(bin))])}));
    const counted = (bin) => Object.fromEntries(Object.entries(bin.operations).map(([name, buckets]) => [name, sum(buckets)]));
    const requests = byName(bins, counted);
    set('requests', requests.length ? requests : rates([['All operations', () => 0]]));
    const chosen = bins.map((bin) => [bin.end_ms, bucketsOf(bin, state.operation)]);
    set('latency', [['p50', 0.5], ['p99', 0.99], ['p99.9', 0.999]].map(([name, share]) =>
      ({name, points: chosen.map(([t, buckets]) => [t, quantile(buckets, history.bounds_ms, share)])})));
    const errors = byName(bins, (bin) => bin.errors);
    set('errors', errors.length ? errors : rates([['All errors', () => 0]]));
    set('throttles', rates([['Throttled', (bin) => bin.throttles], ['Rejected before an operation', (bin) => counter(bin, 'rejections')]]));
    set('commits', rates([['Commits', (bin) => counter(bin, 'commits')], ['Groups', (bin) => counter(bin, 'commit_groups')], ['Syncs', (bin) => counter(bin, 'syncs')]]));
    set('memory', gauges([['Process', 'resident_bytes'], ['Cache', 'cache_bytes'], ['Write buffers', 'write_buffer_bytes'], ['Requests', 'held_bytes']]));
    set('connections', gauges([['Connections', 'connections'], ['Requests in progress', 'requests_in_progress'], ['Commits in the queue', 'commit_queue'],
      ['Large requests in the queue', 'large_request_queue']]));
    set('disk', gauges([['Table files', 'file_bytes'], ['To be compacted', 'compaction_bytes']]));
    set('free', gauges([['Free space', 'disk_free_bytes']]));
    set('jobs', gauges([['In progress', 'jobs'], ['Failing', 'failing_jobs']]));
    set('cpu', rates([['Of one core', (bin) => counter(bin, 'cpu_seconds')]]));
  }

  function drawTiles(last) {
    if (!last) return tiles.replaceChildren(h('p', {class: 'empty'}, 'The first values appear within five seconds of the start of the server.'));
    const all = bucketsOf(last, ALL);
    const limit = (text, max) => [text, max && h('small', {}, ` of ${max}`)];
    const bytesOf = (name, max) => limit(size(gauge(last, name)), max && gauge(last, max) > 0 ? size(gauge(last, max)) : '');
    const oldest = gauge(last, 'oldest_job_seconds');
    const onDisk = gauge(last, 'disk_free_bytes') > 0;
    const pairs = [
      ['State', gauge(last, 'ready') ? badge('ready', 'good') : badge('not ready', 'bad')],
      ['Requests', rate(perSecond(last, sum(all)))],
      ['p99', milliseconds(quantile(all, history.bounds_ms, 0.99))],
      ['Errors', rate(perSecond(last, sum(Object.values(last.errors))))],
      ['Connections', limit(count(gauge(last, 'connections')), count(gauge(last, 'connections_max')))],
      ['Process', bytesOf('resident_bytes')],
      ['Cache', bytesOf('cache_bytes', 'cache_max_bytes')],
      ['Request memory', bytesOf('held_bytes', 'held_max_bytes')],
      ['Disk', onDisk ? [size(gauge(last, 'file_bytes')), h('small', {}, `, ${size(gauge(last, 'disk_free_bytes'))} free`)] : 'in memory'],
      ['Jobs', [count(gauge(last, 'jobs')), oldest > 0 && h('small', {}, `, the oldest ${duration(oldest)}`)]],
      ['Tables', count(gauge(last, 'tables'))],
      ['Running for', [duration((last.end_ms - history.started_ms) / 1000), history.version && h('small', {}, `, version ${history.version}`)]],
    ];
    return tiles.replaceChildren(...pairs.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))));
  }

  function drawOperations(shown) {
    const totals = {};
    for (const sample of shown) for (const [name, buckets] of Object.entries(sample.operations)) totals[name] = addTo(totals[name] ?? [], buckets);
    const seconds = sum(shown.map((sample) => sample.length_ms)) / 1000;
    const names = Object.keys(totals).sort((a, b) => sum(totals[b]) - sum(totals[a]));
    table.replaceChildren(dataTable('Latency by operation', ['Operation', 'Requests', 'Per second', 'p50', 'p99', 'p99.9'], names.map((name) =>
      [name, count(sum(totals[name])), rate(sum(totals[name]) / seconds), ...[0.5, 0.99, 0.999].map((share) =>
        milliseconds(quantile(totals[name], history.bounds_ms, share)))]), 'No requests in this time.'));
    const options = [ALL, ...new Set([...names, state.operation].filter(Boolean))].sort();
    if (options.join() !== [...operation.options].map((o) => o.value).join()) {
      operation.replaceChildren(...options.map((name) => h('option', {value: name}, name || 'All operations')));
      operation.value = state.operation;
    }
  }

  async function load() {
    try {
      const next = await get('/metrics/history', `after=${samples.at(-1)?.number ?? 0}`);
      const {samples: more, ...rest} = next;
      if (history && history.started_ms !== rest.started_ms) {  // the server was restarted
        samples = [];
        history = null;
        return await load();
      }
      history = rest;
      samples = samples.concat(more).slice(-720);
      problem.replaceChildren();
      draw();
    } catch (error) {
      problem.replaceChildren(errorBox(error));
      throw error;
    }
  }
  function remember() {
    go(href(['server'], {minutes: state.minutes === '60' ? '' : state.minutes, operation: state.operation}), {replace: true, silent: true});
    if (history) draw();
  }
  span.addEventListener('change', () => { state.minutes = span.value; remember(); });
  operation.addEventListener('change', () => { state.operation = operation.value; remember(); });

  const card = (title, name, ...more) => section(title, ...more, plots[name].element);
  root.append(h('div', {class: 'head'}, h('h1', {}, 'Server'), h('div', {class: 'actions'}, live, h('div', {class: 'inline'}, field('Time', span)))), problem, tiles,
    h('div', {class: 'columns'},
      card('Requests', 'requests'),
      card('Latency', 'latency', h('div', {class: 'inline'}, field('Operation', operation))),
      card('Errors', 'errors'), card('Throttles and rejections', 'throttles'), card('Commits', 'commits'), card('Memory and cache', 'memory'),
      card('Connections', 'connections'), card('Disk', 'disk'), card('Free space', 'free'), card('Jobs', 'jobs'), card('Processor', 'cpu')),
    section('Operations', table));
  const stop = poll(async () => { if (live.input.checked) await load(); }, POLL_MS);
  try { await load(); } catch { /* shown in the page */ }
  return () => {
    stop();
    for (const {end} of Object.values(plots)) end();
  };
}
