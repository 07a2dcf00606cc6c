# SPDX-License-Identifier: Apache-2.0
"""boto3 changes tables, lets items expire, and restores a backup, waiting with waiters."""

import time

from botocore.waiter import WaiterModel, create_waiter_with_client
from support import TableTest, client


def wait(db, operation, path, expected, **arguments):
    """Waits as boto3's own waiters do, for an operation's answer to say something."""
    accept = {"state": "success", "matcher": "path", "argument": path, "expected": expected}
    model = WaiterModel({"version": 2, "waiters": {"Awaited": {
        "operation": operation, "delay": 0, "maxAttempts": 20_000, "acceptors": [accept]}}})
    create_waiter_with_client("Awaited", model, db).wait(**arguments)


class Changes(TableTest):
    KEYS = {"pk": "S"}
    EXTRA = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "OLD_IMAGE"}}

    def test_an_index_is_added_and_taken_away(self):
        for i in range(60):
            self.db.put_item(TableName=self.table, Item={"pk": {"S": str(i)}, "group": {"N": str(i % 3)}})
        update = self.db.update_table(
            TableName=self.table, AttributeDefinitions=[{"AttributeName": "group", "AttributeType": "N"}],
            GlobalSecondaryIndexUpdates=[{"Create": {
                "IndexName": "ByGroup", "KeySchema": [{"AttributeName": "group", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "KEYS_ONLY"}}}])["TableDescription"]
        self.assertEqual((update["TableStatus"], update["GlobalSecondaryIndexes"][0]["IndexStatus"]), ("UPDATING", "CREATING"))
        wait(self.db, "DescribeTable", "Table.GlobalSecondaryIndexes[0].IndexStatus", "ACTIVE", TableName=self.table)
        self.db.get_waiter("table_exists").wait(TableName=self.table)
        pages = self.db.get_paginator("query").paginate(
            TableName=self.table, IndexName="ByGroup", KeyConditionExpression="#g = :g", ExpressionAttributeNames={"#g": "group"},
            ExpressionAttributeValues={":g": {"N": "1"}}, PaginationConfig={"PageSize": 7})
        self.assertEqual(sorted(int(item["pk"]["S"]) for page in pages for item in page["Items"]), list(range(1, 60, 3)))
        self.db.update_table(TableName=self.table, GlobalSecondaryIndexUpdates=[{"Delete": {"IndexName": "ByGroup"}}])
        described = self.db.describe_table(TableName=self.table)["Table"]
        self.assertNotIn("GlobalSecondaryIndexes", described)
        self.assertEqual([a["AttributeName"] for a in described["AttributeDefinitions"]], ["pk"])
        self.assert_refused("ValidationException", "At least one of", self.db.update_table, TableName=self.table)

    def test_expired_items_are_the_service_s_deletions(self):
        specification = {"AttributeName": "ends", "Enabled": True}
        answer = self.db.update_time_to_live(TableName=self.table, TimeToLiveSpecification=specification)
        self.assertEqual(answer["TimeToLiveSpecification"], specification)
        wait(self.db, "DescribeTimeToLive", "TimeToLiveDescription.TimeToLiveStatus", "ENABLED", TableName=self.table)
        now = int(time.time())
        gone = {"pk": {"S": "gone"}, "ends": {"N": str(now - 10)}}
        self.db.put_item(TableName=self.table, Item=gone)
        self.db.put_item(TableName=self.table, Item={"pk": {"S": "stays"}, "ends": {"N": str(now + 9_999)}})
        wait(self.db, "Scan", "Count", 1, TableName=self.table)
        streams = client("dynamodbstreams")
        self.addCleanup(streams.close)
        arn = self.db.describe_table(TableName=self.table)["Table"]["LatestStreamArn"]
        removed = []
        for shard in streams.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]:
            iterator = streams.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"], ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
            removed += [r for r in streams.get_records(ShardIterator=iterator)["Records"] if r["eventName"] == "REMOVE"]
        self.assertEqual([record["dynamodb"]["OldImage"] for record in removed], [gone])
        self.assertEqual(removed[0]["userIdentity"], {"PrincipalId": "dynamodb.amazonaws.com", "Type": "Service"})

    def test_a_backup_is_restored(self):
        for i in range(40):
            self.db.put_item(TableName=self.table, Item={"pk": {"S": str(i)}, "n": {"N": str(i)}})
        created = self.db.create_backup(TableName=self.table, BackupName="before")["BackupDetails"]
        arn = created["BackupArn"]
        wait(self.db, "DescribeBackup", "BackupDescription.BackupDetails.BackupStatus", "AVAILABLE", BackupArn=arn)
        self.db.delete_item(TableName=self.table, Key={"pk": {"S": "7"}})
        self.assertIn(arn, [b["BackupArn"] for page in self.db.get_paginator("list_backups").paginate(TableName=self.table)
                            for b in page["BackupSummaries"]])
        target = "Restored-from-backup"
        self.db.restore_table_from_backup(TargetTableName=target, BackupArn=arn)
        self.db.get_waiter("table_exists").wait(TableName=target, WaiterConfig={"Delay": 1})
        items = [item for page in self.db.get_paginator("scan").paginate(TableName=target) for item in page["Items"]]
        self.assertEqual(sorted(int(item["n"]["N"]) for item in items), list(range(40)))
        self.db.delete_table(TableName=target)
        self.db.get_waiter("table_not_exists").wait(TableName=target, WaiterConfig={"Delay": 1})
        self.db.delete_backup(BackupArn=arn)
        self.assert_refused("BackupNotFoundException", "Backup not found", self.db.describe_backup, BackupArn=arn)


class Statements(TableTest):
    """PartiQL as an application uses it."""

    def run_statement(self, statement, *parameters, **more):
        arguments = {"Parameters": list(parameters)} if parameters else {}
        return self.db.execute_statement(Statement=statement, **arguments, **more)

    def test_a_table_is_kept_in_statements(self):
        table = '"%s"' % self.table
        for i in range(5):
            self.run_statement(f"INSERT INTO {table} VALUE {{'pk': 'p', 'sk': ?, 'n': ?}}", {"S": str(i)}, {"N": str(i * i)})
        with self.assertRaises(self.db.exceptions.DuplicateItemException):
            self.run_statement(f"INSERT INTO {table} VALUE {{'pk': 'p', 'sk': '0'}}")
        found, token = [], {}
        while True:
            page = self.run_statement(f"SELECT sk, n FROM {table} WHERE pk = 'p' AND n > ?", {"N": "1"}, Limit=2, **token)
            found += [item["n"]["N"] for item in page["Items"]]
            if "NextToken" not in page:
                break
            token = {"NextToken": page["NextToken"]}
        self.assertEqual(found, ["4", "9", "16"])
        changed = self.run_statement(f"UPDATE {table} SET n = n + 1 WHERE pk = 'p' AND sk = '2' AND n = 4 RETURNING ALL NEW *")["Items"]
        self.assertEqual([item["n"] for item in changed], [{"N": "5"}])
        with self.assertRaises(self.db.exceptions.ConditionalCheckFailedException):
            self.run_statement(f"UPDATE {table} SET n = 0 WHERE pk = 'p' AND sk = 'none'")
        answers = self.db.batch_execute_statement(Statements=[
            {"Statement": f"DELETE FROM {table} WHERE pk = 'p' AND sk = '0'"},
            {"Statement": f"INSERT INTO {table} VALUE {{'pk': 'p', 'sk': '1'}}"},
            {"Statement": f"UPDATE {table} SET n = ? WHERE pk = 'p' AND sk = '1'", "Parameters": [{"N": "abc"}]}])["Responses"]
        self.assertEqual([answer.get("Error", {}).get("Code") for answer in answers], [None, "DuplicateItem", "ValidationError"])
        self.db.execute_transaction(TransactStatements=[
            {"Statement": f"EXISTS(SELECT * FROM {table} WHERE pk = 'p' AND sk = '2' AND n = 5)"},
            {"Statement": f"DELETE FROM {table} WHERE pk = 'p' AND sk = '1'"}])
        with self.assertRaises(self.db.exceptions.TransactionCanceledException) as cancelled:
            self.db.execute_transaction(TransactStatements=[
                {"Statement": f"UPDATE {table} SET n = 0 WHERE pk = 'p' AND sk = '3'"},
                {"Statement": f"DELETE FROM {table} WHERE pk = 'p' AND sk = '4' AND n = 1"}])
        reasons = cancelled.exception.response["CancellationReasons"]
        self.assertEqual([reason["Code"] for reason in reasons], ["None", "ConditionalCheckFailed"])
        left = self.db.scan(TableName=self.table)["Items"]
        self.assertEqual([(item["sk"]["S"], item["n"]["N"]) for item in left], [("2", "5"), ("3", "9"), ("4", "16")])
