# SPDX-License-Identifier: Apache-2.0
"""Sends the same random writes and vector searches to two endpoints, and fails on each difference.

Usage: vectors.py OURS THEIRS [--requests N] [--seed N]
Scores can differ in their last digits, and items of equal scores come in any order. Exceptions are
compared, their texts are not.
"""

import argparse
import collections
import json
import math
import random
import sys
import time

from compare import normal_value
from endpoint import Endpoint

HISTORY = 60
TOLERANCE = 1e-4
SAMPLES_MAX = 20
STRING_LIST = ["t0", "t1"]


class History:
    """A table with one vector index, and requests to it, a few of them invalid."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.dimensions = self.rng.choice([1, 2, 3, 8, 40])
        self.has_hash = self.rng.random() < 0.5
        self.has_filter = self.rng.random() < 0.6
        self.shows_all = self.rng.random() < 0.5

    def create(self):
        attributes = {"pk": "S"}
        schema = []
        if self.has_hash:
            attributes["tenant"] = "S"
            schema.append({"AttributeName": "tenant", "SearchSchemaElementType": "HASH"})
        if self.has_filter:
            attributes["grade"] = "N"
            schema.append({"AttributeName": "grade", "SearchSchemaElementType": "INLINE_FILTER"})
        index = {
            "IndexName": "near",
            "VectorAttribute": {"AttributeName": "vector"},
            "Dimensions": self.dimensions,
            "DistanceFunction": self.rng.choice(["COSINE", "EUCLIDEAN", "DOT_PRODUCT"]),
            "Projection": {"ProjectionType": "ALL" if self.shows_all else "KEYS_ONLY"},
        }
        if schema:
            index["SearchSchema"] = schema
        return {
            "TableName": "Vectors",
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": kind} for name, kind in attributes.items()
            ],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
            "BillingMode": "PAY_PER_REQUEST",
            "VectorIndexes": [index],
        }

    def vector(self, wrong):
        count = self.dimensions
        if self.rng.random() < wrong:
            count += self.rng.choice([-1, 1])
        numbers = [self.rng.choice([0, 1, -1, self.rng.gauss(0, 1)]) for _ in range(count)]
        vector = [{"N": "%.4g" % number} for number in numbers]
        if vector and self.rng.random() < wrong:
            self.rng.choice(vector).update(self.rng.choice([{"N": "1e39"}, {"N": "1e-50"}]))
        if vector and self.rng.random() < wrong / 2:
            vector[0] = {"S": "x"}
        return vector

    def request(self):
        key = {"pk": {"S": "item%d" % self.rng.randrange(40)}}
        kind = self.rng.random()
        if kind < 0.1:
            return "DeleteItem", {"TableName": "Vectors", "Key": key}
        if kind < 0.2:
            return "UpdateItem", {
                "TableName": "Vectors",
                "Key": key,
                "UpdateExpression": "SET vector = :v",
                "ExpressionAttributeValues": {":v": {"L": self.vector(0.05)}},
            }
        if kind < 0.55:
            item = {**key, "note": {"S": "n%d" % self.rng.randrange(9)}}
            if self.rng.random() < 0.95:
                item["vector"] = {"L": self.vector(0.03)}
            if self.rng.random() < 0.9:
                item["tenant"] = {"S": self.rng.choice(STRING_LIST)}
            if self.rng.random() < 0.8:
                item["grade"] = {"N": str(self.rng.randrange(3))}
            return "PutItem", {"TableName": "Vectors", "Item": item}
        return "SearchVectors", self.search()

    def search(self):
        request = {
            "TableName": "Vectors",
            "IndexName": "near" if self.rng.random() < 0.98 else "far",
            "SearchVector": self.vector(0.03),
            "TopK": self.rng.choice([1, 3, 10, 100, 0, 101]) if self.rng.random() < 0.1 else 10,
        }
        conditions = {}
        if self.has_hash and self.rng.random() < 0.97:
            conditions["tenant"] = {"S": self.rng.choice(STRING_LIST)}
        if self.has_filter and self.rng.random() < 0.5:
            conditions["grade"] = {"N": str(self.rng.randrange(3))}
        if self.rng.random() < 0.02:
            conditions["note"] = {"S": "n1"}
        if conditions:
            request["SearchConditionExpression"] = " AND ".join(
                "%s = :%s" % (name, name) for name in conditions
            )
            request["ExpressionAttributeValues"] = {
                ":" + name: value for name, value in conditions.items()
            }
        if self.rng.random() < 0.2:
            request["ProjectionExpression"] = "pk"
        return request


def difference(operation, ours, theirs):
    """A short description of the difference between two responses, or None."""
    if ours.status != theirs.status or ours.exception != theirs.exception:
        return "ours %s %s, theirs %s %s" % (
            ours.status, ours.exception, theirs.status, theirs.exception)
    if operation != "SearchVectors" or ours.status != 200:
        return None
    found = [answer.body.get("SearchResults", []) for answer in (ours, theirs)]
    if len(found[0]) != len(found[1]):
        return "number of results"
    scores = [[result["Score"] for result in results] for results in found]
    if not all(math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for a, b in zip(*scores)):
        return "scores"
    # The last ones can be equal to others that were left out.
    for results, others in (found, found[::-1]):
        items = [json.dumps(normal_value(other["Item"]), sort_keys=True) for other in others]
        for result in results:
            is_last = math.isclose(result["Score"], scores[0][-1], rel_tol=TOLERANCE, abs_tol=TOLERANCE)
            if not is_last and json.dumps(normal_value(result["Item"]), sort_keys=True) not in items:
                return "items"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ours")
    parser.add_argument("theirs")
    parser.add_argument("--requests", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    arguments = parser.parse_args()
    print("vectors: seed %d" % arguments.seed)
    endpoints = [Endpoint(arguments.ours), Endpoint(arguments.theirs)]
    requests = collections.Counter()
    refused = 0
    kinds = collections.Counter()
    seed = arguments.seed
    began = time.monotonic()
    while requests.total() < arguments.requests:
        history = History(seed)
        steps = [("CreateTable", history.create())] + [history.request() for _ in range(HISTORY)]
        for endpoint in endpoints:
            endpoint.begin_history()
        for operation, request in steps:
            answers = [endpoint.send(operation, request) for endpoint in endpoints]
            requests[operation] += 1
            refused += answers[0].status != 200
            found = difference(operation, *answers)
            if found is None:
                continue
            kinds[operation, found] += 1
            if kinds[operation, found] == 1 and len(kinds) <= SAMPLES_MAX:
                print("\n%s: %s (--seed %d)\n  %s" % (operation, found, seed, json.dumps(request)[:1500]))
                for name, answer in zip(("ours", "theirs"), answers):
                    print("  %s: %s" % (name, json.dumps(answer.body)[:1500]))
            if operation != "SearchVectors":
                break  # what is stored is no longer the same
        seed += 1
    print("\n%d requests, %d of them refused, in %d histories, %d s: %s" % (
        requests.total(), refused, seed - arguments.seed, time.monotonic() - began, dict(requests)))
    for (operation, found), count in kinds.most_common():
        print("  %6d  %s: %s" % (count, operation, found))
    print("differences: %d" % kinds.total())
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
