// SPDX-License-Identifier: Apache-2.0
#include "recipes/common/cursor.h"

#include <openssl/crypto.h>

#include <cstdint>
#include <optional>

#include "base/sha256.h"

namespace stator::recipes {
namespace {

constexpr char kVersion = 1;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kMaxCursorBytes = 16'384;
constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void append_part(std::string& out, std::string_view part) {
  out += static_cast<char>(part.size() >> 8 & 0xff);
  out += static_cast<char>(part.size() & 0xff);
  out += part;
}

std::string to_base64url(std::string_view bytes) {
  std::string text;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(c);
    for (count += 8; count >= 6; count -= 6) text += kAlphabet[bits >> (count - 6) & 63];
    bits &= 63;
  }
  if (count > 0) text += kAlphabet[bits << (6 - count) & 63];
  return text;
}

// Absent for text that to_base64url never makes.
std::optional<std::string> from_base64url(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xff);
    }
    bits &= 0xff;
  }
  if (count >= 6 || (bits & ((1U << count) - 1)) != 0) return std::nullopt;
  return bytes;
}

std::string tag_of(const CursorSeal& seal, std::string_view payload) {
  std::string sealed;
  for (const std::string& part : seal.question) {
    // Four bytes of length, because a part of the question can have any length.
    for (int shift = 24; shift >= 0; shift -= 8) {
      sealed += static_cast<char>(part.size() >> shift & 0xff);
    }
    sealed += part;
  }
  sealed += payload;
  return hmac_sha256("stator cursor 1" + seal.key, sealed).substr(0, kTagBytes);
}

}  // namespace

std::string make_cursor(const CursorSeal& seal, const std::vector<std::string>& parts) {
  std::string payload(1, kVersion);
  for (const std::string& part : parts) append_part(payload, part);
  return to_base64url(payload + tag_of(seal, payload));
}

Result<std::vector<std::string>> read_cursor(const CursorSeal& seal, std::string_view cursor,
                                             std::size_t count) {
  const auto bad = [] { return fail(Code::kBadCursor, "cursor: damaged, or from another query"); };
  if (cursor.size() > kMaxCursorBytes) return bad();
  const auto bytes = from_base64url(cursor);
  if (!bytes || bytes->size() < 1 + kTagBytes) return bad();
  const std::string_view payload(bytes->data(), bytes->size() - kTagBytes);
  const std::string tag = tag_of(seal, payload);
  if (CRYPTO_memcmp(tag.data(), bytes->data() + payload.size(), kTagBytes) != 0) return bad();

  std::vector<std::string> parts;
  std::string_view rest = payload;
  if (rest.front() != kVersion) return bad();
  rest.remove_prefix(1);
  while (!rest.empty()) {
    if (rest.size() < 2) return bad();
    const std::size_t length = static_cast<std::size_t>(static_cast<unsigned char>(rest[0])) << 8 |
                               static_cast<unsigned char>(rest[1]);
    rest.remove_prefix(2);
    if (length > rest.size()) return bad();
    parts.emplace_back(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  if (parts.size() != count) return bad();
  return parts;
}

}  // namespace stator::recipes
