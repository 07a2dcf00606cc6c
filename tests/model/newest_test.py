# SPDX-License-Identifier: Apache-2.0
"""What only the newest boto3 can ask for, and how it reads the answers."""

import datetime
import gzip
import json
import os
import pathlib
import shutil
import time

from support import TableTest, client

BUCKET = "bulk"
DIRECTORY = pathlib.Path(os.environ["BUCKETS"]) / BUCKET


class Newest(TableTest):
    KEYS = {"pk": "S"}
    EXTRA = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}}

    def setUp(self):
        super().setUp()
        self.streams = client("dynamodbstreams")
        self.addCleanup(self.streams.close)
        self.arn = self.db.describe_table(TableName=self.table)["Table"]["LatestStreamArn"]

    def records_from(self, timestamp):
        found = []
        for shard in self.streams.describe_stream(StreamArn=self.arn)["StreamDescription"]["Shards"]:
            iterator = self.streams.get_shard_iterator(
                StreamArn=self.arn, ShardId=shard["ShardId"], ShardIteratorType="AT_TIMESTAMP", Timestamp=timestamp)
            found += self.streams.get_records(ShardIterator=iterator["ShardIterator"])["Records"]
        return found

    def test_streams_are_read_from_a_time_on(self):
        self.db.put_item(TableName=self.table, Item={"pk": {"S": "a"}})
        written = self.records_from(datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc))
        self.assertEqual(len(written), 1)
        # It has whole seconds, so the change is not older.
        created = written[0]["dynamodb"]["ApproximateCreationDateTime"]
        self.assertEqual(self.records_from(created), written)
        self.assertEqual(self.records_from(created - datetime.timedelta(days=365)), written)
        with self.assertRaises(self.streams.exceptions.ClientError) as refused:
            self.records_from(created + datetime.timedelta(days=365))
        self.assertEqual(refused.exception.response["Error"]["Code"], "ValidationException")

    def test_what_is_missing_is_said(self):
        self.assert_refused("ValidationException", "GlobalTableSourceArn is not supported", self.db.create_table,
                            TableName="Replica", GlobalTableSourceArn="arn:aws:dynamodb:eu-west-1:123456789012:table/T")
        self.assert_refused("ValidationException", "DisassociationProtectionEnabled is not supported",
                            self.db.update_table, TableName=self.table, DisassociationProtectionEnabled=False)


class Vectors(TableTest):
    KEYS = {"pk": "S"}

    def test_the_nearest_are_found(self):
        name = self.table + "-vectors"
        self.db.create_table(
            TableName=name, BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            VectorIndexes=[{"IndexName": "near", "VectorAttribute": {"AttributeName": "vector"}, "Dimensions": 2,
                            "DistanceFunction": "COSINE", "Projection": {"ProjectionType": "ALL"}}])
        self.addCleanup(self.db.delete_table, TableName=name)
        for key, vector in (("east", (1, 0)), ("north", (0, 1)), ("west", (-1, 0))):
            self.db.put_item(TableName=name, Item={
                "pk": {"S": key}, "vector": {"L": [{"N": str(component)} for component in vector]}})
        found = self.db.search_vectors(TableName=name, IndexName="near", TopK=2,
                                       SearchVector=[{"N": "2"}, {"N": "0.5"}])["SearchResults"]
        self.assertEqual([result["Item"]["pk"]["S"] for result in found], ["east", "north"])
        self.assertEqual(found[0]["Item"], {"pk": {"S": "east"}})
        self.assertLess(found[0]["Score"], 0.1)
        described = self.db.describe_table(TableName=name)["Table"]["VectorIndexes"]
        self.assertEqual(described[0]["IndexStatus"], "ACTIVE")
        self.assert_refused("ValidationException", "Input search vector dimension 1 does not match vector index "
                            "dimension 2", self.db.search_vectors, TableName=name, IndexName="near", TopK=1,
                            SearchVector=[{"N": "1"}])


class BulkPuts(TableTest):
    KEYS = {"pk": "S"}

    def setUp(self):
        super().setUp()
        DIRECTORY.mkdir(exist_ok=True)
        self.addCleanup(shutil.rmtree, DIRECTORY)

    def start(self, **more):
        return self.db.start_bulk_put_items(
            TableName=self.table,
            InputS3Configuration={"S3Bucket": BUCKET, "S3KeyPrefix": "in/", "InputFormat": "DYNAMODB_JSON",
                                  "InputCompressionType": "GZIP"},
            OutputS3Configuration={"S3Bucket": BUCKET, "S3KeyPrefix": "out",
                                   "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"]},
            **more)["BulkOperationDescription"]

    def wait(self, arn):
        while True:
            described = self.db.describe_bulk_operation(BulkOperationArn=arn)["BulkOperationDescription"]
            if "EndTime" in described:
                return described
            time.sleep(0.01)

    @staticmethod
    def write(records):
        (DIRECTORY / "in").mkdir(exist_ok=True)
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (DIRECTORY / "in" / "puts.json.gz").write_bytes(gzip.compress(lines.encode()))

    def test_items_are_put_and_what_fails_is_reported(self):
        self.db.put_item(TableName=self.table, Item={"pk": {"S": "old"}, "v": {"N": "1"}})
        self.write([
            {"Item": {"pk": {"S": "new"}}, "ConditionExpression": "attribute_not_exists(pk)"},
            {"Item": {"pk": {"S": "old"}}, "ConditionExpression": "#v = :v", "ExpressionAttributeNames": {"#v": "v"},
             "ExpressionAttributeValues": {":v": {"N": "2"}}},
            {"Item": {"pk": {"N": "1"}}}])
        begun = self.start(ClientToken="token-" + self.table, MaxWriteRequestUnits=1024, PerformanceTier="ACCELERATED")
        self.assertEqual(begun["BulkOperationStatus"], "IN_PROGRESS")
        arn = begun["BulkOperationArn"]
        done = self.wait(arn)
        self.assertEqual((done["BulkOperationStatus"], done["ProcessedItemCount"], done["FailedItemCount"]),
                         ("COMPLETED_WITH_ERRORS", 3, 1))
        self.assertEqual(done["ProcessedInputBytes"], done["TotalInputBytes"])
        self.assertEqual(done["BulkOperationUsage"][0]["BulkPutBytes"], len("pk" + "new"))
        self.assertIn("Item", self.db.get_item(TableName=self.table, Key={"pk": {"S": "new"}}))
        report = DIRECTORY / "out" / "AWSDynamoDB" / arn.rsplit("/", 1)[1]
        lines = {kind: gzip.decompress((report / kind / "00000000.json.gz").read_bytes()).decode().splitlines()
                 for kind in ("error", "condition-check-failure")}
        self.assertEqual([json.loads(line)["Item"] for line in lines["error"]], [{"pk": {"N": "1"}}])
        self.assertEqual([json.loads(line)["ExistingItem"] for line in lines["condition-check-failure"]],
                         [{"pk": {"S": "old"}, "v": {"N": "1"}}])
        self.assertEqual(json.loads((report / "manifest-summary.json").read_text())["bulkOperationArn"], arn)
        self.assertEqual(self.start(ClientToken="token-" + self.table, MaxWriteRequestUnits=1024,
                                    PerformanceTier="ACCELERATED")["BulkOperationArn"], arn)
        self.assert_refused("IdempotentParameterMismatchException", "", self.start, ClientToken="token-" + self.table)
        listed = self.db.list_bulk_operations(MaxResults=1)["BulkOperationsSummaryList"]
        self.assertIn((arn, "COMPLETED_WITH_ERRORS"),
                      [(entry["BulkOperationArn"], entry["BulkOperationStatus"]) for entry in listed])

    def test_an_operation_is_cancelled(self):
        self.write({"Item": {"pk": {"S": str(n)}}} for n in range(5000))
        arn = self.start(MaxWriteRequestUnits=1024)["BulkOperationArn"]
        self.assertEqual(self.db.cancel_bulk_operation(BulkOperationArn=arn)["BulkOperationStatus"], "CANCELLING")
        done = self.wait(arn)
        self.assertEqual((done["BulkOperationStatus"], done["FailureCode"]), ("CANCELLED", "OperationCancelled"))
        self.assertLess(done["ProcessedItemCount"], 5000)
        self.assert_refused("ValidationException", "CANCELLED", self.db.cancel_bulk_operation, BulkOperationArn=arn)
