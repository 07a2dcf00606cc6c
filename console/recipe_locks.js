// SPDX-License-Identifier: Apache-2.0
// Locks: their holders, the queue, the remaining time of each lease, and breaking them.
import {call} from './api.js';
import {escapePart, keysOf, numberIn, textIn, unescapePart} from './recipe_items.js';
import {badge, button, checkbox, confirmDialog, count, dataTable, errorText, formOf, h, input, plural, poll, run, say, section} from './ui.js';

const POLL_MS = 1000;
const PAGE = 500;  // items per page of the table
const BREAKS_MAX = 50;  // holders that one request removes
const PERMITS_MAX = 1000;
const LEASE_MAX_MS = 24 * 3600000;
const SORT = 'LOCK';

// ---- Items

// Entries of a kind, sorted by number: {id, number, beat, lease, since, renewed, user}.
function entriesOf(item, map, number) {
  return Object.keys(item).filter((name) => name.startsWith(map)).map((name) => {
    const id = name.slice(map.length);
    const entry = item[name].M ?? {};
    const since = Date.parse(textIn(entry, 'since') ?? '');
    return {
      id, number: numberIn(item, number + id), numberText: item[number + id]?.N, beat: entry.beat?.N, lease: Math.min(numberIn(entry, 'lease_ms') ?? 0, LEASE_MAX_MS),
      since: textIn(entry, 'since'), renewed: numberIn(entry, 'renewed_ms') ?? since, user: textIn(entry, 'user'),
    };
  }).sort((a, b) => a.number - b.number);
}

// The lock in an item: {key, name, permits, fence, broken, released, holders, waiters}. Null if the
// item is not a lock.
export function lockOf(item, {pk}, prefix) {
  const key = textIn(item, pk);
  const [permits, fence] = [numberIn(item, 'permits'), numberIn(item, 'fence')];
  if (!key?.startsWith(prefix) || !(permits >= 1 && permits <= PERMITS_MAX) || fence === undefined || item.held?.N === undefined) return null;
  return {
    key, name: unescapePart(key.slice(prefix.length)) ?? key, permits, fence, fenceText: item.fence.N,
    broken: item.broken?.N, released: item.released?.N,
    holders: entriesOf(item, 'holder:', 'fence:'), waiters: entriesOf(item, 'waiter:', 'place:'),
  };
}

// The UpdateItem that takes a lock from holders, as `stator lock break` does. It applies only if
// the holders have not changed since the lock was read.
export function breakRequest(TableName, {pk, sk}, lock, holders) {
  const names = {};
  const removed = [];
  const conditions = ['fence = :seen'];
  const values = {':seen': {N: lock.fenceText}, ':next': {N: String(BigInt(lock.fenceText) + 1n)}, ':gone': {N: String(holders.length)}};
  holders.forEach(({id, numberText}, i) => {
    names[`#f${i}`] = `fence:${id}`;
    names[`#h${i}`] = `holder:${id}`;
    values[`:f${i}`] = {N: numberText};
    removed.push(`#f${i}`, `#h${i}`);
    conditions.push(`#f${i} = :f${i}`);
  });
  return {
    TableName, Key: {[pk]: {S: lock.key}, ...sk && {[sk]: {S: SORT}}},
    UpdateExpression: `SET fence = :next, broken = :next, held = held - :gone REMOVE ${removed.join(', ')}`,
    ConditionExpression: conditions.join(' AND '), ExpressionAttributeNames: names, ExpressionAttributeValues: values,
  };
}

// ---- Leases

// The time without a renewal after which an observer may take over: the lease, and a margin for clocks.
export const takeoverAfter = (lease) => lease * 1.002 + 10;

// The text of a lease. `seen.at` is the time when this page first saw the entry in this state.
// `seen.renewal` is true if the page observed that renewal. Times are in ms; `wall` is compared
// with the holder's wall clock.
export function leaseState(entry, seen, now, wall) {
  const unchanged = now - seen.at;
  if (unchanged >= takeoverAfter(entry.lease)) return {left: 0, text: 'expired', kind: 'bad'};
  const left = seen.renewal ? entry.lease - unchanged : Number.isFinite(entry.renewed) ? Math.min(entry.lease, entry.renewed + entry.lease - wall) : NaN;
  if (Number.isNaN(left)) return {left: 0, text: 'unknown', kind: ''};
  return left > 0 ? {left, text: `${(left / 1000).toFixed(left < 10000 ? 1 : 0)} s`, kind: ''} : {left: 0, text: 'overdue', kind: 'busy'};
}

// ---- The page

export async function showLocks(panel, table, {query, prefix, remember}) {
  const TableName = table.TableName;
  const keys = keysOf(table);
  const seen = new Map();  // by lock and entry: {number, beat, at, renewal}
  const cards = new Map();  // by key: {element, draw}
  let locks = [];
  let pages = 1;
  let all = query.get('all') === '1';
  let filter = query.get('name') ?? '';
  const list = h('div', {class: 'columns'});
  const nothing = h('p', {class: 'empty'});
  const facts = h('span', {class: 'facts-line', role: 'status'});
  const more = button('Load more locks', () => run(more, async () => { pages++; await load(); }), {hidden: true});
  const name = input(filter, {type: 'search', 'aria-label': 'Name of a lock', placeholder: 'Name of a lock'});
  const free = checkbox('Free locks too', all);
  const live = checkbox('Follow', true);
  const keep = () => remember({all: all ? '1' : '', name: filter});

  function note(lock) {
    const now = performance.now();
    for (const entry of [...lock.holders, ...lock.waiters]) {
      const key = `${lock.key} ${entry.id}`;
      const known = seen.get(key);
      if (known?.number === entry.number && known.beat === entry.beat) continue;
      seen.set(key, {number: entry.number, beat: entry.beat, at: now, renewal: known?.number === entry.number});
    }
  }

  async function load() {
    const found = [];
    let last;
    if (filter) {
      const {Item} = await call('GetItem', {TableName, Key: {[keys.pk]: {S: prefix + escapePart(filter)}, ...keys.sk && {[keys.sk]: {S: SORT}}}, ConsistentRead: true});
      if (Item) found.push(Item);
    } else {
      for (let i = 0; i < pages && (i === 0 || last); i++) {
        const page = await call('Scan', {TableName, Limit: PAGE, ExclusiveStartKey: last, ConsistentRead: true,
          FilterExpression: all ? 'attribute_type(fence, :n)' : 'attribute_type(fence, :n) AND (held > :zero OR waiting > :zero)',
          ExpressionAttributeValues: {':n': {S: 'N'}, ...!all && {':zero': {N: '0'}}}});
        found.push(...page.Items);
        last = page.LastEvaluatedKey;
      }
    }
    locks = found.map((item) => lockOf(item, keys, prefix)).filter(Boolean).sort((a, b) => a.name.localeCompare(b.name, undefined, {numeric: true}));
    locks.forEach(note);
    more.hidden = !last;
    draw(Boolean(last));
  }

  function draw(cut) {
    for (const [key, card] of cards) {
      if (!locks.some((lock) => lock.key === key)) { card.element.remove(); cards.delete(key); }
    }
    locks.forEach((lock, i) => {
      if (!cards.has(lock.key)) cards.set(lock.key, cardOf(lock));
      const card = cards.get(lock.key);
      card.draw(lock);
      if (list.children[i] !== card.element) list.insertBefore(card.element, list.children[i] ?? null);
    });
    nothing.hidden = locks.length > 0;
    nothing.textContent = filter ? `No lock ${filter} was ever held.` : cut ? 'None yet in what was read.' : all ? 'No lock was ever held.' : 'No lock is held.';
    facts.textContent = `${plural(locks.length, 'lock')}${cut ? ', more may follow' : ''}`;
  }

  // Keeps the elements of a lock while only its numbers change, so that the focus stays.
  function cardOf(first) {
    let lock = first;
    let shape = '';
    const leases = [];  // {entry, cell, bar}
    const summary = h('p', {class: 'result'});
    const holders = h('div', {});
    const waiters = h('div', {});
    const takeAll = button('Break the lock', () => take(takeAll, lock.holders), {class: 'danger'});
    const element = section(first.name, summary, holders, waiters, h('div', {class: 'actions start'}, takeAll));

    const timed = (entry) => {
      const bar = h('progress', {max: entry.lease, 'aria-label': `Lease of ${entry.user ?? entry.id}`});
      const text = h('span', {});
      leases.push({entry, text, bar});
      return h('div', {class: 'lease'}, text, bar);
    };
    function tick() {
      const [now, wall] = [performance.now(), Date.now()];
      for (const {entry, text, bar} of leases) {
        const state = leaseState(entry, seen.get(`${lock.key} ${entry.id}`), now, wall);
        bar.value = state.left;
        text.replaceChildren(state.kind ? badge(state.text, state.kind) : state.text);
      }
    }
    const who = (entry) => h('span', {}, entry.user ?? '–', ' ', h('small', {class: 'mono'}, entry.id));
    async function take(control, chosen) {
      const target = lock;
      const whom = chosen.length === 1 ? (chosen[0].user ?? chosen[0].id) : plural(chosen.length, 'holder');
      const done = await confirmDialog(`Break ${target.name}`, `${target.name} is taken from ${whom}. A holder that is still working ` +
        'notices at its next renewal; what it writes through commit, or to something that checks fences, is refused.', 'Break the lock', async () => {
        for (let at = target; ;) {
          const part = chosen.filter(({id}) => at.holders.some((e) => e.id === id)).slice(0, BREAKS_MAX);
          if (!part.length) return;
          try {
            await call('UpdateItem', breakRequest(TableName, keys, at, part));
          } catch (error) {
            if (error.name !== 'ConditionalCheckFailedException') throw error;
            throw new Error('The lock has changed since it was shown. Close this, and look again.');
          }
          if (part.length < BREAKS_MAX) return;
          at = {...at, fence: at.fence + 1, fenceText: String(BigInt(at.fenceText) + 1n), holders: at.holders.filter((e) => !part.includes(e))};
        }
      });
      if (done) say(`${target.name} is broken.`);
      await load().catch(() => {});
      if (!element.isConnected || takeAll.hidden) free.input.focus();
      else if (!control.isConnected) takeAll.focus();
    }
    return {
      element, tick,
      draw(next) {
        lock = next;
        summary.replaceChildren(badge(lock.holders.length ? `${lock.holders.length} of ${count(lock.permits)} held` : 'free', lock.holders.length ? 'busy' : 'good'),
          ` fence ${lock.fenceText}`, lock.broken === undefined ? '' : `, broken with fence ${lock.broken}`);
        takeAll.hidden = !lock.holders.length;
        // The tables are rebuilt only if holders or waiters were added or removed.
        const now = JSON.stringify([...lock.holders, ...lock.waiters].map((e) => [e.id, e.number, e.lease]));
        if (now !== shape) {
          shape = now;
          leases.length = 0;
          holders.replaceChildren(lock.holders.length ? dataTable(`Holders of ${lock.name}`, ['Holder', 'Fence', 'Since', 'Lease left', ''], lock.holders.map((entry) => {
            const one = button('Break', () => take(one, [entry]), {'aria-label': `Break the lease of ${entry.user ?? entry.id}`});
            return [who(entry), String(entry.number), entry.since ?? '–', timed(entry), lock.holders.length > 1 ? one : ''];
          })) : '');
          waiters.replaceChildren(lock.waiters.length ? dataTable(`Queue of ${lock.name}`, ['In the queue', 'Position', 'Since', 'Lease left'],
            lock.waiters.map((entry) => [who(entry), String(entry.number), entry.since ?? '–', timed(entry)])) : '');
        } else {
          const current = new Map([...lock.holders, ...lock.waiters].map((e) => [e.id, e]));
          for (const lease of leases) lease.entry = current.get(lease.entry.id);
        }
        tick();
      },
    };
  }

  free.input.addEventListener('change', () => { all = free.input.checked; keep(); run(null, load); });
  panel.append(
    h('div', {class: 'head'}, formOf(() => { filter = name.value.trim(); keep(); run(null, load); }, h('div', {class: 'actions start'}, name, h('button', {type: 'submit'}, 'Show'))),
      h('div', {class: 'actions'}, live, free)),
    h('p', {class: 'quiet'}, 'The remaining time depends on the clocks of the holder and the browser until this page sees a renewal; then only on the browser. ' +
      'Expired: this page saw no renewal for the whole lease, and another process may take over. Only processes that wait in the queue (--fifo) are recorded.'),
    nothing, list, h('div', {class: 'result'}, facts, more));
  await load();
  let failed = false;
  const stop = poll(async () => {
    if (live.input.checked) {
      try { await load(); failed = false; } catch (error) {
        if (!failed) say(errorText(error), 'error');
        failed = true;
        throw error;
      }
    }
  }, POLL_MS);
  const ticking = setInterval(() => { for (const card of cards.values()) card.tick(); }, 200);
  return () => { stop(); clearInterval(ticking); };
}
