# SPDX-License-Identifier: Apache-2.0
"""What a rule about a difference is, and the order of the service's checks."""

import re
from dataclasses import dataclass

STATOR = "Stator is right"
EITHER = "not documented"
REFUSED = "[45]00 .*"


@dataclass(frozen=True)
class Known:
    name: str
    right: str
    why: str
    ours: str  # regular expressions
    theirs: str
    operation: str = ".*"
    holds: object = None  # where given, a predicate of the difference

    def explains(self, difference):
        return all(
            re.fullmatch(expression, text, re.DOTALL)
            for expression, text in (
                (self.operation, difference.operation),
                (self.ours, difference.ours),
                (self.theirs, difference.theirs),
            )
        ) and (self.holds is None or self.holds(difference))


def validation(text):
    return "400 ValidationException: (%s).*" % text


# The service's checks in its order. Where a request has two faults, the service names that of the
# earlier check, and Local in many cases another. So a difference is explained where Stator's check
# comes before Local's, never where it comes after: that could be a check that Stator lacks.
CHECKS = [
    "400 SerializationException: .*",
    validation(
        r"\d+ validation errors? detected|Failed to satisfy|The parameter 'V' is required"
        r"|TableName must be"
    ),
    validation(r"Can not use both expression|ExpressionAttribute\w+ can only"),
    validation(
        r".*(AttributeValue (is empty|has more than)|converted to a numeric value|"
        r"significant digits|magnitude"
        r"|Input collection .*contains duplicates|may not be empty|should not be empty|must have the value of "
        r"true|A WriteRequest must"
        r"|TransactItems can only contain)"
    ),
    validation(r"One or more parameter values were invalid: (ADD|DELETE|Only DELETE) action"),
    validation(
        r"ConditionalOperator|The BETWEEN condition was provided"
        r"|One or more parameter values were invalid: (Value|Exists|ComparisonOperator|"
        r"AttributeValue|"
        r"Invalid number|Duplicate value)"
    ),
    validation(
        r"(ALL_PROJECTED_ATTRIBUTES|Must specify)|The (Total)?Segments? parameter|Either "
        r"the KeyConditions"
    ),
    validation(r"Cannot specify"),
    validation(r"ExpressionAttribute\w+ (must not|contains)"),
    "400 ResourceNotFoundException: Requested resource not found",
    validation(r"Transaction request cannot include"),
    validation(r"Consistent reads are not supported"),
    validation(
        r"Invalid (Update|KeyCondition)Expression: |Invalid operator used|Query (key "
        r")?condition|KeyConditionExpressions"
        r"|Conditions can|One or more parameter values were invalid: Condition parameter"
        r"|One or more parameter values are not valid. The AttributeValue for a key "
        r"attribute cannot contain"
    ),
    validation(r"Invalid (Condition|Filter)Expression: "),
    validation(r"Invalid ProjectionExpression: "),
    validation(r"Value provided in Expression"),
    validation(r".*Cannot update attribute"),
    validation(r"Key attributes must be scalars"),
    validation(
        r"The provided key element does not match|.*Type mismatch for (key|Index Key)|"
        r".*Missing the key"
        r"|.*Select type ALL_ATTRIBUTES|.*does not project"
    ),
    validation(r"Provided list of item keys contains"),
    validation(r"Filter Expression can only contain"),
    validation(r"The provided starting key|Exclusive Start Key"),
    validation(r"Type mismatch for attribute to update"),
    "400 (ConditionalCheckFailedException|TransactionCanceledException): .*",
]


def check_of(text):
    return next(
        (at for at, check in enumerate(CHECKS) if re.fullmatch(check, text, re.DOTALL)), len(CHECKS)
    )
