// SPDX-License-Identifier: Apache-2.0
// A feed as its reader sees it, with followers and the state of delivery.
import {call, describe, inParallel} from './api.js';
import {indexNamed, isFollowers, keysOf, numberIn, textIn} from './recipe_items.js';
import {badge, button, count, dataTable, errorBox, field, formOf, h, input, plural, run, section} from './ui.js';

const MERGED = 'MERGED#';
const FORMER = 'FORMER#';
const PAGE = 20;  // posts per page
const USERS = 100;  // followers per page
const AUTHORS_MAX = 5000;  // names read from the list of merged authors
const FOLLOWED_MAX = 5000;  // names read from the authors that a user follows
const MERGED_MAX = 100;  // partitions merged into one feed
const WIDTH = 4;  // partitions read at a time
const SCANNED = 500;  // items per page of the table
const MAX_TICKS = 9223372036854775807n;  // the newest-first layout counts down from here

// ---- Order and time

const numberParts = (text) => {
  const [whole, fraction = ''] = text.split('.');
  return [BigInt(whole), fraction];
};
// Whether the range key `a` is of a newer post than `b`.
export function isNewer(a, b) {
  if (a.S !== undefined) return a.S > b.S;
  const [[x, xs], [y, ys]] = [numberParts(a.N), numberParts(b.N)];
  if (x !== y) return x < y;
  const width = Math.max(xs.length, ys.length);
  return xs.padEnd(width, '0') < ys.padEnd(width, '0');
}

// The time of a range key, in RFC 3339 to the microsecond; empty for a key of another form.
export function timeOfPost(key) {
  let us;
  if (key.S !== undefined) us = /^\d{18}#/.test(key.S) ? BigInt(key.S.slice(0, 18)) : undefined;
  else if (/^\d{1,19}(\.\d+)?$/.test(key.N)) us = (MAX_TICKS - numberParts(key.N)[0]) / 1000n;
  if (us === undefined || us < 0n) return '';
  const date = new Date(Number(us / 1000000n) * 1000);
  const fraction = String(us % 1000000n).padStart(6, '0').replace(/0+$/, '');
  return Number.isNaN(date.getTime()) ? '' : `${date.toISOString().slice(0, -5)}${fraction && `.${fraction}`}Z`;
}

// Merges the next posts of sorted partitions, without duplicates: {posts, more}.
export function mergePosts(parts, rk, wanted) {
  const all = parts.flat().sort((a, b) => (isNewer(a[rk], b[rk]) ? -1 : isNewer(b[rk], a[rk]) ? 1 : 0));
  const posts = all.filter((item, i) => i === 0 || isNewer(all[i - 1][rk], item[rk]));
  return {posts: posts.slice(0, wanted), more: posts.length > wanted};
}

// ---- Delivery

// The state of delivery in an author's own item: [text, kind].
export function deliveryOf(item, now) {
  if (item.outbox === undefined) return item.spread?.S === 'merged' ? ['merged when read', 'good'] : ['delivered', 'good'];
  const claimed = numberIn(item, 'claim_until') > now;
  const cursor = textIn(item, 'outbox_cursor');
  const far = cursor === undefined ? '' : `, up to ${cursor}`;
  const what = item.retracted ? 'retraction ' : item.edits ? 'edit ' : '';
  return claimed ? [`${what}in delivery by ${textIn(item, 'claim') ?? '?'}${far}`, 'busy'] : [`${what}waits for a worker${far}`, 'busy'];
}

// ---- The page

export async function showFeeds(panel, table, {query, prefix, linkTo, remember}) {
  const TableName = table.TableName;
  const {pk, sk: rk} = keysOf(table);
  const numbers = table.AttributeDefinitions.find((a) => a.AttributeName === rk)?.AttributeType === 'N';
  const state = {user: query.get('user') ?? '', followers: query.get('followers') ?? ''};
  const keep = () => remember(state);
  const followersName = () => state.followers || 'Followers';
  let turn = 0;

  const linkUser = (user) => h('a', {
    href: linkTo({...state, user}), 'aria-current': user === state.user ? 'true' : undefined,
    onclick: (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      choose(user);
    },
  }, user);

  // ---- The list of readers
  const users = new Set();
  let start;
  const list = h('nav', {class: 'tree', 'aria-label': 'Readers'});
  const facts = h('span', {class: 'facts-line', role: 'status'});
  const more = button('Look for more readers', () => run(more, load), {hidden: true});
  const known = input('', {placeholder: 'User id'});
  function drawList() {
    list.replaceChildren(users.size ? h('ul', {}, [...users].sort((a, b) => a.localeCompare(b, undefined, {numeric: true})).map((user) => h('li', {}, linkUser(user)))) :
      h('p', {class: 'empty'}, start ? 'None yet in what was read.' : 'No posts.'));
    facts.textContent = `${plural(users.size, 'reader')}${start ? ', more may follow' : ''}`;
  }
  async function load() {
    const page = await call('Scan', {TableName, Limit: SCANNED, ExclusiveStartKey: start, ProjectionExpression: '#p', FilterExpression: 'attribute_exists(author)',
      ExpressionAttributeNames: {'#p': pk}});
    for (const item of page.Items) {
      const key = textIn(item, pk);
      if (key.startsWith(prefix) && !key.startsWith(prefix + MERGED)) users.add(key.slice(prefix.length));
    }
    start = page.LastEvaluatedKey;
    more.hidden = !start;
    drawList();
  }
  function choose(user) {
    state.user = user;
    keep();
    drawList();
    return drawFeed();
  }

  // ---- Posts that wait for delivery
  const outbox = indexNamed(table, 'Outbox');
  const waiting = h('div', {});
  async function drawWaiting() {
    if (!outbox) {
      return waiting.replaceChildren(h('p', {class: 'quiet'}, 'The table has no index of posts that wait; the state of each post is shown in its author\'s feed.'));
    }
    const page = await call('Scan', {TableName, IndexName: outbox.IndexName, Limit: 50});
    const items = await Promise.all(page.Items.map(async (item) => (item.author ? item :
      (await call('GetItem', {TableName, Key: {[pk]: item[pk], [rk]: item[rk]}, ConsistentRead: true})).Item)));
    const rows = items.filter((item) => item?.outbox).map((item) => [linkUser(textIn(item, 'author') ?? '?'), timeOfPost(item[rk]), badge(...deliveryOf(item, Date.now()))]);
    return waiting.replaceChildren(dataTable('Posts that wait for delivery', ['Author', 'Post of', 'State'], rows, 'Nothing waits.'),
      page.LastEvaluatedKey ? h('p', {class: 'quiet'}, `The first ${rows.length}; more wait.`) : '');
  }

  // ---- One feed
  const feed = h('div', {class: 'panel'});

  // Up to `most` names from the pages of a query: {names, more}.
  async function namesIn(query, namesOf, most) {
    const names = [];
    let last;
    do {
      const page = await call('Query', {...query, ExclusiveStartKey: last});
      for (const item of page.Items) names.push(...namesOf(item));
      last = page.LastEvaluatedKey;
    } while (last && names.length < most);
    return {names: names.slice(0, most), more: Boolean(last) || names.length > most};
  }

  // The followed authors of a user whose posts are merged when the feed is read: {names, more}.
  async function mergedFollowed(user, relations) {
    const authors = await namesIn({TableName, KeyConditionExpression: '#p = :p', ExpressionAttributeNames: {'#p': pk},
      ExpressionAttributeValues: {':p': {S: prefix + MERGED}}}, (item) => item.authors?.SS ?? [], AUTHORS_MAX);
    if (!authors.names.length || !relations || !indexNamed(relations, 'Following')) return {names: [], more: false};
    const followed = await namesIn({TableName: relations.TableName, IndexName: 'Following', KeyConditionExpression: 'follower = :u',
      ExpressionAttributeValues: {':u': {S: user}}}, (item) => [textIn(item, 'author')], FOLLOWED_MAX);
    const merged = new Set(authors.names);
    const names = followed.names.filter((author) => merged.has(author) && author !== user);
    return {names: names.slice(0, MERGED_MAX), more: authors.more || followed.more || names.length > MERGED_MAX};
  }

  // At least `wanted` posts of a partition after a range key, if that many exist.
  async function postsIn(partition, after, wanted) {
    const posts = [];
    let ExclusiveStartKey = after && {[pk]: {S: partition}, [rk]: after};
    do {
      const page = await call('Query', {TableName, ConsistentRead: true, ScanIndexForward: numbers, Limit: Math.max(wanted, 50), ExclusiveStartKey,
        KeyConditionExpression: '#p = :p', FilterExpression: 'attribute_not_exists(retracted)', ExpressionAttributeNames: {'#p': pk}, ExpressionAttributeValues: {':p': {S: partition}}});
      posts.push(...page.Items);
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey && posts.length < wanted);
    return posts;
  }

  function postOf(item, user) {
    const author = textIn(item, 'author') ?? '?';
    const own = author === user && textIn(item, pk) === prefix + user;
    const edits = numberIn(item, 'edits');
    return h('li', {class: 'change post'},
      h('header', {}, linkUser(author), h('small', {}, timeOfPost(item[rk])), edits && badge(`edited ${plural(edits, 'time')}`),
        textIn(item, pk).startsWith(prefix + MERGED) && badge('merged'), own && badge(...deliveryOf(item, Date.now()))),
      h('p', {}, textIn(item, 'content') ?? ''));
  }

  async function relationsOf() {
    try {
      const relations = await describe(followersName());
      return isFollowers(relations) ? relations : null;
    } catch (error) {
      if (error.name === 'ResourceNotFoundException') return null;
      throw error;
    }
  }

  async function drawFeed() {
    const mine = ++turn;
    const user = state.user;
    if (!user) return feed.replaceChildren(h('p', {class: 'empty'}, 'Choose a reader to see the feed.'));
    feed.replaceChildren(h('p', {class: 'empty'}, 'Loading…'));
    try {
      const relations = await relationsOf();
      const merged = await mergedFollowed(user, relations);
      const partitions = [prefix + user, ...merged.names.map((author) => prefix + MERGED + author)];
      const posts = h('ul', {class: 'changes', 'aria-label': `Posts of ${user}'s feed`});
      const older = button('Older posts', () => run(older, next), {hidden: true});
      const shown = h('span', {class: 'facts-line', role: 'status'});
      let after;
      async function next() {
        const parts = [];
        await inParallel([...partitions.keys()], WIDTH, async (i) => { parts[i] = await postsIn(partitions[i], after, PAGE + 1); });
        if (mine !== turn) return;
        const page = mergePosts(parts, rk, PAGE);
        posts.append(...page.posts.map((item) => postOf(item, user)));
        after = page.posts.at(-1)?.[rk] ?? after;
        older.hidden = !page.more;
        shown.textContent = `${plural(posts.childElementCount, 'post')}${page.more ? ', older ones follow' : ''}`;
      }
      await next();
      if (mine !== turn) return undefined;
      feed.replaceChildren(section(`Feed of ${user}`, h('div', {class: 'result'}, shown, button('Refresh', () => { drawFeed(); drawWaiting(); })),
        merged.more && h('p', {class: 'quiet'}, `Posts of some merged authors are missing: this page reads ${count(AUTHORS_MAX)} merged authors, ` +
          `${count(FOLLOWED_MAX)} followed ones, and posts of ${count(MERGED_MAX)} of them.`), posts,
        h('div', {class: 'actions start'}, older)), h('div', {class: 'columns'}, ...relationsCards(user, relations)));
    } catch (error) {
      if (mine === turn) feed.replaceChildren(errorBox(error));
    }
    return undefined;
  }

  function relationsCards(user, relations) {
    if (!relations) {
      return [section('Followers', h('p', {class: 'quiet'}, `The followers table ${followersName()} does not exist. Followers in MySQL or MariaDB are not displayed.`))];
    }
    const card = (title, request, attribute) => {
      const found = [];
      let last;
      const names = h('ul', {class: 'names'});
      const rest = button('Load more', () => run(rest, load), {hidden: true, 'aria-label': `Load more: ${title}`});
      const element = section(title, names, rest);
      async function load() {
        const page = await call('Query', {TableName: relations.TableName, Limit: USERS, ExclusiveStartKey: last, ...request});
        last = page.LastEvaluatedKey;
        const added = page.Items.map((item) => textIn(item, attribute)).filter((name) => !name.startsWith(FORMER));
        found.push(...added);
        names.append(...added.map((name) => h('li', {}, linkUser(name))));
        rest.hidden = !last;
        element.firstChild.textContent = `${title} (${count(found.length)}${last ? ' and more' : ''})`;
      }
      run(null, load);
      return element;
    };
    const cards = [card('Followers', {ConsistentRead: true, KeyConditionExpression: 'author = :u', ExpressionAttributeValues: {':u': {S: user}}}, 'follower')];
    if (indexNamed(relations, 'Following')) {
      cards.push(card('Follows', {IndexName: 'Following', KeyConditionExpression: 'follower = :u', ExpressionAttributeValues: {':u': {S: user}}}, 'author'));
    }
    return cards;
  }

  const followers = input(state.followers, {placeholder: 'Followers'});
  panel.append(h('div', {class: 'split'},
    h('div', {class: 'panel'},
      section('Readers', list, h('div', {class: 'result'}, facts, more),
        formOf(() => { if (known.value) choose(known.value); }, field('Open a feed', known), h('div', {class: 'actions start'}, h('button', {type: 'submit'}, 'Open'))),
        formOf(() => { state.followers = followers.value.trim(); keep(); drawFeed(); }, field('Table of followers', followers), h('div', {class: 'actions start'}, h('button', {type: 'submit'}, 'Use')))),
      section('Waiting for delivery', waiting)),
    feed));
  await Promise.all([load(), drawWaiting(), drawFeed()]);
  return () => { turn++; };
}
