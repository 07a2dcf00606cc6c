// SPDX-License-Identifier: Apache-2.0
// The streams client of the AWS SDK for JavaScript v3, as consumers use it: children after their parents.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CreateTableCommand, DeleteTableCommand, DynamoDBClient, UpdateTableCommand } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand, DynamoDBStreamsClient, GetRecordsCommand, GetShardIteratorCommand, ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { DeleteCommand, DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';

const where = { endpoint: process.env.ENDPOINT, region: 'us-east-1' };
const client = new DynamoDBClient(where);
const documents = DynamoDBDocumentClient.from(client);
const streams = new DynamoDBStreamsClient(where);
const TableName = 'JavaScriptStreams';

async function shardsOf(StreamArn) {
  const shards = [];
  let ExclusiveStartShardId;
  do {
    const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn, ExclusiveStartShardId, Limit: 2 }));
    shards.push(...StreamDescription.Shards);
    ExclusiveStartShardId = StreamDescription.LastEvaluatedShardId;
  } while (ExclusiveStartShardId);
  return shards;
}

// To the end of a closed shard, or until an open one has nothing more.
async function* recordsOf(StreamArn, ShardId) {
  let { ShardIterator } = await streams.send(new GetShardIteratorCommand({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' }));
  while (ShardIterator) {
    const { Records, NextShardIterator } = await streams.send(new GetRecordsCommand({ ShardIterator, Limit: 3 }));
    if (Records.length === 0) return;
    yield* Records;
    ShardIterator = NextShardIterator;
  }
}

async function* changesOf(StreamArn) {
  const waiting = await shardsOf(StreamArn);
  const done = new Set();
  const known = new Set(waiting.map((shard) => shard.ShardId));
  while (waiting.length > 0) {
    const ready = waiting.findIndex(({ ParentShardId: parent }) => !parent || !known.has(parent) || done.has(parent));
    const [{ ShardId }] = waiting.splice(ready, 1);
    yield* recordsOf(StreamArn, ShardId);
    done.add(ShardId);
  }
}

describe('Streams of the AWS SDK for JavaScript v3', () => {
  let arn;
  before(async () => {
    const { TableDescription } = await client.send(new CreateTableCommand({
      TableName, BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    }));
    arn = TableDescription.LatestStreamArn;
  });
  after(async () => {
    await client.send(new DeleteTableCommand({ TableName }));
    client.destroy();
    streams.destroy();
  });

  it('rebuild the table from its changes', async () => {
    const expected = {};
    for (let i = 0; i < 40; ++i) {
      const pk = `item ${i % 9}`;
      if (i % 7 === 6) {
        await documents.send(new DeleteCommand({ TableName, Key: { pk } }));
        delete expected[pk];
      } else {
        expected[pk] = { pk, i, nested: { list: [i, 'x'] } };
        await documents.send(new PutCommand({ TableName, Item: expected[pk] }));
      }
    }
    const rebuilt = {};
    for await (const { eventName, dynamodb } of changesOf(arn)) {
      const { pk } = unmarshall(dynamodb.Keys);
      assert.deepEqual(dynamodb.OldImage && unmarshall(dynamodb.OldImage), rebuilt[pk]);
      assert.equal(eventName, !dynamodb.NewImage ? 'REMOVE' : dynamodb.OldImage ? 'MODIFY' : 'INSERT');
      if (dynamodb.NewImage) rebuilt[pk] = unmarshall(dynamodb.NewImage);
      else delete rebuilt[pk];
    }
    assert.deepEqual(rebuilt, expected);
  });

  it('end where the stream is switched off, and can still be read', async () => {
    await client.send(new UpdateTableCommand({ TableName, StreamSpecification: { StreamEnabled: false } }));
    const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn: arn }));
    assert.equal(StreamDescription.StreamStatus, 'DISABLED');
    let records = 0;
    for await (const record of changesOf(arn)) records += record.eventID ? 1 : 0;
    assert.ok(records > 30);
    const { Streams } = await streams.send(new ListStreamsCommand({ TableName }));
    assert.deepEqual(Streams.map((stream) => stream.StreamArn), [arn]);
  });
});
