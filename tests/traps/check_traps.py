#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every test that README.md names stands in the sources, and that every trap has one."""

import pathlib
import re
import sys

TEST = re.compile(r"^TYPED_TEST(?:_P)?\(\s*(\w+),\s*(\w+)|^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)", re.M)
ROW = re.compile(r"^\| (.+) \| (.+) \|$", re.M)


def tests_of(root):
    names = set()
    for top in ("src", "tests"):
        for path in (root / top).rglob("*_test.cc"):
            for a, b, c, d in TEST.findall(path.read_text(encoding="utf-8")):
                names.add(f"{a or c}.{b or d}")
    return names


def main():
    root = pathlib.Path(sys.argv[1])
    known = tests_of(root)
    rows = ROW.findall((root / "tests/traps/README.md").read_text(encoding="utf-8"))
    problems = []
    for trap, tests in rows:
        if trap in ("trap", "---"):
            continue
        named = re.findall(r"`([^`]+)`", tests)
        if not named:
            problems.append(f"no test: {trap}")
        for test in named:
            if "/" in test:
                if not (root / test).exists():
                    problems.append(f"{test} does not exist: {trap}")
            elif test not in known:
                problems.append(f"{test} is no test: {trap}")
    if len(rows) < 40:
        problems.append("the table is gone")
    print("\n".join(problems) if problems else f"{len(rows)} traps have their tests")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
