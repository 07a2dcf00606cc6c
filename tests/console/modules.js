// SPDX-License-Identifier: Apache-2.0
// Tests of the modules that need no page. Run in a browser by modules_test.py.
import * as code from '/console/code.js';
import * as expressions from '/console/expressions.js';
import * as plots from '/console/plot.js';
import * as partiql from '/console/partiql_text.js';
import * as items from '/console/recipe_items.js';
import * as sensors from '/console/recipe_sensors.js';
import * as server from '/console/server.js';
import * as feeds from '/console/recipe_feeds.js';
import * as locks from '/console/recipe_locks.js';
import * as toggles from '/console/recipe_toggles.js';
import * as sigv4 from '/console/sigv4.js';
import * as values from '/console/values.js';

const tests = {};
const equal = (actual, expected) => {
  const [a, b] = [actual, expected].map((v) => JSON.stringify(v));
  if (a !== b) throw new Error(`${a}\n  is not\n${b}`);
};
const fails = (f, text) => {
  try { f(); } catch (error) {
    if (!error.message.includes(text)) throw new Error(`'${error.message}' does not contain '${text}'`);
    return;
  }
  throw new Error(`nothing failed with '${text}'`);
};
const BIG = '12345678901234567890123456789012345678';

// ---- PartiQL

tests['only results named as attributes can be written back'] = () => {
  for (const [statement, table] of [
    ['SELECT * FROM T', 'T'], ['select pk, "a b" from "T"."I" where x = 1', 'T'], ['-- note\nSELECT pk FROM T', 'T'],
    ['SELECT a.b FROM T', ''], ['SELECT pk, l[0] FROM T', ''], ['SELECT pk b FROM T', ''], ['SELECT FROM T', ''], ['SELECT pk, FROM T', ''],
    ['SELECT "FROM" FROM T', 'T'], ["DELETE FROM T WHERE pk = 'a' RETURNING ALL OLD *", ''], ["INSERT INTO T VALUE {'pk': 'a'}", ''], ['', '']]) {
    equal(partiql.editableTable(statement), table);
  }
};

// ---- Values

tests['numbers keep 38 digits through plain JSON'] = () => {
  const item = {n: {N: BIG}, small: {N: '0.00000000000000000000000000000000000001'}, set: {NS: [BIG, '1e-100']}};
  const text = values.printItem(item, true);
  equal(text.includes(BIG), true);
  equal(values.parseItem(text, true, item), item);
};
tests['every type survives both forms of JSON'] = () => {
  const item = {S: {S: 'é"\\\n😀'}, N: {N: '-1.5E+7'}, BOOL: {BOOL: false}, NULL: {NULL: true}, B: {B: 'AQI='}, SS: {SS: ['a', 'b']},
    NS: {NS: ['1']}, BS: {BS: ['AQ==']}, L: {L: [{S: 'x'}, {L: []}, {NS: ['2']}]}, M: {M: {'a.b': {B: 'AA=='}, '': {M: {}}}}};
  equal(values.parseItem(values.printItem(item, false), false), item);
  equal(values.parseItem(values.printItem(item, true), true, item), item);
};
tests['plain JSON without a model has no sets'] = () =>
  equal(values.parseItem('{"a": ["x"], "b": {"c": [1, null]}}', true), {a: {L: [{S: 'x'}]}, b: {M: {c: {L: [{N: '1'}, {NULL: true}]}}}});
tests['numbers that JSON cannot spell are written in another form'] = () => {
  for (const [text, expected] of [['.5', '0.5'], ['+1', '1'], ['007', '7'], ['-.5', '-0.5'], ['1.', '1'], ['1.e5', '1e5'], ['0', '0']]) {
    equal(values.printJson(values.toPlain({N: text})), expected);
  }
};
tests['malformed JSON is refused with its position'] = () => {
  for (const [text, message, at] of [['{"a": }', "unexpected '}'", 6], ['{"a": 1', "expected ',' or '}'", 7], ['[1 2]', "expected ',' or ']'", 3],
    ['{"a": 1, "a": 2}', "repeated name 'a'", 9], ['{"a": "x', 'invalid string', 6], ['{} x', 'after the end', 3], ['', 'unexpected end', 0],
    ['{a: 1}', 'double quotes', 1], ['[01]', "expected ','", 2], [`${'['.repeat(80)}`, 'nested more', 65]]) {
    fails(() => values.parseJson(text), message);
    try { values.parseJson(text); } catch (error) { equal(error.at, at); }
  }
};
tests['malformed DynamoDB JSON is refused with its path'] = () => {
  for (const [item, message] of [['{"a": 1}', 'a: expected one type'], ['{"a": {"N": "x"}}', "a: 'x' is not a number"], ['{"a": {"X": 1}}', "'X' is not a type"],
    ['{"a": {"L": [{"S": 1}]}}', 'a[0]: expected text in S'], ['{"a": {"M": {"b": {"BOOL": "true"}}}}', 'a.b: expected true or false'],
    ['{"a": {"S": "x", "N": "1"}}', 'a: expected one type'], ['[]', 'expected an object']]) {
    fails(() => values.parseItem(item, false), message);
  }
};
tests['names of prototypes are attributes like others'] = () => {
  const parsed = values.parseItem('{"__proto__": {"S": "x"}, "constructor": {"N": "1"}}', false);
  equal(Object.keys(parsed), ['__proto__', 'constructor']);
  equal(({}).S, undefined);
};
tests['CSV keeps types, quotes and line ends'] = () => {
  const items = [{pk: {S: 'a,"b"\r\nc'}, n: {N: BIG}, mixed: {S: 'x'}, empty: {S: ''}, flag: {BOOL: true}},
    {pk: {S: ' d '}, mixed: {N: '1'}, list: {L: [{S: 'y'}]}, bin: {B: 'AQ=='}, none: {NULL: true}}];
  const columns = values.csvColumns(items);
  const text = values.csvHeader(columns) + items.map((i) => values.csvRow(i, columns)).join('');
  equal(text.split('\r\n')[0], 'pk:S,n:N,mixed:JSON,empty:S,flag:BOOL,list:JSON,bin:B,none:NULL');
  equal(values.itemsFromCsv(text), items);
};
tests['CSV without types takes those of the key'] = () => {
  equal(values.itemsFromCsv('id,year\n1,1888\n2,\n', {id: 'N'}), [{id: {N: '1'}, year: {S: '1888'}}, {id: {N: '2'}}]);
  fails(() => values.itemsFromCsv('id\nx\n', {id: 'N'}), "row 2: 'x' is not a number");
  fails(() => values.itemsFromCsv('a\n1,2\n'), 'row 2: more cells');
  fails(() => values.itemsFromCsv('a\n"1\n'), 'invalid CSV in row 2');
  fails(() => values.itemsFromCsv(''), 'the file is empty');
};
tests['files of JSON have several forms'] = () => {
  const item = [{pk: {S: 'a'}, n: {N: '1'}}];
  for (const text of ['[{"pk": "a", "n": 1}]', '{"pk": "a", "n": 1}', '{"Items": [{"pk": {"S": "a"}, "n": {"N": "1"}}]}',
    '{"Item": {"pk": {"S": "a"}, "n": {"N": "1"}}}']) equal(values.itemsFromJson(text), item);
  equal(values.itemsFromJson('{"pk": "a"}\n{"pk": "b"}\n').length, 2);
  fails(() => values.itemsFromJson('{"pk": "a"}\n{"pk": }\n'), 'line 2');
  fails(() => values.itemsFromJson('[1]'), 'item 1 is not an object');
};

// ---- Signatures

tests['the signature is that of the AWS test suite'] = async () => {
  const signer = await sigv4.makeSigner('AKIDEXAMPLE', 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY', 'us-east-1', 'service');
  const headers = {host: 'example.amazonaws.com', 'x-amz-date': '20150830T123600Z'};
  equal(await signer.authorization(headers, '', {method: 'GET'}), 'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ' +
    'SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31');
  equal((await signer.authorization(headers, '')).split('Signature=')[1], '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b');
  equal((await signer.authorization({...headers, 'content-type': 'application/x-www-form-urlencoded'}, 'Param1=value1')).split('Signature=')[1],
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a');
};
tests['dates have the form of signatures'] = () =>
  equal(sigv4.amzDate(new Date(Date.UTC(2026, 10, 22, 3, 4, 5, 678))), '20261122T030405Z');

// ---- Expressions

const table = {
  TableName: 'Music', KeySchema: [{AttributeName: 'artist', KeyType: 'HASH'}, {AttributeName: 'year', KeyType: 'RANGE'}],
  AttributeDefinitions: [{AttributeName: 'artist', AttributeType: 'S'}, {AttributeName: 'year', AttributeType: 'N'}, {AttributeName: 'label.id', AttributeType: 'B'}],
  GlobalSecondaryIndexes: [{IndexName: 'ByLabel', KeySchema: [{AttributeName: 'label.id', KeyType: 'HASH'}], Projection: {ProjectionType: 'KEYS_ONLY'}}],
};
const query = (more) => ({op: 'Query', hash: ['Satie'], range: [{op: ''}], ...more});
const rule = (path, op, type = 'S', a = '', b = '', not = false) => ({path, op, type, a, b, not});

tests['a query has its key conditions'] = () => {
  equal(expressions.buildRequest(query({range: [{op: 'between', a: '1887', b: '1888'}], desc: true, limit: 7, consistent: true}), table), {operation: 'Query', input: {
    TableName: 'Music', KeyConditionExpression: '#artist = :artist AND #year BETWEEN :year AND :year2',
    ExpressionAttributeNames: {'#artist': 'artist', '#year': 'year'},
    ExpressionAttributeValues: {':artist': {S: 'Satie'}, ':year': {N: '1887'}, ':year2': {N: '1888'}}, ScanIndexForward: false, ConsistentRead: true, Limit: 7}});
  equal(expressions.buildRequest(query({index: 'ByLabel', hash: ['AQ=='], range: [], consistent: true}), table, {artist: {S: 'x'}}).input, {
    TableName: 'Music', IndexName: 'ByLabel', KeyConditionExpression: '#label_id = :label_id', ExpressionAttributeNames: {'#label_id': 'label.id'},
    ExpressionAttributeValues: {':label_id': {B: 'AQ=='}}, Limit: 50, ExclusiveStartKey: {artist: {S: 'x'}}});
  for (const [op, text] of [['=', '#year = :year'], ['<', '#year < :year'], ['<=', '#year <= :year'], ['>', '#year > :year'], ['>=', '#year >= :year'],
    ['begins_with', 'begins_with(#year, :year)']]) {
    equal(expressions.buildRequest(query({range: [{op, a: '1'}]}), table).input.KeyConditionExpression, `#artist = :artist AND ${text}`);
  }
  fails(() => expressions.buildRequest(query({hash: ['']}), table), "enter a value of 'artist'");
  fails(() => expressions.buildRequest(query({range: [{op: '=', a: 'x'}]}), table), "'x' is not a number");
  fails(() => expressions.buildRequest(query({index: 'None'}), table), "no index 'None'");
};
tests['filters have every operator'] = () => {
  const filter = (r, more = {}) => expressions.buildRequest({op: 'Scan', rules: [r].flat(), ...more}, table).input;
  for (const [r, text] of [[rule('a', '=', 'S', 'x'), '#a = :a'], [rule('a', '<>', 'N', '1'), '#a <> :a'], [rule('a', '<'), '#a < :a'], [rule('a', '<='), '#a <= :a'],
    [rule('a', '>'), '#a > :a'], [rule('a', '>='), '#a >= :a'], [rule('a', 'between', 'S', 'x', 'y'), '#a BETWEEN :a AND :a2'],
    [rule('a', 'in', 'N', '1, 2,3'), '#a IN (:a, :a2, :a3)'], [rule('a', 'begins_with', 'S', 'x'), 'begins_with(#a, :a)'],
    [rule('a', 'contains', 'S', 'x'), 'contains(#a, :a)'], [rule('a', 'exists'), 'attribute_exists(#a)'], [rule('a', 'not_exists'), 'attribute_not_exists(#a)'],
    [rule('a', 'type', 'S', 'SS'), 'attribute_type(#a, :a)'], [rule('a', 'size >=', 'S', '3'), 'size(#a) >= :a'],
    [rule('a.b[2]."c.d"', '=', 'BOOL', 'true', '', true), 'NOT (#a.#b[2].#c_d = :c_d)']]) {
    equal(filter(r).FilterExpression, text);
  }
  equal(filter([rule('a', '='), rule('b', '=')]).FilterExpression, '#a = :a AND #b = :b');
  equal(filter([rule('a', '='), rule('a', '=')], {any: true}).FilterExpression, '#a = :a OR #a = :a2');
  equal(filter(rule('a', '=', 'JSON', '{"L": [{"N": "1"}]}')).ExpressionAttributeValues, {':a': {L: [{N: '1'}]}});
  equal(filter([rule('a-b', 'exists'), rule('a_b', 'exists'), rule('é', 'exists')]).ExpressionAttributeNames, {'#a_b': 'a-b', '#a_b2': 'a_b', '#x': 'é'});
  equal(filter(rule('in', 'in', 'S', '"x,y",z')).ExpressionAttributeValues, {':in': {S: 'x,y'}, ':in2': {S: 'z'}});
  fails(() => filter(rule('', '=')), 'is not an attribute path');
  fails(() => filter(rule('a..b', '=')), 'is not an attribute path');
  fails(() => filter(rule('[1]', '=')), 'is not an attribute path');
  fails(() => filter(rule('a.', '=')), 'is not an attribute path');
};
tests['projections contain the key'] = () =>
  equal(expressions.buildRequest({op: 'Scan', project: 'title, info.year'}, table).input.ProjectionExpression, '#year, #artist, #title, #info.#year');
tests['PartiQL says the same'] = () => {
  equal(expressions.buildStatement(query({range: [{op: '>=', a: '1887'}], desc: true, any: true, rules: [rule('a', 'exists'), rule('b', 'in', 'S', "x,y'z")]}), table),
    {statement: 'SELECT *\nFROM "Music"\nWHERE "artist" = \'Satie\'\n  AND "year" >= 1887\n  AND ("a" IS NOT MISSING OR "b" IN [\'x\', \'y\'\'z\'])\nORDER BY "year" DESC', parameters: []});
  equal(expressions.buildStatement({op: 'Query', index: 'ByLabel', hash: ['AQ=='], project: 'x'}, table),
    {statement: 'SELECT "x"\nFROM "Music"."ByLabel"\nWHERE "label.id" = ?', parameters: [{B: 'AQ=='}]});
};

// ---- Code

const input = {TableName: "It's", IndexName: 'I', KeyConditionExpression: '#a = :a', ExpressionAttributeNames: {'#a': 'a b'},
  ExpressionAttributeValues: {':a': {M: {x: {L: [{BOOL: true}, {NULL: true}, {B: 'AQI='}]}}}}, ScanIndexForward: false, ConsistentRead: true, Limit: 5,
  ReturnConsumedCapacity: 'TOTAL'};
const shown = (language) => code.showAs(language, 'Query', input, 'http://localhost:8000', {statement: 'SELECT', parameters: []});
tests['code quotes what its language requires'] = () => {
  equal(shown('cli').includes(`--table-name 'It'\\''s'`), true);
  equal(shown('cli').includes('--no-scan-index-forward'), true);
  equal(shown('cli').includes('--consistent-read'), true);
  equal(shown('python').includes('"ScanIndexForward": False'), true);
  equal(shown('python').includes('base64.b64decode("AQI=")'), true);
  equal(shown('javascript').includes('Buffer.from("AQI=", "base64")'), true);
  equal(shown('go').includes('[]byte{1, 2}'), true);
  equal(shown('go').includes('aws.Int32(5)'), true);
  equal(shown('cpp').includes('client->call("Query", R"json({'), true);
  for (const [language] of code.LANGUAGES) equal(shown(language).includes('ReturnConsumedCapacity'), false);
};

// ---- Plots, the server and the recipes

tests['quantiles are interpolated in their bucket'] = () => {
  const bounds = [1, 2, 4];
  equal(server.quantile([], bounds, 0.5), null);
  equal(server.quantile([4], bounds, 0.5), 0.5);
  equal(server.quantile([0, 10], bounds, 0.99), 1.99);
  equal(server.quantile([98, 1, 1], bounds, 0.99), 2);
  equal(server.quantile([1, 0, 0, 99], bounds, 0.5), 4);  // the last bucket has no upper bound
};
tests['samples are merged by their numbers'] = () => {
  const sample = (number, n) => ({number, end_ms: number * 5, length_ms: 5, operations: {A: [0, n]}, errors: {E: 1}, throttles: 1, counters: [2], gauges: [number]});
  const bins = server.merged([sample(3, 1), sample(4, 2), sample(5, 4), sample(6, 8)], 2);
  equal(bins.map((b) => [b.end_ms, b.length_ms, b.operations.A, b.errors.E, b.counters, b.gauges]),
    [[15, 5, [0, 1], 1, [2], [3]], [25, 10, [0, 6], 2, [4], [5]], [30, 5, [0, 8], 1, [2], [6]]]);
};
tests['numbers of the server are short'] = () => {
  equal([0, 0.1234, 2.5, 1234.5].map(server.rate), ['0/s', '0.12/s', '2.5/s', '1,235/s']);
  equal([null, 0.05, 1.2345, 2500].map(server.milliseconds), ['–', '50 µs', '1.23 ms', '2.5 s']);
  equal([0, 59, 61, 7200, 90000].map(server.duration), ['0 s', '59 s', '1 min 1 s', '2 h', '1 d 1 h']);
};
tests['ticks are round and cover the range'] = () => {
  equal(plots.niceTicks(0, 37, 4), [0, 10, 20, 30, 40]);
  equal(plots.niceTicks(3.6, 6.3, 4), [3, 4, 5, 6, 7]);
  equal(plots.niceTicks(-5, 5, 4), [-5, -2.5, 0, 2.5, 5]);
  equal(plots.niceTicks(7, 7, 4).length > 1, true);
  equal(plots.niceTicks(1e17, 1e17 + 16, 4).length < 20, true);  // steps that such numbers cannot take
  equal(plots.niceTicks(0, 5 * 1024 * 1024, 5, 1024), [0, 1, 2, 3, 4, 5].map((n) => n * 1024 * 1024));
  const {ticks, step} = plots.timeTicks(Date.UTC(2024, 0, 1, 0, 10), Date.UTC(2024, 0, 1, 4), 5, true);
  equal(ticks.map((t) => plots.tickText(t, step, true)), ['01:00', '02:00', '03:00', '04:00']);
  equal(plots.timeText(Date.UTC(2024, 0, 2, 3, 4, 5, 670), true), '2024-01-02 03:04:05.67 UTC');
  equal(plots.timeText(Date.UTC(2024, 0, 2, 3, 4, 50), true), '2024-01-02 03:04:50 UTC');
};
tests['what holds at a time is the last point up to it'] = () => {
  const points = [[1], [3], [3], [7]];
  equal([0, 1, 2, 3, 6, 7, 9].map((t) => plots.lastUpTo(points, t)), [-1, 0, 0, 2, 2, 3, 3]);
};
tests['times of keys go both ways'] = () => {
  for (const [ms, key, text] of [[0, '062135596800000000000', '1970-01-01T00:00:00Z'], [-62135596800000, '0'.repeat(21), '0001-01-01T00:00:00Z'],
    [1714564800123, '063850161600123000000', '2024-05-01T12:00:00.123Z'], [-1, '062135596799999000000', '1969-12-31T23:59:59.999Z']]) {
    equal(items.timeKey(ms), key);
    equal(items.timeOfKey(key), {ms, text});
  }
  equal(items.timeKey(0, -1n), '062135596799999999999');
  equal(items.timeOfKey('062135596800000000001').text, '1970-01-01T00:00:00.000000001Z');
  for (const bad of ['', '06213559680000000000', '06213559680000000000x', '-62135596800000000000']) equal(items.timeOfKey(bad), null);
};
tests['parts of keys are escaped'] = () => {
  for (const text of ['', 'a', '#', '%', '%23', '%25#', 'é#%%']) equal(items.unescapePart(items.escapePart(text)), text);
  for (const bad of ['#', '%', '%2', '%24', 'a%23%']) equal(items.unescapePart(bad), null);
};
tests['places are read from their keys'] = () => {
  equal(sensors.placeOf('CITY#A%232', 'LOCATION#b#1#r#id%25#'), {city: 'A#2', building: 'b', floor: '1', room: 'r', id: 'id%'});
  equal(sensors.placeOf('CITY#A#7', 'LOCATION#b#1#r#i#').city, 'A');
  for (const [city, path] of [['A', 'LOCATION#b#1#r#i#'], ['CITY#A', 'LOCATION#b#1'], ['CITY#%', 'LOCATION#b#1#r#i#'], [undefined, undefined]]) equal(sensors.placeOf(city, path), null);
};

tests['late events arrived after a later one'] = () => {
  const events = ['a', 'b', 'c', 'd', 'e'].map((key) => ({key}));
  equal(toggles.lateOnes(events, null), null);
  equal([...toggles.lateOnes(events, ['a', 'b', 'c', 'd', 'e'])], []);
  equal([...toggles.lateOnes(events, ['c', 'a', 'd', 'b', 'e'])], ['a', 'b']);
  equal([...toggles.lateOnes(events, ['b', 'e'])], ['b']);  // `d` was there before
};
tests['states are levels, or numbers'] = () => {
  const of = (...states) => toggles.scaleOf(states.map((state) => ({state})));
  equal(of({BOOL: true}).levels, ['off', 'on']);
  equal([of({N: '1'}).levels, of({N: '2.5'}).value({N: '2.5'})], [null, 2.5].map((v) => v ?? undefined));
  const mixed = of({S: 'x'}, {N: '1'}, {BOOL: false});
  equal([mixed.levels, mixed.value({BOOL: false})], [['x', '1', 'off'], 2]);
  const many = of(...Array.from({length: 50}, (_, i) => ({S: `s${i}`})));
  equal([many.levels.length, many.levels.at(-1), many.value({S: 's49'})], [20, 'others', 19]);
};

tests['a lease counts down by the best clock there is'] = () => {
  const entry = {lease: 20000, renewed: 1000000};
  equal(locks.leaseState(entry, {at: 0, renewal: false}, 1000, 1005000), {left: 15000, text: '15 s', kind: ''});
  equal(locks.leaseState(entry, {at: 0, renewal: false}, 1000, 1020001).text, 'overdue');
  equal(locks.leaseState(entry, {at: 0, renewal: false}, 1000, 900000).left, 20000);  // a clock behind adds nothing
  equal(locks.leaseState(entry, {at: 0, renewal: true}, 15000, 9999999), {left: 5000, text: '5.0 s', kind: ''});
  equal(locks.leaseState(entry, {at: 0, renewal: true}, 20049, 0).text, 'overdue');
  equal(locks.leaseState(entry, {at: 0, renewal: false}, 20050, 1000000).text, 'expired');
  equal(locks.leaseState({lease: 20000, renewed: NaN}, {at: 0, renewal: false}, 1, 1).text, 'unknown');
};
tests['a lock is read from its item, and broken as it was read'] = () => {
  const item = {pk: {S: 'LOCK#a%23b'}, permits: {N: '2'}, fence: {N: '9007199254740993'}, held: {N: '1'}, waiting: {N: '0'},
    'holder:x': {M: {beat: {N: '1'}, lease_ms: {N: '20000'}, since: {S: '2024-05-01T12:00:00Z'}}}, 'fence:x': {N: '9007199254740992'}};
  const lock = locks.lockOf(item, {pk: 'pk'}, 'LOCK#');
  equal([lock.name, lock.holders[0].id, lock.holders[0].lease, lock.waiters], ['a#b', 'x', 20000, []]);
  equal(locks.breakRequest('T', {pk: 'pk'}, lock, lock.holders), {
    TableName: 'T', Key: {pk: {S: 'LOCK#a%23b'}},
    UpdateExpression: 'SET fence = :next, broken = :next, held = held - :gone REMOVE #f0, #h0', ConditionExpression: 'fence = :seen AND #f0 = :f0',
    ExpressionAttributeNames: {'#f0': 'fence:x', '#h0': 'holder:x'},
    ExpressionAttributeValues: {':seen': {N: '9007199254740993'}, ':next': {N: '9007199254740994'}, ':gone': {N: '1'}, ':f0': {N: '9007199254740992'}},
  });
  for (const other of [{...item, pk: {S: 'X'}}, {...item, permits: {N: '0'}}, {...item, held: undefined}, {pk: {S: 'LOCK#x'}}]) equal(locks.lockOf(other, {pk: 'pk'}, 'LOCK#'), null);
};

tests['posts have the order and the times of both layouts'] = () => {
  equal(feeds.isNewer({S: '000000000000000002#b'}, {S: '000000000000000002#a'}), true);
  equal(feeds.isNewer({N: '99.5'}, {N: '100'}), true);  // the layout counts down
  equal(feeds.isNewer({N: '7.05'}, {N: '7.1'}), true);
  equal(feeds.isNewer({N: '7.10'}, {N: '7.1'}), false);
  equal(feeds.timeOfPost({S: '001714564800123456#018f'}), '2024-05-01T12:00:00.123456Z');
  equal(feeds.timeOfPost({N: String(9223372036854775807n - 1714564800123456789n) + '.5'}), '2024-05-01T12:00:00.123456Z');
  for (const bad of [{S: 'x'}, {N: '-1'}, {N: '1e5'}]) equal(feeds.timeOfPost(bad), '');
};
tests['partitions are merged without repetitions'] = () => {
  const posts = (...keys) => keys.map((key) => ({rk: {S: key}}));
  const keysOf = ({posts: found, more}) => [found.map((p) => p.rk.S).join(''), more];
  equal(keysOf(feeds.mergePosts([posts('e', 'c', 'a'), posts('d', 'c', 'b')], 'rk', 5)), ['edcba', false]);
  equal(keysOf(feeds.mergePosts([posts('e', 'c', 'a'), posts('d', 'c', 'b')], 'rk', 4)), ['edcb', true]);
  equal(keysOf(feeds.mergePosts([[], []], 'rk', 4)), ['', false]);
};
tests['delivery is told by the author\'s item'] = () => {
  const of = (item) => feeds.deliveryOf(item, 1000)[0];
  equal(of({}), 'delivered');
  equal(of({spread: {S: 'merged'}}), 'merged when read');
  equal(of({outbox: {S: 'PENDING#0'}}), 'waits for a worker');
  equal(of({outbox: {S: 'PENDING#0'}, claim: {S: 'w'}, claim_until: {N: '1001'}, outbox_cursor: {S: 'bob'}, edits: {N: '1'}}), 'edit in delivery by w, up to bob');
  equal(of({outbox: {S: 'PENDING#0'}, claim: {S: 'w'}, claim_until: {N: '999'}, retracted: {BOOL: true}}), 'retraction waits for a worker');
};

export async function runAll() {
  const failures = [];
  for (const [name, test] of Object.entries(tests)) {
    try { await test(); } catch (error) { failures.push(`${name}: ${error.stack ?? error}`); }
  }
  return {count: Object.keys(tests).length, failures};
}
