# SPDX-License-Identifier: Apache-2.0
"""Where Stator and DynamoDB Local 3.0.0 differ, who is right, and why.

A difference that nothing here explains fails the run. Both sides are matched whole, in the outline
that compare.py makes: names, values and numbers are blanked. Each rule says who is right by AWS's
documentation and the public recordings of its answers, or that neither tells.
"""

import re

from known_bodies import BODIES
from known_refusals import OF_EQUALS, REFUSALS
from rules import REFUSED, STATOR, check_of

ORDER = "order of checks (%s: docs/COMPATIBILITY.md)" % STATOR


def explanation(difference):
    """What explains a difference and who is right, or None."""
    for known in REFUSALS + BODIES:
        if known.explains(difference):
            return "%s (%s)" % (known.name, known.right)
    if re.match(REFUSED, difference.theirs) and check_of(difference.ours) < check_of(
        difference.theirs
    ):
        return ORDER
    return None


def explanation_of_equals(difference):
    """What explains a difference between two servers of Stator's, or None."""
    return OF_EQUALS.name if OF_EQUALS.explains(difference) else None
