# SPDX-License-Identifier: Apache-2.0
"""A server at $ENDPOINT, and tables that go when their test ends."""

import os
import unittest

import boto3
from botocore.config import Config


def client(service="dynamodb"):
    return boto3.client(service, endpoint_url=os.environ["ENDPOINT"], config=Config(max_pool_connections=32))


def resource():
    return boto3.resource("dynamodb", endpoint_url=os.environ["ENDPOINT"])


class TableTest(unittest.TestCase):
    """Each test has a table of its own with the string keys pk and sk, unless KEYS says otherwise."""

    KEYS = {"pk": "S", "sk": "S"}
    EXTRA = {}

    def setUp(self):
        self.db = client()
        self.addCleanup(self.db.close)
        self.table = self.id().replace("<", "").replace(">", "")[-200:]
        names = list(self.KEYS)
        arguments = {
            "TableName": self.table,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": n, "AttributeType": t} for n, t in self.KEYS.items()],
            "KeySchema": [{"AttributeName": n, "KeyType": k} for n, k in zip(names, ("HASH", "RANGE"))],
        }
        arguments["AttributeDefinitions"] += self.EXTRA.get("AttributeDefinitions", [])
        arguments.update({k: v for k, v in self.EXTRA.items() if k != "AttributeDefinitions"})
        self.db.create_table(**arguments)
        self.addCleanup(self.db.delete_table, TableName=self.table)

    def assert_refused(self, code, message, call, **arguments):
        with self.assertRaises(self.db.exceptions.ClientError) as caught:
            call(**arguments)
        error = caught.exception.response["Error"]
        self.assertEqual(error["Code"], code)
        self.assertIn(message, error["Message"])
        return caught.exception.response
