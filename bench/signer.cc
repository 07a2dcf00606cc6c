// SPDX-License-Identifier: Apache-2.0
#include "bench/signer.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>

#include "base/hex.h"
#include "base/sha256.h"

namespace stator::bench {

std::string signed_request(std::string_view host, std::string_view operation,
                           std::string_view body) {
  constexpr std::string_view kHeaders = "content-type;host;x-amz-date;x-amz-target";
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const std::string date = fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(now));
  const std::string scope = date.substr(0, 8) + "/us-east-1/dynamodb/aws4_request";
  const std::string canonical = fmt::format(
      "POST\n/\n\ncontent-type:application/x-amz-json-1.0\nhost:{}\nx-amz-date:{}\n"
      "x-amz-target:DynamoDB_20120810.{}\n\n{}\n{}",
      host, date, operation, kHeaders, hex(sha256({body})));
  const std::string to_sign =
      fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", date, scope, hex(sha256({canonical})));
  std::string key = hmac_sha256("AWS4" + std::string(kSecretKey), date.substr(0, 8));
  for (const char* part : {"us-east-1", "dynamodb", "aws4_request"}) key = hmac_sha256(key, part);
  return fmt::format(
      "POST / HTTP/1.1\r\nHost: {}\r\nContent-Type: application/x-amz-json-1.0\r\n"
      "X-Amz-Target: DynamoDB_20120810.{}\r\nX-Amz-Date: {}\r\n"
      "Authorization: AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}\r\n"
      "Content-Length: {}\r\n\r\n{}",
      host, operation, date, kAccessKey, scope, kHeaders, hex(hmac_sha256(key, to_sign)),
      body.size(), body);
}

}  // namespace stator::bench
