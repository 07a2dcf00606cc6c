# SPDX-License-Identifier: Apache-2.0
"""boto3's streams client: a table's changes, shard by shard, and what it refuses."""

from support import TableTest, client


class Streams(TableTest):
    KEYS = {"pk": "S"}
    EXTRA = {"BillingMode": "PAY_PER_REQUEST", "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}}

    def setUp(self):
        super().setUp()
        self.streams = client("dynamodbstreams")
        self.addCleanup(self.streams.close)
        self.arn = self.db.describe_table(TableName=self.table)["Table"]["LatestStreamArn"]

    def records(self):
        found = []
        for shard in self.streams.describe_stream(StreamArn=self.arn)["StreamDescription"]["Shards"]:
            iterator = self.streams.get_shard_iterator(
                StreamArn=self.arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
            while True:
                page = self.streams.get_records(ShardIterator=iterator)
                found += page["Records"]
                if not page["Records"]:
                    break
                iterator = page["NextShardIterator"]
        return found

    def test_changes_are_told_in_order(self):
        key = {"pk": {"S": "a"}}
        self.db.put_item(TableName=self.table, Item={**key, "b": {"B": b"\x00\xff"}})
        self.db.update_item(TableName=self.table, Key=key, UpdateExpression="SET n = :n", ExpressionAttributeValues={":n": {"N": "1.5"}})
        self.db.delete_item(TableName=self.table, Key=key)
        found = self.records()
        self.assertEqual([record["eventName"] for record in found], ["INSERT", "MODIFY", "REMOVE"])
        changed = found[1]
        self.assertEqual((changed["eventVersion"], changed["eventSource"], changed["awsRegion"]), ("1.1", "aws:dynamodb", "us-east-1"))
        self.assertEqual(changed["dynamodb"]["Keys"], key)
        self.assertEqual(changed["dynamodb"]["OldImage"], {**key, "b": {"B": b"\x00\xff"}})
        self.assertEqual(changed["dynamodb"]["NewImage"], {**key, "b": {"B": b"\x00\xff"}, "n": {"N": "1.5"}})
        self.assertEqual(changed["dynamodb"]["StreamViewType"], "NEW_AND_OLD_IMAGES")
        self.assertGreater(int(changed["dynamodb"]["SequenceNumber"]), int(found[0]["dynamodb"]["SequenceNumber"]))
        self.assertNotIn("userIdentity", changed)

    def test_streams_are_listed(self):
        listed = self.streams.list_streams(TableName=self.table)["Streams"]
        self.assertEqual([stream["StreamArn"] for stream in listed], [self.arn])

    def test_refusals_are_the_service_s(self):
        for operation, arguments, code in (
                ("describe_stream", {"StreamArn": self.arn + "x"}, "ResourceNotFoundException"),
                ("get_records", {"ShardIterator": "nonsense"}, "ValidationException"),
                ("list_streams", {"Limit": 101}, "ValidationException")):
            with self.assertRaises(self.streams.exceptions.ClientError) as refused:
                getattr(self.streams, operation)(**arguments)
            self.assertEqual(refused.exception.response["Error"]["Code"], code)
