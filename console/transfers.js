// SPDX-License-Identifier: Apache-2.0
// Backups and restores, exports to and imports from buckets: for one table and for all.
import {call, inParallel} from './api.js';
import {recoveryOf} from './tables.js';
import {go, href} from './router.js';
import {names, tableForm} from './table_form.js';
import {$, badge, button, confirmDialog, count, dataTable, definitions, dialog, errorBox, field, formOf, h, input, poll, run, say, section,
  select, size, status, time} from './ui.js';

const POLL_MS = 1000;
const PAGE = 25;
const tableOfArn = (arn) => /:table\/([^/]+)/.exec(arn ?? '')?.[1] ?? '';

// A list that is read again every second. `read(limit)` returns {rows, more}; a row is {cells,
// key}, and `key` changes when the row does.
function liveList(title, columns, empty, read, actions = []) {
  const body = h('div', {class: 'stack'});
  const more = button('Load more', () => { limit += PAGE; return update(); }, {hidden: true});
  let limit = PAGE;
  let shown;
  async function update() {
    try {
      const {rows, more: further} = await read(limit);
      const state = JSON.stringify(rows.map((row) => row.key));
      if (state === shown) return;
      shown = state;
      const focused = body.contains(document.activeElement) ? document.activeElement.getAttribute('aria-label') : null;
      body.replaceChildren(dataTable(title, columns, rows.map((row) => row.cells), empty));
      if (focused) $(`[aria-label="${CSS.escape(focused)}"]`, body)?.focus();
      more.hidden = !further;
    } catch (error) {
      shown = undefined;
      body.replaceChildren(errorBox(error));
    }
  }
  return {
    update,
    element: h('section', {class: 'stack'}, h('div', {class: 'head'}, h('h2', {}, title), h('div', {class: 'actions'}, actions)), body,
      h('div', {class: 'actions start'}, more)),
  };
}

async function show(root, lists) {
  await Promise.all(lists.map((list) => list.update()));
  root.append(...lists.map((list) => list.element));
  return poll(() => Promise.all(lists.map((list) => list.update())), POLL_MS);
}

// Follows pages of a List operation until `limit` elements are read.
async function listUpTo(limit, readPage) {
  const list = [];
  let last;
  do {
    const {items, next} = await readPage(last);
    list.push(...items);
    last = next;
  } while (last && list.length < limit);
  return {list, more: Boolean(last)};
}

// ---- Restores

// Restores that this page began, by the name of the new table.
const restores = new Map();

function restoresList() {
  return liveList('Restores', ['New table', 'From', 'State', 'Items'], 'No restore was started in this window.', async () => {
    await inParallel([...restores.values()].filter((r) => r.state === 'CREATING'), 4, async (restore) => {
      try {
        const {Table} = await call('DescribeTable', {TableName: restore.name});
        restore.state = Table.TableStatus;
        restore.items = Table.ItemCount;
      } catch (error) {
        if (error.name !== 'ResourceNotFoundException') throw error;
        restore.state = 'FAILED';
      }
    });
    return {rows: [...restores.values()].reverse().map(({name, from, state, items}) => ({
      key: [name, from, state, items],
      cells: [h('a', {href: href(['tables', name, 'items'])}, name), from,
        state === 'CREATING' ? h('div', {}, status(state), h('progress', {'aria-label': `Restoring ${name}`})) : status(state), count(items)],
    }))};
  });
}

async function startRestore(title, from, operation, parameters, extra = []) {
  const name = input();
  const done = await dialog({title, acceptText: 'Restore', body: [
    h('p', {}, 'The items are restored into a new table. Tags, the stream, TTL and recovery are not restored.'),
    field('Name of the new table', name), ...extra],
  accept: () => call(operation, {...parameters(), TargetTableName: name.value.trim()})});
  if (!done) return;
  restores.set(name.value.trim(), {name: name.value.trim(), from, state: 'CREATING', items: undefined});
  say(`Table ${name.value.trim()} is being restored.`);
}

// ---- Backups

function backupsList(TableName, actions, changed) {
  return liveList('Backups', ['Name', ...(TableName ? [] : ['Table']), 'State', 'Type', 'Size', 'Created', ''], 'There are no backups.', async (limit) => {
    const {list, more} = await listUpTo(limit, async (last) => {
      const page = await call('ListBackups', {TableName, BackupType: 'ALL', Limit: PAGE, ExclusiveStartBackupArn: last});
      return {items: page.BackupSummaries, next: page.LastEvaluatedBackupArn};
    });
    return {more, rows: list.map((backup) => ({
      key: [backup.BackupArn, backup.BackupStatus, backup.BackupSizeBytes],
      cells: [backup.BackupName, ...(TableName ? [] : [backup.TableName]),
        backup.BackupStatus === 'CREATING' ? h('div', {}, status('CREATING'), h('progress', {'aria-label': `Creating ${backup.BackupName}`})) : status(backup.BackupStatus),
        badge(backup.BackupType.toLowerCase()), size(backup.BackupSizeBytes), time(backup.BackupCreationDateTime),
        backup.BackupStatus === 'AVAILABLE' ? h('div', {class: 'actions'},
          button('Restore', () => startRestore(`Restore ${backup.BackupName}`, `backup ${backup.BackupName}`, 'RestoreTableFromBackup',
            () => ({BackupArn: backup.BackupArn})).then(changed), {'aria-label': `Restore the backup ${backup.BackupName}`}),
          backup.BackupType === 'USER' && button('Delete', async () => {
            if (await confirmDialog(`Delete the backup ${backup.BackupName}?`, 'It can no longer be restored.', 'Delete backup',
              () => call('DeleteBackup', {BackupArn: backup.BackupArn}))) changed();
          }, {'aria-label': `Delete the backup ${backup.BackupName}`})) : ''],
    }))};
  }, actions);
}

// Local time in the form of <input type="datetime-local">, with milliseconds.
const localTime = (date) => new Date(date.getTime() - date.getTimezoneOffset() * 60000).toISOString().slice(0, -1);

// The value of a datetime-local field, in seconds since 1970.
function secondsOf(control, what) {
  const ms = new Date(control.value).getTime();
  if (!control.value || Number.isNaN(ms)) throw new Error(`${what}: enter a date and a time`);
  return ms / 1000;
}

const timeInput = (date) => h('input', {type: 'datetime-local', step: '0.001', value: localTime(date)});

export async function showTableBackups(panel, table) {
  const TableName = table.TableName;
  const update = () => { list.update(); restored.update(); };
  const create = button('Create backup', async () => {
    const name = input(`${TableName}-${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}`);
    if (await dialog({title: `Back up ${TableName}`, body: field('Name of the backup', name, '3 to 255 letters, digits, dots, hyphens and underscores'),
      acceptText: 'Create backup', accept: () => call('CreateBackup', {TableName, BackupName: name.value.trim()})})) update();
  }, {class: 'primary'});
  const restored = restoresList();
  const list = backupsList(TableName, [create], update);

  const recovery = await call('DescribeContinuousBackups', {TableName});
  const point = recovery.ContinuousBackupsDescription.PointInTimeRecoveryDescription;
  panel.append(section('Point-in-time recovery', ...(recoveryOf(recovery) ? [
    definitions([['Earliest', time(point.EarliestRestorableDateTime)], ['Latest', time(point.LatestRestorableDateTime)]]),
    h('div', {class: 'actions start'}, button('Restore to a point in time', () => {
      const latest = select([['latest', 'The latest'], ['time', 'This time']], 'latest');
      const at = timeInput(new Date());
      const atField = field('Time', at, 'In the time zone of this browser');
      atField.hidden = true;
      latest.addEventListener('change', () => { atField.hidden = latest.value === 'latest'; });
      return startRestore(`Restore ${TableName} to a point in time`, `${TableName}, point in time`, 'RestoreTableToPointInTime',
        () => ({SourceTableName: TableName, ...(latest.value === 'latest' ? {UseLatestRestorableTime: true} : {RestoreDateTime: secondsOf(at, 'time')})}),
        [field('State to restore', latest), atField]).then(update);
    }))] : [h('p', {}, 'Off. ', h('a', {href: href(['tables', TableName, 'overview'])}, 'Turn it on in the overview.'))])));
  return show(panel, [list, restored]);
}

// ---- Exports

function exportsList(TableArn, actions) {
  const finished = new Map();  // descriptions that no longer change
  return liveList('Exports', [...(TableArn ? [] : ['Table']), 'State', 'Kind', 'Items', 'Size', 'Started', 'Manifest'], 'There are no exports.', async (limit) => {
    const {list, more} = await listUpTo(limit, async (last) => {
      const page = await call('ListExports', {TableArn, MaxResults: PAGE, NextToken: last});
      return {items: page.ExportSummaries, next: page.NextToken};
    });
    const described = new Map();
    await inParallel(list, 4, async ({ExportArn}) => {
      const known = finished.get(ExportArn) ?? (await call('DescribeExport', {ExportArn})).ExportDescription;
      described.set(ExportArn, known);
      if (known.ExportStatus !== 'IN_PROGRESS') finished.set(ExportArn, known);
    });
    return {more, rows: list.map(({ExportArn}) => {
      const e = described.get(ExportArn);
      return {
        key: [ExportArn, e.ExportStatus, e.ItemCount, e.BilledSizeBytes, e.FailureMessage],
        cells: [...(TableArn ? [] : [tableOfArn(e.TableArn)]),
          h('div', {}, status(e.ExportStatus), e.ExportStatus === 'IN_PROGRESS' && h('progress', {'aria-label': 'Exporting'}),
            e.FailureMessage && h('small', {}, ` ${e.FailureMessage}`)),
          `${e.ExportType === 'INCREMENTAL_EXPORT' ? 'incremental' : 'full'}, ${e.ExportFormat === 'ION' ? 'Ion' : 'DynamoDB JSON'}`,
          count(e.ItemCount), size(e.BilledSizeBytes), time(e.StartTime), e.ExportManifest ? h('code', {}, `${e.S3Bucket}/${e.ExportManifest}`) : '–'],
      };
    })};
  }, actions);
}

export async function showTableExports(panel, table) {
  const list = exportsList(table.TableArn, [button('Export to a bucket', async () => {
    const bucket = input();
    const prefix = input();
    const format = select([['DYNAMODB_JSON', 'DynamoDB JSON'], ['ION', 'Ion text']], 'DYNAMODB_JSON');
    const type = select([['FULL_EXPORT', 'All items'], ['INCREMENTAL_EXPORT', 'Changes of a period']], 'FULL_EXPORT');
    const from = timeInput(new Date(Date.now() - 3600000));
    const to = timeInput(new Date());
    const period = h('div', {class: 'pair', hidden: true}, field('From', from), field('To', to));
    type.addEventListener('change', () => { period.hidden = type.value === 'FULL_EXPORT'; });
    const done = await dialog({title: `Export ${table.TableName}`, acceptText: 'Export', body: [
      h('p', {}, 'Buckets are directories of the server (stator serve --buckets). The table must have point-in-time recovery.'),
      field('Bucket', bucket), field('Prefix', prefix, 'Optional'), field('Format', format), field('Content', type), period],
    accept: () => call('ExportTableToPointInTime', {
      TableArn: table.TableArn, S3Bucket: bucket.value.trim(), S3Prefix: prefix.value.trim() || undefined, ExportFormat: format.value, ExportType: type.value,
      ...(type.value === 'INCREMENTAL_EXPORT' && {IncrementalExportSpecification: {ExportFromTime: secondsOf(from, 'from'), ExportToTime: secondsOf(to, 'to')}}),
    })});
    if (done) await list.update();
  }, {class: 'primary'})]);
  return show(panel, [list]);
}

// ---- Imports

function importsList(actions) {
  const finished = new Map();
  return liveList('Imports', ['Table', 'State', 'Source', 'Items', 'Errors', 'Read', 'Started'], 'There are no imports.', async (limit) => {
    const {list, more} = await listUpTo(limit, async (last) => {
      const page = await call('ListImports', {PageSize: PAGE, NextToken: last});
      return {items: page.ImportSummaryList, next: page.NextToken};
    });
    const described = new Map();
    await inParallel(list, 4, async ({ImportArn}) => {
      const known = finished.get(ImportArn) ?? (await call('DescribeImport', {ImportArn})).ImportTableDescription;
      described.set(ImportArn, known);
      if (known.ImportStatus !== 'IN_PROGRESS') finished.set(ImportArn, known);
    });
    return {more, rows: list.map(({ImportArn}) => {
      const i = described.get(ImportArn);
      const table = tableOfArn(i.TableArn);
      return {
        key: [ImportArn, i.ImportStatus, i.ImportedItemCount, i.ErrorCount, i.ProcessedSizeBytes, i.FailureMessage],
        cells: [h('a', {href: href(['tables', table, 'items'])}, table),
          h('div', {}, status(i.ImportStatus), i.ImportStatus === 'IN_PROGRESS' && h('progress', {'aria-label': `Importing ${table}`}),
            i.FailureMessage && h('small', {}, ` ${i.FailureMessage}`)),
          h('code', {}, `${i.S3BucketSource.S3Bucket}/${i.S3BucketSource.S3KeyPrefix ?? ''}`), count(i.ImportedItemCount ?? 0), count(i.ErrorCount ?? 0),
          size(i.ProcessedSizeBytes ?? 0), time(i.StartTime)],
      };
    })};
  }, actions);
}

export async function showTransfers(root) {
  root.append(h('h1', {}, 'Backups and transfers'));
  const restored = restoresList();
  const backups = backupsList(undefined, [], () => { backups.update(); restored.update(); });
  return show(root, [backups, restored, exportsList(undefined, []),
    importsList([h('a', {class: 'button primary', href: '#/import'}, 'Import from a bucket')])]);
}

export function showImport(root) {
  const bucket = input();
  const prefix = input();
  const format = select([['DYNAMODB_JSON', 'DynamoDB JSON'], ['ION', 'Ion text'], ['CSV', 'CSV']], 'DYNAMODB_JSON');
  const compression = select([['NONE', 'None'], ['GZIP', 'gzip'], ['ZSTD', 'zstd']], 'NONE');
  const delimiter = input(',');
  const header = input();
  const csv = h('div', {class: 'pair', hidden: true}, field('Delimiter', delimiter), field('Header', header, 'Names separated by commas. If empty, the first row has them'));
  format.addEventListener('change', () => { csv.hidden = format.value !== 'CSV'; });
  const form = tableForm({creation: true});
  const start = h('button', {type: 'submit', class: 'primary'}, 'Import');
  const problem = h('div', {'aria-live': 'assertive'});
  root.append(h('h1', {}, 'Import from a bucket'), formOf(() => run(start, async () => {
    problem.replaceChildren();
    const {request} = form.read();
    const columns = names(header.value);
    await call('ImportTable', {
      S3BucketSource: {S3Bucket: bucket.value.trim(), S3KeyPrefix: prefix.value.trim() || undefined}, InputFormat: format.value,
      InputCompressionType: compression.value, TableCreationParameters: request,
      ...(format.value === 'CSV' && {InputFormatOptions: {Csv: {Delimiter: delimiter.value || undefined, HeaderList: columns.length ? columns : undefined}}}),
    });
    say(`Table ${request.TableName} is being imported.`);
    go('#/transfers');
  }, (error) => problem.replaceChildren(errorBox(error))),
  section('Source', h('p', {}, 'Buckets are directories of the server (stator serve --buckets).'),
    h('div', {class: 'pair'}, field('Bucket', bucket), field('Key prefix', prefix, 'Optional')),
    h('div', {class: 'pair'}, field('Format', format), field('Compression', compression)), csv),
  form.element, problem,
  h('div', {class: 'actions'}, h('a', {class: 'button', href: '#/transfers'}, 'Cancel'), start)));
  bucket.focus();
}
