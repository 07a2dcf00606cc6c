// SPDX-License-Identifier: Apache-2.0
// A UUID of version 7 (RFC 9562): 48 bits of milliseconds, 12 bits that hold the rest of the time
// in 4096ths of a millisecond (section 6.2, method 3), 62 random bits.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/random.h"
#include "base/sha256.h"
#include "recipes/common/keys.h"
#include "recipes/feed/post_keys.h"

namespace stator {

using namespace recipes;

namespace {

constexpr uint64_t kRandomBits = 62;
constexpr uint64_t kRandomMask = (uint64_t{1} << kRandomBits) - 1;
constexpr int64_t kNanosecondsPerMs = 1'000'000;
constexpr uint64_t kFractions = 4096;
constexpr Int128 kMaxTicks = INT64_MAX;
constexpr uint64_t kTenTo19 = 10'000'000'000'000'000'000U;

struct Fields {
  uint64_t unix_ms = 0;
  uint64_t fraction = 0;
  uint64_t random = 0;

  // Different for every (unix_ms, fraction): a 4096th is 244 ns.
  Int128 nanoseconds() const {
    return static_cast<Int128>(unix_ms) * kNanosecondsPerMs +
           static_cast<int64_t>(fraction * kNanosecondsPerMs / kFractions);
  }
};

Fields fields_of(const std::array<uint8_t, 16>& bytes) {
  Fields fields;
  for (std::size_t i = 0; i < 6; ++i) fields.unix_ms = fields.unix_ms << 8 | bytes[i];
  fields.fraction = static_cast<uint64_t>(bytes[6] & 0x0f) << 8 | bytes[7];
  for (std::size_t i = 8; i < 16; ++i) fields.random = fields.random << 8 | bytes[i];
  fields.random &= kRandomMask;
  return fields;
}

PostId id_with(Time at, uint64_t random) {
  // A version 7 UUID cannot represent times before 1970 or after the year 10889.
  at = std::max(at, Time());
  const uint64_t unix_ms = static_cast<uint64_t>(at.unix_seconds()) * 1000 +
                           static_cast<uint64_t>(at.subsecond_ns()) / kNanosecondsPerMs;
  const uint64_t microseconds = static_cast<uint64_t>(at.subsecond_ns()) % kNanosecondsPerMs / 1000;
  // Rounded up, so that rounding down finds the same microsecond again.
  const uint64_t fraction = (microseconds * kFractions + 999) / 1000;
  return PostKeys::id_of(unix_ms, static_cast<uint32_t>(fraction), random & kRandomMask);
}

uint64_t to_uint64(std::string_view bytes) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

int digit_at(const Number::Parts& parts, int place) {
  if (place >= parts.digit_count) return 0;
  const int pair = parts.pairs[place / 2];
  return place % 2 == 0 ? pair / 10 : pair % 10;
}

bool is_hyphen_place(std::size_t i) {
  return i == 8 || i == 13 || i == 18 || i == 23;
}

}  // namespace

PostId PostKeys::id_of(uint64_t unix_ms, uint32_t fraction, uint64_t random) {
  PostId id;
  for (std::size_t i = 0; i < 6; ++i) {
    id.bytes_[i] = static_cast<uint8_t>(unix_ms >> (40 - 8 * i) & 0xff);
  }
  id.bytes_[6] = static_cast<uint8_t>(0x70 | (fraction >> 8 & 0x0f));
  id.bytes_[7] = static_cast<uint8_t>(fraction & 0xff);
  for (std::size_t i = 0; i < 8; ++i) {
    id.bytes_[8 + i] = static_cast<uint8_t>(random >> (56 - 8 * i) & 0xff);
  }
  id.bytes_[8] = static_cast<uint8_t>((id.bytes_[8] & 0x3f) | 0x80);
  return id;
}

PostId PostId::make(Time at) {
  return id_with(at, to_uint64(random_bytes(8)));
}

PostId PostId::make(Time at, std::string_view key) {
  std::string bytes = hmac_sha256("stator post 1", key);
  uint64_t random = 0;
  for (std::size_t i = 0; i < 8; ++i) random = random << 8 | static_cast<uint8_t>(bytes[i]);
  return id_with(at, random);
}

Result<PostId> PostId::parse(std::string_view text) {
  const Failure bad = fail(Code::kInvalidArgument, "post id: is not a version 7 UUID");
  if (text.size() != 36) return bad;
  PostId id;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_hyphen_place(i)) {
      if (text[i] != '-') return bad;
      continue;
    }
    const int digit = hex_digit(text[i]);
    if (digit < 0) return bad;
    uint8_t& byte = id.bytes_[digits++ / 2];
    byte = static_cast<uint8_t>(byte << 4 | digit);
  }
  if (id.bytes_[6] >> 4 != 7 || id.bytes_[8] >> 6 != 2) return bad;
  return id;
}

std::string PostId::text() const {
  std::string text;
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes_[i]);
  }
  return text;
}

Time PostId::at() const {
  const Int128 microseconds = fields_of(bytes_).nanoseconds() / 1000;
  return Time(std::chrono::sys_seconds(
             std::chrono::seconds(static_cast<int64_t>(microseconds / 1'000'000)))) +
         std::chrono::microseconds(static_cast<int64_t>(microseconds % 1'000'000));
}

Result<AttributeValue> PostKeys::range_key(FeedLayout layout, const PostId& id) {
  const Fields fields = fields_of(id.bytes());
  if (id.is_nil()) return invalid("id", "is nil");
  if (!id.at().in_range()) return invalid("id", "its time is not in the years 1 to 9999");
  const Int128 nanoseconds = fields.nanoseconds();
  if (layout == FeedLayout::kOrdered) {
    const auto microseconds = static_cast<int64_t>(nanoseconds / 1000);
    return AttributeValue(fmt::format("{:018d}#{}", microseconds, id.text()));
  }
  if (nanoseconds > kMaxTicks) return invalid("id", "its time is past 2262, where ticks end");
  auto number = Number::parse(fmt::format(
      "{}.{:019d}", static_cast<int64_t>(kMaxTicks - nanoseconds), kTenTo19 - 1 - fields.random));
  if (!number) return failure_of(std::move(number));
  return AttributeValue(*number);
}

std::optional<PostKeys::Place> PostKeys::place_of(const AttributeValue& range_key) {
  if (const auto* text = range_key.get_if<std::string>()) {
    if (text->size() != 18 + 1 + 36) return std::nullopt;
    const auto id = PostId::parse(std::string_view(*text).substr(19));
    if (!id) return std::nullopt;
    return Place{.id = *id, .at = id->at()};
  }
  const auto* number = range_key.get_if<Number>();
  if (number == nullptr || number->is_negative()) return std::nullopt;
  const Number::Parts parts = number->parts();
  if (parts.exponent < 1 || parts.exponent > 19) return std::nullopt;
  if (parts.digit_count > parts.exponent + 19) return std::nullopt;
  Int128 whole = 0;
  uint64_t after_point = 0;  // 19 digits
  for (int place = 0; place < parts.exponent + 19; ++place) {
    const auto digit = static_cast<unsigned>(digit_at(parts, place));
    if (place < parts.exponent) {
      whole = whole * 10 + digit;
    } else {
      after_point = after_point * 10 + digit;
    }
  }
  const Int128 nanoseconds = kMaxTicks - whole;
  if (nanoseconds < 0) return std::nullopt;
  Place place;
  place.at = Time(std::chrono::sys_seconds(
                 std::chrono::seconds(static_cast<int64_t>(nanoseconds / 1'000'000'000)))) +
             std::chrono::nanoseconds(static_cast<int64_t>(nanoseconds % 1'000'000'000));
  const uint64_t random = kTenTo19 - 1 - after_point;
  if (after_point == 0 || random > kRandomMask) return place;  // written by another program
  const auto rest = static_cast<uint64_t>(nanoseconds % kNanosecondsPerMs);
  const uint64_t fraction = (rest * kFractions + kNanosecondsPerMs - 1) / kNanosecondsPerMs;
  place.id = id_of(static_cast<uint64_t>(nanoseconds / kNanosecondsPerMs),
                   static_cast<uint32_t>(fraction), random);
  place.at = place.id.at();
  return place;
}

}  // namespace stator
