# SPDX-License-Identifier: Apache-2.0
"""Requests that succeed, at least one for each operation of the models."""

import json
import os
import pathlib


ACCOUNT = "arn:aws:dynamodb:us-east-1:000000782867:"
KEY = {"pk": {"S": "a"}, "sk": {"N": "1"}}
INDEX = {"IndexName": "ByPlace", "KeySchema": [{"AttributeName": "place", "KeyType": "HASH"}],
         "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note"]}}
TABLE = {
    "TableName": "Walked",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"},
                             {"AttributeName": "sk", "AttributeType": "N"},
                             {"AttributeName": "place", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"},
                  {"AttributeName": "sk", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [INDEX],
    "LocalSecondaryIndexes": [
        {"IndexName": "Local", "Projection": {"ProjectionType": "KEYS_ONLY"},
         "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"},
                       {"AttributeName": "place", "KeyType": "RANGE"}]}],
    "BillingMode": "PAY_PER_REQUEST",
    "TableClass": "STANDARD",
    "Tags": [{"Key": "a", "Value": "b"}],
    "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
}


def run_flows(walk):
    walk.call("CreateTable", TABLE)
    walk.call("CreateTable", {**TABLE, "TableName": "Provisioned", "BillingMode": "PROVISIONED",
                              "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
                              "GlobalSecondaryIndexes": [{**INDEX, "ProvisionedThroughput": {
                                  "ReadCapacityUnits": 5, "WriteCapacityUnits": 5}}]})
    items(walk)
    statements(walk)
    streams(walk)
    settings(walk)
    backups(walk)
    imports(walk)
    exports(walk)
    walk.call("DescribeTable", {"TableName": "Walked"})
    walk.call("DescribeTable", {"TableName": "Provisioned"})
    walk.call("ListTables", {"Limit": 1})
    changes(walk)
    walk.call("DeleteTable", {"TableName": "Provisioned"})


def items(walk):
    all_costs = {"TableName": "Walked", "ReturnConsumedCapacity": "INDEXES"}
    item = {**KEY, "place": {"S": "here"}, "all": {"L": [{"BOOL": True}, {"NULL": True}, {"B": "AA=="},
            {"SS": ["a"]}, {"NS": ["1"]}, {"BS": ["AA=="]}, {"M": {"x": {"N": "2"}}}]}}
    metrics = {"ReturnItemCollectionMetrics": "SIZE"}
    walk.call("PutItem", {**all_costs, **metrics, "Item": item})
    walk.call("PutItem", {**all_costs, "Item": item, "ReturnValues": "ALL_OLD"})
    walk.call("GetItem", {**all_costs, "Key": KEY})
    walk.call("UpdateItem", {**all_costs, **metrics, "Key": KEY, "UpdateExpression": "SET note = place",
                             "ReturnValues": "ALL_NEW"})
    walk.call("Query", {**all_costs, "KeyConditionExpression": "place = :p", "IndexName": "ByPlace",
                        "ExpressionAttributeValues": {":p": {"S": "here"}}, "Limit": 1})
    walk.call("Query", {**all_costs, "KeyConditionExpression": "pk = :p", "IndexName": "Local",
                        "ExpressionAttributeValues": {":p": {"S": "a"}}, "Select": "COUNT"})
    walk.call("Scan", {**all_costs, "Limit": 1})
    walk.call("BatchGetItem", {"RequestItems": {"Walked": {"Keys": [KEY]}},
                               "ReturnConsumedCapacity": "TOTAL"})
    walk.call("BatchWriteItem", {"RequestItems": {"Walked": [{"PutRequest": {"Item": item}}]},
                                 **metrics, "ReturnConsumedCapacity": "TOTAL"})
    walk.call("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "Walked", "Key": KEY}}],
                                   "ReturnConsumedCapacity": "TOTAL"})
    walk.call("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": "Walked", "Item": item}}],
                                     **metrics, "ReturnConsumedCapacity": "INDEXES"})
    walk.call("DeleteItem", {**all_costs, **metrics, "Key": {**KEY, "sk": {"N": "2"}}})


def changes(walk):
    table = {"TableName": "Provisioned"}
    walk.call("UpdateTable", {**table, "ProvisionedThroughput": {"ReadCapacityUnits": 3,
                                                                 "WriteCapacityUnits": 9}})
    walk.call("UpdateTable", {**table, "SSESpecification": {"Enabled": True}})
    walk.call("UpdateTable", {**table, "TableClass": "STANDARD_INFREQUENT_ACCESS"})
    walk.call("UpdateTable", {**table, "GlobalSecondaryIndexUpdates": [
        {"Delete": {"IndexName": "ByPlace"}}]})
    walk.call("UpdateTable", {**table, "BillingMode": "PAY_PER_REQUEST"})
    walk.call("DescribeTable", table)
    walk.call("UpdateTimeToLive", {**table, "TimeToLiveSpecification": {
        "Enabled": True, "AttributeName": "expires"}})
    walk.call("DescribeTimeToLive", table)


def statements(walk):
    put = "INSERT INTO \"Walked\" VALUE {'pk': 'statement', 'sk': ?}"
    select = "SELECT * FROM \"Walked\" WHERE pk = 'statement' AND sk = ?"
    walk.call("ExecuteStatement", {"Statement": put, "Parameters": [{"N": "1"}],
                                   "ReturnConsumedCapacity": "INDEXES"})
    walk.call("BatchExecuteStatement", {"Statements": [
        {"Statement": select, "Parameters": [{"N": "1"}]}]})
    walk.call("ExecuteTransaction", {"TransactStatements": [
        {"Statement": put, "Parameters": [{"N": "2"}]}]})


def streams(walk):
    service = "dynamodbstreams"
    listed = walk.call("ListStreams", {"TableName": "Walked"}, service)
    arn = listed.get("Streams", [{}])[0].get("StreamArn", "")
    described = walk.call("DescribeStream", {"StreamArn": arn}, service)
    read = 0
    for shard in described.get("StreamDescription", {}).get("Shards", []):
        start = walk.call("GetShardIterator", {"StreamArn": arn, "ShardId": shard["ShardId"],
                                               "ShardIteratorType": "TRIM_HORIZON"}, service)
        page = walk.call("GetRecords", {"ShardIterator": start.get("ShardIterator", "")}, service)
        read += len(page.get("Records", []))
    if read == 0:
        walk.found.append("GetRecords: the changes of the walk are in no shard")


POLICY = json.dumps({"Statement": {"Effect": "Allow", "Principal": "*", "Action": "dynamodb:*", "Resource": "*"}})


def settings(walk):
    arn = {"ResourceArn": ACCOUNT + "table/Walked"}
    table = {"TableName": "Walked"}
    walk.call("TagResource", {**arn, "Tags": [{"Key": "c", "Value": "d"}]})
    walk.call("UntagResource", {**arn, "TagKeys": ["a"]})
    walk.call("ListTagsOfResource", arn)
    walk.call("PutResourcePolicy", {**arn, "Policy": POLICY})
    walk.call("GetResourcePolicy", arn)
    walk.call("DeleteResourcePolicy", arn)
    walk.call("DescribeLimits", {})
    walk.call("DescribeEndpoints", {})
    walk.call("UpdateContributorInsights", {**table, "ContributorInsightsAction": "ENABLE"})
    walk.call("DescribeContributorInsights", table)
    walk.call("ListContributorInsights", {})
    walk.call("DescribeKinesisStreamingDestination", table)
    walk.call("DescribeTableReplicaAutoScaling", table)
    group = {"GlobalTableName": "Walked"}
    walk.call("CreateGlobalTable", {**group, "ReplicationGroup": [{"RegionName": "us-east-1"}]})
    walk.call("DescribeGlobalTable", group)
    walk.call("ListGlobalTables", {})
    walk.call("DescribeGlobalTableSettings", group)
    walk.call("UpdateGlobalTableSettings", group)
    walk.call("UpdateGlobalTable", {**group, "ReplicaUpdates": [{"Delete": {"RegionName": "us-east-1"}}]})


def imports(walk):
    bucket = pathlib.Path(os.environ["BUCKETS"]) / "walked"
    bucket.mkdir()
    (bucket / "items.json").write_text('{"Item":{"pk":{"S":"a"},"sk":{"N":"1"}}}\n')
    parameters = {name: TABLE[name] for name in (
        "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "BillingMode")}
    begun = walk.call("ImportTable", {
        "ClientToken": "once", "S3BucketSource": {"S3Bucket": "walked", "S3KeyPrefix": "items"},
        "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": {**parameters, "TableName": "Imported"}})
    arn = {"ImportArn": begun["ImportTableDescription"]["ImportArn"]}
    while True:
        described = walk.call("DescribeImport", arn)["ImportTableDescription"]
        if described["ImportStatus"] != "IN_PROGRESS":
            break
    if described["ImportedItemCount"] != 1:
        walk.found.append(f"DescribeImport: {described}")
    walk.call("ListImports", {"PageSize": 1})
    walk.call("DeleteTable", {"TableName": "Imported"})


def exports(walk):
    begun = walk.call("ExportTableToPointInTime", {
        "TableArn": ACCOUNT + "table/Walked", "S3Bucket": "walked", "ClientToken": "once"})
    arn = {"ExportArn": begun["ExportDescription"]["ExportArn"]}
    while True:
        described = walk.call("DescribeExport", arn)["ExportDescription"]
        if described["ExportStatus"] != "IN_PROGRESS":
            break
    if described["ExportStatus"] != "COMPLETED":
        walk.found.append(f"DescribeExport: {described}")
    walk.call("ListExports", {"MaxResults": 1})


def backups(walk):
    created = walk.call("CreateBackup", {"TableName": "Walked", "BackupName": "Copy"})
    arn = {"BackupArn": created["BackupDetails"]["BackupArn"]}

    def status():
        described = walk.call("DescribeBackup", arn)
        return described["BackupDescription"]["BackupDetails"]["BackupStatus"]

    while status() == "CREATING":
        pass
    walk.call("ListBackups", {})
    walk.call("RestoreTableFromBackup", {**arn, "TargetTableName": "Restored"})
    while walk.call("DescribeTable", {"TableName": "Restored"})["Table"]["TableStatus"] == "CREATING":
        pass
    walk.call("DeleteBackup", arn)
    table = {"TableName": "Walked"}
    walk.call("UpdateContinuousBackups",
              {**table, "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}})
    walk.call("DescribeContinuousBackups", table)
    walk.call("RestoreTableToPointInTime", {"SourceTableName": "Walked", "TargetTableName": "Past",
                                            "UseLatestRestorableTime": True})
    while walk.call("DescribeTable", {"TableName": "Past"})["Table"]["TableStatus"] == "CREATING":
        pass
