// SPDX-License-Identifier: Apache-2.0
#include "recipes/common/keys.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace stator::recipes {
namespace {

std::optional<int64_t> parse_digits(std::string_view digits) {
  int64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

// The length of the UTF-8 sequence at the start of `text`; 0 if it is invalid. Accepts only
// shortest forms, no surrogates, and nothing past U+10FFFF.
std::size_t sequence_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto tail = [&](std::size_t i, unsigned low, unsigned high) {
    return i < text.size() && at(i) >= low && at(i) <= high;
  };
  const unsigned lead = at(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return tail(1, 0x80, 0xbf) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const unsigned low = lead == 0xe0 ? 0xa0 : 0x80;
    const unsigned high = lead == 0xed ? 0x9f : 0xbf;
    return tail(1, low, high) && tail(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const unsigned low = lead == 0xf0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xf4 ? 0x8f : 0xbf;
    return tail(1, low, high) && tail(2, 0x80, 0xbf) && tail(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string escape(std::string_view component) {
  std::string escaped;
  escaped.reserve(component.size());
  for (const char c : component) {
    if (c == '%') {
      escaped += "%25";
    } else if (c == '#') {
      escaped += "%23";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::optional<std::string> unescape(std::string_view escaped) {
  std::string component;
  component.reserve(escaped.size());
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    if (escaped[i] == '#') return std::nullopt;
    if (escaped[i] != '%') {
      component += escaped[i];
      continue;
    }
    const std::string_view code = escaped.substr(i, 3);
    if (code != "%25" && code != "%23") return std::nullopt;
    component += code == "%25" ? '%' : '#';
    i += 2;
  }
  return component;
}

std::string time_key(Time time) {
  return fmt::format("{:012d}{:09d}", time.unix_seconds() - Time::kMinSeconds, time.subsecond_ns());
}

std::optional<Time> time_from_key(std::string_view key) {
  if (key.size() != kTimeKeyBytes) return std::nullopt;
  const auto seconds = parse_digits(key.substr(0, 12));
  const auto nanoseconds = parse_digits(key.substr(12));
  if (!seconds || !nanoseconds) return std::nullopt;
  const Time time =
      Time(std::chrono::sys_seconds(std::chrono::seconds(*seconds + Time::kMinSeconds))) +
      std::chrono::nanoseconds(*nanoseconds);
  return time.in_range() ? std::optional<Time>(time) : std::nullopt;
}

Number number_of(Int128 value) {
  const bool negative = value < 0;
  std::string digits;
  // Takes digits from the right without negating the value: negating the smallest would overflow.
  do {
    const int digit = static_cast<int>(value % 10);
    digits += static_cast<char>('0' + (digit < 0 ? -digit : digit));
    value /= 10;
  } while (value != 0);
  if (negative) digits += '-';
  std::reverse(digits.begin(), digits.end());
  auto number = Number::parse(digits);
  return number ? *number : Number();
}

std::optional<Int128> int128_of(const Number& number) {
  const Number::Parts parts = number.parts();
  if (parts.digit_count == 0) return Int128{0};
  if (parts.exponent < parts.digit_count || parts.exponent > 38) return std::nullopt;
  Int128 value = 0;
  for (int i = 0; i < parts.exponent; ++i) {
    int digit = 0;
    if (i < parts.digit_count) {
      const int pair = parts.pairs[i / 2];
      digit = i % 2 == 0 ? pair / 10 : pair % 10;
    }
    value = value * 10 + digit;
  }
  return parts.negative ? -value : value;
}

Number time_number(Time time) {
  return number_of(static_cast<Int128>(time.unix_seconds()) * 1'000'000'000 + time.subsecond_ns());
}

std::optional<Time> time_from_number(const Number& number) {
  const auto value = int128_of(number);
  if (!value) return std::nullopt;
  Int128 seconds = *value / 1'000'000'000;
  Int128 rest = *value % 1'000'000'000;
  if (rest < 0) {
    --seconds;
    rest += 1'000'000'000;
  }
  if (seconds < Time::kMinSeconds || seconds > Time::kMaxSeconds) return std::nullopt;
  return Time(std::chrono::sys_seconds(std::chrono::seconds(static_cast<int64_t>(seconds)))) +
         std::chrono::nanoseconds(static_cast<int64_t>(rest));
}

Failure invalid(std::string_view argument, std::string_view problem) {
  return fail(Code::kInvalidArgument, fmt::format("{}: {}", argument, problem));
}

Result<void> check_text(std::string_view argument, std::string_view text, std::size_t max_bytes) {
  if (text.empty()) return invalid(argument, "must not be empty");
  if (text.size() > max_bytes) {
    return invalid(argument, fmt::format("has {} bytes, {} is the most", text.size(), max_bytes));
  }
  if (!is_utf8(text)) return invalid(argument, "is not UTF-8");
  return {};
}

Result<void> check_key(std::string_view argument, std::string_view key, std::size_t max_bytes) {
  if (key.size() <= max_bytes) return {};
  return invalid(argument,
                 fmt::format("makes a key of {} bytes, {} is the most", key.size(), max_bytes));
}

Result<void> check_limit(std::string_view argument, int limit) {
  if (limit >= 1 && limit <= kMaxPageLimit) return {};
  return invalid(argument, fmt::format("is {}, must be 1 to {}", limit, kMaxPageLimit));
}

Result<void> check_table(std::string_view table) {
  if (table.empty()) return invalid("table", "must not be empty");
  return {};
}

Result<void> check_event_time(std::string_view argument, Time at, Time now,
                              std::chrono::nanoseconds skew) {
  if (!at.in_range()) return invalid(argument, "is not in the years 1 to 9999");
  if (skew.count() < 0) return invalid("max_skew", "must not be negative");
  if (at <= now + skew) return {};
  return fail(Code::kInFuture,
              fmt::format("{}: {} is more than {} ms ahead of {}", argument, at.text(),
                          std::chrono::floor<std::chrono::milliseconds>(skew).count(), now.text()));
}

Result<void> check_range(const TimeRange& range) {
  if (range.from && !range.from->in_range()) return invalid("from", "not in the years 1 to 9999");
  if (range.to && !range.to->in_range()) return invalid("to", "not in the years 1 to 9999");
  if (range.from && range.to && *range.to < *range.from) return invalid("to", "is before from");
  return {};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

const std::string* text_in(const Item& item, std::string_view name) {
  const auto found = item.find(name);
  return found == item.end() ? nullptr : found->second.get_if<std::string>();
}

const Number* number_in(const Item& item, std::string_view name) {
  const auto found = item.find(name);
  return found == item.end() ? nullptr : found->second.get_if<Number>();
}

std::optional<int64_t> int64_in(const Item& item, std::string_view name) {
  const Number* number = number_in(item, name);
  return number ? number->to_int64() : std::nullopt;
}

}  // namespace stator::recipes
