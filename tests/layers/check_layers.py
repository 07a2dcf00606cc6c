#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes point down the layers, that libraries stay behind their folder, and that
every source carries its licence and stays within its size."""

import pathlib
import re
import sys

ALLOWED = {
    "base": set(),
    "http": {"base"},
    "metrics": {"base"},
    "value": {"base"},
    "storage": {"base"},
    "vectors": {"base"},
    "expression": {"value", "base"},
    "api": {"expression", "value", "base"},
    "policy": {"api", "value", "base"},
    "transfer": {"api", "value", "base"},
    "partiql": {"api", "expression", "value", "base"},
    "engine": {"policy", "partiql", "transfer", "vectors", "api", "expression", "storage", "value", "base"},
    "access": {"engine", "policy", "partiql", "expression", "api", "storage", "value", "base"},
    "testmode": {"engine", "partiql", "api", "storage", "value", "base"},
    "protocol": {"testmode", "access", "engine", "api", "storage", "value", "base"},
    "client": {"protocol", "testmode", "engine", "api", "storage", "value", "base"},
    "recipes": {"base"},
    "nats": {"base"},
    "mariadb": {"base"},
    "console": {"http", "base"},
    "server": {"console", "protocol", "testmode", "access", "policy", "engine", "api", "storage", "value", "metrics", "http", "base"},
    "cli": {"policy", "partiql", "expression", "server", "nats", "mariadb", "recipes", "client", "protocol", "engine", "transfer", "api", "storage", "value", "metrics", "http", "base"},
}
# Within a folder that has folders of its own: those, and what of its siblings each may include. "" is the
# folder itself, whose own files stand above all others.
PARTS = {
    "api": {
        "model": set(),
        "validation": {"model"},
        "json": {"validation", "model"},
        "wire": {"json", "validation", "model"},
        "admin": {"json", "model"},
    },
    "engine": {
        "errors": set(),
        "background": set(),
        "rows": set(),
        "change_log": {"rows"},
        "vectors": {"rows", "background"},
        "catalog": {"change_log", "rows", "background", "errors"},
        "core": {"catalog", "vectors", "background", "errors"},
        "items": {"core", "catalog", "change_log", "rows", "background", "errors"},
        "query": {"items", "core", "catalog", "vectors", "rows", "errors"},
        "streams": {"core", "catalog", "change_log", "rows", "errors"},
        "schema": {"items", "core", "catalog", "rows", "background", "errors"},
        "jobs": {"schema", "streams", "query", "items", "core", "catalog", "change_log", "rows", "background", "errors"},
        "admin": {"jobs", "schema", "streams", "items", "core", "catalog", "rows", "background", "errors"},
        "verify": {"items", "catalog", "change_log", "rows"},
    },
    "storage": {
        "postgres": {""},
        "open": {"postgres", ""},
    },
    "recipes": {
        "common": set(),
        "toggle": {"common"},
        "semaphore": {"common"},
        "feed": {"common"},
        "sensors": {"common"},
    },
}
# A library's headers, and where they may be included.
LIBRARIES = {
    r"rocksdb/": r"src/storage/rocks_[a-z_]+\.(h|cc)|bench/.*|tests/power_loss/.*",
    r"boost/": r"src/http/.*|bench/.*|tests/fuzz/.*",
    r"simdjson": r"src/api/json/.*|src/api/model/utf8\.cc",
    r"curl/": r"src/client/.*",
    r"nats/nats.h": r"src/nats/.*",
    r"mysql.h": r"src/mariadb/.*",
    r"libpq-fe.h": r"(src/storage/postgres|bench)/.*",
    r"storage/postgres/": r"(src/(storage/(postgres|open)|cli)|tests|bench)/.*",
    r"yaml-cpp/": r"src/cli/.*",
    r"CLI/": r"src/cli/.*",
    r"openssl/": r"(src/(client|server|recipes|transfer|base|http)|tests/support|bench)/.*",
    r"zlib.h|zstd.h": r"src/transfer/.*",
    r"libdeflate": r"src/(server|console|client|http|api|base)/.*",
}
LINES_MAX = 800
# The service's texts stand in their layer's table (messages.h), so that they can be reworded in one
# place. Numbers are parsed below every layer that has one.
MESSAGE = re.compile(r'fail\(\s*Code::kValidation,\s*"')
MESSAGE_LAYERS = {"api", "expression", "engine", "protocol"}
# Not part of the program.
TEST_SUPPORT = re.compile(r".*(_test\.cc|_harness\.h|/testing/.*)")
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.M)


def part_of(path: str, folder: str):
    """The folder within `folder` that a path from src/ on is in: "" for its own files."""
    steps = path.split("/")
    return steps[1] if len(steps) > 2 and steps[0] == folder else ""


def wrong_arrow(name: str, folder: str, included: str):
    """Whether a source in a folder with parts includes one that it may not."""
    parts = PARTS[folder]
    own, other = part_of(name.removeprefix("src/"), folder), part_of(included, folder)
    files_are_lowest = any("" in below for below in parts.values())
    if own == other or (own == "" and not files_are_lowest):
        return False
    return own not in parts or other not in parts[own]


def problems_in(root: pathlib.Path, path: pathlib.Path):
    name = path.relative_to(root).as_posix()
    text = path.read_text(encoding="utf-8")
    if "SPDX-License-Identifier: Apache-2.0" not in text[:200]:
        yield f"{name}: no SPDX line"
    if text.count("\n") > LINES_MAX:
        yield f"{name}: over {LINES_MAX} lines"
    folder = name.split("/")[1] if name.startswith("src/") else None
    own_test = name.endswith("_test.cc")
    if folder in MESSAGE_LAYERS and not own_test and MESSAGE.search(text):
        yield f"{name}: a message outside messages.h"
    for included in INCLUDE.findall(text):
        first = included.split("/")[0]
        if folder and first in ALLOWED and "/" in included and not own_test:
            if first != folder and first not in ALLOWED[folder]:
                yield f"{name}: {folder} may not include {included}"
            if first == folder and folder in PARTS and not TEST_SUPPORT.fullmatch(name):
                if wrong_arrow(name, folder, included):
                    yield f"{name}: may not include {included}"
        if name.startswith("include/") and not included.startswith("stator/") and "/" in included:
            yield f"{name}: an installed header includes {included}"
        for library, where in LIBRARIES.items():
            if re.match(library, included) and not own_test and not re.fullmatch(where, name):
                yield f"{name}: {included} belongs behind {where}"


def main():
    root = pathlib.Path(sys.argv[1])
    sources = [p for top in ("include", "src", "tests", "examples", "bench")
               for p in sorted((root / top).rglob("*")) if p.suffix in {".h", ".cc"}]
    if not sources:
        sys.exit(f"no sources under {root}")
    found = [problem for path in sources for problem in problems_in(root, path)]
    print("\n".join(found) if found else f"{len(sources)} files in order")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
