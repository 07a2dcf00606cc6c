# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# DynamoDB's protocol for scripts on machines without curl. Sourced by bash; the server's port is $port.

# post OPERATION JSON: the response's body.
post() {
  local now
  now=$(date -u +%Y%m%dT%H%M%SZ)
  exec 3<>"/dev/tcp/127.0.0.1/$port"
  printf '%s\r\n' 'POST / HTTP/1.1' 'Host: 127.0.0.1' 'Connection: close' "X-Amz-Date: $now" \
    "X-Amz-Target: DynamoDB_20120810.$1" 'Content-Type: application/x-amz-json-1.0' \
    "Authorization: AWS4-HMAC-SHA256 Credential=a/${now%T*}/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date, Signature=b" \
    "Content-Length: ${#2}" '' >&3
  printf '%s' "$2" >&3
  sed $'1,/^\r$/d' <&3
  exec 3>&-
}

# expect OPERATION JSON BODY: fails unless that is the answer.
expect() {
  local body
  body=$(post "$1" "$2")
  [ "$body" = "$3" ] || { echo "$1 answered: $body" >&2; exit 1; }
}

# Creates a table, stores an item in it and reads it.
store_an_item() {
  post CreateTable '{"TableName":"First","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":[{"AttributeName":"k","AttributeType":"S"}],"KeySchema":[{"AttributeName":"k","KeyType":"HASH"}]}' >/dev/null
  expect PutItem '{"TableName":"First","Item":{"k":{"S":"a"}}}' '{}'
  expect GetItem '{"TableName":"First","Key":{"k":{"S":"a"}}}' '{"Item":{"k":{"S":"a"}}}'
}
