#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks docs/COMPATIBILITY.md against AWS's model of the API and against the sources: every operation
has one row that names each of its parameters and says "not served" unless the table of operations has
it; every error has one row, which says "never" if no source returns it.

usage: check_compatibility.py PROJECT"""

import pathlib
import re
import sys

import aws_model

OPERATION = re.compile(r"^\| `(\w+)` \| (.*) \| (.*) \|$", re.M)
ERROR = re.compile(r"^\| `(\w+)` \| ([^|]*) \|$", re.M)


def sources(root, folders):
    return "".join(path.read_text(encoding="utf-8") for folder in folders
                   for path in sorted((root / "src" / folder).rglob("*"))
                   if path.suffix in (".h", ".cc") and not path.stem.endswith("_test"))


def rows_of(pattern, page, found):
    rows = {}
    for name, *cells in pattern.findall(page):
        if name in rows:
            found.append(f"{name} has two rows")
        rows[name] = cells
    return rows


def check_operations(models, page, root, found):
    rows = rows_of(OPERATION, page, found)
    served = set(re.findall(r'\{"(\w+)",\s+(?:k|document<)', sources(root, ["protocol"])))
    model_of = {operation: model for model in models for operation in model["operations"]}
    for operation, model in sorted(model_of.items()):
        if operation not in rows:
            found.append(f"{operation} has no row")
            continue
        named = set(re.findall(r"`(\w+)`", rows[operation][0]))
        known = aws_model.parameters_of(model, operation)
        found += [f"{operation}: the parameter {name} is not named" for name in sorted(known - named)]
        found += [f"{operation}: there is no parameter {name}" for name in sorted(named - known)]
        if (operation in served) == ("not served" in rows[operation][1]):
            found.append(f"{operation}: the row is wrong about whether it is served")
    found += [f"there is no operation {name}" for name in sorted(rows.keys() - model_of.keys())]


# `page` is the section about errors.
def check_errors(models, page, root, found):
    rows = rows_of(ERROR, page, found)
    code_of = {name: code for code, name in re.findall(r'\{Code::(\w+), "(\w+)"\}', sources(root, ["base"]))}
    text = sources(root, ["api/validation", "engine", "server"])
    known = set().union(*map(aws_model.errors_in, models))
    for name in sorted(known):
        if name not in code_of:
            found.append(f"src/base/result.cc has no code for {name}")
        elif name not in rows:
            found.append(f"{name} has no row")
        else:
            # Neither compared nor a case: returned.
            returned = re.search(rf"(?<!case )(?<![=!]= )Code::{code_of[name]}\b", text) is not None
            if returned == rows[name][0].startswith("never"):
                found.append(f"{name}: the row is wrong about whether it is returned")
    found += [f"there is no error {name}" for name in sorted(rows.keys() - known)]


def main():
    root = pathlib.Path(sys.argv[1])
    page = (root / "docs/COMPATIBILITY.md").read_text(encoding="utf-8")
    operations, errors = page.split("\n## Errors\n")
    models = [aws_model.load(service) for service in aws_model.SERVICES]
    found = []
    check_operations(models, operations, root, found)
    check_errors(models, errors.split("\n## ")[0], root, found)
    print("\n".join(found) or "every operation, parameter and error is named")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
