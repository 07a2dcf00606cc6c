// SPDX-License-Identifier: Apache-2.0
// Time: an instant with nanosecond precision. TimeSource: the clocks that recipes use.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "stator/result.h"

namespace stator {

// An instant in UTC, with nanosecond precision. Any std::chrono::sys_time converts without
// overflow. (std::chrono's nanoseconds overflow in the year 2262; an event dated 9999 must be
// rejected as in the future, not wrap into the past.) Recipes accept the years 1 to 9999.
class Time {
 public:
  constexpr Time() = default;  // 1970-01-01T00:00:00Z
  template <class Duration>
  constexpr Time(std::chrono::sys_time<Duration> time)  // NOLINT(google-explicit-constructor)
      : seconds_(std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count()),
        nanoseconds_(static_cast<int32_t>(std::chrono::floor<std::chrono::nanoseconds>(
                                              time - std::chrono::floor<std::chrono::seconds>(time))
                                              .count())) {}

  // Parses RFC 3339: "2024-05-01T12:00:00.5+02:00", with up to nine fractional digits and `Z` or an
  // offset. Errors: kInvalidArgument for anything else.
  static Result<Time> parse(std::string_view text);
  static Time now();  // of the system clock

  // RFC 3339 in UTC, without trailing zeros of the fraction: "2024-05-01T10:00:00.5Z".
  std::string text() const;

  constexpr int64_t unix_seconds() const { return seconds_; }      // rounded down
  constexpr int32_t subsecond_ns() const { return nanoseconds_; }  // 0 to 999,999,999
  constexpr bool in_range() const {                                // years 1 to 9999
    return seconds_ >= kMinSeconds && seconds_ <= kMaxSeconds;
  }

  constexpr auto operator<=>(const Time&) const = default;
  friend constexpr Time operator+(Time time, std::chrono::nanoseconds duration) {
    const int64_t whole = std::chrono::floor<std::chrono::seconds>(duration).count();
    const int64_t rest = (duration - std::chrono::seconds(whole)).count() + time.nanoseconds_;
    Time sum;
    sum.seconds_ = time.seconds_ + whole + rest / 1'000'000'000;
    sum.nanoseconds_ = static_cast<int32_t>(rest % 1'000'000'000);
    return sum;
  }
  friend constexpr Time operator-(Time time, std::chrono::nanoseconds duration) {
    return time + -duration;
  }

  static constexpr int64_t kMinSeconds = -62'135'596'800;  // 0001-01-01T00:00:00Z
  static constexpr int64_t kMaxSeconds = 253'402'300'799;  // 9999-12-31T23:59:59Z

 private:
  int64_t seconds_ = 0;
  int32_t nanoseconds_ = 0;
};

// From `from` (inclusive) to `to` (exclusive). An absent bound is unlimited.
struct TimeRange {
  std::optional<Time> from = {};
  std::optional<Time> to = {};
};

// The clocks of a recipe. Tests replace them. Thread safety: any thread.
class TimeSource {
 public:
  virtual ~TimeSource() = default;
  virtual Time now() = 0;  // wall clock; may jump
  // A monotonic clock that also advances while the machine is suspended (CLOCK_BOOTTIME).
  virtual std::chrono::nanoseconds since_boot() = 0;
  // Waits. Returns false if `stop` ended the wait early.
  virtual bool sleep(std::chrono::nanoseconds duration, std::stop_token stop) = 0;
};

// The machine's clocks. Valid until the process ends.
TimeSource& system_time();

}  // namespace stator
