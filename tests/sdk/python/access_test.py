# SPDX-License-Identifier: Apache-2.0
"""Access keys with policies and limits, through boto3. The server is one of the test's own."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.request

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

TABLE = {
    "TableName": "Scores",
    "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": "user", "AttributeType": "S"}],
    "KeySchema": [{"AttributeName": "user", "KeyType": "HASH"}],
}
OWN_ITEMS = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Action": ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:BatchGetItem", "dynamodb:TransactWriteItems"],
            "Resource": "arn:aws:dynamodb:*:*:table/Scores",
            "Condition": {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["${aws:username}"]}},
        }
    ],
}


def profile(name, *more):
    return "\n".join([f"[{name}]", f"aws_access_key_id = KEY{name}", f"aws_secret_access_key = secret{name}", *more, ""])


class Access(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        (self.directory / "own.json").write_text(json.dumps(OWN_ITEMS))
        self.write_keys(profile("admin"), profile("ann", "policy = own.json"), profile("slow", "requests_per_second = 5"))
        self.server = subprocess.Popen(
            [os.environ["STATOR"], "serve", "--memory", "--port", "0", "--credentials", self.directory / "keys"],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(self.stop)
        self.endpoint = self.server.stdout.readline().split()[-1]
        self.admin = self.client("admin")
        self.admin.create_table(**TABLE)

    def stop(self):
        self.server.terminate()
        self.assertEqual(self.server.wait(), 0)
        self.server.stdout.close()

    def write_keys(self, *profiles):
        (self.directory / "keys").write_text("\n".join(profiles))

    def client(self, name, attempts=1, **more):
        made = boto3.client(
            "dynamodb",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=f"KEY{name}",
            aws_secret_access_key=f"secret{name}",
            config=Config(retries={"total_max_attempts": attempts, "mode": "standard"}),
            **more,
        )
        self.addCleanup(made.close)
        return made

    def refusal(self, call, **arguments):
        with self.assertRaises(ClientError) as caught:
            call(**arguments)
        self.assertEqual(caught.exception.response["ResponseMetadata"]["HTTPStatusCode"], 400)
        return caught.exception.response["Error"]

    def call_as_admin(self, operation, body):
        """An operation that Debian's boto3 does not know."""
        headers = {"Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": "DynamoDB_20120810." + operation}
        request = AWSRequest("POST", self.endpoint + "/", headers=headers, data=json.dumps(body))
        SigV4Auth(Credentials("KEYadmin", "secretadmin"), "dynamodb", "us-east-1").add_auth(request)
        signed = urllib.request.Request(request.url, request.body, dict(request.headers))
        with urllib.request.urlopen(signed) as answer:
            return json.load(answer)

    def eventually(self, call):
        """The server reads its files again soon after SIGHUP."""
        self.server.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + 30
        while not call():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def test_a_user_has_their_own_items_alone(self):
        ann = self.client("ann")
        ann.put_item(TableName="Scores", Item={"user": {"S": "ann"}, "top": {"N": "7"}})
        got = ann.get_item(TableName="Scores", Key={"user": {"S": "ann"}})
        self.assertEqual(got["Item"]["top"], {"N": "7"})
        error = self.refusal(ann.get_item, TableName="Scores", Key={"user": {"S": "bob"}})
        self.assertEqual(error["Code"], "AccessDeniedException")
        self.assertEqual(
            error["Message"],
            "User: arn:aws:iam::000000782867:user/ann is not authorized to perform: dynamodb:GetItem on resource: "
            "arn:aws:dynamodb:us-east-1:000000782867:table/Scores because no identity-based policy allows the "
            "dynamodb:GetItem action",
        )
        keys = [{"user": {"S": "ann"}}, {"user": {"S": "bob"}}]
        self.assertEqual(self.refusal(ann.batch_get_item, RequestItems={"Scores": {"Keys": keys}})["Code"], "AccessDeniedException")
        write = {"Put": {"TableName": "Scores", "Item": {"user": {"S": "bob"}}}}
        self.assertEqual(self.refusal(ann.transact_write_items, TransactItems=[write])["Code"], "AccessDeniedException")
        self.assertEqual(self.refusal(ann.scan, TableName="Scores")["Code"], "AccessDeniedException")
        self.assertEqual(self.admin.scan(TableName="Scores")["Count"], 1)

    def test_a_resource_policy_denies_what_an_identity_policy_allows(self):
        arn = self.admin.describe_table(TableName="Scores")["Table"]["TableArn"]
        policy = {"Statement": {"Effect": "Deny", "Principal": {"AWS": "arn:aws:iam::000000782867:user/ann"}, "Action": "dynamodb:Get*", "Resource": arn}}
        self.call_as_admin("PutResourcePolicy", {"ResourceArn": arn, "Policy": json.dumps(policy)})
        error = self.refusal(self.client("ann").get_item, TableName="Scores", Key={"user": {"S": "ann"}})
        self.assertTrue(error["Message"].endswith("with an explicit deny in a resource-based policy"), error)
        self.admin.get_item(TableName="Scores", Key={"user": {"S": "ann"}})

    def test_keys_are_revoked_and_added_without_a_restart(self):
        ann = self.client("ann")
        ann.get_item(TableName="Scores", Key={"user": {"S": "ann"}})
        self.write_keys(profile("admin"), profile("new"))

        def revoked():
            try:
                ann.get_item(TableName="Scores", Key={"user": {"S": "ann"}})
            except ClientError as error:
                self.assertEqual(error.response["Error"]["Code"], "UnrecognizedClientException")
                return True
            return False

        self.eventually(revoked)
        self.assertEqual(self.client("new").list_tables()["TableNames"], ["Scores"])
        self.admin.list_tables()

    def test_session_tokens_are_refused(self):
        error = self.refusal(self.client("admin", aws_session_token="token").list_tables)
        self.assertEqual(error["Code"], "UnrecognizedClientException")
        self.assertEqual(error["Message"], "The security token included in the request is invalid.")

    def test_a_limit_is_throttling_that_the_sdk_retries(self):
        slow = self.client("slow")
        codes = set()
        for _ in range(200):
            try:
                slow.list_tables()
            except ClientError as error:
                codes.add(error.response["Error"]["Code"])
                break
        self.assertEqual(codes, {"ThrottlingException"})
        self.assertEqual(self.client("slow", attempts=10).list_tables()["TableNames"], ["Scores"])


if __name__ == "__main__":
    unittest.main()
