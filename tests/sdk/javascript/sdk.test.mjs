// SPDX-License-Identifier: Apache-2.0
// AWS SDK for JavaScript v3, plain and document client, against the server at $ENDPOINT.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  ConditionalCheckFailedException, CreateTableCommand, DeleteTableCommand, DynamoDBClient, GetItemCommand,
  PutItemCommand, ResourceNotFoundException, TransactionCanceledException, TransactWriteItemsCommand,
  UpdateTimeToLiveCommand, waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import {
  BatchGetCommand, BatchWriteCommand, DynamoDBDocumentClient, GetCommand, paginateQuery, paginateScan, PutCommand, TransactGetCommand,
  TransactWriteCommand, UpdateCommand,
} from '@aws-sdk/lib-dynamodb';

const client = new DynamoDBClient({ endpoint: process.env.ENDPOINT, region: 'us-east-1' });
const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
const TableName = 'JavaScript';

describe('AWS SDK for JavaScript v3', () => {
  before(async () => {
    await client.send(new CreateTableCommand({
      TableName, BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: 'sk', AttributeType: 'N' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }, { AttributeName: 'sk', KeyType: 'RANGE' }],
    }));
    await waitUntilTableExists({ client, maxWaitTime: 60 }, { TableName });
  });
  after(async () => {
    await client.send(new DeleteTableCommand({ TableName }));
    client.destroy();
  });

  it('keeps documents as they are', async () => {
    const item = { pk: 'doc', sk: 1, text: 'naïve ☃', nested: { list: [1, 'two', null, true, { deep: [] }] }, tags: new Set(['a', 'b']), bytes: new Uint8Array([0, 255]) };
    await documents.send(new PutCommand({ TableName, Item: item }));
    const { Item } = await documents.send(new GetCommand({ TableName, Key: { pk: 'doc', sk: 1 }, ConsistentRead: true }));
    assert.deepEqual({ ...Item, bytes: new Uint8Array(Item.bytes) }, item);
  });

  it('answers with the checksum and a request id', async () => {
    const { $metadata } = await client.send(new GetItemCommand({ TableName, Key: { pk: { S: 'none' }, sk: { N: '0' } } }));
    assert.equal($metadata.httpStatusCode, 200);
    assert.ok($metadata.requestId.length > 10);
  });

  it('returns the item of a failed condition', async () => {
    await documents.send(new PutCommand({ TableName, Item: { pk: 'gate', sk: 1, on: true } }));
    await assert.rejects(
      client.send(new PutItemCommand({
        TableName, Item: { pk: { S: 'gate' }, sk: { N: '1' } }, ConditionExpression: 'attribute_not_exists(pk)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      })),
      (error) => error instanceof ConditionalCheckFailedException && error.Item.on.BOOL === true);
  });

  it('counts concurrent increments exactly', async () => {
    await Promise.all(Array.from({ length: 100 }, () => documents.send(new UpdateCommand({
      TableName, Key: { pk: 'counter', sk: 0 }, UpdateExpression: 'ADD #n :one',
      ExpressionAttributeNames: { '#n': 'n' }, ExpressionAttributeValues: { ':one': 1 },
    }))));
    const { Item } = await documents.send(new GetCommand({ TableName, Key: { pk: 'counter', sk: 0 }, ConsistentRead: true }));
    assert.equal(Item.n, 100);
  });

  it('paginates a query in key order', async () => {
    for (let first = 0; first < 100; first += 25) {
      await documents.send(new BatchWriteCommand({
        RequestItems: { [TableName]: Array.from({ length: 25 }, (_, i) => ({ PutRequest: { Item: { pk: 'page', sk: first + i } } })) },
      }));
    }
    const seen = [];
    const pages = paginateQuery({ client: documents, pageSize: 9 }, {
      TableName, KeyConditionExpression: 'pk = :p AND sk BETWEEN :a AND :b', ExpressionAttributeValues: { ':p': 'page', ':a': 5, ':b': 94 },
    });
    for await (const page of pages) seen.push(...page.Items.map((item) => item.sk));
    assert.deepEqual(seen, Array.from({ length: 90 }, (_, i) => i + 5));
  });

  it('marshals what documents hold, and pages through a scan', async () => {
    const { NumberValue } = await import('@aws-sdk/lib-dynamodb');
    const other = new DynamoDBClient({ endpoint: process.env.ENDPOINT, region: 'us-east-1' });
    const exact = DynamoDBDocumentClient.from(other, { marshallOptions: { convertEmptyValues: true, convertClassInstanceToMap: true }, unmarshallOptions: { wrapNumbers: true } });
    class Point { constructor(x, y) { this.x = x; this.y = y; } }
    const digits = '12345678901234567890.123456789012345678';
    await exact.send(new PutCommand({ TableName, Item: { pk: 'exact', sk: 1, amount: NumberValue.from(digits), at: new Point(1, -2.5), none: '', ids: new Set([1, 2]), big: 2n ** 90n } }));
    const { Item } = await exact.send(new GetCommand({ TableName, Key: { pk: 'exact', sk: 1 } }));
    assert.equal(Item.amount.toString(), digits);
    assert.equal(Item.at.y.toString(), '-2.5');
    assert.equal(Item.big.toString(), String(2n ** 90n));
    assert.equal(Item.none, null);
    assert.deepEqual([...Item.ids].map(String).sort(), ['1', '2']);
    other.destroy();
    const { Responses } = await documents.send(new BatchGetCommand({ RequestItems: { [TableName]: { Keys: [{ pk: 'exact', sk: 1 }, { pk: 'none', sk: 1 }], ProjectionExpression: '#at.y', ExpressionAttributeNames: { '#at': 'at' } } } }));
    assert.deepEqual(Responses[TableName], [{ at: { y: -2.5 } }]);
    let seen = 0;
    for await (const page of paginateScan({ client: documents, pageSize: 7 }, { TableName, FilterExpression: 'pk = :p', ExpressionAttributeValues: { ':p': 'page' } })) seen += page.Count;
    assert.equal(seen, 100);
  });

  it('applies transactions whole or not at all, with reasons in order', async () => {
    await documents.send(new TransactWriteCommand({
      TransactItems: [{ Put: { TableName, Item: { pk: 'tx', sk: 1, n: 1 } } }, { Put: { TableName, Item: { pk: 'tx', sk: 2, n: 2 } } }],
    }));
    await assert.rejects(
      client.send(new TransactWriteItemsCommand({
        TransactItems: [
          { Delete: { TableName, Key: { pk: { S: 'tx' }, sk: { N: '1' } } } },
          { ConditionCheck: { TableName, Key: { pk: { S: 'tx' }, sk: { N: '2' } }, ConditionExpression: 'n > :n', ExpressionAttributeValues: { ':n': { N: '2' } } } },
        ],
      })),
      (error) => error instanceof TransactionCanceledException &&
        error.CancellationReasons.map((reason) => reason.Code).join() === 'None,ConditionalCheckFailed');
    const { Responses } = await documents.send(new TransactGetCommand({
      TransactItems: [1, 2, 3].map((sk) => ({ Get: { TableName, Key: { pk: 'tx', sk } } })),
    }));
    assert.deepEqual(Responses.map((response) => response.Item?.n), [1, 2, undefined]);
  });

  it('switches time to live on', async () => {
    const TimeToLiveSpecification = { AttributeName: 't', Enabled: true };
    const answer = await client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
    assert.deepEqual(answer.TimeToLiveSpecification, TimeToLiveSpecification);
  });

  it('names errors as the service does', async () => {
    await assert.rejects(client.send(new GetItemCommand({ TableName: 'Nowhere', Key: { pk: { S: 'x' } } })), ResourceNotFoundException);
    await assert.rejects(client.send(new UpdateTimeToLiveCommand({
      TableName: 'Nowhere', TimeToLiveSpecification: { AttributeName: 't', Enabled: true } })), ResourceNotFoundException);
  });
});
