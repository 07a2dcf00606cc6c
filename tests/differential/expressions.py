# SPDX-License-Identifier: Apache-2.0
"""Random expressions of DynamoDB's grammar with their placeholders; some are broken on purpose."""

import values

COMPARATORS = ["=", "<>", "<", "<=", ">", ">="]
NEED_PLACEHOLDER = {"status", "x-y", "group", "rank"}


class Expressions:
    """The expressions of one request: they share its placeholders."""

    def __init__(self, rng):
        self.rng = rng
        self.names = {}
        self.values = {}

    def chance(self, part):
        return self.rng.random() < part

    def name(self, name):
        if self.chance(0.4) or (name in NEED_PLACEHOLDER and self.chance(0.95)):
            for placeholder, known in self.names.items():
                if known == name:
                    return placeholder
            placeholder = "#n%d" % len(self.names)
            self.names[placeholder] = name
            return placeholder
        return name

    def value(self, value):
        placeholder = ":v%d" % len(self.values)
        self.values[placeholder] = value
        return placeholder

    def top(self):
        return self.rng.choice(list(values.USUAL))

    def path(self, kind=None):
        tops = [name for name, usual in values.USUAL.items() if kind in (None, usual)] or list(
            values.USUAL
        )
        if self.chance(0.8):
            return self.name(self.rng.choice(tops))
        inner = self.rng.choice(
            [
                "m.a",
                "m.s",
                "m.m.a",
                "m.l[0]",
                "l[0]",
                "l[1]",
                "l[9]",
                "l[0].a",
                "l[0][1]",
                "a.b",
                "m",
            ]
        )
        first, dot, rest = inner.partition(".")
        return self.name(first) + dot + rest if dot and "[" not in first else inner

    def operand(self, kind):
        roll = self.rng.random()
        if roll < 0.5:
            return self.path(kind)
        if roll < 0.6 and kind == "N":
            return "size(%s)" % self.path()
        return self.value(values.value(self.rng, kind if self.chance(0.93) else None))

    def kind(self):
        return self.rng.choice(["N", "N", "S", "S", "B", "BOOL", "SS", "NS", "L", "M", "NULL"])

    def condition(self, depth=2):
        roll = self.rng.random()
        if depth and roll < 0.3:
            word = self.rng.choice(["AND", "OR", "and", "oR"])
            return "%s %s %s" % (self.condition(depth - 1), word, self.condition(depth - 1))
        if depth and roll < 0.38:
            return "NOT " + self.condition(depth - 1)
        if depth and roll < 0.48:
            return "(%s)" % self.condition(depth - 1)
        if roll < 0.7:
            kind = self.kind()
            return "%s %s %s" % (
                self.operand(kind),
                self.rng.choice(COMPARATORS),
                self.operand(kind),
            )
        kind = self.rng.choice(["N", "S", "B"])
        if roll < 0.76:
            return "%s BETWEEN %s AND %s" % (
                self.operand(kind),
                self.operand(kind),
                self.operand(kind),
            )
        if roll < 0.82:
            return "%s IN (%s)" % (
                self.operand(kind),
                ", ".join(self.operand(kind) for _ in range(self.rng.randint(1, 3))),
            )
        if roll < 0.9:
            return "%s(%s)" % (
                self.rng.choice(["attribute_exists", "attribute_not_exists"]),
                self.path(),
            )
        if roll < 0.94:
            kind_name = self.rng.choice(values.TYPES) if self.chance(0.93) else "X"
            return "attribute_type(%s, %s)" % (self.path(), self.value({"S": kind_name}))
        if roll < 0.97:
            return "begins_with(%s, %s)" % (
                self.path("S"),
                self.value(values.value(self.rng, "S" if self.chance(0.9) else None)),
            )
        container = self.rng.choice(["SS", "NS", "S", "L"])
        return "contains(%s, %s)" % (
            self.path(container),
            self.operand({"SS": "S", "NS": "N", "S": "S"}.get(container)),
        )

    def set_action(self):
        kind = self.rng.choice(["N", "N", "S", "L", "M", "SS", "BOOL"])
        roll = self.rng.random()
        target = self.path(kind)
        if kind == "N" and roll < 0.6:
            return "%s = %s %s %s" % (
                target,
                self.operand("N"),
                self.rng.choice("+-"),
                self.operand("N"),
            )
        if roll < 0.3:
            return "%s = if_not_exists(%s, %s)" % (target, self.path(kind), self.operand(kind))
        if kind == "L" and roll < 0.8:
            return "%s = list_append(%s, %s)" % (target, self.operand("L"), self.operand("L"))
        return "%s = %s" % (target, self.operand(kind))

    def update(self):
        clauses = []
        for clause in self.rng.sample(
            ["SET", "REMOVE", "ADD", "DELETE"], self.rng.choice([1, 1, 1, 2, 2, 3])
        ):
            actions = []
            for _ in range(self.rng.choice([1, 1, 2, 3])):
                if clause == "SET":
                    actions.append(self.set_action())
                elif clause == "REMOVE":
                    actions.append(self.path())
                else:
                    kind = self.rng.choice(
                        ["SS", "NS", "BS"] + (["N", "N"] if clause == "ADD" else [])
                    )
                    actions.append(
                        "%s %s"
                        % (
                            self.path(kind),
                            self.value(values.value(self.rng, kind if self.chance(0.93) else None)),
                        )
                    )
            clauses.append(
                "%s %s" % (clause if self.chance(0.9) else clause.lower(), ", ".join(actions))
            )
        return " ".join(clauses)

    def projection(self, keys):
        paths = [self.path() for _ in range(self.rng.randint(1, 3))]
        if self.chance(0.5):
            paths.append(self.name(self.rng.choice(keys)))
        return ", ".join(paths)

    def key_condition(self, key_schema, kinds):
        """Of a schema such as [("pk", "S"), ("sk", "N")]."""
        hash_name = key_schema[0]
        some = lambda name: self.value(
            {kinds[name]: self.rng.choice(values.KEY_POOLS[kinds[name]])}
            if self.chance(0.96)
            else values.value(self.rng)
        )
        parts = [
            "%s %s %s"
            % (
                self.name(hash_name),
                "=" if self.chance(0.97) else self.rng.choice(COMPARATORS),
                some(hash_name),
            )
        ]
        if len(key_schema) > 1 and self.chance(0.7):
            name = key_schema[1] if self.chance(0.95) else self.top()
            kinds = {**kinds, name: kinds.get(name, "N")}
            roll = self.rng.random()
            if roll < 0.6:
                parts.append(
                    "%s %s %s"
                    % (
                        self.name(name),
                        self.rng.choice(
                            COMPARATORS if self.chance(0.2) else ["=", "<", "<=", ">", ">="]
                        ),
                        some(name),
                    )
                )
            elif roll < 0.7:
                parts.append(
                    "%s %s %s" % (some(name), self.rng.choice(["<=", ">"]), self.name(name))
                )
            elif roll < 0.85 and kinds[name] != "N":
                parts.append("begins_with(%s, %s)" % (self.name(name), some(name)))
            else:
                parts.append("%s BETWEEN %s AND %s" % (self.name(name), some(name), some(name)))
        if self.chance(0.1):
            parts.reverse()
        if self.chance(0.1):
            parts = ["(%s)" % part for part in parts]
        return (" AND " if self.chance(0.98) else " OR ").join(parts)

    def broken(self, text):
        """The expression with one token left out, doubled or exchanged."""
        tokens = text.split(" ")
        at = self.rng.randrange(len(tokens))
        roll = self.rng.random()
        if roll < 0.3:
            del tokens[at]
        elif roll < 0.5:
            tokens.insert(at, tokens[at])
        elif roll < 0.8:
            tokens[at] = self.rng.choice(
                [
                    "=",
                    "AND",
                    "(",
                    ")",
                    ",",
                    ":x",
                    "#x",
                    "a..b",
                    "l[-1]",
                    "[0]",
                    "1",
                    "foo(a)",
                    "@",
                    "NOT",
                    "size(a)",
                    "attribute_exists(a)",
                    "SET",
                    "contains(a)",
                    "ADD",
                ]
            )
        else:
            at = self.rng.randrange(len(text))
            return (
                text[:at]
                + self.rng.choice(["", "(", ")", " ", "'", "é", "$", "."])
                + text[at + 1 :]
            )
        return " ".join(tokens)

    def finish(self, request):
        """Puts the placeholders into a request, at times a wrong selection of them."""
        for member, known, extra in (
            ("ExpressionAttributeNames", self.names, ("#unused", "a")),
            ("ExpressionAttributeValues", self.values, (":unused", {"N": "1"})),
        ):
            known = dict(known)
            if self.chance(0.01):
                known[extra[0]] = extra[1]
            if known and self.chance(0.01):
                del known[self.rng.choice(list(known))]
            if self.chance(0.005):
                known[self.rng.choice(["x", "", "#", ":", "#a-b", ":a b"])] = extra[1]
            if known or self.chance(0.005):
                request[member] = known
        return request
