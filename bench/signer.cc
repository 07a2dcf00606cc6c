// SPDX-License-Identifier: Apache-2.0
#include "bench/signer.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <chrono>

namespace stator::bench {
namespace {

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string hmac(std::string_view key, std::string_view text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(),
       reinterpret_cast<unsigned char*>(digest.data()), nullptr);
  return digest;
}

std::string sha256(std::string_view text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return hex(digest);
}

}  // namespace

std::string signed_request(std::string_view host, std::string_view operation,
                           std::string_view body) {
  constexpr std::string_view kHeaders = "content-type;host;x-amz-date;x-amz-target";
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const std::string date = fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(now));
  const std::string scope = date.substr(0, 8) + "/us-east-1/dynamodb/aws4_request";
  const std::string canonical = fmt::format(
      "POST\n/\n\ncontent-type:application/x-amz-json-1.0\nhost:{}\nx-amz-date:{}\n"
      "x-amz-target:DynamoDB_20120810.{}\n\n{}\n{}",
      host, date, operation, kHeaders, sha256(body));
  const std::string to_sign =
      fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", date, scope, sha256(canonical));
  std::string key = hmac("AWS4" + std::string(kSecretKey), date.substr(0, 8));
  for (const char* part : {"us-east-1", "dynamodb", "aws4_request"}) key = hmac(key, part);
  return fmt::format(
      "POST / HTTP/1.1\r\nHost: {}\r\nContent-Type: application/x-amz-json-1.0\r\n"
      "X-Amz-Target: DynamoDB_20120810.{}\r\nX-Amz-Date: {}\r\n"
      "Authorization: AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}\r\n"
      "Content-Length: {}\r\n\r\n{}",
      host, operation, date, kAccessKey, scope, kHeaders, hex(hmac(key, to_sign)), body.size(),
      body);
}

}  // namespace stator::bench
