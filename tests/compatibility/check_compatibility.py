#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks docs/COMPATIBILITY.md against AWS's model of the API and against what is served: every
operation has one row that names each of its parameters, and a row says "not served" unless the
table of operations has it."""

import gzip
import json
import pathlib
import re
import sys

MODELS = ("dynamodb", "dynamodbstreams")
DATA = pathlib.Path("/usr/lib/python3/dist-packages/botocore/data")
ROW = re.compile(r"^\| `(\w+)` \| (.*) \| (.*) \|$", re.M)


def read_model(service):
    path = DATA / service / "2012-08-10" / "service-2.json"
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    return json.loads(gzip.decompress(path.with_suffix(".json.gz").read_bytes()))


def parameters_of(model, operation):
    shape = model["operations"][operation].get("input", {}).get("shape")
    return set(model["shapes"][shape].get("members", {})) if shape else set()


def served_operations(root):
    text = "".join(p.read_text(encoding="utf-8")
                   for p in sorted((root / "src/protocol").glob("operations*"))
                   if not p.name.endswith("_test.cc"))
    return set(re.findall(r'\{"(\w+)",', text))


def problems_in(root):
    text = (root / "docs/COMPATIBILITY.md").read_text(encoding="utf-8")
    rows = {}
    for name, parameters, remarks in ROW.findall(text):
        if name in rows:
            yield f"{name} has two rows"
        rows[name] = (set(re.findall(r"`(\w+)`", parameters)), remarks)
    served = served_operations(root)
    known = set()
    for model in map(read_model, MODELS):
        for operation in sorted(model["operations"]):
            known.add(operation)
            if operation not in rows:
                yield f"{operation} has no row"
                continue
            named, remarks = rows[operation]
            for missing in sorted(parameters_of(model, operation) - named):
                yield f"{operation}: the parameter {missing} is not named"
            if operation not in served and "not served" not in remarks:
                yield f"{operation}: is not served, but its row does not say so"
    for operation in sorted(served - set(rows)):
        yield f"{operation} is served and has no row"


def main():
    problems = list(problems_in(pathlib.Path(sys.argv[1])))
    print("\n".join(problems) if problems else "every operation and parameter is named")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
