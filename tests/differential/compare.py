# SPDX-License-Identifier: Apache-2.0
"""Asks two endpoints the same and says how their answers differ, but for what is free."""

import decimal
import json
import re
from dataclasses import dataclass

PAGES_MAX = 200
WRITES = (
    "PutItem",
    "UpdateItem",
    "DeleteItem",
    "BatchWriteItem",
    "TransactWriteItems",
    "CreateTable",
    "DeleteTable",
)
# Random, estimated, or of the machine that answers.
FREE = {
    "TableId",
    "CreationDateTime",
    "TableSizeBytes",
    "IndexSizeBytes",
    "ItemCount",
    "LastUpdateToPayPerRequestDateTime",
    "LastDecreaseDateTime",
    "LastIncreaseDateTime",
    "SizeEstimateRangeGB",
}


@dataclass
class Difference:
    operation: str
    ours: str  # what is not the same, short and without what is particular to this request
    theirs: str
    request: dict
    answers: tuple

    @property
    def kind(self):
        return self.operation, self.ours, self.theirs

    @property
    def diverges(self):
        """Whether one made a change that the other did not."""
        ours, theirs = self.answers
        return self.operation in WRITES and (ours.status == 200) != (theirs.status == 200)


def canonical(node):
    return json.dumps(node, sort_keys=True)


def normal_value(node):
    """JSON in which sets are in order and the free figures are blank."""
    if isinstance(node, list):
        return [normal_value(each) for each in node]
    if not isinstance(node, dict):
        return (
            re.sub(r"arn:aws:dynamodb:[^:]*:\d*:", "arn:", node) if isinstance(node, str) else node
        )
    normal = {}
    for name, each in node.items():
        if name in FREE:
            continue
        normal[name] = (
            sorted(each)
            if name in ("SS", "NS", "BS") and all(isinstance(e, str) for e in each)
            else normal_value(each)
        )
    return normal


def plain_numbers(node):
    """With numbers as the service writes them, which DynamoDB Local leaves as they came."""
    if isinstance(node, list):
        return [plain_numbers(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        name: (
            sorted(map(plain, each))
            if name == "NS" and isinstance(each, list)
            else plain(each) if name == "N" and isinstance(each, str) else plain_numbers(each)
        )
        for name, each in node.items()
    }


def plain(number):
    text = format(decimal.Decimal(number), "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def by_canonical(items):
    return sorted(items, key=canonical)


def normal_body(operation, request, body):
    body = normal_value(body)
    if operation == "Scan" or (operation == "Query" and "IndexName" in request):
        if "Items" in body:  # ties of an index key, and partitions of a scan, come in any order
            body["Items"] = by_canonical(body["Items"])
    if operation == "BatchGetItem":
        body["Responses"] = {
            table: by_canonical(items) for table, items in body.get("Responses", {}).items()
        }
    if isinstance(body.get("ConsumedCapacity"), list):
        body["ConsumedCapacity"].sort(key=lambda capacity: capacity.get("TableName", ""))
    for metrics in (body.get("ItemCollectionMetrics") or {}).values():
        if isinstance(metrics, list):
            metrics.sort(key=canonical)
    for description in (body.get("Table"), body.get("TableDescription")):
        for member in ("AttributeDefinitions", "LocalSecondaryIndexes", "GlobalSecondaryIndexes"):
            if description and member in description:
                description[member] = by_canonical(description[member])
    return body


def pages(endpoint, operation, request):
    """A whole range: where a page ends depends on free order, what all pages hold does not."""
    answer = endpoint.send(operation, request)
    whole = answer
    for _ in range(PAGES_MAX):
        if answer.status != 200 or "LastEvaluatedKey" not in answer.body:
            break
        answer = endpoint.send(
            operation, {**request, "ExclusiveStartKey": answer.body["LastEvaluatedKey"]}
        )
        if answer.status != 200:
            return answer
        whole.body.setdefault("Items", []).extend(answer.body.get("Items", []))
        for count in ("Count", "ScannedCount"):
            whole.body[count] += answer.body[count]
    whole.body.pop("LastEvaluatedKey", None)
    whole.body.pop("ConsumedCapacity", None)  # rounded up for each page
    return whole


def ask(endpoint, operation, request):
    in_pages = "Limit" in request and "ExclusiveStartKey" not in request
    if in_pages and (operation == "Scan" or (operation == "Query" and "IndexName" in request)):
        if isinstance(request["Limit"], int) and "Segment" not in request:
            return pages(endpoint, operation, request)
    return endpoint.send(operation, request)


def position_is_free(operation, request):
    """Whether what a page holds depends on the order of hashes."""
    if operation == "Query":
        return "IndexName" in request and ("ExclusiveStartKey" in request or "Limit" in request)
    return operation == "Scan" and (
        "ExclusiveStartKey" in request
        or "Segment" in request
        or not isinstance(request.get("Limit", 1), int)
    )


def uncounted(message):
    """Without the count with which the service's current layer begins, which Local lacks, and
    without what the older layer, which is Local's, says of the place of a value."""
    message = re.sub(r"^1 validation error detected: (?!Value |Failed )", "", message)
    message = re.sub(
        r"^ExpressionAttributeValues contains invalid value: (.*) for key :\w+$", r"\1", message
    )
    return re.sub(r"(when using expressions|maximum allowed size;).*", r"\1", message)


def pattern(message):
    """A message without what is particular to a request, in which listed members are in order."""
    message = uncounted(message)

    def in_order(found):
        return found[1] + ", ".join(sorted(found[2].split(", "))) + found[3]

    message = re.sub(r"([{\[])([^{}\[\]]*)([}\]])", in_order, message)
    return message


def outline(message):
    """The pattern for grouping: names, values and numbers are alike."""
    message = uncounted(message)
    message = re.sub(r"[#:]\w+", "P", message)
    message = re.sub(r"'[^']*'", "'V'", message)
    message = re.sub(r"token: .*", "token: ...", message)
    message = re.sub(r"\d+", "0", message)
    return re.sub(r"[{\[][^{}\[\]]*[}\]]", "[..]", message)[:300]


def differences(ours, theirs, path=""):
    """The paths at which two JSON values differ, with what is there."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for name in sorted(set(ours) | set(theirs)):
            inner = path + "." + name
            if name not in theirs:
                yield inner, "there", "absent"
            elif name not in ours:
                yield inner, "absent", "there"
            else:
                yield from differences(ours[name], theirs[name], inner)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for mine, other in zip(ours, theirs):
            yield from differences(mine, other, path + "[]")
    elif ours != theirs or isinstance(ours, bool) != isinstance(theirs, bool):
        yield path, short(ours), short(theirs)


def short(node):
    text = "%d elements" % len(node) if isinstance(node, (list, dict)) else json.dumps(node)
    return re.sub(r"\d+", "0", text)[:60]


def summary(answer):
    return (
        "200"
        if answer.status == 200
        else "%d %s: %s" % (answer.status, answer.exception, outline(answer.message))
    )


def step(endpoints, operation, request):
    """Sends one request to both; how the answers differ."""
    ours, theirs = (ask(endpoint, operation, request) for endpoint in endpoints)
    found = []

    def differ(mine, other):
        found.append(Difference(operation, mine, other, request, (ours, theirs)))

    bodies = [answer.body for answer in (ours, theirs)]
    if ours.status != 200 or theirs.status != 200:
        texts = [
            (answer.status, answer.exception, pattern(answer.message)) for answer in (ours, theirs)
        ]
        if texts[0] != texts[1]:
            differ(summary(ours), summary(theirs))
            return found
        bodies = [
            {name: each for name, each in body.items() if name.lower() not in ("__type", "message")}
            for body in bodies
        ]
    elif position_is_free(operation, request):
        return found
    mine, other = (
        normal_body(operation, request, body) for body in (bodies[0], plain_numbers(bodies[1]))
    )
    for path, here, there in differences(mine, other):
        path = re.sub(
            r"(Responses|Attributes|Item|Items\[\]|LastEvaluatedKey|ItemCollectionMetrics)\..*",
            r"\1...",
            path,
        )
        differ("body%s: %s" % (path, here), "body%s: %s" % (path, there))
    return found
