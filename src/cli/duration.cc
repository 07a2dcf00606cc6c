// SPDX-License-Identifier: Apache-2.0
#include "cli/duration.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace stator::cli {
namespace {

using std::chrono::milliseconds;

constexpr double kMax = 100'000.0 * 86'400'000;

struct Unit {
  std::string_view name;
  int64_t ms;
};
constexpr std::array kUnits = {Unit{"d", 86'400'000}, Unit{"h", 3'600'000}, Unit{"m", 60'000},
                               Unit{"s", 1'000}, Unit{"ms", 1}};

Failure malformed(std::string_view text) {
  return fail(Code::kInvalidArgument, "invalid duration '" + std::string(text) +
                                          "'; expected for instance 90s, 1h30m or 7d");
}

bool is_unit_letter(char c) {
  return c >= 'a' && c <= 'z';
}

}  // namespace

Result<milliseconds> parse_duration(std::string_view text) {
  double total = 0;
  std::size_t next_unit = 0;  // the largest that can follow
  bool whole = true;
  std::string_view rest = text;
  do {
    double number = 0;
    const auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), number, std::chars_format::fixed);
    const bool digits =
        !rest.empty() && (rest.front() == '.' || (rest.front() >= '0' && rest.front() <= '9'));
    if (error != std::errc() || !digits || !whole) return malformed(text);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const auto letters =
        static_cast<std::size_t>(std::ranges::find_if_not(rest, is_unit_letter) - rest.begin());
    const bool bare = letters == 0 && rest.empty() && next_unit == 0;
    const auto* const unit =
        std::ranges::find(kUnits, bare ? "s" : rest.substr(0, letters), &Unit::name);
    const auto index = static_cast<std::size_t>(unit - kUnits.begin());
    if (unit == kUnits.end() || index < next_unit) return malformed(text);
    next_unit = index + 1;
    rest.remove_prefix(letters);
    whole = std::floor(number) == number;
    total += number * static_cast<double>(unit->ms);
  } while (!rest.empty());
  if (total > kMax) return malformed(text);
  return milliseconds(std::llround(total));
}

std::string duration_text(milliseconds duration) {
  int64_t rest = duration.count();
  std::string text;
  for (const auto& [name, ms] : kUnits) {
    if (rest < ms) continue;
    text += std::to_string(rest / ms) + std::string(name);
    rest %= ms;
  }
  return text.empty() ? "0s" : text;
}

CLI::Option* add_duration(CLI::App& command, const std::string& name, milliseconds& value,
                          const std::string& description, milliseconds min, milliseconds max) {
  const auto set = [name, &value, min, max](const std::string& text) {
    const auto parsed = parse_duration(text);
    if (!parsed) throw CLI::ValidationError(name, parsed.error().message);
    if (*parsed < min || *parsed > max) {
      throw CLI::ValidationError(name, "'" + text + "' is not between " + duration_text(min) +
                                           " and " + duration_text(max));
    }
    value = *parsed;
  };
  return command.add_option_function<std::string>(name, set, description)
      ->type_name("DURATION")
      ->default_str(duration_text(value));
}

}  // namespace stator::cli
