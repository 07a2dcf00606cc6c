// SPDX-License-Identifier: Apache-2.0
// The form for a table's name, keys, indexes and settings: the parameters of CreateTable.
import {call} from './api.js';
import {button, checkbox, field, h, input, section, select} from './ui.js';

const KEY_ATTRIBUTES_MAX = 4;  // for each of the two keys of a global index
const FILTERS_MAX = 18;  // of a vector index
const TYPES = [['S', 'String'], ['N', 'Number'], ['B', 'Binary']];
export const VIEWS = [['', 'Off'], ['NEW_AND_OLD_IMAGES', 'New and old images'], ['NEW_IMAGE', 'New image'],
  ['OLD_IMAGE', 'Old image'], ['KEYS_ONLY', 'Keys only']];

// The names in a comma-separated text.
export const names = (text) => text.split(',').map((name) => name.trim()).filter(Boolean);

export function wholeNumber(text, what) {
  if (!/^\d{1,15}$/.test(text.trim())) throw new Error(`${what} '${text}' is not a whole number`);
  return Number(text);
}

// A name and a type; read() returns null if the name is empty.
function attribute(label, {required = false} = {}) {
  const name = input();
  const type = select(TYPES, 'S', {'aria-label': `Type of the ${label.toLowerCase()}`});
  return {
    element: h('div', {class: 'pair'}, field(label, name, required ? undefined : 'Optional'), field('Type', type)),
    name,
    read() {
      const text = name.value;
      if (!text && required) throw new Error(`${label}: enter a name`);
      return text ? {AttributeName: text, AttributeType: type.value} : null;
    },
  };
}

// One attribute, and further ones that a button adds.
function attributeList(label, addText, max, options) {
  const rows = [attribute(label, options)];
  const list = h('div', {class: 'stack'}, rows[0].element);
  const add = button(addText, () => {
    const row = attribute(`${label} ${rows.length + 1}`);
    rows.push(row);
    list.append(row.element);
    add.hidden = rows.length === max;
    row.name.focus();
  });
  return {
    element: h('div', {class: 'stack'}, list, h('div', {class: 'actions start'}, add)),
    read: () => rows.map((row) => row.read()).filter(Boolean),
  };
}

const keySchema = (hash, range) => [...hash.map((key) => ({AttributeName: key.AttributeName, KeyType: 'HASH'})),
  ...range.map((key) => ({AttributeName: key.AttributeName, KeyType: 'RANGE'}))];

export const tableClass = (value = 'STANDARD') =>
  select([['STANDARD', 'Standard'], ['STANDARD_INFREQUENT_ACCESS', 'Standard, infrequent access']], value);

// Encryption at rest. read() returns an SSESpecification.
export function encryptionFields({SSEType: type, KMSMasterKeyArn: arn} = {}) {
  const kind = select([['', 'Key owned by DynamoDB'], ['KMS', 'KMS key']], type === 'KMS' ? 'KMS' : '');
  const key = input(arn ?? '');
  const keyField = field('KMS key', key, 'An id, an alias or an ARN. Empty: the AWS managed key');
  const update = () => { keyField.hidden = !kind.value; };
  kind.addEventListener('change', update);
  update();
  return {
    element: h('div', {class: 'pair'}, field('Encryption', kind, 'Stator keeps this setting. It does not encrypt files itself'), keyField),
    read: () => (kind.value ? {Enabled: true, SSEType: 'KMS', ...(key.value.trim() && {KMSMasterKeyId: key.value.trim()})} : {Enabled: false}),
  };
}

export function capacityFields(prefix = '') {
  const read = input('5', {inputmode: 'numeric'});
  const write = input('5', {inputmode: 'numeric'});
  return {
    element: h('div', {class: 'pair'}, field(`${prefix}Read capacity units`, read), field(`${prefix}Write capacity units`, write)),
    set(value) { read.value = value.ReadCapacityUnits || 5; write.value = value.WriteCapacityUnits || 5; },
    read: () => ({ReadCapacityUnits: wholeNumber(read.value, 'read capacity'),
      WriteCapacityUnits: wholeNumber(write.value, 'write capacity')}),
  };
}

// The projection of an index. read() returns a Projection.
function projectionFields() {
  const type = select([['ALL', 'All attributes'], ['KEYS_ONLY', 'Keys only'], ['INCLUDE', 'Keys and these attributes']], 'ALL');
  const included = input('', {placeholder: 'name, year'});
  const includedField = field('Attributes, separated by commas', included);
  const update = () => { includedField.hidden = type.value !== 'INCLUDE'; };
  type.addEventListener('change', update);
  update();
  return {
    element: h('div', {class: 'pair'}, field('Projection', type), includedField),
    read: () => ({ProjectionType: type.value,
      ...type.value === 'INCLUDE' && {NonKeyAttributes: names(included.value)}}),
  };
}

// The fields of one index. `local`: a local index; `provisioned()`: whether to show the capacity.
export function indexFields({local, provisioned}) {
  const name = input('', {'data-test': 'index-name'});
  const hash = attributeList('Partition key', 'Add an attribute to the partition key', KEY_ATTRIBUTES_MAX, {required: true});
  const range = local ? attribute('Sort key', {required: true}) : attributeList('Sort key', 'Add an attribute to the sort key', KEY_ATTRIBUTES_MAX);
  const projection = projectionFields();
  const capacity = capacityFields();
  const update = () => { capacity.element.hidden = local || !provisioned(); };
  update();
  return {
    element: h('div', {class: 'stack'}, field('Index name', name), !local && hash.element, range.element,
      projection.element, capacity.element),
    name, update,
    // `tableHash`: the partition key of local indexes. Keys are added to `attributes`.
    read(attributes, tableHash) {
      const hashes = local ? [tableHash] : hash.read();
      const ranges = [range.read()].flat();
      for (const key of [...hashes, ...ranges]) attributes.set(key.AttributeName, key);
      const index = {
        IndexName: name.value,
        KeySchema: keySchema(hashes, ranges),
        Projection: projection.read(),
      };
      if (!local && provisioned()) index.ProvisionedThroughput = capacity.read();
      return index;
    },
  };
}

// The fields of one vector index. read() adds the attributes of the search schema to `attributes`.
export function vectorIndexFields() {
  const name = input('', {'data-test': 'index-name'});
  const vector = input();
  const dimensions = input('', {inputmode: 'numeric'});
  const distance = select([['COSINE', 'Cosine'], ['DOT_PRODUCT', 'Dot product'], ['EUCLIDEAN', 'Euclidean']], 'COSINE');
  const hash = attribute('Partition attribute');
  const filters = attributeList('Filter attribute', 'Add a filter attribute', FILTERS_MAX);
  const projection = projectionFields();
  return {
    element: h('div', {class: 'stack'}, field('Index name', name, 'Only tables with on-demand billing can have vector indexes'),
      h('div', {class: 'pair'}, field('Vector attribute', vector, 'A list of numbers'), field('Dimensions', dimensions, '1 to 4,096'),
        field('Distance', distance)),
      h('p', {class: 'quiet'}, 'A search can ask for values of these attributes. If there is a partition attribute, it must ask for one of its values.'),
      hash.element, filters.element, projection.element),
    name, update() {},
    read(attributes) {
      const schema = [[hash.read()].filter(Boolean).map((a) => [a, 'HASH']), filters.read().map((a) => [a, 'INLINE_FILTER'])].flat();
      for (const [searched] of schema) attributes.set(searched.AttributeName, searched);
      return {
        IndexName: name.value,
        VectorAttribute: {AttributeName: vector.value},
        Dimensions: wholeNumber(dimensions.value, 'dimensions'),
        DistanceFunction: distance.value,
        Projection: projection.read(),
        ...schema.length && {SearchSchema: schema.map(([{AttributeName}, type]) => ({AttributeName, SearchSchemaElementType: type}))},
      };
    },
  };
}

// `creation`: for ImportTable, which sets neither stream, TTL, recovery nor class.
export function tableForm({creation = false} = {}) {
  const name = input('', {'data-test': 'table-name'});
  const hash = attribute('Partition key', {required: true});
  const range = attribute('Sort key');
  const billing = select([['PAY_PER_REQUEST', 'On demand'], ['PROVISIONED', 'Provisioned']], 'PAY_PER_REQUEST');
  const capacity = capacityFields();
  const provisioned = () => billing.value === 'PROVISIONED';
  const indexes = h('div', {class: 'stack'});
  const list = new Map();  // element -> fields
  const view = select(VIEWS, '');
  const ttl = input();
  const storage = tableClass();
  const encryption = encryptionFields();
  const recovery = checkbox('Point-in-time recovery', false);
  const protection = checkbox('Deletion protection', false);

  const update = () => {
    capacity.element.hidden = !provisioned();
    for (const {fields} of list.values()) fields.update();
  };
  billing.addEventListener('change', update);
  update();

  function addIndex(kind) {
    const fields = kind === 'Vector' ? vectorIndexFields() : indexFields({local: kind === 'Local', provisioned});
    const box = h('fieldset', {}, h('legend', {}, `${kind} index`), fields.element,
      h('div', {class: 'actions start'}, button('Remove this index', () => { list.delete(box); box.remove(); })));
    list.set(box, {fields, kind});
    indexes.append(box);
    fields.name.focus();
  }

  return {
    element: h('div', {class: 'stack'},
      section('Name and key', field('Table name', name, '3 to 255 letters, digits, dots, hyphens and underscores'),
        hash.element, range.element),
      section('Capacity', field('Billing', billing), capacity.element),
      section('Indexes', indexes, h('div', {class: 'actions start'}, button('Add a global index', () => addIndex('Global')),
        !creation && button('Add a local index', () => addIndex('Local')), button('Add a vector index', () => addIndex('Vector')))),
      !creation && section('Settings', h('div', {class: 'pair'}, field('Stream', view),
        field('TTL attribute', ttl, 'Items expire at this time, in seconds since 1970. Optional')),
      h('div', {class: 'pair'}, field('Table class', storage)), encryption.element, recovery, protection)),
    focus: () => name.focus(),
    name,
    // Returns {request, after}. after() applies the settings that CreateTable cannot set.
    read() {
      const attributes = new Map();
      const partition = hash.read();
      const keys = [partition, range.read()].filter(Boolean);
      for (const key of keys) attributes.set(key.AttributeName, key);
      const request = {
        TableName: name.value.trim(),
        KeySchema: keySchema([partition], keys.slice(1)),
        BillingMode: billing.value,
      };
      for (const [kind, member] of [['Global', 'GlobalSecondaryIndexes'], ['Local', 'LocalSecondaryIndexes'], ['Vector', 'VectorIndexes']]) {
        const indexes = [...list.values()].filter((index) => index.kind === kind).map(({fields}) => fields.read(attributes, partition));
        if (indexes.length) request[member] = indexes;
      }
      request.AttributeDefinitions = [...attributes.values()];
      if (provisioned()) request.ProvisionedThroughput = capacity.read();
      if (view.value) request.StreamSpecification = {StreamEnabled: true, StreamViewType: view.value};
      if (storage.value !== 'STANDARD') request.TableClass = storage.value;
      const sse = encryption.read();
      if (sse.Enabled) request.SSESpecification = sse;
      if (protection.input.checked) request.DeletionProtectionEnabled = true;
      return {request, async after() {
        const TableName = request.TableName;
        if (ttl.value) await call('UpdateTimeToLive', {TableName, TimeToLiveSpecification: {Enabled: true, AttributeName: ttl.value}});
        if (recovery.input.checked) {
          await call('UpdateContinuousBackups', {TableName, PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true}});
        }
      }};
    },
  };
}

