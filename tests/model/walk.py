#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks a server for every operation of AWS's own models of DynamoDB and DynamoDB Streams, and checks
that each is known and that what succeeds is answered in the shape that the model says.

usage: walk.py ENDPOINT"""

import http.client
import json
import os
import sys
import urllib.parse

from botocore.loaders import Loader

from flows import run_flows

# What operations on data answer with their items is of the caller's making.
ATTRIBUTE_VALUE = {"S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"}
# Members that the service has got since the installed model was made.
NEWER = {
    "ContributorInsightsMode", "DeletionProtectionEnabled", "OnDemandThroughput", "WarmThroughput",
    "RecoveryPeriodInDays", "ExportType", "IncrementalExportSpecification", "MultiRegionConsistency",
    "ApproximateCreationDateTimePrecision", "ReplicaArn", "DestinationType", "FilterSpecification",
}


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
            elif member not in NEWER:
                yield f"{path}.{member} is none of the model's"

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
        for service in ("dynamodb", "dynamodbstreams"):
            model = Loader().load_service_model(service, "service-2")
            self.services[service] = (model, Shapes(model))
        self.succeeded = set()
        self.found = []

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

    # Whatever a request lacks or has in the wrong type, it is answered by an error of the API's.
    def walk_badly(self):
        for service, (model, _) in self.services.items():
            for operation, described in model["operations"].items():
                self.call(operation, {}, service)
                members = model["shapes"][described["input"]["shape"]].get("members", {})
                self.call(operation, {name: 7 for name in members}, service)
                self.call(operation, {name: "x" for name in members}, service)
                self.call(operation, {name: [[]] for name in members}, service)
                self.call(operation, {name: {"a": {}} for name in members}, service)


def main():
    walk = Walk(sys.argv[1] if len(sys.argv) > 1 else os.environ["ENDPOINT"])
    walk.walk_badly()
    run_flows(walk)
    operations = {operation for model, _ in walk.services.values() for operation in model["operations"]}
    never = operations - walk.succeeded - REFUSED
    if never:
        walk.found.append(f"never answered with success: {', '.join(sorted(never))}")
    print("\n".join(walk.found) or f"{len(operations)} operations in order")
    sys.exit(1 if walk.found else 0)


# Operations that one machine cannot carry out; what they answer is an error of their own.
REFUSED = {"EnableKinesisStreamingDestination", "DisableKinesisStreamingDestination",
           "UpdateTableReplicaAutoScaling"}

if __name__ == "__main__":
    main()
