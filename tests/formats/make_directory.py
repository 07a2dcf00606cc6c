#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the data directories of the format of a server: make_directory.py STATOR FORMAT

`tests/formats/FORMAT` contains tables without unfinished jobs. `FORMAT-jobs` contains jobs that have begun: an export, a
bulk put operation (from format 5 on) and a restore, and a log that was trimmed. The jobs cannot end because their
files cannot be renamed, and the server is killed when the restore is durable.

The catalog format test opens both; README.md says when new ones are needed.
"""
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

FORMATS = pathlib.Path(__file__).parent
FIRST_FORMAT_OF_PINS = 4
FIRST_FORMAT_OF_BULK_PUTS = 5
HOUR = 3600


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


@contextlib.contextmanager
def server(stator, directory, *flags, **environment):
    process = subprocess.Popen(
        [stator, "serve", "--data", directory, "--listen", "127.0.0.1:0", *flags],
        stdout=subprocess.PIPE, text=True, env=os.environ | environment)
    line = process.stdout.readline()
    address = re.search(r"127\.0\.0\.1:\d+", line).group()
    try:
        yield lambda operation, request: call(address, operation, request)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def remove_what_a_start_writes(directory):
    """Removes what a start writes again, and what names the machine."""
    for name in ("ballast", "progress", "control"):
        (directory / name).unlink(missing_ok=True)
    for name in ("LOCK", "IDENTITY", "LOG", "LOG.old.*", "OPTIONS-*"):
        for path in (directory / "rocksdb").glob(name):
            path.unlink()


def has_written(directory, text):
    return any(text in path.read_bytes() for path in (directory / "rocksdb").glob("*.log"))


def begin_jobs(ask, buckets, format_number):
    """Returns a time (Unix seconds) at which Plain had two of its three items."""
    ask("CreateTable", hash_table("Logged") | {
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}})
    ask("PutItem", {"TableName": "Logged", "Item": {"pk": text("old")}})
    ask("CreateTable", hash_table("Plain"))
    ask("UpdateContinuousBackups", {
        "TableName": "Plain",
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
    })
    for key in "ab":
        ask("PutItem", {"TableName": "Plain", "Item": {"pk": text(key)}})
    time.sleep(2)
    between = int(time.time())
    time.sleep(2)
    ask("PutItem", {"TableName": "Plain", "Item": {"pk": text("c")}})
    bucket = buckets / "bucket"
    (bucket / "in").mkdir(parents=True)
    arn = ask("DescribeTable", {"TableName": "Plain"})["Table"]["TableArn"]
    ask("ExportTableToPointInTime", {"TableArn": arn, "S3Bucket": "bucket", "ExportTime": between})
    if format_number >= FIRST_FORMAT_OF_BULK_PUTS:
        # One file of the report is complete (10,000 lines), and two lines are not in it.
        (bucket / "in" / "items").write_text(
            '{"Item": {"pk": {"S": "d"}}}\n' + '{"Item": {"other": {"S": "e"}}}\n' * 10_002)
        ask("StartBulkPutItems", {
            "TableName": "Plain",
            "InputS3Configuration": {
                "S3Bucket": "bucket", "S3KeyPrefix": "in/", "InputFormat": "DYNAMODB_JSON"},
            "OutputS3Configuration": {
                "S3Bucket": "bucket", "S3KeyPrefix": "out/", "OutputType": ["ERROR"]},
        })
        time.sleep(10)
    return between


def make_jobs(stator, directory, format_number, scratch):
    buckets = scratch / "buckets"
    buckets.mkdir()
    library = scratch / "interference.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, FORMATS / "interference.c", "-ldl"],
                   check=True)

    def later(hours, **more):
        return server(stator, directory, "--buckets", str(buckets), LD_PRELOAD=str(library),
                      FAILED_RENAMES="_started:00000001.json", MOVED_SECONDS=str(hours * HOUR), **more)

    with later(0) as ask:
        between = begin_jobs(ask, buckets, format_number)
    with later(5) as ask:  # begins an epoch of the log
        time.sleep(70)
        ask("PutItem", {"TableName": "Logged", "Item": {"pk": text("new")}})
    with later(30, KILLED_AFTER="TimeMs\1") as ask:
        deadline = time.time() + 150
        while format_number >= FIRST_FORMAT_OF_PINS and not has_written(directory, b"GivenUp"):
            assert time.time() < deadline, "the log was not trimmed"
            time.sleep(1)
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            ask("RestoreTableToPointInTime", {
                "SourceTableName": "Plain", "TargetTableName": "Restored",
                "RestoreDateTime": between})
    assert has_written(directory, b"StampLimit"), "the restore is not in the log"


def main(stator, format_text):
    directory = FORMATS / format_text
    if not directory.exists():  # such directories never change
        with server(stator, directory) as ask:
            fill(ask)
        remove_what_a_start_writes(directory)
    jobs = FORMATS / f"{format_text}-jobs"
    with tempfile.TemporaryDirectory() as scratch:
        make_jobs(stator, jobs, int(format_text), pathlib.Path(scratch))
    remove_what_a_start_writes(jobs)


if __name__ == "__main__":
    main(*sys.argv[1:])
