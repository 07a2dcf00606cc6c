# SPDX-License-Identifier: Apache-2.0
"""Where Stator and DynamoDB Local 3.0.0 differ, who is right, and why.

A difference that nothing here explains fails the run. Both sides are matched whole, in the outline
that compare.py makes: names, values and numbers are blanked.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    name: str
    why: str
    ours: str  # regular expressions
    theirs: str
    operation: str = ".*"
    request: object = None  # where given, a predicate

    def explains(self, difference):
        return (self.request is None or self.request(difference.request)) and all(
            re.fullmatch(expression, text, re.DOTALL)
            for expression, text in (
                (self.operation, difference.operation),
                (self.ours, difference.ours),
                (self.theirs, difference.theirs),
            )
        )


def validation(text):
    return "400 ValidationException: (%s).*" % text


# The service's checks in its order. Where a request has two faults, the service names that of the
# earlier check, and Local in many cases another. So a difference is explained where Stator's check
# comes before Local's, never where it comes after: that could be a check that Stator lacks.
CHECKS = [
    "400 SerializationException: .*",
    validation(r"\d+ validation errors? detected|The parameter 'V' is required|TableName must be"),
    validation(r"Can not use both expression|ExpressionAttribute\w+ can only"),
    validation(
        r".*(AttributeValue (is empty|has more than)|converted to a numeric value|"
        r"significant digits|magnitude"
        r"|contains duplicates|may not be empty|should not be empty|must have the value of "
        r"true|A WriteRequest must"
        r"|TransactItems can only contain)|ExpressionAttribute\w+ (must not|contains)"
    ),
    validation(r"One or more parameter values were invalid: (ADD|DELETE) action"),
    validation(
        r"ConditionalOperator|The BETWEEN condition was provided"
        r"|One or more parameter values were invalid: (Value|Exists|ComparisonOperator|"
        r"Invalid number|Duplicate value)"
    ),
    validation(
        r"(ALL_PROJECTED_ATTRIBUTES|Must specify)|The (Total)?Segments? parameter|Either "
        r"the KeyConditions"
    ),
    validation(r"Cannot specify"),
    validation(r"Transaction request cannot include"),
    "400 ResourceNotFoundException: Requested resource not found",
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
    validation(r"The provided starting key|Exclusive Start Key"),
    "400 (ConditionalCheckFailedException|TransactionCanceledException): .*",
]
REFUSED = "[45]00 .*"
OVERLAP = validation(r"Invalid \w+Expression: Two document paths (overlap|conflict)")

KNOWN = [
    Known(
        "one of several overlaps",
        "Where more than two paths overlap, each names some two of them.",
        OVERLAP,
        OVERLAP,
    ),
    Known(
        "syntax errors of doubly wrong expressions",
        "Local names a syntax error before an unknown function or a placeholder that is "
        "not defined.",
        validation(r"Invalid \w+Expression: "),
        validation(r"Invalid \w+Expression: (Syntax error|Two document paths overlap)"),
    ),
    Known(
        "near what a syntax error is",
        "The token is the same; how many tokens around it are quoted differs.",
        validation(r"Invalid \w+Expression: Syntax error"),
        validation(r"Invalid \w+Expression: Syntax error"),
    ),
    Known(
        "type names in order",
        "Stator lists the valid types as the service does; Local in the order of a hash table.",
        validation(r"Invalid \w+Expression: Invalid attribute type name"),
        validation(r"Invalid \w+Expression: Invalid attribute type name"),
    ),
    Known(
        "internal failures",
        "Local fails where a JSON type is wrong: the service has SerializationException.",
        "400 .*",
        "500 InternalFailure: .*",
    ),
    Known(
        "lenient JSON",
        "Local takes numbers for strings and bad padding: the service has SerializationException.",
        "400 SerializationException: .*",
        "200|400 .*",
    ),
    Known(
        "keys that do not match",
        "The service has one text where a key has too few, too many or wrong attributes.",
        validation("The provided key element does not match the schema"),
        "400 (ValidationException|TransactionCanceledException): (The number of conditions "
        "on the keys is invalid|Invalid attribute value type"
        "|One of the required keys was not given a value).*",
    ),
    Known(
        "absent tables",
        "The service's text is 'Requested resource not found'.",
        "400 ResourceNotFoundException: Requested resource not found.*",
        "400 ResourceNotFoundException: Cannot do operations on a non-existent table",
    ),
    Known(
        "which key is missed",
        "The service names the key schema element.",
        validation("Query condition missed key schema element: "),
        "400 ValidationException: Query condition missed key schema element",
    ),
    Known(
        "scanning",
        "Stator says 'Scanning' for a scan.",
        validation("ALL_PROJECTED_ATTRIBUTES can be used only when Scanning"),
        validation("ALL_PROJECTED_ATTRIBUTES can be used only when Querying"),
        "Scan",
    ),
    Known(
        "empty placeholders without an expression",
        "The service refuses ExpressionAttributeNames where nothing uses them, empty ones too.",
        validation(r"ExpressionAttribute\w+ (can only be specified when using|must not be empty)"),
        "200|" + REFUSED,
    ),
    Known(
        "constraints",
        "The service names all violated constraints in one envelope; Local few, and "
        "without it, or none.",
        CHECKS[1],
        "200|" + REFUSED,
    ),
    Known(
        "the reasons' full stop",
        "The reason's text is that of the exception, without a full stop.",
        r'body\.CancellationReasons\[\]\.Message: "The conditional request failed"',
        r'body\.CancellationReasons\[\]\.Message: "The conditional request failed\."',
    ),
    Known(
        "updates that cannot be made, in transactions",
        "API_TransactWriteItems lists these texts among the cancellation reasons "
        "(ValidationError).",
        "400 TransactionCanceledException: .*",
        validation(
            "The document path provided|The provided expression refers|An operand in the "
            "update|Number overflow"
            "|Attempting to store|DynamoDB only supports|One or more parameter values|Item size"
        ),
        "TransactWriteItems",
    ),
    Known(
        "keys in transactions",
        "A key that does not match is a reason; a write of the key is refused as a whole.",
        "400 (TransactionCanceledException|ValidationException): .*",
        "400 (TransactionCanceledException|ValidationException): .*(number of conditions|"
        "Cannot update|required keys|reasons).*",
        "Transact.*",
    ),
    Known(
        "updates with two faults",
        "Which operand or path is evaluated first is not documented.",
        validation(
            "The (provided expression refers|document path provided)|An operand in the update"
        ),
        validation(
            "The (provided expression refers|document path provided)|An operand in the update"
        ),
    ),
    Known(
        "segments",
        "Local's constraint on Segment depends on TotalSegments; the service says that it "
        "must be less.",
        validation("The Segment parameter is zero-based"),
        CHECKS[1],
        "Scan",
    ),
    Known(
        "short type names",
        "Legacy actions name the type as the request does.",
        validation(r".*(ADD|DELETE) action .*type \w+"),
        validation(r".*(ADD|DELETE) action .*type \w+"),
    ),
    Known(
        "metrics of item collections",
        "API_PutItem: returned where the table has a local index; Local looks for the item in it.",
        r"body\.ItemCollectionMetrics.*: there",
        r"body\.ItemCollectionMetrics.*: absent",
    ),
    Known(
        "capacity that was not asked for",
        "Local's DeleteItem returns ConsumedCapacity always.",
        r"body\.ConsumedCapacity: absent",
        r"body\.ConsumedCapacity: there",
        "DeleteItem",
    ),
    Known(
        "capacity of reads and batches",
        "Developer guide, read operations: a read of nothing costs as one of the smallest item; "
        "a transaction's units are read and write apart. Local counts what it found, and "
        "each table once.",
        r"body\.ConsumedCapacity.*",
        r"body\.ConsumedCapacity.*",
        "Query|Scan|Batch.*|Transact.*",
    ),
    Known(
        "throughput of indexes",
        "DescribeTable: an index has a ProvisionedThroughput with NumberOfDecreasesToday, "
        "of zeros on demand.",
        r"body\.Table.*GlobalSecondaryIndexes\[\]\.ProvisionedThroughput.*: there",
        r"body\..*: absent",
    ),
    Known(
        "capacity of writes with indexes",
        "An index is charged where its entry changes; Local charges some that the item is not in.",
        r"body\.ConsumedCapacity\.(CapacityUnits|\w+SecondaryIndexes).*",
        r"body\.ConsumedCapacity\..*",
        "(Put|Update|Delete)Item",
    ),
    Known(
        "texts of table definitions",
        "Local has texts of its own; Stator's are the service's.",
        validation(".*"),
        validation(".*"),
        "CreateTable",
    ),
    Known(
        "duplicates",
        "The service lists what the set holds.",
        validation(".*Input collection.* contains duplicates"),
        validation(".*Input collection.* contains duplicates"),
    ),
    Known(
        "consistent reads of global indexes",
        "The service's text is 'Consistent reads are not supported on global secondary indexes'.",
        validation("Consistent reads are not supported"),
        validation("Consistent read cannot be true"),
    ),
    Known(
        "which key has the wrong type",
        "The service names the key, the types and the index.",
        validation(
            ".*(Type mismatch for (key|Index Key)|key element does not match|update the "
            "secondary index key to unsupported type)"
        ),
        validation(".*(Type mismatch for (key|Index Key)|Invalid attribute value type)"),
    ),
    Known(
        "numbers in messages",
        "Local quotes a number as it came; Stator as it is stored.",
        validation(".*The BETWEEN operator requires"),
        validation(".*The BETWEEN operator requires"),
    ),
    Known(
        "which placeholder is not defined",
        "Where several are not, each names one of them.",
        validation(".*is not defined; attribute (name|value)"),
        validation(".*is not defined; attribute (name|value)"),
    ),
    Known(
        "which index key is empty",
        "Where it is the key of several indexes, each names one of them.",
        validation(".*cannot contain an empty"),
        validation(".*cannot contain an empty"),
    ),
    Known(
        "where a page of one item ends",
        "API_Query: LastEvaluatedKey may be there where nothing follows. A limit that is "
        "reached ends a page.",
        r"body\.LastEvaluatedKey: there",
        r"body\.LastEvaluatedKey: absent",
        "Query",
    ),
    Known(
        "start keys of index queries",
        "Local says of any wrong start key of an index that it does not match the predicate.",
        validation("The provided starting key"),
        validation("The provided starting key"),
        "Query",
    ),
    Known(
        "empty start keys",
        "Local takes an empty start key for none.",
        validation("The provided starting key|Exclusive Start Key"),
        "200",
        "Query|Scan",
    ),
    Known(
        "empty filters",
        "An expression can be left out, but not be empty.",
        validation(r"Invalid \w+Expression: The expression can not be empty;"),
        validation("ExpressionAttribute"),
    ),
    Known(
        "legacy updates of index keys",
        "A deletion from an absent attribute changes no key; Local looks at its type all the same.",
        "200",
        validation("Updates on index keys must be of the same data type"),
        "UpdateItem",
    ),
    Known(
        "keys in checks of transactions",
        "Local lets a ConditionCheck look into keys, and no other condition.",
        validation("Key attributes must be scalars"),
        "200",
        "TransactWriteItems",
    ),
    Known(
        "one of two faults in an expression",
        "Each names the first that it finds, in an order of its own.",
        validation(r"Invalid \w+Expression: "),
        validation(r"Invalid \w+Expression: "),
    ),
    Known(
        "values in the service's words",
        "Stator has the service's texts for numbers and empty values; Local its own.",
        validation(
            r".*(converted to a numeric value|significant digits|magnitude|AttributeValue is empty)"
        ),
        validation(
            r".*(converted into a number|only supports precision|magnitude|null "
            r"AttributeValue|overflow|underflow)"
        ),
    ),
    Known(
        "placeholders before values",
        "The keys of a map of values are checked one by one with what they stand for.",
        validation("ExpressionAttribute|.*AttributeValue"),
        validation("ExpressionAttribute"),
    ),
    Known(
        "filters of indexes",
        "A scan's filter sees what the index holds, as PartiQL's does in the service; "
        "Local looks at the item for the filter alone.",
        r"body\.(Count|Items).*",
        r"body\.(Count|Items).*",
        "Scan",
        lambda request: "IndexName" in request
        and ("FilterExpression" in request or "ScanFilter" in request),
    ),
    Known(
        "lazy if_not_exists",
        "Developer guide, update expressions: the second operand is the value where the "
        "path is not there.",
        "200",
        validation("The provided expression refers to an attribute that does not exist"),
        "UpdateItem",
        lambda request: "if_not_exists" in request.get("UpdateExpression", ""),
    ),
    Known(
        "segments of start keys",
        "Which segment a key is in depends on the order of hashes.",
        "200|"
        + validation(
            "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use "
            "ExclusiveStartKey with correct Segment"
        ),
        "200|" + validation("Exclusive start key must lie within the segment"),
        "Scan",
    ),
    Known(
        "limits of this machine",
        "Local has throughput limits of its own, and reports them.",
        "200",
        validation("Cannot increase provisioned throughput"),
        "CreateTable",
    ),
    Known(
        "mixed tables of a batch",
        "Each table's parameters stand for themselves.",
        REFUSED + "|200",
        validation("Can not use both"),
        "BatchGetItem",
    ),
    Known(
        "empty legacy lists",
        "AttributesToGet is given where it is empty, too.",
        validation("Can not use both|One or more parameter values were invalid: List of"),
        "200",
    ),
    Known(
        "index keys in legacy updates",
        "Local stores a key of the wrong type and drops the item from the index.",
        validation(
            "The update expression attempted to update the secondary index key to unsupported type"
        ),
        "200|" + REFUSED,
        "UpdateItem",
    ),
    Known(
        "reasons for keys that do not match",
        "The service has one text.",
        r'body\.CancellationReasons\[\]\.Message: "The provided key element.*',
        r'body\.CancellationReasons\[\]\.Message: "One or more.*',
    ),
    Known(
        "return values",
        "The service's text is 'ReturnValues can only be ALL_OLD or NONE'.",
        validation("ReturnValues can only be"),
        validation("Return values set to invalid value"),
    ),
    Known(
        "empty batches",
        "The service's text is 'The requestItems parameter is required for …'.",
        validation("The requestItems parameter is required"),
        validation("Batch(Get|Write)Item (must|cannot)"),
    ),
    Known(
        "sizes of start keys",
        "Of an index, the service says that the key is invalid.",
        validation("The provided starting key is invalid"),
        validation("Exclusive Start Key must have same size"),
    ),
    Known(
        "values in start keys",
        "The service says that it is the starting key which is invalid.",
        validation("The provided starting key is invalid: "),
        REFUSED,
    ),
    Known(
        "parameters of a read before its placeholders",
        "Select is checked with the parameters, before any expression.",
        validation(
            "(ALL_PROJECTED_ATTRIBUTES|Must specify|Cannot specify|The (Total)?Segments? "
            "parameter|Conditions can be|Attempted conditional)"
        ),
        REFUSED,
        "Query|Scan",
    ),
    Known(
        "values of no expression",
        "Local looks into ExpressionAttributeValues beside KeyConditions where no "
        "expression uses them.",
        "200|" + validation("Value provided in"),
        validation("ExpressionAttributeValues (must not be empty|can only)"),
        "Query",
    ),
    Known(
        "null among the tables",
        "A null member is an absent one.",
        "200",
        validation("The list of keys in RequestItems"),
        "BatchGetItem",
    ),
    Known(
        "which key is updated",
        "Where several are, each names one of them.",
        validation(".*Cannot update attribute"),
        validation(".*Cannot update attribute"),
    ),
    Known(
        "names in values",
        "Empty names are refused where a value is read, before expressions.",
        validation("(ExpressionAttribute.*)?Empty attribute name"),
        REFUSED,
    ),
    Known(
        "keys that are looked into and asked for twice",
        "Projections are checked before keys.",
        validation("Key attributes must be scalars|Invalid ProjectionExpression"),
        validation("Provided list of item keys contains duplicates"),
        "BatchGetItem",
    ),
    Known(
        "looks into keys, in transactions",
        "Local's ConditionCheck does not notice them, so it names another fault.",
        validation("Key attributes must be scalars"),
        REFUSED,
        "TransactWriteItems",
    ),
    Known(
        "empty keys and wrong expressions",
        "The service parses expressions before it looks at the key.",
        validation(r"Invalid \w+Expression: "),
        validation("One or more parameter values are not valid. The AttributeValue for a key"),
    ),
    Known(
        "one of several wrong keys",
        "Both say what is wrong with a key; Local in fewer words.",
        r'body\.CancellationReasons\[\]\.Message: "One or more.*Type mismatch.*',
        r'body\.CancellationReasons\[\]\.Message: "One or more.*Type mismatch.*',
    ),
    Known(
        "wrong keys of transactions",
        "Local's exception has the reason's text in place of its own.",
        "400 TransactionCanceledException: Transaction cancelled.*",
        "400 TransactionCanceledException: One or more.*",
    ),
]


def check_of(text):
    return next(
        (at for at, check in enumerate(CHECKS) if re.fullmatch(check, text, re.DOTALL)), len(CHECKS)
    )


def explanation(difference):
    """The name of what explains a difference, or None."""
    for known in KNOWN:
        if known.explains(difference):
            return known.name
    if re.match(REFUSED, difference.theirs) and check_of(difference.ours) < check_of(
        difference.theirs
    ):
        return "order of checks"
    return None
