// SPDX-License-Identifier: Apache-2.0
// Times in policies: W3C's profile of ISO 8601, or Unix seconds.
// https://www.w3.org/TR/NOTE-datetime
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stator::policy {

// Unix milliseconds of "2026", "2026-11", "2026-11-22", "2026-11-22T20:15Z",
// "2026-11-22T20:15:30.5+01:00" or "1795378530" (from 0 to the end of 9999); absent for any other
// text. Without a month, a day or a time, it is the first one, in UTC.
std::optional<int64_t> parse_time(std::string_view text);
// In UTC, rounded down to a second: "2026-11-22T20:15:30Z".
std::string time_text(int64_t unix_ms);
// Text that parse_time() reads as exactly this time: "2026-11-22T20:15:30.500Z".
std::string exact_time_text(int64_t unix_ms);

}  // namespace stator::policy
