// SPDX-License-Identifier: Apache-2.0
// DynamoDB OneTable, an object mapper with several kinds of item in one table, on its everyday work.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Dynamo } from 'dynamodb-onetable/Dynamo';
import { Table } from 'dynamodb-onetable';

const schema = {
  format: 'onetable:1.1.0',
  version: '0.0.1',
  indexes: { primary: { hash: 'pk', sort: 'sk' }, gs1: { hash: 'gs1pk', sort: 'gs1sk', project: 'all' } },
  models: {
    Account: {
      pk: { type: String, value: 'account#${id}' },
      sk: { type: String, value: 'account#' },
      id: { type: String, required: true },
      name: { type: String, required: true, unique: true },
      balance: { type: Number, default: 0 },
    },
    User: {
      pk: { type: String, value: 'account#${account}' },
      sk: { type: String, value: 'user#${email}' },
      gs1pk: { type: String, value: 'user#' },
      gs1sk: { type: String, value: 'user#${email}' },
      account: { type: String, required: true },
      email: { type: String, required: true },
      joined: { type: Date },
      tags: { type: Array },
      address: { type: Object, schema: { city: { type: String }, zip: { type: String } } },
    },
  },
  params: { isoDates: true, timestamps: true },
};

const client = new DynamoDBClient({ endpoint: process.env.ENDPOINT, region: 'us-east-1' });
const table = new Table({ client: new Dynamo({ client }), name: 'OneTable', schema, partial: true });
const Account = table.getModel('Account');
const User = table.getModel('User');

describe('DynamoDB OneTable', () => {
  before(() => table.createTable());
  after(async () => {
    await table.deleteTable('DeleteTableForever');
    client.destroy();
  });

  it('finds the table that it made', async () => {
    assert.ok(await table.exists());
    assert.deepEqual((await table.listTables()).filter((name) => name === 'OneTable'), ['OneTable']);
  });

  it('creates once, gets, updates and removes', async () => {
    await Account.create({ id: 'a1', name: 'Acme' });
    await assert.rejects(Account.create({ id: 'a1', name: 'Other' }), (error) => error.name === 'OneTableError');
    assert.equal((await Account.get({ id: 'a1' })).balance, 0);
    await Account.update({ id: 'a1' }, { add: { balance: 10 } });
    const changed = await Account.update({ id: 'a1' }, { set: { balance: '${balance} - {4}' }, where: '${balance} >= {4}' });
    assert.equal(changed.balance, 6);
    await assert.rejects(Account.update({ id: 'a1' }, { set: { balance: 0 }, where: '${balance} > {1000}' }));
    await Account.remove({ id: 'a1' });
    assert.equal(await Account.get({ id: 'a1' }), undefined);
  });

  it('keeps unique attributes unique, in transactions', async () => {
    await Account.create({ id: 'u1', name: 'Unique' });
    await assert.rejects(Account.create({ id: 'u2', name: 'Unique' }), (error) => error.code === 'UniqueError');
    assert.equal(await Account.get({ id: 'u2' }), undefined);
    await Account.update({ id: 'u1', name: 'Renamed' });
    await Account.create({ id: 'u2', name: 'Unique' });
  });

  it('pages through a collection and an index, with filters', async () => {
    const batch = {};
    for (let i = 0; i < 20; i++) {
      await User.create({ account: 'big', email: `u${String(i).padStart(2, '0')}@x`, joined: new Date(1700000000000 + i),
        tags: ['t', i], address: { city: i % 2 ? 'Bern' : 'Oslo', zip: String(i) } }, { batch });
    }
    await table.batchWrite(batch);
    const first = await User.find({ account: 'big' }, { limit: 6 });
    assert.equal(first.length, 6);
    const second = await User.find({ account: 'big' }, { limit: 100, next: first.next });
    assert.equal(first.length + second.length, 20);
    assert.deepEqual(second.at(-1).joined, new Date(1700000000019));
    assert.deepEqual(second.at(-1).tags, ['t', 19]);
    const found = await User.find({}, { index: 'gs1', where: '${address.city} = {Bern}', reverse: true });
    assert.deepEqual(found.map((user) => user.email).slice(0, 2), ['u19@x', 'u17@x']);
    assert.equal((await User.find({ account: 'big', sk: { begins: 'user#u1' } })).length, 10);
    assert.equal((await User.scan({}, { count: true })).count, 20);
  });

  it('changes inner attributes alone', async () => {
    await User.create({ account: 'one', email: 'e', address: { city: 'Rome', zip: '1' } });
    await User.update({ account: 'one', email: 'e', address: { zip: '2' } });
    assert.deepEqual((await User.get({ account: 'one', email: 'e' })).address, { city: 'Rome', zip: '2' });
    await User.update({ account: 'one', email: 'e' }, { remove: ['address.zip'] });
    assert.deepEqual((await User.get({ account: 'one', email: 'e' })).address, { city: 'Rome' });
  });

  it('writes all of a transaction or nothing', async () => {
    const transaction = {};
    await Account.create({ id: 't1', name: 'T1', balance: 5 });
    await Account.update({ id: 't1' }, { add: { balance: -50 }, where: '${balance} >= {50}', transaction });
    await User.create({ account: 't1', email: 'new' }, { transaction });
    await assert.rejects(table.transact('write', transaction));
    assert.equal(await User.get({ account: 't1', email: 'new' }), undefined);
  });
});
