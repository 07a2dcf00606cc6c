// SPDX-License-Identifier: Apache-2.0
// Requests as text, for tests of the server over real sockets.
#pragma once

#include <string>
#include <string_view>

namespace stator::server {

inline constexpr std::string_view kSignature =
    "Authorization: AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=aws-sdk-invocation-id;host;x-amz-date;x-amz-target, "
    "Signature=0123456789abcdef\r\n"
    "X-Amz-Date: 20260101T000000Z\r\n";
inline constexpr std::string_view kJson = "Content-Type: application/x-amz-json-1.0\r\n";

inline std::string target(std::string_view operation) {
  return "X-Amz-Target: DynamoDB_20120810." + std::string(operation) + "\r\n";
}

inline std::string post(std::string_view headers, std::string_view body,
                        std::string_view path = "/") {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(headers) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

inline std::string operation(std::string_view name, std::string_view body) {
  return post(std::string(kJson) + std::string(kSignature) + target(name), body);
}

inline std::string get(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

}  // namespace stator::server
