# SPDX-License-Identifier: Apache-2.0
"""Which parameters of the model a server reads, which it refuses, and which enumerations it has.

A parameter of a wrong JSON type, alone in its request, is a SerializationException if it is read.
A parameter that the server refuses is named in a message that says so."""

import re

from aws_model import input_of

# A JSON value of a wrong type for each type of the model.
WRONG = {"string": [], "structure": 7, "list": 7, "map": 7, "boolean": "x", "integer": "x", "long": "x",
         "double": "x", "float": "x", "timestamp": "x", "blob": 7}
REFUSED = "One or more parameter values were invalid: {} is not supported"
# A request that lacks one of them is refused before what it has is looked at.
REQUIRED = {"SearchVectors": {"IndexName": "Walked", "SearchVector": [{"N": "1"}], "TopK": 1}}
# The service's message names other values than its model.
VALUES = {("Query", "ConditionalOperator"): {"ALL", "OR"}}
ENUM_SET = re.compile(r"Member must satisfy enum value set: \[([^]]*)\]")


class Probe:
    """Asks `server`, which has ask(prefix, operation, request), for every parameter of a model."""

    def __init__(self, server, model):
        self.server = server
        self.model = model
        self.refused = set()  # "UpdateTable.VectorIndexUpdates"
        self.unread = set()
        self.found = []

    def run(self, operations):
        for operation in operations:
            shape = input_of(self.model, operation)
            if shape:
                self.descend(operation, shape, (), lambda value: value)

    # `wrap` makes a whole request of the value at `path`.
    def descend(self, operation, name, path, wrap):
        shape = self.model["shapes"][name]
        if name == "AttributeValue":
            return
        if shape["type"] == "structure":
            for member, described in shape.get("members", {}).items():
                self.visit(operation, described["shape"], (*path, member),
                           lambda value, member=member: wrap({member: value}))
        elif shape["type"] == "list":
            self.descend(operation, shape["member"]["shape"], path, lambda value: wrap([value]))
        elif shape["type"] == "map":
            self.descend(operation, shape["value"]["shape"], path, lambda value: wrap({"Walked": value}))
        elif "enum" in shape:
            self.check_values(operation, path, shape, wrap)

    def visit(self, operation, name, path, wrap):
        place = ".".join((operation, *path))
        answer = self.ask(operation, wrap(WRONG[self.model["shapes"][name]["type"]]))
        message = answer.get("message", "")
        if message == REFUSED.format(path[-1]):
            self.refused.add(place)
        elif answer.get("__type", "").endswith("#SerializationException"):
            self.descend(operation, name, path, wrap)
        else:
            self.unread.add(place)

    def check_values(self, operation, path, shape, wrap):
        answer = self.ask(operation, wrap("NONE_OF_THEM"))
        message = answer.get("message", "")
        # Other members that are missing can have sets, too.
        sets = [set(values.split(", ")) for values in ENUM_SET.findall(message)]
        values = VALUES.get((operation, *path), set(shape["enum"]))
        if values not in sets:
            self.found.append(f"{'.'.join((operation, *path))}: the values are {values}: {answer}")

    # Errors of some parameters come first.
    def ask(self, operation, request):
        members = self.model["shapes"][input_of(self.model, operation)]["members"]
        if "TableName" in members:
            request = {"TableName": "Walked", **REQUIRED.get(operation, {}), **request}
        if "ConditionalOperator" in request and "QueryFilter" in members:
            request = {"QueryFilter": {name: {"ComparisonOperator": "NULL"} for name in "ab"}, **request}
        return self.server.ask(self.model["metadata"]["targetPrefix"], operation, request)[1]
