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
    walk.succeed("CreateTable", TABLE)
    walk.succeed("CreateTable", {**TABLE, "TableName": "Provisioned", "BillingMode": "PROVISIONED",
                              "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
                              "GlobalSecondaryIndexes": [{**INDEX, "ProvisionedThroughput": {
                                  "ReadCapacityUnits": 5, "WriteCapacityUnits": 5}}]})
    items(walk)
    vectors(walk)
    statements(walk)
    streams(walk)
    settings(walk)
    backups(walk)
    imports(walk)
    bulk_puts(walk)
    exports(walk)
    walk.succeed("DescribeTable", {"TableName": "Walked"})
    walk.succeed("DescribeTable", {"TableName": "Provisioned"})
    walk.succeed("ListTables", {"Limit": 1})
    changes(walk)
    walk.succeed("DeleteTable", {"TableName": "Provisioned"})


def items(walk):
    all_costs = {"TableName": "Walked", "ReturnConsumedCapacity": "INDEXES"}
    item = {**KEY, "place": {"S": "here"}, "all": {"L": [{"BOOL": True}, {"NULL": True}, {"B": "AA=="},
            {"SS": ["a"]}, {"NS": ["1"]}, {"BS": ["AA=="]}, {"M": {"x": {"N": "2"}}}]}}
    metrics = {"ReturnItemCollectionMetrics": "SIZE"}
    walk.succeed("PutItem", {**all_costs, **metrics, "Item": item})
    walk.succeed("PutItem", {**all_costs, "Item": item, "ReturnValues": "ALL_OLD"})
    walk.succeed("GetItem", {**all_costs, "Key": KEY})
    walk.succeed("UpdateItem", {**all_costs, **metrics, "Key": KEY, "UpdateExpression": "SET note = place",
                             "ReturnValues": "ALL_NEW"})
    walk.succeed("Query", {**all_costs, "KeyConditionExpression": "place = :p", "IndexName": "ByPlace",
                        "ExpressionAttributeValues": {":p": {"S": "here"}}, "Limit": 1})
    walk.succeed("Query", {**all_costs, "KeyConditionExpression": "pk = :p", "IndexName": "Local",
                        "ExpressionAttributeValues": {":p": {"S": "a"}}, "Select": "COUNT"})
    walk.succeed("Scan", {**all_costs, "Limit": 1})
    walk.succeed("BatchGetItem", {"RequestItems": {"Walked": {"Keys": [KEY]}},
                               "ReturnConsumedCapacity": "TOTAL"})
    walk.succeed("BatchWriteItem", {"RequestItems": {"Walked": [{"PutRequest": {"Item": item}}]},
                                 **metrics, "ReturnConsumedCapacity": "TOTAL"})
    walk.succeed("TransactGetItems", {"TransactItems": [{"Get": {"TableName": "Walked", "Key": KEY}}],
                                   "ReturnConsumedCapacity": "TOTAL"})
    walk.succeed("TransactWriteItems", {"TransactItems": [{"Put": {"TableName": "Walked", "Item": item}}],
                                     **metrics, "ReturnConsumedCapacity": "INDEXES"})
    walk.succeed("DeleteItem", {**all_costs, **metrics, "Key": {**KEY, "sk": {"N": "2"}}})


VECTORS = {
    "TableName": "Vectors",
    "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"},
                             {"AttributeName": "tenant", "AttributeType": "S"},
                             {"AttributeName": "color", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    "BillingMode": "PAY_PER_REQUEST",
}
VECTOR_INDEX = {
    "IndexName": "Near", "VectorAttribute": {"AttributeName": "vector"}, "Dimensions": 2,
    "DistanceFunction": "EUCLIDEAN", "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["note"]},
    "SearchSchema": [{"AttributeName": "tenant", "SearchSchemaElementType": "HASH"},
                     {"AttributeName": "color", "SearchSchemaElementType": "INLINE_FILTER"}]}


def vectors(walk):
    walk.succeed("CreateTable", {**VECTORS, "VectorIndexes": [VECTOR_INDEX]})
    item = {"pk": {"S": "a"}, "tenant": {"S": "t"}, "note": {"S": "n"}, "vector": {"L": [{"N": "1"}, {"N": "2"}]}}
    walk.succeed("PutItem", {"TableName": "Vectors", "Item": item, "ReturnConsumedCapacity": "INDEXES"})
    walk.succeed("SearchVectors", {
        "TableName": "Vectors", "IndexName": "Near", "SearchVector": [{"N": "1"}, {"N": "1"}], "TopK": 3,
        "SearchConditionExpression": "#t = :t", "ExpressionAttributeNames": {"#t": "tenant"},
        "ExpressionAttributeValues": {":t": {"S": "t"}}, "ProjectionExpression": "note, vector",
        "ReturnConsumedCapacity": "TOTAL"})
    walk.succeed("DescribeTable", {"TableName": "Vectors"})
    walk.succeed("UpdateTable", {"TableName": "Vectors", "VectorIndexUpdates": [{"Delete": {"IndexName": "Near"}}]})
    walk.succeed("UpdateTable", {"TableName": "Vectors", "AttributeDefinitions": VECTORS["AttributeDefinitions"],
                                 "VectorIndexUpdates": [{"Create": VECTOR_INDEX}]})


def changes(walk):
    table = {"TableName": "Provisioned"}
    walk.succeed("UpdateTable", {**table, "ProvisionedThroughput": {"ReadCapacityUnits": 3,
                                                                 "WriteCapacityUnits": 9}})
    walk.succeed("UpdateTable", {**table, "SSESpecification": {"Enabled": True}})
    walk.succeed("UpdateTable", {**table, "TableClass": "STANDARD_INFREQUENT_ACCESS"})
    walk.succeed("UpdateTable", {**table, "GlobalSecondaryIndexUpdates": [
        {"Delete": {"IndexName": "ByPlace"}}]})
    walk.succeed("UpdateTable", {**table, "BillingMode": "PAY_PER_REQUEST"})
    walk.succeed("DescribeTable", table)
    walk.succeed("UpdateTimeToLive", {**table, "TimeToLiveSpecification": {
        "Enabled": True, "AttributeName": "expires"}})
    walk.succeed("DescribeTimeToLive", table)


def statements(walk):
    put = "INSERT INTO \"Walked\" VALUE {'pk': 'statement', 'sk': ?}"
    select = "SELECT * FROM \"Walked\" WHERE pk = 'statement' AND sk = ?"
    walk.succeed("ExecuteStatement", {"Statement": put, "Parameters": [{"N": "1"}],
                                   "ReturnConsumedCapacity": "INDEXES"})
    walk.succeed("BatchExecuteStatement", {"Statements": [
        {"Statement": select, "Parameters": [{"N": "1"}]}]})
    walk.succeed("ExecuteTransaction", {"TransactStatements": [
        {"Statement": put, "Parameters": [{"N": "2"}]}]})


def streams(walk):
    service = "dynamodbstreams"
    listed = walk.succeed("ListStreams", {"TableName": "Walked"}, service)
    arn = listed.get("Streams", [{}])[0].get("StreamArn", "")
    described = walk.succeed("DescribeStream", {"StreamArn": arn}, service)
    read = 0
    for shard in described.get("StreamDescription", {}).get("Shards", []):
        start = walk.succeed("GetShardIterator", {"StreamArn": arn, "ShardId": shard["ShardId"],
                                               "ShardIteratorType": "TRIM_HORIZON"}, service)
        page = walk.succeed("GetRecords", {"ShardIterator": start.get("ShardIterator", "")}, service)
        read += len(page.get("Records", []))
        at_time = walk.succeed("GetShardIterator", {"StreamArn": arn, "ShardId": shard["ShardId"], "Timestamp": 0.5,
                                                    "ShardIteratorType": "AT_TIMESTAMP"}, service)
        walk.succeed("GetRecords", {"ShardIterator": at_time.get("ShardIterator", "")}, service)
    if read == 0:
        walk.found.append("GetRecords: the changes of the walk are in no shard")


POLICY = json.dumps({"Statement": {"Effect": "Allow", "Principal": "*", "Action": "dynamodb:*", "Resource": "*"}})


def settings(walk):
    arn = {"ResourceArn": ACCOUNT + "table/Walked"}
    table = {"TableName": "Walked"}
    walk.succeed("TagResource", {**arn, "Tags": [{"Key": "c", "Value": "d"}]})
    walk.succeed("UntagResource", {**arn, "TagKeys": ["a"]})
    walk.succeed("ListTagsOfResource", arn)
    walk.succeed("PutResourcePolicy", {**arn, "Policy": POLICY})
    walk.succeed("GetResourcePolicy", arn)
    walk.succeed("DeleteResourcePolicy", arn)
    walk.succeed("DescribeLimits", {})
    walk.succeed("DescribeEndpoints", {})
    walk.succeed("UpdateContributorInsights", {**table, "ContributorInsightsAction": "ENABLE"})
    walk.succeed("DescribeContributorInsights", table)
    walk.succeed("ListContributorInsights", {})
    walk.succeed("DescribeKinesisStreamingDestination", table)
    walk.succeed("DescribeTableReplicaAutoScaling", table)
    group = {"GlobalTableName": "Walked"}
    walk.succeed("CreateGlobalTable", {**group, "ReplicationGroup": [{"RegionName": "us-east-1"}]})
    walk.succeed("DescribeGlobalTable", group)
    walk.succeed("ListGlobalTables", {})
    walk.succeed("DescribeGlobalTableSettings", group)
    walk.succeed("UpdateGlobalTableSettings", group)
    walk.succeed("UpdateGlobalTable", {**group, "ReplicaUpdates": [{"Delete": {"RegionName": "us-east-1"}}]})


def imports(walk):
    bucket = pathlib.Path(os.environ["BUCKETS"]) / "walked"
    bucket.mkdir()
    (bucket / "items.json").write_text('{"Item":{"pk":{"S":"a"},"sk":{"N":"1"}}}\n')
    parameters = {name: TABLE[name] for name in (
        "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "BillingMode")}
    begun = walk.succeed("ImportTable", {
        "ClientToken": "once", "S3BucketSource": {"S3Bucket": "walked", "S3KeyPrefix": "items"},
        "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": {**parameters, "TableName": "Imported"}})
    arn = {"ImportArn": begun["ImportTableDescription"]["ImportArn"]}
    while True:
        described = walk.succeed("DescribeImport", arn)["ImportTableDescription"]
        if described["ImportStatus"] != "IN_PROGRESS":
            break
    if described["ImportedItemCount"] != 1:
        walk.found.append(f"DescribeImport: {described}")
    walk.succeed("ListImports", {"PageSize": 1})
    walk.succeed("DeleteTable", {"TableName": "Imported"})


def bulk_puts(walk):
    bucket = pathlib.Path(os.environ["BUCKETS"]) / "walked"
    (bucket / "puts.json").write_text(
        '{"Item":{"pk":{"S":"bulk"},"sk":{"N":"1"}},"ConditionExpression":"attribute_not_exists(pk)"}\n'
        '{"Item":{"pk":{"S":"bulk"}}}\n')
    begun = walk.succeed("StartBulkPutItems", {
        "ClientToken": "once", "TableName": "Walked", "MaxWriteRequestUnits": 1024, "PerformanceTier": "STANDARD",
        "InputS3Configuration": {"S3Bucket": "walked", "S3KeyPrefix": "puts", "InputFormat": "DYNAMODB_JSON"},
        "OutputS3Configuration": {"S3Bucket": "walked", "OutputType": ["ERROR", "CONDITION_CHECK_FAILURE"]}})
    arn = {"BulkOperationArn": begun["BulkOperationDescription"]["BulkOperationArn"]}
    while True:
        described = walk.succeed("DescribeBulkOperation", arn)["BulkOperationDescription"]
        if described["BulkOperationStatus"] != "IN_PROGRESS":
            break
    if described["BulkOperationStatus"] != "COMPLETED_WITH_ERRORS" or described["ProcessedItemCount"] != 2:
        walk.found.append(f"DescribeBulkOperation: {described}")
    walk.succeed("ListBulkOperations", {"MaxResults": 1})
    # At its rate, this takes seconds.
    (bucket / "many.json").write_text("".join(
        f'{{"Item":{{"pk":{{"S":"bulk"}},"sk":{{"N":"{n}"}}}}}}\n' for n in range(5000)))
    begun = walk.succeed("StartBulkPutItems", {
        "TableName": "Walked", "MaxWriteRequestUnits": 1024,
        "InputS3Configuration": {"S3Bucket": "walked", "S3KeyPrefix": "many", "InputFormat": "DYNAMODB_JSON"},
        "OutputS3Configuration": {"S3Bucket": "walked", "OutputType": ["ERROR"]}})
    arn = {"BulkOperationArn": begun["BulkOperationDescription"]["BulkOperationArn"]}
    walk.succeed("CancelBulkOperation", arn)
    while True:
        described = walk.succeed("DescribeBulkOperation", arn)["BulkOperationDescription"]
        if described["BulkOperationStatus"] != "CANCELLING":
            break
    if described["BulkOperationStatus"] != "CANCELLED":
        walk.found.append(f"CancelBulkOperation: {described}")


def exports(walk):
    begun = walk.succeed("ExportTableToPointInTime", {
        "TableArn": ACCOUNT + "table/Walked", "S3Bucket": "walked", "ClientToken": "once"})
    arn = {"ExportArn": begun["ExportDescription"]["ExportArn"]}
    while True:
        described = walk.succeed("DescribeExport", arn)["ExportDescription"]
        if described["ExportStatus"] != "IN_PROGRESS":
            break
    if described["ExportStatus"] != "COMPLETED":
        walk.found.append(f"DescribeExport: {described}")
    walk.succeed("ListExports", {"MaxResults": 1})


def backups(walk):
    created = walk.succeed("CreateBackup", {"TableName": "Walked", "BackupName": "Copy"})
    arn = {"BackupArn": created["BackupDetails"]["BackupArn"]}

    def status():
        described = walk.succeed("DescribeBackup", arn)
        return described["BackupDescription"]["BackupDetails"]["BackupStatus"]

    while status() == "CREATING":
        pass
    walk.succeed("ListBackups", {})
    walk.succeed("RestoreTableFromBackup", {**arn, "TargetTableName": "Restored"})
    while walk.succeed("DescribeTable", {"TableName": "Restored"})["Table"]["TableStatus"] == "CREATING":
        pass
    walk.succeed("DeleteBackup", arn)
    table = {"TableName": "Walked"}
    walk.succeed("UpdateContinuousBackups",
              {**table, "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}})
    walk.succeed("DescribeContinuousBackups", table)
    walk.succeed("RestoreTableToPointInTime", {"SourceTableName": "Walked", "TargetTableName": "Past",
                                            "UseLatestRestorableTime": True})
    while walk.succeed("DescribeTable", {"TableName": "Past"})["Table"]["TableStatus"] == "CREATING":
        pass
