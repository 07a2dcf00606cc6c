# SPDX-License-Identifier: Apache-2.0
"""Random tables: keys of any type, local and global indexes of any projection."""

import copy

import values


class Table:
    """What requests need to know of a table in order to be mostly right."""

    def __init__(self, rng, name):
        self.rng = rng
        self.name = name
        self.kinds = {"pk": rng.choice("SSNB")}
        self.keys = ["pk"]
        if rng.random() < 0.7:
            self.keys.append("sk")
            self.kinds["sk"] = rng.choice("SNB")
        self.indexes = {}
        self.local = set()
        if len(self.keys) == 2:
            for number in range(rng.choice([0, 1, 1, 2])):
                name = "Local%d" % number
                range_key = rng.choice(["rank", "a", "s"])
                self.indexes[name] = ["pk", range_key]
                self.local.add(name)
                self.kinds[range_key] = values.USUAL[range_key]
        for number in range(rng.choice([0, 1, 1, 2])):
            keys = rng.sample(["group", "rank", "s", "a", "pk"] + self.keys[1:], rng.choice([1, 2]))
            self.indexes["Global%d" % number] = keys
            for key in keys:
                self.kinds.setdefault(key, values.USUAL.get(key))

    def projection(self):
        kind = self.rng.choice(["ALL", "KEYS_ONLY", "INCLUDE"])
        projection = {"ProjectionType": kind}
        if kind == "INCLUDE":
            projection["NonKeyAttributes"] = values.sample(
                self.rng, ["b", "t", "m", "ss", "flag"], 3
            )
        return projection

    def create(self):
        on_demand = self.rng.random() < 0.7
        throughput = {
            "ReadCapacityUnits": self.rng.randint(1, 9),
            "WriteCapacityUnits": self.rng.randint(1, 9),
        }
        request = {
            "TableName": self.name,
            "AttributeDefinitions": [
                {"AttributeName": name, "AttributeType": kind} for name, kind in self.kinds.items()
            ],
            "KeySchema": schema(self.keys),
        }
        if on_demand:
            request["BillingMode"] = "PAY_PER_REQUEST"
        else:
            request["ProvisionedThroughput"] = throughput
        for name, keys in self.indexes.items():
            index = {"IndexName": name, "KeySchema": schema(keys), "Projection": self.projection()}
            if name in self.local:
                request.setdefault("LocalSecondaryIndexes", []).append(index)
                continue
            if not on_demand:
                index["ProvisionedThroughput"] = copy.copy(throughput)
            request.setdefault("GlobalSecondaryIndexes", []).append(index)
        return request

    def key_value(self, name):
        return {self.kinds[name]: self.rng.choice(values.KEY_POOLS[self.kinds[name]])}

    def key(self):
        key = {name: self.key_value(name) for name in self.keys}
        if self.rng.random() < 0.01:
            name = self.rng.choice(self.keys)
            self.rng.choice(
                [
                    lambda: key.pop(name),
                    lambda: key.update({name: values.value(self.rng)}),
                    lambda: key.update({"other": {"S": "a"}}),
                    key.clear,
                ]
            )()
        return key

    def item(self):
        item = values.attributes(self.rng)
        for name in self.kinds:
            if (
                name in self.keys
                or (name in item and self.rng.random() < 0.95)
                or self.rng.random() < 0.6
            ):
                item[name] = self.key_value(name)
        if self.rng.random() < 0.02:
            name = self.rng.choice(list(item))
            self.rng.choice(
                [
                    lambda: item.pop(name),
                    lambda: item.update({name: values.value(self.rng)}),
                    lambda: item.update({"": {"S": "a"}}),
                    lambda: item.update({name: values.wrong_value(self.rng)}),
                ]
            )()
        return item


def schema(keys):
    return [{"AttributeName": name, "KeyType": kind} for name, kind in zip(keys, ("HASH", "RANGE"))]
