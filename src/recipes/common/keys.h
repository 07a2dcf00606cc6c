// SPDX-License-Identifier: Apache-2.0
// The components of the recipes' keys, and argument checks.
//
// Components are escaped (`%` is %25, `#` is %23) and joined by `#`, so that two different lists of
// components never make the same key.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "stator/recipes/time.h"
#include "stator/value.h"

namespace stator::recipes {

inline constexpr std::size_t kMaxPartitionKeyBytes = 2048;
inline constexpr std::size_t kMaxSortKeyBytes = 1024;
inline constexpr std::size_t kMaxNameBytes = 255;  // of a key attribute or an index
inline constexpr int kMaxPageLimit = 1000;

std::string escape(std::string_view component);
// Absent for text that escape() never returns.
std::optional<std::string> unescape(std::string_view escaped);

// 21 digits: seconds since the year 1 (12), nanoseconds (9). Sorts in the order of the times.
// `time` must be in range.
inline constexpr std::size_t kTimeKeyBytes = 21;
std::string time_key(Time time);
std::optional<Time> time_from_key(std::string_view key);

// Nanoseconds since 1970, exact.
Number time_number(Time time);
std::optional<Time> time_from_number(const Number& number);

// A whole number of up to 38 digits.
__extension__ using Int128 = __int128;
Number number_of(Int128 value);
std::optional<Int128> int128_of(const Number& number);  // absent if it is not a whole number

// kInvalidArgument with a message that begins with the argument's name.
Failure invalid(std::string_view argument, std::string_view problem);
Result<void> check_text(std::string_view argument, std::string_view text, std::size_t max_bytes);
// Checks the length of a key that contains the argument.
Result<void> check_key(std::string_view argument, std::string_view key, std::size_t max_bytes);
Result<void> check_limit(std::string_view argument, int limit);
Result<void> check_table(std::string_view table);
// Errors: kInvalidArgument if it is out of range; kInFuture if it is more than `skew` after `now`.
Result<void> check_event_time(std::string_view argument, Time at, Time now,
                              std::chrono::nanoseconds skew);
Result<void> check_range(const TimeRange& range);

bool is_utf8(std::string_view text);

// Attributes of items that recipes store; null or absent if they are missing or have another type.
const std::string* text_in(const Item& item, std::string_view name);
const Number* number_in(const Item& item, std::string_view name);
std::optional<int64_t> int64_in(const Item& item, std::string_view name);

}  // namespace stator::recipes
