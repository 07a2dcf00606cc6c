// SPDX-License-Identifier: Apache-2.0
// Plots over time as SVG: lines, steps, bands and marks. The pointer, or the arrow keys, choose a
// point in time, and the legend shows the values at that time. The same values are in a table.
import {count, dataTable, h, newId} from './ui.js';

const SVG = 'http://www.w3.org/2000/svg';
const MARGIN = {left: 62, right: 14, top: 10, bottom: 26};
const COLORS = 6;  // classes c0 to c5 of the style sheet
const ROWS_MAX = 500;  // of the table

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, SECOND, 5 * SECOND, 15 * SECOND, 30 * SECOND, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE, 15 * MINUTE,
  30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 30 * DAY, 91 * DAY, 182 * DAY, 365 * DAY];

function s(tag, properties, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(properties)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// ---- Axes

// Round values that cover a range; `base` 1024 for bytes.
export function niceTicks(low, high, wanted, base = 10) {
  const scale = base === 1024 && high > 0 ? 1024 ** Math.max(0, Math.floor(Math.log(high) / Math.log(1024))) : 1;
  const [a, b] = [low / scale, high / scale];
  const raw = (b - a || Math.abs(a) || 1) / wanted;
  const magnitude = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].find((n) => n * magnitude >= raw * 0.999) * magnitude;
  const ticks = [];
  const first = Math.floor(a / step + 1e-9);
  for (let i = 0; i <= 2 * wanted + 2; i++) {  // limited: a step can be too small for large values
    const tick = (first + i) * step;
    ticks.push(Number(tick.toPrecision(12)) * scale);
    if (tick >= b - step * 1e-9) break;
  }
  return ticks;
}

// Points in time from `from` to `to`, at most `wanted`, at round local times or, with `utc`, at
// round UTC times.
export function timeTicks(from, to, wanted, utc) {
  const step = STEPS.find((n) => (to - from) / n <= wanted) ?? STEPS.at(-1) * Math.ceil((to - from) / STEPS.at(-1) / wanted);
  const shift = utc ? 0 : new Date(from).getTimezoneOffset() * MINUTE;
  const ticks = [];
  for (let t = Math.ceil((from - shift) / step) * step + shift; t <= to; t += step) ticks.push(t);
  return {ticks, step};
}

export function tickText(t, step, utc) {
  const zone = utc ? {timeZone: 'UTC'} : {};
  const date = new Date(t);
  const text = (options) => date.toLocaleString('en-US', {...zone, hourCycle: 'h23', ...options});
  if (step < SECOND) return `${text({minute: '2-digit', second: '2-digit'})}.${String(((t % SECOND) + SECOND) % SECOND).padStart(3, '0')}`;
  if (step < MINUTE) return text({hour: '2-digit', minute: '2-digit', second: '2-digit'});
  if (step >= 30 * DAY) return text({year: 'numeric', month: 'short'});
  const clock = text({hour: '2-digit', minute: '2-digit'});
  return step >= DAY || clock === '00:00' ? text({month: 'short', day: 'numeric'}) : clock;
}

export function timeText(t, utc) {
  if (utc) return new Date(t).toISOString().replace('T', ' ').replace(/\.000Z$|0*Z$/, ' UTC');
  return new Date(t).toLocaleString('en-US', {dateStyle: 'medium', timeStyle: 'medium'});
}

// ---- Points
// A point is [time in ms, value or null, ...]. Points ascend by time.

// The index of the last point up to a time, or -1.
export function lastUpTo(points, t) {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] <= t) low = middle + 1; else high = middle;
  }
  return low - 1;
}

function nearest(points, t) {
  const i = lastUpTo(points, t);
  if (i < 0) return points.length ? 0 : -1;
  return i + 1 < points.length && points[i + 1][0] - t < t - points[i][0] ? i + 1 : i;
}

// A plot. `options`:
//   label     its accessible name
//   format    the text of a value
//   levels    texts of the values 0, 1, ... in place of numbers
//   zero      the axis begins at 0; log: it is logarithmic; base: 1024 for bytes
//   utc       times are in UTC, otherwise local
//   at        the text for the chosen time, in place of the time itself
// `set({from, to, series, marks})` draws. A series is {name, points, step, dots, band}: `step`
// holds each value until the next, `band` has [time, low, high]. Marks are [{name, kind, points}].
export function plot({label, format = String, levels, zero = false, log = false, base = 10, utc = false, height = 220, at: textAt}) {
  let data = {from: 0, to: 1, series: [], marks: []};
  let chosen = null;  // a time
  let width = 0;
  let frame = null;
  const picture = s('svg', {class: 'picture', 'aria-hidden': 'true', height});
  const help = h('span', {class: 'hidden', id: newId('plot')}, 'Left and right arrows move over the values, Escape ends.');
  const box = h('div', {class: 'plotbox', tabindex: '0', role: 'group', 'aria-label': label, 'aria-describedby': help.id}, picture);
  const when = h('span', {class: 'when'});
  const legend = h('ul', {class: 'legend'});
  const spoken = h('span', {class: 'hidden', role: 'status'});
  const values = h('details', {class: 'values'}, h('summary', {}, 'Values as a table'));
  const element = h('div', {class: 'plot'}, box, h('div', {class: 'reading'}, when, legend), help, spoken, values);

  const x = (t) => MARGIN.left + (t - data.from) / (data.to - data.from || 1) * (width - MARGIN.left - MARGIN.right);
  const timeOf = (px) => data.from + (px - MARGIN.left) / (width - MARGIN.left - MARGIN.right) * (data.to - data.from);

  function axis() {
    const bottom = height - MARGIN.bottom;
    const place = (share) => bottom - share * (bottom - MARGIN.top);
    if (levels) {
      const last = Math.max(1, levels.length - 1);
      return {y: (v) => place(0.08 + 0.84 * v / last), ticks: levels.map((_, i) => i), text: (i) => levels[i]};
    }
    const all = data.series.flatMap(({points, band = []}) => [...points.map((p) => p[1]), ...band.flatMap((b) => [b[1], b[2]])])
      .filter((v) => v !== null && Number.isFinite(v) && (!log || v > 0));
    let low = all.reduce((a, b) => Math.min(a, b), all[0] ?? (log ? 1 : 0));
    let high = all.reduce((a, b) => Math.max(a, b), all[0] ?? 1);
    if (log) {
      const a = Math.floor(Math.log10(low));
      const b = Math.max(Math.ceil(Math.log10(high)), a + 1);
      const ticks = Array.from({length: b - a + 1}, (_, i) => 10 ** (a + i));
      return {y: (v) => place(v > 0 ? (Math.log10(v) - a) / (b - a) : 0), ticks, text: format};
    }
    if (zero) low = Math.min(0, low);
    if (zero && high <= 0) high = base === 1024 ? 1024 : 1;
    const ticks = niceTicks(low, high, 4, base);
    [low, high] = [ticks[0], ticks.at(-1)];
    return {y: (v) => place((v - low) / (high - low || 1)), ticks, text: format};
  }

  function lineOf({points, step}, y) {
    let path = '';
    let pen = false;
    let last = 0;
    for (const [t, v] of points) {
      if (v === null || !Number.isFinite(v)) { pen = false; continue; }
      const [px, py] = [x(t).toFixed(1), y(v).toFixed(1)];
      path += !pen ? `M${px} ${py}` : step ? `H${px}V${py}` : `L${px} ${py}`;
      pen = true;
      last = t;
    }
    if (step && pen && last < data.to) path += `H${x(data.to).toFixed(1)}`;
    return path;
  }

  const shapes = {
    dot: (px, py, kind) => s('circle', {class: kind, cx: px, cy: py, r: 3}),
    late: (px, py) => s('path', {class: 'mark late', d: `M${px} ${py - 7}l6.5 11h-13z`}),
    duplicate: (px, py) => s('path', {class: 'mark duplicate', d: `M${px - 5} ${py - 5}h10v10h-10z`}),
    tie: (px, py) => s('path', {class: 'mark tie', d: `M${px} ${py - 7}l7 7l-7 7l-7 -7z`}),
  };

  let y = () => 0;
  const cursor = s('g', {class: 'cursor'});
  function draw() {
    frame = null;
    width = Math.max(240, box.clientWidth);
    picture.setAttribute('width', width);
    picture.setAttribute('viewBox', `0 0 ${width} ${height}`);
    const scale = axis();
    y = scale.y;
    const right = width - MARGIN.right;
    const grid = s('g', {class: 'axis'});
    for (const tick of scale.ticks) {
      grid.append(s('path', {d: `M${MARGIN.left} ${y(tick).toFixed(1)}H${right}`}),
        s('text', {x: MARGIN.left - 8, y: y(tick) + 4, 'text-anchor': 'end'}, shortened(scale.text(tick))));
    }
    const {ticks, step} = timeTicks(data.from, data.to, Math.max(2, Math.floor((width - MARGIN.left) / 84)), utc);
    for (const tick of ticks) {
      const text = tickText(tick, step, utc);
      const anchor = x(tick) + 26 > width ? 'end' : x(tick) - 26 < 0 ? 'start' : 'middle';
      grid.append(s('path', {class: 'tick', d: `M${x(tick).toFixed(1)} ${height - MARGIN.bottom}v5`}),
        s('text', {x: anchor === 'end' ? width - 2 : x(tick), y: height - 6, 'text-anchor': anchor}, text));
    }
    const clip = newId('clip');
    const lines = s('g', {'clip-path': `url(#${clip})`});
    data.series.forEach((series, i) => {
      const color = `c${(series.color ?? i) % COLORS}`;
      if (series.band?.length) {
        const up = series.band.map(([t, , high]) => `${x(t).toFixed(1)} ${y(high).toFixed(1)}`);
        const down = series.band.map(([t, low]) => `${x(t).toFixed(1)} ${y(low).toFixed(1)}`).reverse();
        lines.append(s('path', {class: `band ${color}`, d: `M${[...up, ...down].join('L')}Z`}));
      }
      lines.append(s('path', {class: `line ${color}`, d: lineOf(series, y)}));
      const visible = series.points.filter(([, v]) => v !== null);
      if (series.dots || visible.length === 1) {
        if (visible.length <= 400) for (const [t, v] of visible) lines.append(shapes.dot(x(t), y(v), `dot ${color}`));
      }
    });
    for (const {kind, points} of data.marks ?? []) for (const [t, v] of points) lines.append(shapes[kind](x(t), y(v)));
    picture.replaceChildren(s('defs', {}, s('clipPath', {id: clip}, s('rect', {x: MARGIN.left - 8, y: 0, width: right - MARGIN.left + 16, height}))), grid, lines, cursor);
    showChosen();
  }
  const later = () => { frame ??= requestAnimationFrame(draw); };

  const shownOf = ({points, step}, t) => {
    const point = points[step ? lastUpTo(points, t) : nearest(points, t)];
    return point && point[1] !== null ? point : undefined;
  };
  const textOf = (v) => (levels ? levels[v] : format(v));

  // Shows the values at the chosen time, or at the end.
  function showChosen() {
    const t = chosen ?? data.to;
    cursor.replaceChildren();
    let time = t;
    if (chosen !== null && !data.series.some(({step}) => step)) {
      const first = data.series.map((series) => shownOf(series, t)).find(Boolean);
      if (first) time = first[0];
    }
    when.textContent = chosen === null ? '' : textAt ? textAt(time) : timeText(time, utc);
    legend.replaceChildren(...data.series.map((series, i) => {
      const point = shownOf(series, time);
      const color = `c${(series.color ?? i) % COLORS}`;
      if (chosen !== null && point) cursor.append(s('circle', {class: `dot ${color}`, cx: x(series.step ? time : point[0]), cy: y(point[1]), r: 4}));
      return h('li', {}, s('svg', {class: 'swatch', width: 22, height: 8, 'aria-hidden': 'true'}, s('path', {class: `line ${color}`, d: 'M0 4H22'})),
        h('span', {}, series.name), point && h('strong', {}, series.text ? series.text(point) : textOf(point[1])));
    }), ...(data.marks ?? []).map(({name, kind, points}) =>
      h('li', {}, s('svg', {class: 'swatch', width: 16, height: 16, 'aria-hidden': 'true'}, shapes[kind](8, 9)), h('span', {}, name), h('strong', {}, count(points.length)))));
    if (chosen !== null) cursor.prepend(s('path', {class: 'rule', d: `M${x(time).toFixed(1)} ${MARGIN.top}V${height - MARGIN.bottom}`}));
  }

  box.addEventListener('pointermove', (event) => {
    const px = event.clientX - box.getBoundingClientRect().left;
    chosen = Math.min(data.to, Math.max(data.from, timeOf(px)));
    showChosen();
  });
  box.addEventListener('pointerleave', () => { chosen = null; showChosen(); });
  box.addEventListener('blur', () => { chosen = null; showChosen(); });
  box.addEventListener('keydown', (event) => {
    const times = [...new Set(data.series.flatMap(({points}) => points.filter(([t]) => t >= data.from && t <= data.to).map((p) => p[0])))].sort((a, b) => a - b);
    if (event.key === 'Escape') chosen = null;
    else if (!times.length || !['ArrowLeft', 'ArrowRight', 'Home', 'End'].includes(event.key)) return;
    else {
      const i = chosen === null ? -1 : lastUpTo(times.map((t) => [t]), chosen);
      const moved = {ArrowLeft: chosen === null ? times.length - 1 : times[i] < chosen ? i : i - 1, ArrowRight: i + 1, Home: 0, End: times.length - 1}[event.key];
      chosen = times[Math.min(times.length - 1, Math.max(0, moved))];
    }
    event.preventDefault();
    showChosen();
    spoken.textContent = chosen === null ? '' : `${when.textContent}: ${[...legend.children].map((e) => [...e.children].map((c) => c.textContent).join(' ').trim()).join(', ')}`;
  });

  // The table has a row per time, the newest first.
  function fillTable() {
    if (!values.open) return;
    const times = [...new Set(data.series.flatMap(({points}) => points.map((p) => p[0])))].sort((a, b) => b - a);
    const maps = data.series.map(({points}) => new Map(points.map((p) => [p[0], p])));
    const rows = times.slice(0, ROWS_MAX).map((t) => [timeText(t, utc), ...data.series.map((series, i) => {
      const point = maps[i].get(t);
      return point && point[1] !== null ? (series.text ? series.text(point) : textOf(point[1])) : '–';
    })]);
    values.replaceChildren(values.firstChild, times.length > ROWS_MAX && h('p', {class: 'quiet'}, `The newest ${ROWS_MAX} of ${count(times.length)} rows.`) || '',
      dataTable(`Values of ${label}`, ['Time', ...data.series.map(({name}) => name)], rows));
  }
  values.addEventListener('toggle', fillTable);

  const observer = new ResizeObserver(later);
  observer.observe(box);
  return {
    element,
    set(next) {
      data = next;
      later();
      fillTable();
    },
    end: () => observer.disconnect(),
  };
}

const shortened = (text) => (text.length > 9 ? `${text.slice(0, 8)}…` : text);
