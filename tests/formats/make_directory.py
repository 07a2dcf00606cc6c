#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the data directory of the current format with a server: make_directory.py STATOR DIR

The catalog format test opens it; README.md says when a new one is needed.
"""
import json
import pathlib
import re
import signal
import subprocess
import sys
import time
import urllib.request


def text(value):
    return {"S": value}


def number(value):
    return {"N": str(value)}


def call(address, operation, request):
    http = urllib.request.Request(
        f"http://{address}/",
        data=json.dumps(request).encode(),
        headers={
            "X-Amz-Target": f"DynamoDB_20120810.{operation}",
            "Content-Type": "application/x-amz-json-1.0",
            "Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/"
            "aws4_request, SignedHeaders=host;x-amz-date, Signature=0",
            "X-Amz-Date": "20260101T000000Z",
        },
    )
    with urllib.request.urlopen(http) as answer:
        return json.load(answer)


def hash_table(name):
    return {
        "TableName": name,
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
    }


def create_music(ask):
    ask("CreateTable", {
        "TableName": "Music",
        "AttributeDefinitions": [
            {"AttributeName": "artist", "AttributeType": "S"},
            {"AttributeName": "song", "AttributeType": "N"},
            {"AttributeName": "year", "AttributeType": "N"},
            {"AttributeName": "genre", "AttributeType": "B"},
        ],
        "KeySchema": [
            {"AttributeName": "artist", "KeyType": "HASH"},
            {"AttributeName": "song", "KeyType": "RANGE"},
        ],
        "LocalSecondaryIndexes": [{
            "IndexName": "byYear",
            "KeySchema": [
                {"AttributeName": "artist", "KeyType": "HASH"},
                {"AttributeName": "year", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        }],
        "GlobalSecondaryIndexes": [{
            "IndexName": "byGenre",
            "KeySchema": [{"AttributeName": "genre", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["title"]},
            "ProvisionedThroughput": {"ReadCapacityUnits": 2, "WriteCapacityUnits": 3},
        }],
        "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "OLD_IMAGE"},
        "SSESpecification": {"Enabled": True, "SSEType": "KMS"},
        "TableClass": "STANDARD_INFREQUENT_ACCESS",
        "Tags": [{"Key": "team", "Value": "a"}],
    })
    ask("UpdateTimeToLive", {
        "TableName": "Music",
        "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "expires"},
    })
    for i in range(20):
        item = {"artist": text(f"a{i % 2}"), "song": number(i), "year": number(1900 + i),
                "title": text(f"title {i}"), "expires": number(9_000_000_000 + i)}
        if i % 2 == 0:
            item["genre"] = {"B": "Zm9saw=="}
        ask("PutItem", {"TableName": "Music", "Item": item})


def create_places(ask):
    ask("CreateTable", hash_table("Places") | {
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "country", "AttributeType": "S"},
            {"AttributeName": "kind", "AttributeType": "N"},
        ],
        "VectorIndexes": [{
            "IndexName": "near",
            "VectorAttribute": {"AttributeName": "at"},
            "SearchSchema": [
                {"AttributeName": "country", "SearchSchemaElementType": "HASH"},
                {"AttributeName": "kind", "SearchSchemaElementType": "INLINE_FILTER"},
            ],
            "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["name"]},
            "Dimensions": 2,
            "DistanceFunction": "EUCLIDEAN",
        }],
    })
    for i in range(10):
        ask("PutItem", {"TableName": "Places", "Item": {
            "pk": text(f"p{i}"), "country": text("abc"[i % 3]), "kind": number(i % 2),
            "name": text(f"place {i}"), "at": {"L": [number(i), number(0.5)]}}})


def fill(ask):
    create_music(ask)
    create_places(ask)
    for name in ("Plain", "Dropped"):
        ask("CreateTable", hash_table(name))
        ask("UpdateContinuousBackups", {
            "TableName": name,
            "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        })
        ask("TransactWriteItems", {
            "TransactItems": [{"Put": {"TableName": name, "Item": {"pk": text("a")}}}],
            **({"ClientRequestToken": "token"} if name == "Plain" else {}),
        })
    arn = ask("CreateBackup", {"TableName": "Plain", "BackupName": "Copy"})
    arn = arn["BackupDetails"]["BackupArn"]
    while True:
        backup = ask("DescribeBackup", {"BackupArn": arn})["BackupDescription"]
        if backup["BackupDetails"]["BackupStatus"] == "AVAILABLE":
            break
        time.sleep(0.1)
    ask("DeleteTable", {"TableName": "Dropped"})


def main(stator, directory):
    server = subprocess.Popen(
        [stator, "serve", "--data", directory, "--listen", "127.0.0.1:0"],
        stdout=subprocess.PIPE, text=True)
    line = server.stdout.readline()
    address = re.search(r"127\.0\.0\.1:\d+", line).group()
    try:
        fill(lambda operation, request: call(address, operation, request))
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()
    # What a start writes again, and what names the machine.
    for name in ("ballast", "progress"):
        (pathlib.Path(directory) / name).unlink(missing_ok=True)
    database = pathlib.Path(directory) / "rocksdb"
    for name in ("LOCK", "IDENTITY", "LOG", "LOG.old.*", "OPTIONS-*"):
        for path in database.glob(name):
            path.unlink()


if __name__ == "__main__":
    main(*sys.argv[1:])
