# SPDX-License-Identifier: Apache-2.0
"""Sends the same random requests to two endpoints and fails on each unexplained difference.

Usage: differential.py OURS THEIRS [--requests N] [--seed N] [--histories N] [--kinds] [--exact]
A seed is that of the first history; the next have the next numbers.
"""

import argparse
import collections
import json
import random
import sys
import time

from compare import step
from endpoint import Endpoint
from generate import Generator
from known import explanation, explanation_of_equals
from known_bodies import parts_ways, removing_updates
from shrink import Shrinker

HISTORY = 80
KINDS_MAX = 200


class Run:
    def __init__(self, endpoints, exact):
        self.endpoints = endpoints
        self.exact = exact
        self.explain = explanation_of_equals if exact else explanation
        self.requests = collections.Counter()
        self.refused = 0
        self.known = collections.Counter()
        self.known_kinds = collections.defaultdict(collections.Counter)
        self.unexplained = collections.Counter()
        # The first difference of each unexplained kind: seed, steps, difference.
        self.samples = {}

    def history(self, seed):
        for endpoint in self.endpoints:
            endpoint.begin_history()
        steps = []
        for operation, request in Generator(seed).history(HISTORY):
            steps.append((operation, request))
            self.requests[operation] += 1
            differences = step(self.endpoints, operation, request)
            for difference in differences:
                known = self.explain(difference)
                if known:
                    self.known[known] += 1
                    self.known_kinds[known][difference.kind] += 1
                else:
                    self.unexplained[difference.kind] += 1
                    self.samples.setdefault(difference.kind, (seed, list(steps), difference))
            if not self.exact:
                if parts_ways(operation, request):
                    return
                self.delete_what_only_theirs_has(operation, request)
            # What follows would only repeat an unexplained difference of what is stored.
            if any(
                d.diverges or d.ours.startswith("body") and not self.explain(d) for d in differences
            ):
                return

    def delete_what_only_theirs_has(self, operation, request):
        """Local creates items by updates that only remove."""
        ours, theirs = self.endpoints
        for update in removing_updates(operation, request):
            item = {"TableName": update.get("TableName"), "Key": update.get("Key")}
            read = ours.send("GetItem", {**item, "ConsistentRead": True})
            if read.status == 200 and "Item" not in read.body:
                theirs.send("DeleteItem", item)

    def report(self, shrinks):
        for kind, count in self.unexplained.most_common(KINDS_MAX):
            seed, steps, difference = self.samples[kind]
            operation, ours, theirs = kind
            print(
                "\n%d x %s\n  ours    %s\n  theirs  %s\n  --seed %d --histories 1"
                % (count, operation, ours, theirs, seed)
            )
            if shrinks:
                steps = Shrinker(self.endpoints, kind).shrink(steps)
            for name, request in steps if shrinks else steps[-1:]:
                print("    %s %s" % (name, json.dumps(request, ensure_ascii=False)[:3000]))
            ours, theirs = difference.answers
            print(
                "    ours:   %s\n    theirs: %s"
                % (
                    json.dumps(ours.body, ensure_ascii=False)[:1500],
                    json.dumps(theirs.body, ensure_ascii=False)[:1500],
                )
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ours")
    parser.add_argument("theirs")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--histories", type=int, help="end after so many histories")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--no-shrink", action="store_true", help="print the last request only")
    parser.add_argument("--kinds", action="store_true", help="print what each rule explained")
    parser.add_argument("--exact", action="store_true", help="both are Stator")
    arguments = parser.parse_args()
    print("differential: seed %d" % arguments.seed)
    run = Run([Endpoint(arguments.ours), Endpoint(arguments.theirs)], arguments.exact)
    began = time.monotonic()
    seed = arguments.seed
    while sum(run.requests.values()) < arguments.requests:
        run.history(seed)
        seed += 1
        if arguments.histories and seed - arguments.seed >= arguments.histories:
            break
    run.report(not arguments.no_shrink)
    print(
        "\n%d requests in %d histories, %d s: %s"
        % (
            sum(run.requests.values()),
            seed - arguments.seed,
            time.monotonic() - began,
            dict(run.requests),
        )
    )
    print("explained: %d" % sum(run.known.values()))
    for name, count in run.known.most_common():
        print("  %6d  %s" % (count, name))
        if arguments.kinds:
            for kind, of_kind in run.known_kinds[name].most_common():
                print("          %6d  %s\n                  ours    %s\n                  theirs  %s" % (of_kind, *kind))
    print("unexplained: %d of %d kinds" % (sum(run.unexplained.values()), len(run.unexplained)))
    return 1 if run.unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
