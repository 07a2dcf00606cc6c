# SPDX-License-Identifier: Apache-2.0
"""What expressions replaced: Expected, AttributeUpdates, KeyConditions and filters."""

import values

OPERANDS = {
    "EQ": 1,
    "NE": 1,
    "LE": 1,
    "LT": 1,
    "GE": 1,
    "GT": 1,
    "BEGINS_WITH": 1,
    "CONTAINS": 1,
    "NOT_CONTAINS": 1,
    "BETWEEN": 2,
    "NULL": 0,
    "NOT_NULL": 0,
    "IN": 3,
}
KEY_OPERATORS = ["EQ", "LE", "LT", "GE", "GT", "BEGINS_WITH", "BETWEEN"]


class Legacy:
    def __init__(self, rng):
        self.rng = rng

    def chance(self, part):
        return self.rng.random() < part

    def names(self):
        return values.sample(self.rng, list(values.USUAL) + ["pk", "sk"], 2)

    def operand(self, name):
        return values.value(self.rng, values.USUAL.get(name, "S") if self.chance(0.9) else None)

    def comparison(self, name, operators=tuple(OPERANDS)):
        operator = self.rng.choice(operators)
        count = OPERANDS[operator] if self.chance(0.95) else self.rng.randint(0, 3)
        condition = {"ComparisonOperator": operator}
        if count or self.chance(0.5):
            condition["AttributeValueList"] = [self.operand(name) for _ in range(count)]
        return condition

    def joined(self, request):
        if self.chance(0.3):
            request["ConditionalOperator"] = self.rng.choice(["AND", "OR"])

    def expect(self, request):
        expected = {}
        for name in self.names():
            roll = self.rng.random()
            if roll < 0.3:
                expected[name] = {"Value": self.operand(name)}
                if self.chance(0.3):
                    expected[name]["Exists"] = self.chance(0.8)
            elif roll < 0.5:
                expected[name] = {"Exists": self.chance(0.1)}
            else:
                expected[name] = self.comparison(name)
        request["Expected"] = expected
        self.joined(request)

    def filter(self, request, member):
        request[member] = {name: self.comparison(name) for name in self.names()}
        self.joined(request)

    def key_conditions(self, request, keys, table):
        conditions = {
            keys[0]: {
                "ComparisonOperator": "EQ" if self.chance(0.95) else "LT",
                "AttributeValueList": [table.key_value(keys[0])],
            }
        }
        if len(keys) > 1 and self.chance(0.7):
            operator = self.rng.choice(KEY_OPERATORS if self.chance(0.95) else list(OPERANDS))
            conditions[keys[1]] = {
                "ComparisonOperator": operator,
                "AttributeValueList": [table.key_value(keys[1]) for _ in range(OPERANDS[operator])],
            }
        request["KeyConditions"] = conditions

    def attribute_updates(self, request):
        updates = {}
        for name in self.names():
            action = self.rng.choice(["PUT", "PUT", "ADD", "DELETE"])
            # Local forgets the whole update where an action is left out.
            update = {"Action": action}
            if action != "DELETE" or self.chance(0.5):
                update["Value"] = self.operand(name)
            updates[name] = update
        request["AttributeUpdates"] = updates
