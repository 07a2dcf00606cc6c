# SPDX-License-Identifier: Apache-2.0
"""Requests that one refuses, or both for different reasons."""

from known_bodies import removing_updates
from rules import CHECKS, EITHER, REFUSED, STATOR, Known, validation

UPDATE_FAULT = validation(
    "The (provided expression refers|document path provided)|An operand in the update|Number "
    "overflow|DynamoDB only supports precision"
)
PLACEMENT = "Which segment a key is in depends on the order of hashes."
OTHER_SEGMENT = validation(
    "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use "
    "ExclusiveStartKey with correct Segment"
)
OVERLAP = validation(r"Invalid \w+Expression: Two document paths (overlap|conflict)")


def has_null(node):
    if isinstance(node, dict):
        return any(each is None or has_null(each) for each in node.values())
    return isinstance(node, list) and any(has_null(each) for each in node)


REFUSALS = [
    Known(
        "one of several overlaps",
        EITHER,
        "Where more than two paths overlap, each names some two of them.",
        OVERLAP,
        OVERLAP,
    ),
    Known(
        "syntax errors of doubly wrong expressions",
        EITHER,
        "Local names a syntax error before an unknown function or a placeholder that is "
        "not defined.",
        validation(r"Invalid \w+Expression: "),
        validation(r"Invalid \w+Expression: (Syntax error|Two document paths overlap)"),
    ),
    Known(
        "near what a syntax error is",
        EITHER,
        "The token is the same; how many tokens around it are quoted differs.",
        validation(r"Invalid \w+Expression: Syntax error"),
        validation(r"Invalid \w+Expression: Syntax error"),
    ),
    Known(
        "type names in order",
        STATOR,
        "Stator lists the valid types as the service does; Local in the order of a hash table.",
        validation(r"Invalid \w+Expression: Invalid attribute type name"),
        validation(r"Invalid \w+Expression: Invalid attribute type name"),
    ),
    Known(
        "internal failures",
        STATOR,
        "Local fails where a JSON type is wrong: the service has SerializationException.",
        "400 SerializationException: .*",
        "500 InternalFailure: .*",
    ),
    Known(
        "internal failures of invalid requests",
        STATOR,
        "Local fails where a value is missing or violates a constraint: Common errors of the API "
        "has ValidationException.",
        "400 ValidationException: .*",
        "500 InternalFailure: .*",
    ),
    Known(
        "null members",
        EITHER,
        "A null member is an absent one, in the maps of legacy conditions and updates too.",
        "200|400 .*",
        "500 InternalFailure: .*|"
        + validation(
            r".*(cannot be null|must not be null for Attribute|contains invalid value: null for "
            r"key|is required: .* has empty list)"
        ),
        ".*",
        lambda difference: has_null(difference.request),
    ),
    Known(
        "lenient JSON",
        STATOR,
        "Local takes numbers for strings and bad padding: the service has SerializationException.",
        "400 SerializationException: .*",
        "200|400 (ValidationException|ResourceNotFoundException|ConditionalCheckFailedException|"
        "TransactionCanceledException|ResourceInUseException): .*",
    ),
    Known(
        "keys that do not match",
        STATOR,
        "The service has one text where a key has too few, too many or wrong attributes.",
        validation("The provided key element does not match the schema"),
        "400 (ValidationException|TransactionCanceledException): (The number of conditions "
        "on the keys is invalid|Invalid attribute value type"
        "|One of the required keys was not given a value).*",
    ),
    Known(
        "absent tables",
        STATOR,
        "The service's text is 'Requested resource not found'.",
        "400 ResourceNotFoundException: Requested resource not found.*",
        "400 ResourceNotFoundException: Cannot do operations on a non-existent table",
    ),
    Known(
        "which key is missed",
        STATOR,
        "The service names the key schema element.",
        validation("Query condition missed key schema element: "),
        "400 ValidationException: Query condition missed key schema element",
    ),
    Known(
        "scanning",
        STATOR,
        "Stator says 'Scanning' for a scan.",
        validation("ALL_PROJECTED_ATTRIBUTES can be used only when Scanning"),
        validation("ALL_PROJECTED_ATTRIBUTES can be used only when Querying"),
        "Scan",
    ),
    Known(
        "placeholders without an expression",
        STATOR,
        "The service refuses ExpressionAttributeNames where nothing uses them, empty ones too.",
        validation(r"ExpressionAttribute\w+ (can only be specified when using|must not be empty)"),
        "200|" + REFUSED,
    ),
    Known(
        "constraints",
        STATOR,
        "The service names all violated constraints in one envelope; Local few, and without it.",
        CHECKS[1],
        REFUSED,
    ),
    Known(
        "constraints that Local lacks",
        STATOR,
        "API reference: the valid values of each enumeration, a ClientRequestToken of 1 to 36 "
        "characters, the UpdateExpression of a transaction's Update.",
        validation(
            r"\d+ validation errors? detected: Value ('[^']*'|null) at 'V' failed to satisfy constraint: "
            r"Member must (satisfy enum value set|have length greater than|not be null)"
        ),
        "200",
    ),
    Known(
        "updates that cannot be made, in transactions",
        STATOR,
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
        EITHER,
        "A key that does not match is a reason; a write of the key is refused as a whole.",
        "400 (TransactionCanceledException|ValidationException): .*",
        "400 (TransactionCanceledException|ValidationException): .*(number of conditions|"
        "Cannot update|required keys|reasons).*",
        "Transact.*",
    ),
    Known(
        "paths of updates that only remove",
        STATOR,
        "They create no item, so there is nothing in which a path could be invalid.",
        "200",
        validation("The document path provided"),
        "UpdateItem|TransactWriteItems",
        lambda difference: removing_updates(difference.operation, difference.request),
    ),
    Known(
        "empty index keys and paths",
        EITHER,
        "Which of the two faults of an update is told is not documented.",
        validation("One or more parameter values are not valid. The update expression"),
        UPDATE_FAULT + "|" + validation("Key attributes must be scalars"),
    ),
    Known(
        "faults in two legacy parameters",
        EITHER,
        "Whether AttributeUpdates or Expected is read first is not documented.",
        validation(r"One or more parameter values were invalid: (ADD|DELETE) action"),
        validation("Supplied AttributeValue is empty"),
        "UpdateItem",
        lambda difference: difference.request.get("Expected"),
    ),
    Known(
        "the name of key conditions",
        STATOR,
        "The service names the parameter first.",
        validation("Invalid KeyConditionExpression: KeyConditionExpressions"),
        validation("KeyConditionExpressions"),
        "Query",
    ),
    Known(
        "updates with two faults",
        EITHER,
        "Which operand or path is evaluated first is not documented.",
        UPDATE_FAULT,
        UPDATE_FAULT,
    ),
    Known(
        "segments",
        STATOR,
        "Local's constraint on Segment depends on TotalSegments, and comes first; the service "
        "says that it must be less.",
        validation("The Segment parameter is zero-based|One or more parameter values were invalid"),
        CHECKS[1],
        "Scan",
        lambda difference: difference.request.get("Segment", 0)
        >= difference.request.get("TotalSegments", 1),
    ),
    Known(
        "short type names",
        STATOR,
        "Legacy actions name the type as the request does.",
        validation(r".*(ADD|DELETE) action .*type \w+"),
        validation(r".*(ADD|DELETE) action .*type \w+"),
    ),
    Known(
        "texts of table definitions",
        STATOR,
        "Local has texts of its own; Stator's are the service's, in its order: definitions of "
        "attributes come before the rules of indexes.",
        validation(
            r"(Invalid KeySchema|Both the Hash Key|The KeySchema contains|Attribute Name is duplicated)|One or more parameter values were invalid: "
            r"(Some (index key|AttributeDefinitions)|Number of attributes|ReadCapacityUnits and|"
            r"ProjectionType is|Duplicate|Index KeySchema|Table KeySchema|List of \w+Indexes|"
            r"ProvisionedThroughput is not|Neither ReadCapacityUnits|Number of LocalSecondary|"
            r"GlobalSecondaryIndex count|Attribute Name is duplicated|The KeySchema|The total number of NonKey|Unknown ProjectionType)"
        ),
        validation(
            r"(Hash|Range|(Global|Local) Secondary Index \w+) [Kk]ey not specified|No |The number "
            r"of attributes|If Projection|Cannot have|GSI |Two |Local [Ss]econdary [Ii]ndices|Too "
            r"many|Projection|Provisioned|The |Index|Key|Duplicate|One or more|\d+ validation"
        ),
        "CreateTable",
    ),
    Known(
        "definitions that no key uses",
        STATOR,
        "API_CreateTable: the definitions are those of the keys. Local takes more on demand.",
        validation("One or more parameter values were invalid: Some AttributeDefinitions are not"),
        "200",
        "CreateTable",
    ),
    Known(
        "duplicates",
        STATOR,
        "The service lists what the set holds.",
        validation(".*Input collection.* contains duplicates"),
        validation(".*Input collection.* contains duplicates"),
    ),
    Known(
        "consistent reads of global indexes",
        STATOR,
        "The service's text is 'Consistent reads are not supported on global secondary indexes'.",
        validation("Consistent reads are not supported"),
        validation("Consistent read cannot be true"),
    ),
    Known(
        "which key has the wrong type",
        STATOR,
        "The service names the key, the types and the index.",
        validation(
            ".*(Type mismatch for (key|Index Key)|key element does not match|update the "
            "secondary index key to unsupported type)"
        ),
        validation(".*(Type mismatch for (key|Index Key)|Invalid attribute value type)"),
    ),
    Known(
        "numbers in messages",
        EITHER,
        "Local quotes a number as it came; Stator as it is stored.",
        validation(".*The BETWEEN operator requires"),
        validation(".*The BETWEEN operator requires"),
    ),
    Known(
        "which placeholder is not defined",
        EITHER,
        "Where several are not, each names one of them.",
        validation(".*is not defined; attribute (name|value)"),
        validation(".*is not defined; attribute (name|value)"),
    ),
    Known(
        "which index key is empty",
        EITHER,
        "Where it is the key of several indexes, each names one of them.",
        validation(".*cannot contain an empty"),
        validation(".*cannot contain an empty"),
    ),
    Known(
        "start keys of index queries",
        STATOR,
        "Local says of any wrong start key of an index that it does not match the predicate.",
        validation("The provided starting key"),
        validation("The provided starting key"),
        "Query",
    ),
    Known(
        "empty start keys",
        STATOR,
        "Local takes an empty start key for none.",
        validation("The provided starting key|Exclusive Start Key"),
        "200",
        "Query|Scan",
    ),
    Known(
        "empty filters",
        EITHER,
        "An expression can be left out, but not be empty.",
        validation(r"Invalid \w+Expression: The expression can not be empty;"),
        validation("ExpressionAttribute"),
    ),
    Known(
        "legacy updates of index keys",
        STATOR,
        "A deletion from an absent attribute changes no key; Local looks at its type all the same.",
        "200",
        validation("Updates on index keys must be of the same data type"),
        "UpdateItem",
    ),
    Known(
        "keys in checks of transactions",
        STATOR,
        "Local lets a ConditionCheck look into keys, and no other condition.",
        validation("Key attributes must be scalars"),
        "200",
        "TransactWriteItems",
    ),
    Known(
        "one of two faults in an expression",
        EITHER,
        "Each names the first that it finds, in an order of its own.",
        validation(r"Invalid \w+Expression: "),
        validation(r"Invalid \w+Expression: "),
    ),
    Known(
        "values in the service's words",
        STATOR,
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
        EITHER,
        "The keys of a map of values are checked one by one with what they stand for.",
        validation("ExpressionAttribute|.*AttributeValue"),
        validation("ExpressionAttribute"),
    ),
    Known(
        "lazy if_not_exists",
        STATOR,
        "Developer guide, update expressions: the second operand is the value where the "
        "path is not there.",
        "200",
        validation("The provided expression refers to an attribute that does not exist"),
        "UpdateItem|TransactWriteItems",
        lambda difference: "if_not_exists" in str(difference.request),
    ),
    Known(
        "segments of start keys",
        EITHER,
        PLACEMENT,
        "200|" + OTHER_SEGMENT,
        "200|" + validation("Exclusive start key must lie within the segment"),
        "Scan",
    ),
    Known(
        "limits of this machine",
        EITHER,
        "Local has throughput limits of its own, and reports them.",
        "200",
        validation("Cannot increase provisioned throughput"),
        "CreateTable",
    ),
    Known(
        "empty legacy lists",
        STATOR,
        "AttributesToGet is given where it is empty, too.",
        validation("Can not use both|One or more parameter values were invalid: List of"),
        "200",
    ),
    Known(
        "index keys in legacy updates",
        STATOR,
        "Local stores a key of the wrong type and drops the item from the index.",
        validation(
            "One or more parameter values were invalid: Type mismatch for Index Key|The update "
            "expression attempted to update the secondary index key to unsupported type"
        ),
        "200|" + REFUSED,
        "UpdateItem",
    ),
    Known(
        "return values",
        STATOR,
        "The service's text is 'ReturnValues can only be ALL_OLD or NONE'.",
        validation("ReturnValues can only be"),
        validation("Return values set to invalid value"),
    ),
    Known(
        "empty return values",
        STATOR,
        "An empty text is not one of the values.",
        CHECKS[1],
        "200",
        "UpdateItem|DeleteItem|PutItem",
        lambda difference: difference.request.get("ReturnValues") == "",
    ),
    Known(
        "short names of tables",
        EITHER,
        "Whether a name's length or another wrong parameter is told first is not documented.",
        "400 ValidationException: .*",
        validation("Invalid table/index name"),
    ),
    Known(
        "empty batches",
        STATOR,
        "The service has texts of its own.",
        validation("The requestItems parameter is required|1 validation error detected: Value at"),
        validation("Batch(Get|Write)Item (must|cannot)"),
    ),
    Known(
        "sizes of start keys",
        STATOR,
        "Of an index, the service says that the key is invalid.",
        validation("The provided starting key is invalid"),
        validation("Exclusive Start Key must have same size"),
    ),
    Known(
        "values in start keys",
        STATOR,
        "The service says that it is the starting key which is invalid.",
        validation("The provided starting key is invalid: "),
        REFUSED,
    ),
    Known(
        "parameters of a read before its placeholders",
        STATOR,
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
        STATOR,
        "Local looks into ExpressionAttributeValues beside KeyConditions where no "
        "expression uses them.",
        "200|" + validation("Value provided in|Invalid ProjectionExpression|Query key condition"),
        validation("ExpressionAttributeValues (must not be empty|can only)"),
        "Query",
    ),
    Known(
        "null among the tables",
        EITHER,
        "A null member is an absent one.",
        "200",
        validation("The list of keys in RequestItems"),
        "BatchGetItem",
    ),
    Known(
        "which key is updated",
        EITHER,
        "Where several are, each names one of them.",
        validation(".*Cannot update attribute"),
        validation(".*Cannot update attribute"),
    ),
    Known(
        "names in values",
        EITHER,
        "Empty names are refused where a value is read, before expressions.",
        validation("(ExpressionAttribute.*)?Empty attribute name"),
        REFUSED,
    ),
    Known(
        "keys that are looked into and asked for twice",
        STATOR,
        "Projections are checked before keys.",
        validation("Key attributes must be scalars|Invalid ProjectionExpression"),
        validation("Provided list of item keys contains duplicates"),
        "BatchGetItem",
    ),
    Known(
        "looks into keys, in transactions",
        STATOR,
        "Local's ConditionCheck does not notice them, so it names another fault.",
        validation("Key attributes must be scalars"),
        REFUSED,
        "TransactWriteItems",
    ),
    Known(
        "empty keys and wrong expressions",
        STATOR,
        "The service parses expressions before it looks at the key.",
        validation(r"Invalid \w+Expression: |Value provided in"),
        validation("One or more parameter values are not valid. The AttributeValue for a key"),
    ),
    Known(
        "values and parameters of transactions",
        EITHER,
        "Stator reads the values of all actions, then judges their parameters; Local action by "
        "action.",
        CHECKS[3],
        CHECKS[2],
        "Transact.*",
    ),
    Known(
        "which parameters are mixed",
        EITHER,
        "Stator lists all that are given, empty ones too.",
        validation("Can not use both"),
        validation("Can not use both"),
        ".*",
        lambda difference: any(each in ("", {}, []) for each in difference.request.values()),
    ),
    Known(
        "which of several wrong values",
        EITHER,
        "Where a request has several, each names the first that it finds, in an order of its own.",
        CHECKS[3],
        CHECKS[3],
        "Batch.*|Transact.*",
    ),
    Known(
        "key conditions on other attributes",
        EITHER,
        "Stator names the key that is missed; Local says that such a condition is not supported.",
        validation("Query condition missed key schema element: "),
        validation("Query key condition not supported"),
        "Query",
    ),
    Known(
        "absent tables of a batch",
        STATOR,
        "API_BatchWriteItem: an absent table fails the request. Local leaves what it did not "
        "process to the next one before it looks for the table.",
        "400 ResourceNotFoundException: Requested resource not found",
        "200",
        "BatchWriteItem",
        lambda difference: difference.answers[1].body["UnprocessedItems"],
    ),
    Known(
        "start keys at the end of their range",
        STATOR,
        "Developer guide, pagination: a page that a limit ends has its last key, of the last item in "
        "the range too. Local refuses the equal key of <= to go on from.",
        "200",
        validation("The provided starting key does not match the range key predicate"),
        "Query",
        lambda difference: difference.answers[0].body["Count"] == 0,
    ),
    Known(
        "wrong keys of transactions",
        STATOR,
        "Local's exception has the reason's text in place of its own.",
        "400 TransactionCanceledException: Transaction cancelled.*",
        "400 TransactionCanceledException: One or more.*",
    ),
]


# All that two servers of Stator's may differ in: each hashes keys with a secret of its own.
OF_EQUALS = Known(
    "segments of start keys",
    EITHER,
    PLACEMENT,
    "200|" + OTHER_SEGMENT,
    "200|" + OTHER_SEGMENT,
    "Scan",
)
