# SPDX-License-Identifier: Apache-2.0
"""One DynamoDB endpoint: sends requests as they are, right or wrong, and reads answers whole."""

import http.client
import json
import urllib.parse
import uuid
from dataclasses import dataclass

HEADERS = {
    "Content-Type": "application/x-amz-json-1.0",
    "X-Amz-Date": "20260101T000000Z",
    "Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date, Signature=00",
}


@dataclass
class Answer:
    status: int
    body: dict

    @property
    def exception(self):
        """The exception's name without its prefix; empty where the request succeeded."""
        return self.body.get("__type", "").rpartition("#")[2] if self.status != 200 else ""

    @property
    def message(self):
        return self.body.get("message") or self.body.get("Message") or ""


class Endpoint:
    def __init__(self, url):
        self.address = urllib.parse.urlparse(url).netloc
        self.connection = http.client.HTTPConnection(self.address, timeout=60)
        self.histories = 0
        self.tokens = "-%s" % uuid.uuid4().hex[:8]

    def send(self, operation, request):
        if str(request.get("ClientRequestToken", "")).startswith("token-"):
            # A token is remembered for ten minutes, and this history may be played again.
            request = {
                **request,
                "ClientRequestToken": "%s%s-%d"
                % (request["ClientRequestToken"], self.tokens, self.histories),
            }
        headers = {**HEADERS, "X-Amz-Target": "DynamoDB_20120810." + operation}
        body = json.dumps(request)
        for attempt in (1, 2):
            try:
                self.connection.request("POST", "/", body, headers)
                response = self.connection.getresponse()
                text = response.read()
                break
            except (http.client.HTTPException, ConnectionError):
                # A kept connection may have been closed; a fresh one may not.
                self.connection.close()
                if attempt == 2:
                    raise
        try:
            return Answer(response.status, json.loads(text))
        except ValueError:
            return Answer(response.status, {"__type": "#NoJson", "message": text.decode("latin-1")})

    def begin_history(self):
        self.histories += 1
        self.delete_tables()

    def delete_tables(self):
        while names := self.send("ListTables", {}).body["TableNames"]:
            for name in names:
                self.send("UpdateTable", {"TableName": name, "DeletionProtectionEnabled": False})
                self.send("DeleteTable", {"TableName": name})
