# SPDX-License-Identifier: Apache-2.0
"""Answers of both that differ in a member: "body.…" and its value."""

import re

from rules import EITHER, STATOR, Known


def parts_ways(operation, request):
    """Whether Local stores something else, so that what follows in a history says nothing more.

    API_UpdateItem: PUT is the default Action of AttributeUpdates. Local leaves some attributes
    alone that have no Action.
    """
    updates = request.get("AttributeUpdates") if operation == "UpdateItem" else None
    return isinstance(updates, dict) and any(
        isinstance(update, dict) and update.get("Action") is None for update in updates.values()
    )


def only_removes(update):
    """Whether an update creates no item where there is none, which Local does."""
    expression, legacy = update.get("UpdateExpression"), update.get("AttributeUpdates")
    if isinstance(expression, str):
        return not re.search(r"\b(SET|ADD)\b", expression, re.IGNORECASE)
    return (
        isinstance(legacy, dict)
        and bool(legacy)
        and all(isinstance(each, dict) and each.get("Action") == "DELETE" for each in legacy.values())
    )


def removing_updates(operation, request):
    """The updates of a request that only remove."""
    if operation == "UpdateItem":
        updates = [request]
    elif operation == "TransactWriteItems" and isinstance(request.get("TransactItems"), list):
        updates = [each.get("Update") for each in request["TransactItems"] if isinstance(each, dict)]
    else:
        updates = []
    return [each for each in updates if isinstance(each, dict) and only_removes(each)]


def holds_of_nothing(request):
    """Whether a filter may hold of an item because it lacks an attribute."""
    return re.search(
        "<>|NOT|attribute_not_exists|NE|NULL",
        str(request.get("FilterExpression")) + str(request.get("ScanFilter")),
    )


def is_part(node, whole):
    """Whether maps, and the maps in them, lack no member of others'."""
    if isinstance(node, dict) and isinstance(whole, dict):
        return all(name in whole and is_part(each, whole[name]) for name, each in node.items())
    return True  # other values are differences of their own


def fewer_are_found(difference):
    ours, theirs = difference.answers
    return ours.body["Count"] <= theirs.body["Count"]


BODIES = [
    Known(
        "updates that only remove",
        STATOR,
        "They create no item. Local stores one that has only its key.",
        r"body\.Attributes: absent",
        r"body\.Attributes: there",
        "UpdateItem",
        lambda difference: only_removes(difference.request),
    ),
    Known(
        "the reasons' full stop",
        STATOR,
        "The reason's text is that of the exception, without a full stop.",
        r'body\.CancellationReasons\[\]\.Message: "The conditional request failed"',
        r'body\.CancellationReasons\[\]\.Message: "The conditional request failed\."',
    ),
    Known(
        "metrics of item collections",
        STATOR,
        "API_PutItem: returned where the table has a local index; Local looks for the item in it.",
        r"body\.ItemCollectionMetrics.*: there",
        r"body\.ItemCollectionMetrics.*: absent",
    ),
    Known(
        "capacity that was not asked for",
        STATOR,
        "Local's DeleteItem returns ConsumedCapacity always.",
        r"body\.ConsumedCapacity: absent",
        r"body\.ConsumedCapacity: there",
        "DeleteItem",
    ),
    Known(
        "capacity of reads and batches",
        STATOR,
        "Developer guide, read operations: a read of nothing costs as one of the smallest item; "
        "a transaction's units are read and write apart. Local counts what it found, and "
        "each table once.",
        r"body\.ConsumedCapacity(\[\])?(\.Table|\.\w+SecondaryIndexes(\.\w+)?)?\.?((Read|Write)?"
        r"CapacityUnits)?: .*",
        r"body\.ConsumedCapacity.*: (absent|there|[\d.]+)",
        "Query|Scan|Batch.*|Transact.*",
        lambda difference: "TableName: " not in difference.ours,
    ),
    Known(
        "tables in the making",
        STATOR,
        "API_CreateTable: the answer says CREATING. Local's says ACTIVE.",
        r'body\.TableDescription(\.GlobalSecondaryIndexes\[\])?\.(Table|Index)Status: "CREATING"',
        r'body\..*: "ACTIVE"',
        "CreateTable",
    ),
    Known(
        "warm throughput",
        STATOR,
        "API_TableDescription: of each table and global index. Local knows none.",
        r"body\.Table(Description)?(\.GlobalSecondaryIndexes\[\])?\.WarmThroughput: there",
        r"body\..*: absent",
        "CreateTable|DescribeTable|DeleteTable",
    ),
    Known(
        "throughput of indexes",
        STATOR,
        "DescribeTable: an index has a ProvisionedThroughput with NumberOfDecreasesToday, "
        "of zeros on demand.",
        r"body\.Table.*GlobalSecondaryIndexes\[\]\.ProvisionedThroughput.*: there",
        r"body\..*: absent",
    ),
    Known(
        "capacity of writes with indexes",
        STATOR,
        "An index is charged where its entry changes; Local charges some that the item is not in.",
        r"body\.ConsumedCapacity\.(CapacityUnits|\w+SecondaryIndexes).*",
        r"body\.ConsumedCapacity\..*",
        "(Put|Update|Delete)Item",
    ),
    Known(
        "where a page of one item ends",
        EITHER,
        "API_Query: LastEvaluatedKey may be there where nothing follows. A limit that is "
        "reached ends a page.",
        r"body\.LastEvaluatedKey: there",
        r"body\.LastEvaluatedKey: absent",
        "Query",
    ),
    Known(
        "filters of indexes",
        STATOR,
        "A scan's filter sees what the index holds, as PartiQL's does in the service; "
        "Local looks at the item for the filter alone.",
        r"body\.(Count|Items).*",
        r"body\.(Count|Items).*",
        "Scan",
        lambda difference: "IndexName" in difference.request
        and ("FilterExpression" in difference.request or "ScanFilter" in difference.request)
        and (holds_of_nothing(difference.request) or fewer_are_found(difference)),
    ),
    Known(
        "reasons for keys that do not match",
        STATOR,
        "The service has one text.",
        r'body\.CancellationReasons\[\]\.Message: "The provided key element.*',
        r'body\.CancellationReasons\[\]\.Message: "One or more.*',
    ),
    Known(
        "one of several wrong keys",
        EITHER,
        "Both say what is wrong with a key; Local in fewer words.",
        r'body\.CancellationReasons\[\]\.Message: "One or more.*Type mismatch.*',
        r'body\.CancellationReasons\[\]\.Message: "One or more.*Type mismatch.*',
    ),
    Known(
        "updates without an action",
        STATOR,
        "API_UpdateItem: PUT is the default Action. Local leaves some attributes alone.",
        r"body\.Attributes.*: there",
        r"body\.Attributes.*: absent",
        "UpdateItem",
        lambda difference: parts_ways("UpdateItem", difference.request),
    ),
    Known(
        "updated elements of lists",
        STATOR,
        "API_UpdateItem: UPDATED_OLD and UPDATED_NEW return the updated attributes only, of a list "
        "those elements that are named. Local shows others.",
        r"body\.Attributes.*",
        r"body\.Attributes.*",
        "UpdateItem",
        lambda difference: "UPDATED" in difference.request.get("ReturnValues", "")
        and "[" in difference.request.get("UpdateExpression", ""),
    ),
    Known(
        "updated members of maps",
        STATOR,
        "The same: Local shows the whole map that ADD gave a member.",
        r"body\.Attributes.*: absent",
        r"body\.Attributes.*: there",
        "UpdateItem",
        lambda difference: "UPDATED" in difference.request.get("ReturnValues", "")
        and is_part(*(answer.body["Attributes"] for answer in difference.answers)),
    ),
]
