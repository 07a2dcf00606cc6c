// SPDX-License-Identifier: Apache-2.0
// The Recipes page: which tables have toggles, locks, feeds or sensors. Each recipe has a view.
import {call, describe, inParallel} from './api.js';
import {KINDS, PREFIXES, isFollowers, recipesOf} from './recipe_items.js';
import {go, href} from './router.js';
import {button, dataTable, errorText, field, formOf, h, input, plural, run, section, select} from './ui.js';

const PAGE = 50;
const WIDTH = 4;  // tables read at a time
const WHAT = {
  sensors: 'Places, readings and roll-ups.', toggles: 'The latest of many events, and what held at any time.',
  locks: 'Holders, those who wait, and their leases.', feeds: 'Posts as their readers see them, followers and delivery.',
};
const VIEWS = {
  sensors: async () => (await import('./recipe_sensors.js')).showSensors,
  feeds: async () => (await import('./recipe_feeds.js')).showFeeds,
  locks: async () => (await import('./recipe_locks.js')).showLocks,
  toggles: async () => (await import('./recipe_toggles.js')).showToggles,
};

export async function showRecipes(root) {
  let last;
  let looked = 0;
  const found = [];
  const problems = h('div', {class: 'stack'});
  const list = h('div', {});
  const facts = h('span', {class: 'facts-line', role: 'status'});
  const more = button('Look at more tables', () => run(more, load), {hidden: true});
  function show() {
    found.sort((a, b) => a.table.localeCompare(b.table) || a.kind.localeCompare(b.kind));
    list.replaceChildren(dataTable('Recipes', ['Table', 'Recipe', 'What it shows'], found.map(({table, kind, prefix}) => [
      h('a', {href: href(['recipes', kind, table], {prefix: prefix === PREFIXES[kind] ? '' : prefix})}, table), KINDS[kind], WHAT[kind]]),
    'No table has items of a recipe yet.'));
    facts.textContent = `${plural(looked, 'table')} looked at`;
  }
  async function load() {
    const page = await call('ListTables', {Limit: PAGE, ExclusiveStartTableName: last});
    last = page.LastEvaluatedTableName;
    more.hidden = !last;
    await inParallel(page.TableNames, WIDTH, async (name) => {
      try {
        const table = await describe(name);
        if (!isFollowers(table)) found.push(...(await recipesOf(table)).map((recipe) => ({table: name, ...recipe})));
      } catch (error) {
        problems.append(h('p', {class: 'error'}, `${name}: ${errorText(error)}`));
      }
      looked++;
    });
    show();
  }
  const table = input('', {required: true});
  const kind = select(Object.keys(VIEWS).map((name) => [name, KINDS[name]]), 'sensors');
  const prefix = input('');
  root.append(h('div', {class: 'head'}, h('h1', {}, 'Recipes')),
    h('p', {class: 'quiet'}, 'Tables with items of the recipes, written by programs or by ', ['toggle', 'lock', 'feed', 'sensor'].map((name, i) =>
      [i ? ', ' : '', h('code', {}, `stator ${name}`)]), '.'),
    list, problems, h('div', {class: 'result'}, facts, more),
    section('Open another table', formOf(() => {
      if (table.value) go(href(['recipes', kind.value, table.value], {prefix: prefix.value}));
    }, h('div', {class: 'pair'}, field('Table', table), field('Recipe', kind),
      field('Prefix of the keys', prefix, 'If the program that writes the table has set one.')),
    h('div', {class: 'actions start'}, h('button', {type: 'submit'}, 'Open')))));
  await load();
}

// A view of one table. `show(panel, table, {query, prefix, linkTo, remember})` returns a function
// that ends it.
export async function showRecipe(root, {kind, table: name}, query) {
  const load = Object.hasOwn(VIEWS, kind) ? VIEWS[kind] : undefined;
  if (!load) return go('#/recipes', {replace: true});
  const panel = h('div', {class: 'panel'});
  root.append(h('div', {class: 'head'},
    h('h1', {}, h('a', {class: 'quiet', href: '#/recipes'}, 'Recipes'), ' / ', h('span', {}, name)),
    h('div', {class: 'actions'}, h('span', {class: 'badge'}, KINDS[kind]), h('a', {class: 'button', href: href(['tables', name, 'items'])}, 'Items of the table'))), panel);
  const [table, show] = await Promise.all([describe(name, {fresh: true}), load()]);
  const prefix = query.get('prefix') || PREFIXES[kind];
  const kept = prefix === PREFIXES[kind] ? '' : prefix;
  return show(panel, table, {
    query, prefix,
    linkTo: (state) => href(['recipes', kind, name], {prefix: kept, ...state}),
    remember: (state) => go(href(['recipes', kind, name], {prefix: kept, ...state}), {replace: true, silent: true}),
  });
}
