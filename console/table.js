// SPDX-License-Identifier: Apache-2.0
// One table: its tabs, and the tabs for its settings and indexes.
import {call, describe} from './api.js';
import {recoveryOf} from './tables.js';
import {go, href} from './router.js';
import {VIEWS, capacityFields, encryptionFields, indexFields, tableClass, wholeNumber} from './table_form.js';
import {createVectorIndex, vectorIndexes} from './vectors.js';
import {badge, button, checkbox, confirmByName, confirmDialog, count, dataTable, definitions, dialog, field, formOf, h, input, poll, run,
  say, section, select, size, status, time} from './ui.js';

const TABS = [['items', 'Items'], ['overview', 'Overview'], ['indexes', 'Indexes'], ['stream', 'Stream'], ['backups', 'Backups'],
  ['exports', 'Exports'], ['access', 'Access']];

export const keyText = (schema) => schema.map((k) => `${k.AttributeName} (${k.KeyType === 'HASH' ? 'partition' : 'sort'})`).join(', ');
export const projectionText = ({ProjectionType: type, NonKeyAttributes: names}) =>
  ({ALL: 'all attributes', KEYS_ONLY: 'keys only'}[type] ?? `keys, ${names.join(', ')}`);
export const allIndexes = (table) => [
  ...(table.GlobalSecondaryIndexes ?? []).map((index) => ({...index, kind: 'global'})),
  ...(table.LocalSecondaryIndexes ?? []).map((index) => ({...index, kind: 'local'}))];

export async function showTable(root, {table: name, tab}, query) {
  const panel = h('div', {class: 'panel'});
  root.append(
    h('div', {class: 'head'}, h('h1', {}, h('a', {class: 'quiet', href: '#/tables'}, 'Tables'), ' / ', h('span', {}, name))),
    h('nav', {class: 'tabs', 'aria-label': `Views of ${name}`}, TABS.map(([id, text]) =>
      h('a', {href: href(['tables', name, id]), 'aria-current': id === tab ? 'page' : undefined}, text))),
    panel);
  const table = await describe(name, {fresh: true});
  switch (tab) {
    case 'items': return (await import('./items.js')).showItems(panel, table, query);
    case 'overview': return showOverview(panel, table);
    case 'indexes': return showIndexes(panel, table);
    case 'stream': return (await import('./streams.js')).showStream(panel, table, query);
    case 'backups': return (await import('./transfers.js')).showTableBackups(panel, table);
    case 'exports': return (await import('./transfers.js')).showTableExports(panel, table);
    case 'access': return (await import('./policies.js')).showPolicies(panel, table);
    default: return go(href(['tables', name, 'items']), {replace: true});
  }
}

// ---- Overview

async function allTags(ResourceArn) {
  const tags = [];
  let NextToken;
  do {
    const page = await call('ListTagsOfResource', {ResourceArn, NextToken});
    tags.push(...page.Tags ?? []);
    NextToken = page.NextToken;
  } while (NextToken);
  return tags;
}

async function showOverview(panel, first) {
  const TableName = first.TableName;
  let stopped = false;

  async function draw(table) {
    const [ttl, recovery, tags] = await Promise.all([call('DescribeTimeToLive', {TableName}),
      call('DescribeContinuousBackups', {TableName}), allTags(table.TableArn)]);
    if (stopped) return;
    const types = new Map(table.AttributeDefinitions.map((a) => [a.AttributeName, a.AttributeType]));
    panel.replaceChildren(h('div', {class: 'columns'},
      section('Table', definitions([
        ['Status', status(table.TableStatus)],
        ['Items', count(table.ItemCount)],
        ['Size', size(table.TableSizeBytes)],
        ['Created', time(table.CreationDateTime)],
        ['ARN', h('code', {}, table.TableArn)],
      ])),
      section('Schema', dataTable('Key attributes', ['Attribute', 'Type', 'Role'], table.KeySchema.map((k) =>
        [k.AttributeName, types.get(k.AttributeName), k.KeyType === 'HASH' ? 'Partition key' : 'Sort key']))),
      capacitySection(table), storageSection(table), streamSection(table), ttlSection(ttl.TimeToLiveDescription), recoverySection(recovery),
      tagsSection(table.TableArn, tags), deletionSection(table)));
  }
  const again = async () => draw(await describe(TableName, {fresh: true}));
  // Runs an action of a section, draws the page again, and keeps the focus in that section.
  async function change(control, text, action) {
    const title = control.closest('section').firstChild.textContent;
    const had = document.activeElement === document.body || control.contains(document.activeElement);
    if (!await run(control, async () => { await action(); say(text); await again(); }) || !had) return;
    const same = [...panel.querySelectorAll('section')].find((s) => s.firstChild.textContent === title);
    same?.querySelector('button:not(:disabled), input:not(:disabled)')?.focus();
  }

  function capacitySection(table) {
    const mode = table.BillingModeSummary?.BillingMode ?? 'PROVISIONED';
    const billing = select([['PAY_PER_REQUEST', 'On demand'], ['PROVISIONED', 'Provisioned']], mode);
    const capacity = capacityFields();
    if (table.ProvisionedThroughput) capacity.set(table.ProvisionedThroughput);
    const update = () => { capacity.element.hidden = billing.value !== 'PROVISIONED'; };
    billing.addEventListener('change', update);
    update();
    const save = h('button', {type: 'submit'}, 'Save capacity');
    return section('Capacity', formOf(() => change(save, 'The capacity is saved.', () => {
      const input = {TableName, BillingMode: billing.value};
      if (billing.value === 'PROVISIONED') {
        input.ProvisionedThroughput = capacity.read();
        if (mode !== 'PROVISIONED' && table.GlobalSecondaryIndexes?.length) {
          input.GlobalSecondaryIndexUpdates = table.GlobalSecondaryIndexes.map(({IndexName}) =>
            ({Update: {IndexName, ProvisionedThroughput: input.ProvisionedThroughput}}));
        }
      }
      return call('UpdateTable', input);
    }), field('Billing', billing), capacity.element, h('div', {class: 'actions start'}, save)));
  }

  // A request can change only one of the two.
  function storageSection(table) {
    const {TableClass: current = 'STANDARD'} = table.TableClassSummary ?? {};
    const kind = tableClass(current);
    const encryption = encryptionFields(table.SSEDescription);
    const saveClass = h('button', {type: 'submit'}, 'Save class');
    const saveEncryption = h('button', {type: 'submit'}, 'Save encryption');
    return section('Class and encryption',
      formOf(() => change(saveClass, 'The class is saved.', () => call('UpdateTable', {TableName, TableClass: kind.value})),
        field('Table class', kind), h('div', {class: 'actions start'}, saveClass)),
      formOf(() => change(saveEncryption, 'The encryption is saved.', () => call('UpdateTable', {TableName, SSESpecification: encryption.read()})),
        encryption.element, h('div', {class: 'actions start'}, saveEncryption)));
  }

  function streamSection(table) {
    const current = table.StreamSpecification?.StreamEnabled ? table.StreamSpecification.StreamViewType : '';
    const view = select(VIEWS, current);
    const save = h('button', {type: 'submit'}, 'Save stream');
    return section('Stream', formOf(() => change(save, 'The stream is saved.', async () => {
      if (view.value === current) return;
      if (current) await call('UpdateTable', {TableName, StreamSpecification: {StreamEnabled: false}});
      if (view.value) await call('UpdateTable', {TableName, StreamSpecification: {StreamEnabled: true, StreamViewType: view.value}});
    }), field('Records contain', view, 'A change of an enabled stream closes it and opens a new one.'),
    h('div', {class: 'actions start'}, save)));
  }

  function ttlSection(description) {
    const enabled = /^ENABL/.test(description?.TimeToLiveStatus);
    const attribute = input(description?.AttributeName ?? '', {disabled: enabled});
    const save = h('button', {type: 'submit'}, enabled ? 'Turn TTL off' : 'Turn TTL on');
    return section('Time to live', formOf(() => change(save, enabled ? 'TTL is off.' : 'TTL is on.', () => call('UpdateTimeToLive', {
      TableName, TimeToLiveSpecification: {Enabled: !enabled, AttributeName: attribute.value}})),
    field('TTL attribute', attribute, 'A number: seconds since 1970'),
    h('div', {class: 'actions start'}, save, enabled && badge('on', 'good'))));
  }

  function recoverySection(output) {
    const on = recoveryOf(output);
    const details = output.ContinuousBackupsDescription.PointInTimeRecoveryDescription;
    const days = input(String(details.RecoveryPeriodInDays ?? 35), {inputmode: 'numeric'});
    const save = (enabled) => call('UpdateContinuousBackups', {TableName, PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: enabled,
      ...(enabled && {RecoveryPeriodInDays: wholeNumber(days.value, 'days')})}});
    const keep = on && button('Save period', () => change(keep, 'The period is saved.', () => save(true)));
    const toggle = button(on ? 'Turn recovery off' : 'Turn recovery on', async () => {
      const set = () => save(!on);
      if (!on) return change(toggle, 'Point-in-time recovery is on.', set);
      if (await confirmDialog('Turn recovery off?', 'Past states of the table can no longer be restored.', 'Turn recovery off', set)) await again();
    });
    return section('Point-in-time recovery', on ? definitions([
      ['Earliest', time(details.EarliestRestorableDateTime)],
      ['Restore', h('a', {href: href(['tables', TableName, 'backups'])}, 'Backups')]]) :
      h('p', {}, 'Off. When it is on, every past state of the period can be restored.'),
    field('Period in days', days, '1 to 35'), h('div', {class: 'actions start'}, keep, toggle));
  }

  function tagsSection(ResourceArn, tags) {
    const key = input();
    const value = input();
    const add = h('button', {type: 'submit'}, 'Add tag');
    return section('Tags', dataTable('Tags', ['Key', 'Value', ''], tags.map((tag) => {
      const remove = button('Remove', () => change(remove, 'The tag is removed.',
        () => call('UntagResource', {ResourceArn, TagKeys: [tag.Key]})), {'aria-label': `Remove the tag ${tag.Key}`});
      return [tag.Key, tag.Value, remove];
    }), 'No tags.'),
    formOf(() => change(add, 'The tag is added.', () => call('TagResource', {ResourceArn, Tags: [{Key: key.value, Value: value.value}]})),
      h('div', {class: 'pair'}, field('Tag key', key), field('Tag value', value)), h('div', {class: 'actions start'}, add)));
  }

  function deletionSection(table) {
    const protection = checkbox('Deletion protection', table.DeletionProtectionEnabled, {
      onchange: () => change(protection.input, 'The protection is saved.',
        () => call('UpdateTable', {TableName, DeletionProtectionEnabled: protection.input.checked}))});
    const remove = button('Delete table…', async () => {
      const done = await confirmByName(`Delete ${TableName}?`,
        `All items (${count(table.ItemCount)}) and indexes of the table are deleted.`, TableName, 'Delete table',
        () => call('DeleteTable', {TableName}));
      if (!done) return;
      say(`Table ${TableName} is deleted.`);
      go('#/tables');
    }, {class: 'danger', disabled: table.DeletionProtectionEnabled});
    return section('Deletion', protection, table.DeletionProtectionEnabled && h('p', {}, 'Protected: turn protection off to delete the table.'),
      h('div', {class: 'actions start'}, remove));
  }

  await draw(first);
  const end = poll(async () => {
    const table = await describe(TableName, {fresh: true});
    if (table.TableStatus !== first.TableStatus) { first = table; await draw(table); }
  }, 2000);
  return () => { stopped = true; end(); };
}

// ---- Indexes

async function showIndexes(panel, first) {
  const TableName = first.TableName;
  let shown = '';
  const add = button('Create a global index', () => createIndex());
  const addVector = button('Create a vector index', async () => { if (await createVectorIndex(TableName)) await again(); });

  function draw(table) {
    const state = JSON.stringify([allIndexes(table), table.VectorIndexes]);
    if (state === shown) return;
    shown = state;
    panel.replaceChildren(h('div', {class: 'head'}, h('h2', {}, 'Indexes'), h('div', {class: 'actions'}, add, addVector)),
      dataTable('Indexes', ['Name', 'Kind', 'Status', 'Key', 'Projection', 'Items', 'Size', ''], allIndexes(table).map((index) => [
        h('a', {href: href(['tables', TableName, 'items'], {q: JSON.stringify({index: index.IndexName, op: 'Scan'})})}, index.IndexName),
        index.kind, status(index.IndexStatus ?? 'ACTIVE'), keyText(index.KeySchema), projectionText(index.Projection),
        count(index.ItemCount), size(index.IndexSizeBytes),
        index.kind === 'global' ? h('div', {class: 'actions'},
          index.ProvisionedThroughput?.ReadCapacityUnits > 0 && button('Capacity', () => changeCapacity(index), {'aria-label': `Change the capacity of ${index.IndexName}`}),
          button('Delete', () => remove(index.IndexName), {'aria-label': `Delete the index ${index.IndexName}`})) : '',
      ]), table.VectorIndexes ? 'The table has no global or local indexes.' : 'The table has no indexes.'),
      ...table.VectorIndexes ? [vectorIndexes(table, again)] : []);
  }
  const again = async () => draw(await describe(TableName, {fresh: true}));

  async function createIndex() {
    const table = await describe(TableName);
    const fields = indexFields({local: false, provisioned: () => table.BillingModeSummary?.BillingMode !== 'PAY_PER_REQUEST'});
    const done = await dialog({title: 'Create a global index', body: fields.element, acceptText: 'Create index', accept: () => {
      const attributes = new Map(table.AttributeDefinitions.map((a) => [a.AttributeName, a]));
      const Create = fields.read(attributes);
      return call('UpdateTable', {TableName, AttributeDefinitions: [...attributes.values()], GlobalSecondaryIndexUpdates: [{Create}]});
    }});
    if (done) await again();
  }

  async function changeCapacity({IndexName, ProvisionedThroughput}) {
    const capacity = capacityFields();
    capacity.set(ProvisionedThroughput);
    if (await dialog({title: `Capacity of ${IndexName}`, body: capacity.element, acceptText: 'Save capacity', accept: () =>
      call('UpdateTable', {TableName, GlobalSecondaryIndexUpdates: [{Update: {IndexName, ProvisionedThroughput: capacity.read()}}]})})) await again();
  }

  async function remove(IndexName) {
    if (await confirmByName(`Delete the index ${IndexName}?`, 'Items stay in the table.', IndexName, 'Delete index',
      () => call('UpdateTable', {TableName, GlobalSecondaryIndexUpdates: [{Delete: {IndexName}}]}))) await again();
  }

  draw(first);
  return poll(again, 2000);
}
