# SPDX-License-Identifier: Apache-2.0
"""Histories of random requests: creates tables, then every data-plane operation, right or wrong."""

import copy
import random

import values
from expressions import Expressions
from legacy import Legacy
from tables import Table

PAGES = ("Query", "Scan")


class Generator:
    """Draws one history from a seed."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.legacy = Legacy(self.rng)
        self.tables = [Table(self.rng, name) for name in ("One", "Two.-_")]

    def chance(self, part):
        return self.rng.random() < part

    def history(self, length):
        for table in self.tables:
            yield ("CreateTable", table.create())
        operations = [
            (8, self.put),
            (4, self.get),
            (10, self.update),
            (3, self.delete),
            (8, self.query),
            (6, self.scan),
            (2, self.batch_get),
            (2, self.batch_write),
            (2, self.transact_get),
            (4, self.transact_write),
            (1, self.about_tables),
        ]
        weights, makers = zip(*operations)
        for _ in range(length):
            operation, request = self.rng.choices(makers, weights)[0]()
            if self.chance(0.08):
                request = self.mutated(request)
            yield (operation, request)

    # ---- Requests

    def table(self):
        return self.rng.choice(self.tables)

    def named(self, table):
        request = {
            "TableName": (
                table.name
                if not self.chance(0.004)
                else self.rng.choice(["Nowhere", "", "a", "x" * 256, "a b"])
            )
        }
        if self.chance(0.3):
            request["ReturnConsumedCapacity"] = self.rng.choice(["INDEXES", "TOTAL", "NONE"])
        return request

    def conditional(self, request, expressions):
        """Adds a condition, new or legacy."""
        if self.chance(0.35):
            text = expressions.condition()
            request["ConditionExpression"] = expressions.broken(text) if self.chance(0.03) else text
            if self.chance(0.3):
                request["ReturnValuesOnConditionCheckFailure"] = self.rng.choice(
                    ["ALL_OLD", "NONE"]
                )
        elif self.chance(0.12):
            self.legacy.expect(request)
        return request

    def written(self, request, returns):
        if self.chance(0.4):
            request["ReturnValues"] = self.rng.choice(
                returns if self.chance(0.97) else ["ALL_NEW", "UPDATED_OLD", "BOGUS"]
            )
        if self.chance(0.1):
            request["ReturnItemCollectionMetrics"] = self.rng.choice(["SIZE", "NONE"])
        return request

    def put(self):
        table, expressions = self.table(), Expressions(self.rng)
        request = {**self.named(table), "Item": table.item()}
        self.conditional(self.written(request, ["NONE", "ALL_OLD"]), expressions)
        return "PutItem", expressions.finish(request)

    def delete(self):
        table, expressions = self.table(), Expressions(self.rng)
        request = {**self.named(table), "Key": table.key()}
        self.conditional(self.written(request, ["NONE", "ALL_OLD"]), expressions)
        return "DeleteItem", expressions.finish(request)

    def update(self):
        table, expressions = self.table(), Expressions(self.rng)
        request = {**self.named(table), "Key": table.key()}
        if self.chance(0.1):
            self.legacy.attribute_updates(request)
        elif self.chance(0.98):
            text = expressions.update()
            request["UpdateExpression"] = expressions.broken(text) if self.chance(0.04) else text
        self.conditional(
            self.written(request, ["NONE", "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"]),
            expressions,
        )
        return "UpdateItem", expressions.finish(request)

    def projected(self, request, expressions, table):
        if self.chance(0.25):
            text = expressions.projection(table.keys)
            request["ProjectionExpression"] = (
                expressions.broken(text) if self.chance(0.04) else text
            )
        elif self.chance(0.05):
            request["AttributesToGet"] = [
                self.rng.choice(list(values.USUAL)) for _ in range(self.rng.randint(1, 3))
            ]
        return request

    def get(self):
        table, expressions = self.table(), Expressions(self.rng)
        request = {**self.named(table), "Key": table.key()}
        if self.chance(0.4):
            request["ConsistentRead"] = self.chance(0.5)
        self.projected(request, expressions, table)
        return "GetItem", expressions.finish(request)

    def range_read(self, table, expressions):
        request = self.named(table)
        index = self.rng.choice(list(table.indexes)) if table.indexes and self.chance(0.5) else None
        if self.chance(0.01):
            index = self.rng.choice(["Nowhere", "", "a", "a b"])
        if index is not None:
            request["IndexName"] = index
        if self.chance(0.3):
            request["Limit"] = self.rng.choice(
                [1, 2, 3, 5, 100] if self.chance(0.95) else [0, -1, 10**10]
            )
        if self.chance(0.3) and (index is None or index in table.local or self.chance(0.03)):
            request["ConsistentRead"] = True
        if self.chance(0.3):
            text = expressions.condition()
            request["FilterExpression"] = expressions.broken(text) if self.chance(0.03) else text
        self.projected(request, expressions, table)
        if self.chance(0.15):
            request["Select"] = self.rng.choice(
                ["COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "SPECIFIC_ATTRIBUTES"]
            )
        return request, table.indexes.get(index, table.keys)

    def query(self):
        table, expressions = self.table(), Expressions(self.rng)
        request, keys = self.range_read(table, expressions)
        if self.chance(0.08):
            self.legacy.key_conditions(request, keys, table)
        elif self.chance(0.99):
            text = expressions.key_condition(keys, table.kinds)
            request["KeyConditionExpression"] = (
                expressions.broken(text) if self.chance(0.03) else text
            )
        if "FilterExpression" not in request and self.chance(0.06):
            self.legacy.filter(request, "QueryFilter")
        if self.chance(0.4):
            request["ScanIndexForward"] = self.chance(0.5)
        if self.chance(0.04):
            request["ExclusiveStartKey"] = self.start_key(table, keys)
        return "Query", expressions.finish(request)

    def start_key(self, table, keys):
        key = table.key()
        for name in keys:
            key.setdefault(name, table.key_value(name))
        if self.chance(0.2):
            self.rng.choice(
                [
                    lambda: key.popitem(),
                    lambda: key.update({"other": {"S": "a"}}),
                    key.clear,
                    lambda: key.update({"pk": values.value(self.rng)}),
                ]
            )()
        return key

    def scan(self):
        table, expressions = self.table(), Expressions(self.rng)
        request, keys = self.range_read(table, expressions)
        if "FilterExpression" not in request and self.chance(0.08):
            self.legacy.filter(request, "ScanFilter")
        if self.chance(0.1):
            request["TotalSegments"] = self.rng.choice(
                [1, 2, 4] if self.chance(0.9) else [0, -1, 10**7]
            )
            request["Segment"] = self.rng.choice([0, 1, 3] if self.chance(0.9) else [-1, 4])
            if self.chance(0.05):
                del request[self.rng.choice(["Segment", "TotalSegments"])]
        if self.chance(0.03):
            request["ExclusiveStartKey"] = self.start_key(table, keys)
        return "Scan", expressions.finish(request)

    def batch(self, request):
        if self.chance(0.3):
            request["ReturnConsumedCapacity"] = self.rng.choice(["INDEXES", "TOTAL", "NONE"])
        return request

    def some_keys(self, table, most):
        keys = [table.key() for _ in range(self.rng.randint(1, most))]
        if self.chance(0.05):
            return keys
        return [key for at, key in enumerate(keys) if key not in keys[:at]]

    def batch_get(self):
        items = {}
        for table in self.rng.sample(self.tables, self.rng.choice([1, 1, 2])):
            expressions = Expressions(self.rng)
            wanted = {"Keys": self.some_keys(table, 6 if self.chance(0.99) else 110)}
            if self.chance(0.3):
                wanted["ConsistentRead"] = self.chance(0.5)
            self.projected(wanted, expressions, table)
            items[table.name if self.chance(0.99) else "Nowhere"] = expressions.finish(wanted)
        return "BatchGetItem", self.batch({"RequestItems": items if self.chance(0.99) else {}})

    def batch_write(self):
        items = {}
        for table in self.rng.sample(self.tables, self.rng.choice([1, 1, 2])):
            writes = []
            for key in self.some_keys(table, 6 if self.chance(0.98) else 30):
                if self.chance(0.3):
                    writes.append({"DeleteRequest": {"Key": key}})
                else:
                    writes.append({"PutRequest": {"Item": {**table.item(), **key}}})
            if self.chance(0.01):
                writes.append(
                    self.rng.choice(
                        [
                            {},
                            {
                                "PutRequest": {"Item": table.item()},
                                "DeleteRequest": {"Key": table.key()},
                            },
                        ]
                    )
                )
            items[table.name if self.chance(0.99) else "Nowhere"] = (
                writes if self.chance(0.99) else []
            )
        request = self.batch({"RequestItems": items if self.chance(0.99) else {}})
        if self.chance(0.1):
            request["ReturnItemCollectionMetrics"] = self.rng.choice(["SIZE", "NONE"])
        return "BatchWriteItem", request

    def transact_get(self):
        gets = []
        for _ in range(self.rng.randint(1, 4) if self.chance(0.98) else self.rng.choice([0, 101])):
            table, expressions = self.table(), Expressions(self.rng)
            get = {"TableName": table.name if self.chance(0.99) else "Nowhere", "Key": table.key()}
            if self.chance(0.2):
                get["ProjectionExpression"] = expressions.projection(table.keys)
            gets.append({"Get": expressions.finish(get)})
        return "TransactGetItems", self.batch({"TransactItems": gets})

    def transact_action(self):
        table, expressions = self.table(), Expressions(self.rng)
        action = self.rng.choice(["Put", "Update", "Delete", "ConditionCheck"])
        inner = {"TableName": table.name if self.chance(0.99) else "Nowhere"}
        if action == "Put":
            inner["Item"] = table.item()
        else:
            inner["Key"] = table.key()
        if action == "Update":
            inner["UpdateExpression"] = expressions.update()
        if self.chance(0.98 if action == "ConditionCheck" else 0.25):
            inner["ConditionExpression"] = (
                expressions.condition()
                if self.chance(0.6)
                else "attribute_exists(pk) OR attribute_not_exists(pk)"
            )
            if self.chance(0.4):
                inner["ReturnValuesOnConditionCheckFailure"] = self.rng.choice(["ALL_OLD", "NONE"])
        return {action: expressions.finish(inner)}

    def transact_write(self):
        actions = [
            self.transact_action()
            for _ in range(
                self.rng.randint(1, 4) if self.chance(0.98) else self.rng.choice([0, 101])
            )
        ]
        if self.chance(0.01) and actions:
            actions[0].update(self.transact_action())
        request = self.batch({"TransactItems": actions})
        if self.chance(0.1):
            request["ClientRequestToken"] = self.rng.choice(
                ["", "token-%d" % self.rng.randrange(10**6), "x" * 37]
            )
        if self.chance(0.1):
            request["ReturnItemCollectionMetrics"] = self.rng.choice(["SIZE", "NONE"])
        return "TransactWriteItems", request

    def about_tables(self):
        table = self.table()
        roll = self.rng.random()
        if roll < 0.25:
            return "DescribeTable", {"TableName": table.name if self.chance(0.9) else "Nowhere"}
        if roll < 0.4:
            request = {"Limit": self.rng.choice([1, 2, 100] if self.chance(0.9) else [0, 101, -1])}
            if self.chance(0.3):
                request["ExclusiveStartTableName"] = self.rng.choice(
                    ["One", "Two", "Two.-_", "Zzz", "a"]
                )
            return "ListTables", request
        if roll < 0.45:
            return "DeleteTable", {"TableName": "Nowhere"}
        other = Table(self.rng, "Other%d" % self.rng.randrange(1000))
        request = other.create()
        # Tables in themselves say little: what matters here is how wrong ones are refused.
        if self.chance(0.8):
            request = self.mutated(request)
        return "CreateTable", request

    # ---- Wrong requests

    def mutated(self, request):
        """The request with one value anywhere in it left out, exchanged or added."""
        request = copy.deepcopy(request)
        places = list(walk(request))
        container, at = self.rng.choice(places)
        roll = self.rng.random()
        if roll < 0.3:
            del container[at]
        elif roll < 0.4 and isinstance(container, list):
            container.insert(at, copy.deepcopy(container[at]))
        elif roll < 0.5 and isinstance(container, dict):
            container[self.rng.choice(["Unknown", "S", "N", "TableName", "Limit", "Select"])] = (
                container[at]
            )
        else:
            container[at] = self.other(container[at])
        return request

    def other(self, old):
        pool = [None, "", "a", "BOGUS", 0, -1, 5, 1.5, True, [], {}, [old], {"S": "a"}]
        if isinstance(old, dict) and len(old) == 1 and next(iter(old)) in values.TYPES:
            pool = [values.wrong_value(self.rng), values.value(self.rng)]
        elif isinstance(old, str) and self.chance(0.6):
            pool = ["", "a", "BOGUS", old + " ", old * 2, old.lower(), "x" * 300]
        elif isinstance(old, (int, float)) and self.chance(0.6):
            pool = [0, -1, 1, 10**6, 10**12, 1.5, str(old)]
        return self.rng.choice(pool)


def walk(node):
    """Every place of a JSON value: its container and its key or position."""
    for at in (list(node) if isinstance(node, dict) else range(len(node))):
        yield node, at
        if isinstance(node[at], (dict, list)):
            yield from walk(node[at])
