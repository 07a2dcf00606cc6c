# SPDX-License-Identifier: Apache-2.0
"""The posts' flows as boto3 sends them: the semaphore's table and condition, the feed's pages."""

import threading
import time

from support import TableTest


class SemaphoreFlow(TableTest):
    KEYS = {"semaphoreName": "S"}
    EXTRA = {
        "BillingMode": "PROVISIONED",
        "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
        "AttributeDefinitions": [
            {"AttributeName": "userId", "AttributeType": "S"},
            {"AttributeName": "expires", "AttributeType": "N"},
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": name,
                "KeySchema": [{"AttributeName": key, "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
                "ProvisionedThroughput": {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1},
            }
            for name, key in (("User", "userId"), ("Expires", "expires"))
        ],
    }

    def lock(self, user, now, expires):
        return self.db.put_item(
            TableName=self.table,
            Item={"semaphoreName": {"S": "tbl_issues:7"}, "userId": {"S": user}, "expires": {"N": str(expires)}},
            ConditionExpression="semaphoreName <> :semaphoreName or expires < :time",
            ExpressionAttributeValues={":semaphoreName": {"S": "tbl_issues:7"}, ":time": {"N": str(now)}},
            ReturnConsumedCapacity="INDEXES",
        )

    def test_lock_wait_take_over_and_release(self):
        now = int(time.time())
        taken = self.lock("ann", now, now + 120)
        self.assertEqual(taken["ConsumedCapacity"]["CapacityUnits"], 3)
        self.assertEqual(set(taken["ConsumedCapacity"]["GlobalSecondaryIndexes"]), {"User", "Expires"})
        with self.assertRaises(self.db.exceptions.ConditionalCheckFailedException):
            self.lock("ben", now, now + 120)
        self.lock("ben", now + 121, now + 241)
        held = self.db.query(
            TableName=self.table, IndexName="User", KeyConditionExpression="userId = :u",
            ExpressionAttributeValues={":u": {"S": "ben"}})
        self.assertEqual(held["Count"], 1)
        self.db.delete_item(TableName=self.table, Key={"semaphoreName": {"S": "tbl_issues:7"}})
        self.lock("cat", now, now + 120)

    def test_numbers_must_come_as_strings(self):
        # As the post found of the service. boto3 checks types itself, so this goes out unchecked.
        import boto3, os
        from botocore.config import Config
        raw = boto3.client("dynamodb", endpoint_url=os.environ["ENDPOINT"], config=Config(parameter_validation=False))
        self.assert_refused("SerializationException", "", raw.put_item, TableName=self.table,
                            Item={"semaphoreName": {"S": "x"}, "expires": {"N": 120}})


class FeedFlow(TableTest):
    KEYS = {"partition_key": "S", "range_key": "N"}

    def test_newest_first_in_pages_with_legacy_key_conditions(self):
        ticks = [(1 << 63) - 1 - (1_500_000_000_000_000_000 + i) for i in range(50)]
        for i, tick in enumerate(ticks):
            self.db.put_item(TableName=self.table, Item={
                "partition_key": {"S": "jean"}, "range_key": {"N": str(tick)}, "content": {"S": f"post {i}"}})
        seen, after = [], 0
        while True:
            page = self.db.query(TableName=self.table, Limit=20, KeyConditions={
                "partition_key": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": "jean"}]},
                "range_key": {"ComparisonOperator": "GT", "AttributeValueList": [{"N": str(after)}]}})
            seen += [item["content"]["S"] for item in page["Items"]]
            if "LastEvaluatedKey" not in page:
                break
            after = int(page["LastEvaluatedKey"]["range_key"]["N"])
        self.assertEqual(seen, [f"post {i}" for i in reversed(range(50))])


class Contention(TableTest):
    def test_one_of_sixteen_wins_each_round(self):
        for round_number in range(25):
            winners, barrier = [], threading.Barrier(16)

            def race(name):
                barrier.wait()
                try:
                    self.db.put_item(TableName=self.table, Item={"pk": {"S": str(round_number)}, "sk": {"S": "x"}, "who": {"S": name}},
                                     ConditionExpression="attribute_not_exists(pk)")
                    winners.append(name)
                except self.db.exceptions.ConditionalCheckFailedException:
                    pass

            threads = [threading.Thread(target=race, args=(str(i),)) for i in range(16)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(len(winners), 1)
            kept = self.db.get_item(TableName=self.table, Key={"pk": {"S": str(round_number)}, "sk": {"S": "x"}}, ConsistentRead=True)
            self.assertEqual(kept["Item"]["who"]["S"], winners[0])
