#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks a server for every operation of AWS's own models of DynamoDB and DynamoDB Streams: each is
known, what succeeds is answered in the shape that the model says, and docs/COMPATIBILITY.md lists
the operations and parameters that the server lacks, and no others.

usage: ENDPOINT=URL walk.py PROJECT"""

import http.client
import json
import os
import pathlib
import re
import sys
import urllib.parse

import botocore

import aws_model
from flows import ACCOUNT, run_flows
from probe import Probe

# What operations on data answer with their items is of the caller's making.
ATTRIBUTE_VALUE = {"S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"}

# Members of recorded responses that the model does not have.
UNDOCUMENTED = {"DestinationType"}


class Server:
    def __init__(self, endpoint):
        self.address = urllib.parse.urlparse(endpoint).netloc

    def ask(self, prefix, operation, request):
        connection = http.client.HTTPConnection(self.address, timeout=30)
        connection.request("POST", "/", json.dumps(request), {
            "Content-Type": "application/x-amz-json-1.0",
            "X-Amz-Target": f"{prefix}.{operation}",
            "X-Amz-Date": "20260101T000000Z",
            "Authorization": "AWS4-HMAC-SHA256 Credential=a, SignedHeaders=b, Signature=c",
        })
        response = connection.getresponse()
        return response.status, json.loads(response.read() or "{}")


class Shapes:
    def __init__(self, model):
        self.shapes = model["shapes"]

    def problems(self, name, value, path):
        shape = self.shapes[name]
        kind = shape["type"]
        if name == "AttributeValue":
            if not isinstance(value, dict) or len(value) != 1 or not set(value) <= ATTRIBUTE_VALUE:
                yield f"{path}: {value!r} is no attribute value"
        elif kind == "structure":
            yield from self.structure_problems(shape, value, path)
        elif kind == "list":
            if not isinstance(value, list):
                yield f"{path}: {value!r} is no list"
                return
            for place, element in enumerate(value):
                yield from self.problems(shape["member"]["shape"], element, f"{path}[{place}]")
        elif kind == "map":
            if not isinstance(value, dict):
                yield f"{path}: {value!r} is no map"
                return
            for key, element in value.items():
                yield from self.problems(shape["value"]["shape"], element, f"{path}.{key}")
        else:
            yield from self.scalar_problems(shape, kind, value, path)

    def structure_problems(self, shape, value, path):
        if not isinstance(value, dict):
            yield f"{path}: {value!r} is no structure"
            return
        for required in shape.get("required", []):
            if required not in value:
                yield f"{path}.{required} is missing"
        for member, part in value.items():
            if member in shape["members"]:
                yield from self.problems(shape["members"][member]["shape"], part, f"{path}.{member}")
            elif member not in UNDOCUMENTED:
                yield f"{path}.{member} is none of the model's"

    # The request with an ARN for each name that can be one.
    def with_arns(self, name, value):
        shape = self.shapes[name]
        if name == "TableArn":
            return value if value.startswith("arn:") else f"{ACCOUNT}table/{value}"
        if name == "AttributeValue":
            return value
        if shape["type"] == "structure":
            return {member: self.with_arns(shape["members"][member]["shape"], part) for member, part in value.items()}
        if shape["type"] == "list":
            return [self.with_arns(shape["member"]["shape"], part) for part in value]
        if shape["type"] == "map":
            return {self.with_arns(shape["key"]["shape"], key): self.with_arns(shape["value"]["shape"], part)
                    for key, part in value.items()}
        return value

    @staticmethod
    def scalar_problems(shape, kind, value, path):
        fits = {
            "string": lambda: isinstance(value, str),
            "blob": lambda: isinstance(value, str),
            "boolean": lambda: isinstance(value, bool),
            "integer": lambda: isinstance(value, int) and not isinstance(value, bool),
            "long": lambda: isinstance(value, int) and not isinstance(value, bool),
            "double": lambda: isinstance(value, (int, float)) and not isinstance(value, bool),
            "float": lambda: isinstance(value, (int, float)) and not isinstance(value, bool),
            "timestamp": lambda: isinstance(value, (int, float)) and not isinstance(value, bool),
        }
        if not fits[kind]():
            yield f"{path}: {value!r} is no {kind}"
        elif "enum" in shape and value not in shape["enum"]:
            yield f"{path}: {value!r} is not in {shape['enum']}"
        elif kind == "string" and len(value) < shape.get("min", 0):
            yield f"{path}: {value!r} is shorter than {shape['min']}"


class Walk:
    def __init__(self, endpoint):
        self.server = Server(endpoint)
        self.services = {}
        for service in aws_model.SERVICES:
            model = aws_model.load(service)
            self.services[service] = (model, Shapes(model))
        self.succeeded = set()
        self.found = []

    def succeed(self, operation, request, service="dynamodb"):
        model, shapes = self.services[service]
        return self.call(operation, shapes.with_arns(aws_model.input_of(model, operation), request), service)

    def call(self, operation, request, service="dynamodb"):
        model, shapes = self.services[service]
        status, answer = self.server.ask(model["metadata"]["targetPrefix"], operation, request)
        if "UnknownOperationException" in answer.get("__type", ""):
            self.found.append(f"{operation}: unknown")
        elif status == 200:
            self.succeeded.add(operation)
            output = model["operations"].get(operation, {}).get("output")
            if output:
                self.found += shapes.problems(output["shape"], answer, operation)
        elif status != 400:
            self.found.append(f"{operation}: status {status}: {answer}")
        return answer if status == 200 else {}

    def walk_not_served(self, model, operations):
        for operation in operations:
            status, answer = self.server.ask(model["metadata"]["targetPrefix"], operation, {})
            if status != 400 or answer.get("__type") != "com.amazon.coral.service#UnknownOperationException":
                self.found.append(f"{operation}: not served, but answered with {answer}")

    # Whatever a request lacks or has in the wrong type, it is answered by an error of the API's.
    def walk_badly(self, not_served):
        for service, (model, _) in self.services.items():
            for operation in model["operations"].keys() - not_served:
                self.call(operation, {}, service)
                members = aws_model.parameters_of(model, operation)
                self.call(operation, {name: 7 for name in members}, service)
                self.call(operation, {name: "x" for name in members}, service)
                self.call(operation, {name: [[]] for name in members}, service)
                self.call(operation, {name: {"a": {}} for name in members}, service)


# What the page lists under a heading: `CreateTable.VectorIndexes`.
def listed(page, heading):
    section = re.search(rf"^#+ {heading}\n(.*?)(?=^#)", page, re.M | re.S)
    return set(re.findall(r"`(\w+\.[\w.]+)`", section.group(1))) if section else set()


def compare(walk, root):
    page = (root / "docs/COMPATIBILITY.md").read_text(encoding="utf-8")
    not_served = set(re.findall(r"^\| `(\w+)` \|.*not served", page, re.M))
    refused, unread = set(), set()
    for model, _ in walk.services.values():
        probe = Probe(walk.server, model)
        probe.run(operation for operation in model["operations"] if operation not in not_served)
        walk.found += probe.found
        refused |= probe.refused
        unread |= probe.unread
        walk.walk_not_served(model, not_served & set(model["operations"]))
    for heading, places in (("Refused parameters", refused), ("Ignored parameters", unread)):
        named = listed(page, heading)
        walk.found += [f"{place}: not under '{heading}'" for place in sorted(places - named)]
        walk.found += [f"{place}: under '{heading}', but it is not so" for place in sorted(named - places)]
    return not_served


def main():
    walk = Walk(os.environ["ENDPOINT"])
    not_served = compare(walk, pathlib.Path(sys.argv[1]))
    walk.walk_badly(not_served)
    run_flows(walk)
    operations = {operation for model, _ in walk.services.values() for operation in model["operations"]}
    never = operations - walk.succeeded - REFUSED - not_served
    if never:
        walk.found.append(f"never answered with success: {', '.join(sorted(never))}")
    print("\n".join(walk.found) or f"{len(operations)} operations of botocore {botocore.__version__} in order")
    sys.exit(1 if walk.found else 0)


# Operations that one machine cannot carry out; what they answer is an error of their own.
REFUSED = {"EnableKinesisStreamingDestination", "DisableKinesisStreamingDestination",
           "UpdateKinesisStreamingDestination", "UpdateTableReplicaAutoScaling"}

if __name__ == "__main__":
    main()
