# SPDX-License-Identifier: Apache-2.0
"""Attribute values of every type, from small pools so that requests meet; and wrong ones."""

KEY_POOLS = {
    "S": ["a", "b", "ab", "ba", "é", "\U0001f600"],
    "N": ["0", "1", "-1", "2", "10", "1.5", "-2.5", "100"],
    "B": ["AA==", "AQ==", "AAE=", "/w==", "gAA="],
}
NUMBERS = [
    "0",
    "1",
    "-1",
    "2",
    "3.5",
    "-0.25",
    "100",
    "1e3",
    "1E-5",
    "+7",
    "0010",
    "1.50",
    "-0",
    "12345678901234567890123456789012345678",
    "9.9999999999999999999999999999999999999E125",
    "1e-130",
]
WRONG_NUMBERS = [
    "",
    "abc",
    " 1",
    "1 ",
    "1+2",
    "0x10",
    "1e126",
    "1e-131",
    "NaN",
    "Infinity",
    "--1",
    "1e",
    ".",
    "123456789012345678901234567890123456789",
    "1.2.3",
    "1,000",
]
TEXTS = ["", "a", "b", "ab", "abc", "é", "\U0001f600", "x" * 40]
BINARIES = ["", "AA==", "AQ==", "AQI=", "/w==", "AAAA"]
TYPES = ["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"]
# What a path usually leads to, so that expressions find operands of the right type.
USUAL = {
    "a": "N",
    "b": "N",
    "s": "S",
    "t": "S",
    "bin": "B",
    "flag": "BOOL",
    "nil": "NULL",
    "ss": "SS",
    "ns": "NS",
    "bs": "BS",
    "l": "L",
    "m": "M",
    "status": "S",
    "x-y": "N",
    "rank": "N",
    "group": "S",
}
MEMBERS = ["a", "s", "l", "m"]


def sample(rng, pool, most):
    return rng.sample(pool, rng.randint(1, min(most, len(pool))))


def value(rng, kind=None, depth=2):
    kind = kind or rng.choice(TYPES)
    if kind == "S":
        return {"S": rng.choice(TEXTS)}
    if kind == "N":
        return {"N": rng.choice(NUMBERS)}
    if kind == "B":
        return {"B": rng.choice(BINARIES)}
    if kind == "BOOL":
        return {"BOOL": rng.random() < 0.5}
    if kind == "NULL":
        return {"NULL": True}
    if kind == "SS":
        return {"SS": sample(rng, TEXTS[1:], 3)}
    if kind == "NS":
        return {"NS": sample(rng, ["1", "2", "3", "4.5", "-6"], 3)}
    if kind == "BS":
        return {"BS": sample(rng, BINARIES[1:], 3)}
    if kind == "L":
        return {
            "L": [
                value(rng, None if depth else "N", depth - 1)
                for _ in range(rng.randint(0, 3) if depth > 0 else 0)
            ]
        }
    return {
        "M": {
            name: value(rng, USUAL[name], depth - 1)
            for name in (sample(rng, MEMBERS, 3) if depth > 0 else [])
        }
    }


def wrong_value(rng):
    return rng.choice(
        [
            {},
            None,
            "a",
            5,
            [],
            {"S": 5},
            {"S": None},
            {"N": 5},
            {"N": rng.choice(WRONG_NUMBERS)},
            {"N": rng.choice(WRONG_NUMBERS)},
            {"B": "not base64!"},
            {"B": "A"},
            {"BOOL": "true"},
            {"BOOL": None},
            {"NULL": False},
            {"NULL": "true"},
            {"SS": []},
            {"NS": []},
            {"BS": []},
            {"SS": ["a", "a"]},
            {"NS": ["1", "1.0"]},
            {"BS": ["AA==", "AA=="]},
            {"SS": ["a", 1]},
            {"SS": [""]},
            {"NS": ["1", "x"]},
            {"NS": [1]},
            {"L": {}},
            {"L": [{}]},
            {"L": [None]},
            {"M": []},
            {"M": {"a": {}}},
            {"M": {"a": None}},
            {"M": {"": {"S": "a"}}},
            {"S": "a", "N": "1"},
            {"X": "a"},
            {"S": "a", "X": "1"},
            {"SS": "a"},
            {"L": [{"N": rng.choice(WRONG_NUMBERS)}]},
            {"L": [{"SS": []}]},
        ]
    )


def attributes(rng, most=6):
    item = {}
    for name in sample(rng, list(USUAL), most):
        item[name] = value(rng, USUAL[name] if rng.random() < 0.85 else None)
    return item
