# SPDX-License-Identifier: Apache-2.0
"""boto3's client, paginators, waiters and resource layer on everyday work and on mistakes."""

import decimal
import uuid

from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import Binary
from support import TableTest, client, resource

EVERY_TYPE = {
    "s": {"S": "text ☃ \u0000 \"quoted\""}, "n": {"N": "-12345678901234567890.123456789012345678"}, "b": {"B": b"\x00\xff"},
    "t": {"BOOL": True}, "f": {"BOOL": False}, "z": {"NULL": True}, "ss": {"SS": ["a", "b"]}, "ns": {"NS": ["1", "2.5"]},
    "bs": {"BS": [b"\x01", b"\x02"]}, "l": {"L": [{"S": ""}, {"L": []}]}, "m": {"M": {"inner": {"M": {"n": {"N": "1"}}}}},
}


class Items(TableTest):
    def key(self, sk="k"):
        return {"pk": {"S": "p"}, "sk": {"S": sk}}

    def test_every_type_comes_back_as_it_was(self):
        self.db.put_item(TableName=self.table, Item={**self.key(), **EVERY_TYPE})
        got = self.db.get_item(TableName=self.table, Key=self.key(), ConsistentRead=True)["Item"]
        for sets in ("ss", "ns", "bs"):
            self.assertCountEqual(*(list(v[sets].values())[0] for v in (got, EVERY_TYPE)))
        self.assertEqual({k: v for k, v in got.items() if k not in ("pk", "sk", "ss", "ns", "bs")},
                         {k: v for k, v in EVERY_TYPE.items() if k not in ("ss", "ns", "bs")})

    def test_update_on_an_absent_item_with_attribute_exists_makes_no_ghost(self):
        self.assert_refused("ConditionalCheckFailedException", "The conditional request failed", self.db.update_item,
                            TableName=self.table, Key=self.key(), UpdateExpression="SET a = :v",
                            ConditionExpression="attribute_exists(pk)", ExpressionAttributeValues={":v": {"N": "1"}})
        self.assertNotIn("Item", self.db.get_item(TableName=self.table, Key=self.key(), ConsistentRead=True))

    def test_failed_conditions_return_the_item_where_asked(self):
        self.db.put_item(TableName=self.table, Item={**self.key(), "n": {"N": "5"}})
        # This release of botocore knows the parameter of transactions only.
        response = self.assert_refused(
            "TransactionCanceledException", "[ConditionalCheckFailed, None]", self.db.transact_write_items, TransactItems=[
                {"Update": {"TableName": self.table, "Key": self.key(), "UpdateExpression": "ADD n :one", "ConditionExpression": "n < :one",
                            "ExpressionAttributeValues": {":one": {"N": "1"}}, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}},
                {"Put": {"TableName": self.table, "Item": self.key("other")}}])
        self.assertEqual(response["CancellationReasons"][0]["Item"]["n"], {"N": "5"})
        self.assertEqual(response["CancellationReasons"][1], {"Code": "None"})
        self.assertNotIn("Item", self.db.get_item(TableName=self.table, Key=self.key("other"), ConsistentRead=True))

    def test_updates_read_the_image_before(self):
        self.db.put_item(TableName=self.table, Item={**self.key(), "a": {"N": "1"}})
        new = self.db.update_item(TableName=self.table, Key=self.key(), UpdateExpression="SET a = :v, b = a REMOVE absent ADD c :v",
                                  ExpressionAttributeValues={":v": {"N": "7"}}, ReturnValues="UPDATED_NEW")["Attributes"]
        self.assertEqual(new, {"a": {"N": "7"}, "b": {"N": "1"}, "c": {"N": "7"}})

    def test_tokens_make_transactions_idempotent(self):
        token = str(uuid.uuid4())
        add = lambda n: {"TransactItems": [{"Update": {"TableName": self.table, "Key": self.key(), "UpdateExpression": "ADD n :n",
                                                       "ExpressionAttributeValues": {":n": {"N": n}}}}], "ClientRequestToken": token}
        self.db.transact_write_items(**add("1"))
        self.db.transact_write_items(**add("1"))
        got = self.db.transact_get_items(TransactItems=[{"Get": {"TableName": self.table, "Key": self.key()}}])
        self.assertEqual(got["Responses"][0]["Item"]["n"], {"N": "1"})
        self.assert_refused("IdempotentParameterMismatchException", "", self.db.transact_write_items, **add("2"))

    def test_batches(self):
        self.db.batch_write_item(RequestItems={self.table: [{"PutRequest": {"Item": self.key(str(i))}} for i in range(25)]})
        got = self.db.batch_get_item(RequestItems={self.table: {"Keys": [self.key(str(i)) for i in range(30)]}})
        self.assertEqual(len(got["Responses"][self.table]), 25)
        self.assertEqual(got["UnprocessedKeys"], {})

    def test_mistakes_have_the_documented_names(self):
        put = lambda **a: {"TableName": self.table, "Item": self.key(), **a}
        for code, message, call, arguments in [
            ("ResourceNotFoundException", "Requested resource not found", self.db.put_item, {"TableName": "Nowhere", "Item": self.key()}),
            ("ResourceInUseException", "Table already exists", self.db.create_table,
             {"TableName": self.table, "BillingMode": "PAY_PER_REQUEST",
              "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}], "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]}),
            ("ValidationException", "reserved keyword: status", self.db.put_item, put(ConditionExpression="status = pk")),
            ("ValidationException", "not defined; attribute value: :v", self.db.put_item, put(ConditionExpression="a = :v")),
            ("ValidationException", "unused in expressions: keys: {:v}", self.db.put_item,
             put(ConditionExpression="attribute_exists(a)", ExpressionAttributeValues={":v": {"S": "x"}})),
            ("ValidationException", "Syntax error; token:", self.db.put_item, put(ConditionExpression="a = = b")),
            ("ValidationException", "Missing the key sk in the item", self.db.put_item, {"TableName": self.table, "Item": {"pk": {"S": "p"}}}),
            ("ValidationException", "Type mismatch for key pk expected: S actual: N", self.db.put_item,
             {"TableName": self.table, "Item": {"pk": {"N": "1"}, "sk": {"S": "k"}}}),
            ("ValidationException", "empty string value. Key: pk", self.db.put_item, {"TableName": self.table, "Item": {"pk": {"S": ""}, "sk": {"S": "k"}}}),
            ("ValidationException", "more than 38 significant digits", self.db.put_item, {"TableName": self.table, "Item": {**self.key(), "n": {"N": "1" * 39}}}),
            ("ValidationException", "Item size has exceeded the maximum allowed size", self.db.put_item,
             {"TableName": self.table, "Item": {**self.key(), "x": {"S": "x" * 400 * 1024}}}),
            ("ValidationException", "The provided key element does not match the schema", self.db.get_item, {"TableName": self.table, "Key": {"pk": {"S": "p"}}}),
        ]:
            with self.subTest(message):
                self.assert_refused(code, message, call, **arguments)


class ResourceLayer(TableTest):
    EXTRA = {
        "AttributeDefinitions": [{"AttributeName": "artist", "AttributeType": "S"}],
        "GlobalSecondaryIndexes": [{"IndexName": "ByArtist", "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["year"]},
                                    "KeySchema": [{"AttributeName": "artist", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]}],
    }

    def test_conditions_batches_and_pages(self):
        table = resource().Table(self.table)
        with table.batch_writer() as batch:
            for i in range(60):
                batch.put_item(Item={"pk": f"album{i % 3}", "sk": f"{i:03}", "artist": "Satie" if i % 2 else "Fauré",
                                     "year": decimal.Decimal(1880 + i), "cover": Binary(b"\x00\x01")})
        found = table.query(IndexName="ByArtist", KeyConditionExpression=Key("artist").eq("Satie") & Key("sk").between("010", "050"),
                            FilterExpression=Attr("year").gte(1900), ScanIndexForward=False)
        self.assertEqual([item["sk"] for item in found["Items"]], [f"{i:03}" for i in range(49, 19, -2)])
        self.assertNotIn("cover", found["Items"][0])
        pages = client().get_paginator("scan").paginate(TableName=self.table, PaginationConfig={"PageSize": 7})
        self.assertEqual(len({(i["pk"]["S"], i["sk"]["S"]) for page in pages for i in page["Items"]}), 60)
        parts = [[i["sk"] for i in table.scan(Segment=s, TotalSegments=4)["Items"]] for s in range(4)]
        self.assertEqual(sorted(sum(parts, [])), [f"{i:03}" for i in range(60)])
        self.assertEqual(table.query(KeyConditionExpression=Key("pk").eq("album0"), Select="COUNT")["Count"], 20)

    def test_documents_with_sets_decimals_and_binaries(self):
        table = resource().Table(self.table)
        item = {"pk": "p", "sk": "s", "price": decimal.Decimal("12345678901234567890123456789012345678"), "small": decimal.Decimal("1E-130"),
                "tags": {"a", "b"}, "sizes": {1, decimal.Decimal("2.5")}, "hashes": {Binary(b"\x00"), Binary(b"\xff")},
                "raw": Binary(b""), "nothing": None, "nested": {"parts": [1, {"yes": True}, []]}, "artist": "Satie"}
        table.put_item(Item=item)
        self.assertEqual(table.get_item(Key={"pk": "p", "sk": "s"})["Item"], item)
        with table.batch_writer(overwrite_by_pkeys=["pk", "sk"]) as batch:
            for i in range(30):  # one of each key goes out, and some are taken back
                batch.put_item(Item={"pk": "p", "sk": str(i % 15), "n": i})
            batch.delete_item(Key={"pk": "p", "sk": "0"})
        found = table.scan(FilterExpression=Attr("n").between(20, 25) | Attr("tags").contains("a") & Attr("nested.parts[1].yes").eq(True),
                           ProjectionExpression="sk, n")["Items"]
        self.assertCountEqual([each["sk"] for each in found], ["5", "6", "7", "8", "9", "10", "s"])
        self.assertEqual(table.scan(FilterExpression=Attr("n").not_exists() & Attr("raw").size().eq(0) & Attr("nothing").attribute_type("NULL"))["Count"], 1)
        changed = table.update_item(Key={"pk": "p", "sk": "s"}, ConditionExpression=Attr("price").gt(1) & ~Attr("tags").contains("z"),
                                    UpdateExpression="DELETE tags :gone ADD sizes :more SET nested.parts[0] = :n",
                                    ExpressionAttributeValues={":gone": {"a", "b"}, ":more": {7}, ":n": decimal.Decimal("0.1")}, ReturnValues="ALL_NEW")["Attributes"]
        self.assertNotIn("tags", changed)
        self.assertEqual((changed["sizes"], changed["nested"]["parts"][0]), ({1, decimal.Decimal("2.5"), 7}, decimal.Decimal("0.1")))
        table.reload()
        self.assertEqual((table.table_status, [key["AttributeName"] for key in table.key_schema]), ("ACTIVE", ["pk", "sk"]))

    def test_describes_what_was_created(self):
        client().get_waiter("table_exists").wait(TableName=self.table)
        description = self.db.describe_table(TableName=self.table)["Table"]
        self.assertEqual(description["TableStatus"], "ACTIVE")
        self.assertEqual(description["BillingModeSummary"]["BillingMode"], "PAY_PER_REQUEST")
        index = description["GlobalSecondaryIndexes"][0]
        self.assertEqual((index["IndexName"], index["IndexStatus"], index["Projection"]["NonKeyAttributes"]), ("ByArtist", "ACTIVE", ["year"]))
        self.assertIn(self.table, [t for page in client().get_paginator("list_tables").paginate() for t in page["TableNames"]])
