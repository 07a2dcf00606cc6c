// SPDX-License-Identifier: Apache-2.0
// The Stream tab: follows the changes of a table, with the difference of the two images.
import {call} from './api.js';
import {shortText, sameValue} from './values.js';
import {go, href} from './router.js';
import {badge, button, checkbox, count, errorText, field, h, input, poll, select} from './ui.js';

const SHOWN_MAX = 200;
const POLL_MS = 700;
const SHARDS_MS = 15000;
const HOUR_S = 3600;
// by the value in the URL; others: LATEST
const STARTS = {__proto__: null, start: 'TRIM_HORIZON', hour: 'AT_TIMESTAMP'};
const KINDS = {INSERT: ['added', 'good'], MODIFY: ['changed', 'busy'], REMOVE: ['removed', 'bad']};

// The attributes in which two images differ: [{name, before, after}].
export function difference(before = {}, after = {}) {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => !sameValue(before[name], after[name]))
    .map((name) => ({name, before: before[name], after: after[name]}));
}

const shown = (value) => (value ? [h('small', {}, Object.keys(value)[0]), ' ', shortText(value, 2000)] : '');

function changeOf({dynamodb: change, eventName, userIdentity}) {
  const [text, kind] = KINDS[eventName];
  const keys = Object.entries(change.Keys).map(([name, value]) => `${name} = ${shortText(value)}`).join(', ');
  const lines = difference(change.OldImage, change.NewImage).filter(({name}) => eventName === 'MODIFY' || !(name in change.Keys));
  const images = change.OldImage || change.NewImage;
  return h('li', {class: 'change'},
    h('header', {}, badge(text, kind), h('strong', {}, keys),
      h('small', {}, new Date(change.ApproximateCreationDateTime * 1000).toLocaleTimeString('en-US')),
      userIdentity && badge('expired by TTL')),
    images && lines.length > 0 && h('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Changes of ${keys}`}, h('table', {class: 'data'},
      h('thead', {}, h('tr', {}, ['Attribute', 'Before', 'After'].map((c) => h('th', {scope: 'col'}, c)))),
      h('tbody', {}, lines.map(({name, before, after}) => h('tr', {}, h('th', {scope: 'row'}, name),
        h('td', {class: before ? 'removed' : ''}, shown(before)), h('td', {class: after ? 'added' : ''}, shown(after))))))));
}

export function showStream(panel, table, query) {
  const arn = table.LatestStreamArn;
  if (!arn || !table.StreamSpecification?.StreamEnabled) {
    panel.append(h('p', {class: 'empty'}, 'The table has no stream. ', h('a', {href: href(['tables', table.TableName, 'overview'])}, 'Turn it on in the overview.')));
    return undefined;
  }
  // By id: {iterator, type, last}. The iterator is null if the shard has been read to its end; `last` is the
  // sequence number of the last record that was read.
  const shards = new Map();
  let looked = false;  // whether all shards were listed since the position was chosen
  let paused = false;
  let total = 0;
  let from = STARTS[query.get('from')] ?? 'LATEST';
  let since = Date.now() / 1000 - HOUR_S;
  let epoch = 0;  // increases with each new start position
  let nextLook = 0;
  let reading = false;
  const list = h('ul', {class: 'changes'});
  const facts = h('span', {class: 'facts-line', role: 'status'});
  const filter = input('', {type: 'search', 'aria-label': 'Filter changes', placeholder: 'Filter by text'});
  const position = select([['LATEST', 'Changes from now on'], ['AT_TIMESTAMP', 'Changes of the last hour'],
    ['TRIM_HORIZON', 'All changes of the last day']], from);
  const live = checkbox('Follow', true, {onchange: () => { paused = !live.input.checked; tell(); }});
  const nothing = h('p', {class: 'empty'}, 'No changes yet. They appear here as they happen.');

  const tell = (error) => {
    facts.textContent = error ? errorText(error) : `${paused ? 'Paused' : 'Following'} ${shards.size} shards · ${count(total)} changes` +
      (total > SHOWN_MAX ? ` · the last ${SHOWN_MAX} are shown` : '');
  };
  const apply = () => {
    const text = filter.value.toLowerCase();
    for (const item of list.children) item.hidden = !item.textContent.toLowerCase().includes(text);
    nothing.hidden = list.childElementCount > 0;
  };

  // Opens new shards. Shards that appear after the first call contain only new records.
  async function look(mine) {
    let last;
    do {
      const {StreamDescription: description} = await call('DescribeStream', {StreamArn: arn, ExclusiveStartShardId: last});
      for (const {ShardId, SequenceNumberRange: range} of description.Shards) {
        if (shards.has(ShardId)) continue;
        if (range.EndingSequenceNumber && from === 'LATEST' && !looked) continue;
        const type = looked ? 'TRIM_HORIZON' : from;
        const start = {ShardIteratorType: type, Timestamp: type === 'AT_TIMESTAMP' ? since : undefined};
        const {ShardIterator} = await call('GetShardIterator', {StreamArn: arn, ShardId, ...start});
        if (mine !== epoch) return;
        shards.set(ShardId, {iterator: ShardIterator, start, last: undefined});
      }
      last = description.LastEvaluatedShardId;
    } while (last);
    if (mine !== epoch) return;
    looked = true;
    nextLook = performance.now() + SHARDS_MS;
  }

  async function read() {
    if (paused || reading) return;
    reading = true;
    const mine = epoch;
    let failure;
    try {
      if (performance.now() >= nextLook) await look(mine);
      const records = [];
      await Promise.all([...shards].map(async ([ShardId, shard]) => {
        if (!shard.iterator) return;
        try {
          const page = await call('GetRecords', {ShardIterator: shard.iterator, Limit: 500});
          if (mine !== epoch) return;
          shard.iterator = page.NextShardIterator ?? null;
          shard.last = page.Records.at(-1)?.dynamodb.SequenceNumber ?? shard.last;
          if (!page.NextShardIterator) nextLook = 0;  // it has successors
          records.push(...page.Records);
        } catch (error) {
          failure = error;  // records of other shards are shown nevertheless
          if (!/^(ExpiredIterator|TrimmedDataAccess)Exception$/.test(error.name) || mine !== epoch) return;
          // An iterator expires during a long pause; records are deleted after a day.
          const place = error.name === 'TrimmedDataAccessException' ? {ShardIteratorType: 'TRIM_HORIZON'} :
            shard.last ? {ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: shard.last} : shard.start;
          const {ShardIterator} = await call('GetShardIterator', {StreamArn: arn, ShardId, ...place}).catch((again) => {
            failure = again;
            return {};
          });
          if (mine !== epoch || !ShardIterator) return;
          shard.iterator = ShardIterator;
          failure = undefined;
        }
      }));
      if (mine !== epoch) return;
      total += records.length;
      records.sort((a, b) => (BigInt(a.dynamodb.SequenceNumber) < BigInt(b.dynamodb.SequenceNumber) ? -1 : 1));
      list.prepend(...records.slice(-SHOWN_MAX).map(changeOf).reverse());
      while (list.childElementCount > SHOWN_MAX) list.lastChild.remove();
      apply();
      tell(failure);
    } catch (error) { tell(error); } finally { reading = false; }
  }

  function restart() {
    epoch++;
    from = position.value;
    since = Date.now() / 1000 - HOUR_S;
    shards.clear();
    looked = false;
    nextLook = 0;
    total = 0;
    list.replaceChildren();
    apply();
    return read();
  }
  filter.addEventListener('input', apply);
  position.addEventListener('change', () => {
    go(href(['tables', table.TableName, 'stream'], {from: Object.keys(STARTS).find((name) => STARTS[name] === position.value) ?? ''}), {replace: true, silent: true});
    restart();
  });
  const clear = button('Clear', () => { list.replaceChildren(); apply(); });
  panel.append(h('div', {class: 'head'}, h('h2', {}, `Stream of ${table.StreamSpecification.StreamViewType.toLowerCase().replaceAll('_', ' ')}`),
    h('div', {class: 'actions'}, live, filter, clear)), field('Start with', position), h('div', {class: 'result'}, facts), nothing, list);
  read();
  return poll(read, POLL_MS);
}
