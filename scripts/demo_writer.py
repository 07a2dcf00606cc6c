# SPDX-License-Identifier: Apache-2.0
"""The demo's program on boto3. Usage: demo_writer.py URL write | count N

write: puts numbered items one after the other until the server is gone, and prints each number once its
write is answered. count: how many of the first N items are there.
"""
import sys

import boto3
from botocore.config import Config
from botocore.exceptions import ConnectionClosedError, EndpointConnectionError, HTTPClientError

url, task = sys.argv[1:3]
table = boto3.resource(
    "dynamodb", endpoint_url=url, region_name="us-east-1", aws_access_key_id="any", aws_secret_access_key="any",
    config=Config(retries={"total_max_attempts": 1})).Table("Numbers")

if task == "write":
    table.meta.client.create_table(
        TableName=table.name, BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "number", "AttributeType": "N"}],
        KeySchema=[{"AttributeName": "number", "KeyType": "HASH"}])
    number = 0
    try:
        while True:
            table.put_item(Item={"number": number + 1})
            number += 1
            print(number, flush=True)
    except (ConnectionClosedError, EndpointConnectionError, HTTPClientError):
        pass
else:
    print(sum("Item" in table.get_item(Key={"number": n + 1}) for n in range(int(sys.argv[3]))))
