// SPDX-License-Identifier: Apache-2.0
// Raw requests with a valid Signature Version 4.
#pragma once

#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <ctime>
#include <string>
#include <string_view>

namespace stator::test {

struct RawKey {
  std::string id;
  std::string secret;
};

inline std::string sha256(std::string_view text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

inline std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(),
       reinterpret_cast<unsigned char*>(digest.data()), nullptr);
  return digest;
}

inline std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

// The bytes of an operation's request, after which the server closes the connection.
inline std::string signed_operation(const RawKey& key, std::string_view name, std::string_view body,
                                    std::string_view headers = "") {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char date[] = "20260101T000000Z";
  std::strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", &utc);
  const std::string day(date, 8);
  const std::string scope = day + "/us-east-1/dynamodb/aws4_request";
  const std::string target = "DynamoDB_20120810." + std::string(name);
  constexpr std::string_view kSigned = "host;x-amz-date;x-amz-target";
  const std::string canonical = "POST\n/\n\nhost:localhost\nx-amz-date:" + std::string(date) +
                                "\nx-amz-target:" + target + "\n\n" + std::string(kSigned) + "\n" +
                                to_hex(sha256(body));
  std::string signing = "AWS4" + key.secret;
  for (const std::string_view part :
       {std::string_view(day), std::string_view("us-east-1"), std::string_view("dynamodb"),
        std::string_view("aws4_request")}) {
    signing = hmac_sha256(signing, part);
  }
  const std::string signature =
      to_hex(hmac_sha256(signing, "AWS4-HMAC-SHA256\n" + std::string(date) + "\n" + scope + "\n" +
                                      to_hex(sha256(canonical))));
  return "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
         "Content-Type: application/x-amz-json-1.0\r\n" +
         std::string(headers) + "X-Amz-Date: " + date + "\r\nX-Amz-Target: " + target +
         "\r\nAuthorization: AWS4-HMAC-SHA256 Credential=" + key.id + "/" + scope +
         ", SignedHeaders=" + std::string(kSigned) + ", Signature=" + signature +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

}  // namespace stator::test
