# SPDX-License-Identifier: Apache-2.0
"""The smallest sequence of requests after which the last one is still answered differently."""

import copy

from compare import step
from generate import walk

ATTEMPTS_MAX = 400


def replay(endpoints, steps):
    """How the answers to the last request differ."""
    for endpoint in endpoints:
        endpoint.begin_history()
    differences = []
    for operation, request in steps:
        differences = step(endpoints, operation, request)
    return differences


def without(request, place):
    """The request without the value at the place-th position of a walk."""
    smaller = copy.deepcopy(request)
    container, at = list(walk(smaller))[place]
    del container[at]
    return smaller


class Shrinker:
    def __init__(self, endpoints, kind):
        self.endpoints = endpoints
        self.kind = kind
        self.attempts = 0

    def holds(self, steps):
        self.attempts += 1
        return any(difference.kind == self.kind for difference in replay(self.endpoints, steps))

    def shrink(self, steps):
        if not self.holds(steps):
            return steps  # it needs more than this history
        return self.smaller_requests(self.fewer_steps(steps))

    def fewer_steps(self, steps):
        piece = len(steps) // 2
        while piece:
            at = 0
            while at < len(steps) - 1 and self.attempts < ATTEMPTS_MAX // 2:
                fewer = steps[:at] + steps[min(at + piece, len(steps) - 1) :]
                if self.holds(fewer):
                    steps = fewer
                else:
                    at += piece
            piece //= 2
        return steps

    def smaller_requests(self, steps):
        for at in reversed(range(len(steps))):
            place = 0
            while self.attempts < ATTEMPTS_MAX and place < sum(1 for _ in walk(steps[at][1])):
                operation, request = steps[at]
                smaller = steps[:at] + [(operation, without(request, place))] + steps[at + 1 :]
                if self.holds(smaller):
                    steps = smaller
                else:
                    place += 1
        return steps
