// SPDX-License-Identifier: Apache-2.0
// Durations on the command line: "1h30m", "500ms", "30d"; a bare number is in seconds.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "stator/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace stator::cli {

inline constexpr std::chrono::hours kDay{24};

// Numbers with the units ms, s, m, h or d, each at most once, from the largest to the smallest.
// Only the last number can have a fraction. At most 100,000 days. Errors: kInvalidArgument.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

// As parse_duration reads it: "1h30m", "0s".
std::string duration_text(std::chrono::milliseconds duration);

// An option that sets `value`, which holds the default, to a duration from `min` to `max`.
CLI::Option* add_duration(CLI::App& command, const std::string& name,
                          std::chrono::milliseconds& value, const std::string& description,
                          std::chrono::milliseconds min, std::chrono::milliseconds max);

}  // namespace stator::cli
