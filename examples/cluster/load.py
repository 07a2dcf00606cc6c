# SPDX-License-Identifier: Apache-2.0
"""A load on several endpoints of one database, and the check of what it left.

Each writer puts numbered orders, moves money between accounts in transactions, and adds to a counter. It changes the
endpoint with every request. A request without an answer is repeated on another endpoint, as any program would do:
an order is put on the condition that it is not there, a transfer carries its token. An acknowledged order must be there
when it is read through another endpoint. Meanwhile, a reader follows the stream, also on changing endpoints.
"""
import random
import threading
import time
import uuid

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

ACCOUNTS = 10
MONEY = 1000
WAIT_S = 300  # for an answer
# Codes that say nothing about whether the request was applied, or that it can be sent again.
REPEATED = {"InternalServerError", "ServiceUnavailable", "ThrottlingException", "TransactionInProgressException",
            "TransactionConflictException", "RequestLimitExceeded", "ProvisionedThroughputExceededException"}


def client(url, service="dynamodb"):
    return boto3.client(service, endpoint_url=url, region_name="us-east-1", aws_access_key_id="any",
                        aws_secret_access_key="any",
                        config=Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=30))


def table(name, *keys, **more):
    return {"TableName": name, "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": key, "AttributeType": kind} for key, kind in keys],
            "KeySchema": [{"AttributeName": key, "KeyType": role}
                          for (key, _), role in zip(keys, ("HASH", "RANGE"))], **more}


def number(value):
    return {"N": str(value)}


def prepare(url):
    dynamodb = client(url)
    by_number = {"IndexName": "ByNumber", "KeySchema": [{"AttributeName": "number", "KeyType": "HASH"}],
                 "Projection": {"ProjectionType": "ALL"}}
    dynamodb.create_table(**table("Orders", ("writer", "N"), ("number", "N"), GlobalSecondaryIndexes=[by_number],
                                  StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"}))
    dynamodb.create_table(**table("Accounts", ("id", "S")))
    for name in ("Orders", "Accounts"):
        dynamodb.get_waiter("table_exists").wait(TableName=name)
    for account in range(ACCOUNTS):
        dynamodb.put_item(TableName="Accounts", Item={"id": {"S": f"account {account}"}, "money": number(MONEY)})


class Writer(threading.Thread):
    def __init__(self, index, urls, stop):
        super().__init__()
        self.index = index
        self.clients = [client(url) for url in urls]
        self.stop = stop
        self.random = random.Random(index)
        self.turn = index
        self.orders = 0  # acknowledged, 1 to this number
        self.transfers = 0
        self.added = 0
        self.perhaps_added = 0
        self.unanswered = 0
        self.longest_s = 0.0
        self.fault = None

    def send(self, operation, **request):
        """The error's code, or None. Raises Unanswered if it is not known whether the request was applied."""
        self.turn += 1
        try:
            getattr(self.clients[self.turn % len(self.clients)], operation)(**request)
            return None
        except ClientError as error:
            code = error.response["Error"]["Code"]
            if code in REPEATED:
                raise Unanswered from error
            if code == "TransactionCanceledException" and "TransactionConflict" in str(error):
                raise Unanswered from error
            return code
        except BotoCoreError as error:
            raise Unanswered from error

    def repeat(self, operation, **request):
        """Sends until there is an answer. Returns its code, and how many times there was none."""
        began = time.monotonic()
        unanswered = 0
        while True:
            try:
                code = self.send(operation, **request)
            except Unanswered:
                unanswered += 1
                self.unanswered += 1
                if time.monotonic() - began > WAIT_S:
                    raise AssertionError(f"{operation}: no answer for {WAIT_S} s") from None
                time.sleep(0.05)
                continue
            self.longest_s = max(self.longest_s, time.monotonic() - began)
            return code, unanswered

    def order(self):
        item = {"writer": number(self.index), "number": number(self.orders + 1)}
        code, unanswered = self.repeat("put_item", TableName="Orders", Item=item,
                                       ConditionExpression="attribute_not_exists(#n)",
                                       ExpressionAttributeNames={"#n": "number"})
        # The condition fails if an earlier attempt was applied.
        if code not in ((None, "ConditionalCheckFailedException") if unanswered else (None,)):
            raise AssertionError(f"order {item}: {code}")
        self.orders += 1
        self.turn += 1
        try:
            found = self.clients[self.turn % len(self.clients)].get_item(TableName="Orders", Key=item, ConsistentRead=True)
        except (BotoCoreError, ClientError):
            return
        expect(f"order {item} after its acknowledgement", item, found.get("Item"))

    def transfer(self):
        payer, payee = self.random.sample(range(ACCOUNTS), 2)
        amount = self.random.randint(1, 9)

        def change(account, difference):
            return {"Update": {"TableName": "Accounts", "Key": {"id": {"S": f"account {account}"}},
                               "UpdateExpression": "ADD money :d",
                               "ExpressionAttributeValues": {":d": number(difference)}}}

        receipt = {"id": {"S": f"transfer {self.index} {self.transfers + 1}"}, "payer": number(payer),
                   "payee": number(payee), "amount": number(amount)}
        code, _ = self.repeat("transact_write_items", ClientRequestToken=str(uuid.uuid4()), TransactItems=[
            change(payer, -amount), change(payee, amount),
            {"Put": {"TableName": "Accounts", "Item": receipt, "ConditionExpression": "attribute_not_exists(id)"}}])
        if code is not None:
            raise AssertionError(f"transfer {receipt}: {code}")
        self.transfers += 1

    def count(self):
        """Without a condition or a token, an addition may be applied although it was not answered."""
        try:
            code = self.send("update_item", TableName="Accounts", Key={"id": {"S": "counter"}},
                             UpdateExpression="ADD additions :one", ExpressionAttributeValues={":one": number(1)})
        except Unanswered:
            self.perhaps_added += 1
            return
        if code is not None:
            raise AssertionError(f"addition: {code}")
        self.added += 1

    def run(self):
        try:
            while not self.stop.is_set():
                self.order()
                self.transfer()
                self.count()
        except Exception as fault:  # shown by the check
            self.fault = fault


class Unanswered(Exception):
    pass


def shards_of_orders(streams):
    """The ARN of the stream, and its shards, parents first."""
    arn = streams.list_streams(TableName="Orders")["Streams"][0]["StreamArn"]
    shards, request = [], {"StreamArn": arn}
    while True:
        stream = streams.describe_stream(**request)["StreamDescription"]
        shards += stream["Shards"]
        if "LastEvaluatedShardId" not in stream:
            break
        request["ExclusiveStartShardId"] = stream["LastEvaluatedShardId"]
    return arn, shards


class StreamReader(threading.Thread):
    """Follows the stream while it is written: every order must appear once, in its writer's order."""

    def __init__(self, urls, stop):
        super().__init__()
        self.clients = [client(url, "dynamodbstreams") for url in urls]
        self.stop = stop
        self.turn = 0
        self.read_to = {}  # by shard
        self.finished = set()
        self.newest = {}  # number by writer
        self.fault = None

    def look(self):
        """Reads the next page of each shard whose parent is finished. Returns the number of records."""
        self.turn += 1
        streams = self.clients[self.turn % len(self.clients)]
        arn, shards = shards_of_orders(streams)
        known = {shard["ShardId"] for shard in shards}
        seen = 0
        for shard in shards:
            name, parent = shard["ShardId"], shard.get("ParentShardId")
            if name in self.finished or (parent in known and parent not in self.finished):
                continue
            start = {"ShardIteratorType": "TRIM_HORIZON"}
            if name in self.read_to:
                start = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": self.read_to[name]}
            iterator = streams.get_shard_iterator(StreamArn=arn, ShardId=name, **start)["ShardIterator"]
            page = streams.get_records(ShardIterator=iterator)
            for record in page["Records"]:
                image = record["dynamodb"]["NewImage"]
                writer, order = int(image["writer"]["N"]), int(image["number"]["N"])
                expect(f"next record of writer {writer}", self.newest.get(writer, 0) + 1, order)
                self.newest[writer] = order
                self.read_to[name] = record["dynamodb"]["SequenceNumber"]
            seen += len(page["Records"])
            if "NextShardIterator" not in page:
                self.finished.add(name)
        return seen

    def run(self):
        try:
            while not self.stop.is_set():
                try:
                    if not self.look():
                        time.sleep(0.1)
                except (BotoCoreError, ClientError):  # it continues where it was
                    time.sleep(0.1)
        except Exception as fault:  # shown by the check
            self.fault = fault

    def check(self, writers):
        """Call it after everybody has stopped."""
        if self.fault:
            raise self.fault
        empty = 0
        while empty < 3:
            empty = 0 if self.look() else empty + 1
        for writer in writers:
            newest = self.newest.get(writer.index, 0)
            expect(f"records of writer {writer.index} that a reader saw", True,
                   writer.orders <= newest <= writer.orders + 1)


def expect(what, wanted, found):
    if wanted != found:
        raise AssertionError(f"{what}: {found}, and should be {wanted}")


def check(url, writers):
    """Raises AssertionError if what is stored differs from what was acknowledged."""
    dynamodb = client(url)
    for writer in writers:
        if writer.fault:
            raise writer.fault
        pages = dynamodb.get_paginator("query").paginate(
            TableName="Orders", ConsistentRead=True, KeyConditionExpression="writer = :w",
            ExpressionAttributeValues={":w": number(writer.index)})
        found = [int(item["number"]["N"]) for page in pages for item in page["Items"]]
        # The last order may be applied although the writer was stopped before its answer.
        expect(f"orders of writer {writer.index}", list(range(1, writer.orders + 1)), found[:writer.orders])
        expect(f"further orders of writer {writer.index}", True, len(found) <= writer.orders + 1)

    items = {item["id"]["S"]: item for page in dynamodb.get_paginator("scan").paginate(
        TableName="Accounts", ConsistentRead=True) for item in page["Items"]}
    money = {account: MONEY for account in range(ACCOUNTS)}
    for name, item in items.items():
        if name.startswith("transfer "):
            money[int(item["payer"]["N"])] -= int(item["amount"]["N"])
            money[int(item["payee"]["N"])] += int(item["amount"]["N"])
    for account, amount in money.items():
        expect(f"account {account}", amount, int(items[f"account {account}"]["money"]["N"]))
    for writer in writers:
        missing = [n for n in range(1, writer.transfers + 1) if f"transfer {writer.index} {n}" not in items]
        expect(f"missing transfers of writer {writer.index}", [], missing)
    added = sum(writer.added for writer in writers)
    perhaps = sum(writer.perhaps_added for writer in writers)
    additions = int(items.get("counter", {}).get("additions", number(0))["N"])
    expect(f"{added} to {added + perhaps} additions, not {additions}", True, added <= additions <= added + perhaps)


def records(url):
    """Of the stream: the numbers of each writer's orders, in the order of the stream."""
    streams = client(url, "dynamodbstreams")
    arn, shards = shards_of_orders(streams)
    found = {}
    for shard in shards:
        iterator = streams.get_shard_iterator(StreamArn=arn, ShardId=shard["ShardId"],
                                              ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
        empty = 0
        while iterator and empty < 3:
            page = streams.get_records(ShardIterator=iterator)
            iterator = page.get("NextShardIterator")
            empty = 0 if page["Records"] else empty + 1
            for record in page["Records"]:
                image = record["dynamodb"]["NewImage"]
                found.setdefault(int(image["writer"]["N"]), []).append(int(image["number"]["N"]))
    return found


def check_stream(url, writers):
    """Every order is one record, in the order in which its writer put it."""
    found = records(url)
    for writer in writers:
        wanted = list(range(1, writer.orders + 1))
        of_writer = found.get(writer.index, [])
        expect(f"records of writer {writer.index}", wanted, of_writer[:len(wanted)])
        expect(f"further records of writer {writer.index}", True, len(of_writer) <= len(wanted) + 1)
