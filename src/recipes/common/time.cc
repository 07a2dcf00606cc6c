// SPDX-License-Identifier: Apache-2.0
#include "stator/recipes/time.h"

#include <algorithm>
#include <condition_variable>
#include <ctime>
#include <mutex>

#include <fmt/format.h>

namespace stator {
namespace {

// Takes `count` digits off the front of `text`.
std::optional<int> take_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  int value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// ".5" is 500,000,000; no fraction is 0.
std::optional<int> take_nanoseconds(std::string_view& text) {
  if (!take(text, ".")) return 0;
  int value = 0;
  int digits = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    if (++digits > 9) return std::nullopt;
    value = value * 10 + (text.front() - '0');
    text.remove_prefix(1);
  }
  if (digits == 0) return std::nullopt;
  for (; digits < 9; ++digits) value *= 10;
  return value;
}

std::optional<std::chrono::minutes> take_offset(std::string_view& text) {
  if (take(text, "Zz")) return std::chrono::minutes(0);
  if (text.empty()) return std::nullopt;
  const bool west = text.front() == '-';
  if (!take(text, "+-")) return std::nullopt;
  const auto hours = take_digits(text, 2);
  if (!hours || *hours > 23 || !take(text, ":")) return std::nullopt;
  const auto minutes = take_digits(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  const std::chrono::minutes offset(*hours * 60 + *minutes);
  return west ? -offset : offset;
}

std::optional<Time> parse_rfc3339(std::string_view text) {
  const auto year = take_digits(text, 4);
  if (!year || !take(text, "-")) return std::nullopt;
  const auto month = take_digits(text, 2);
  if (!month || !take(text, "-")) return std::nullopt;
  const auto day = take_digits(text, 2);
  if (!day || !take(text, "Tt ")) return std::nullopt;
  const auto hour = take_digits(text, 2);
  if (!hour || *hour > 23 || !take(text, ":")) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || *minute > 59 || !take(text, ":")) return std::nullopt;
  const auto second = take_digits(text, 2);
  if (!second || *second > 59) return std::nullopt;
  const auto fraction = take_nanoseconds(text);
  if (!fraction) return std::nullopt;
  const auto offset = take_offset(text);
  if (!offset || !text.empty()) return std::nullopt;

  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  const std::chrono::sys_seconds seconds = std::chrono::sys_days(date) + std::chrono::hours(*hour) +
                                           std::chrono::minutes(*minute) +
                                           std::chrono::seconds(*second) - *offset;
  return Time(seconds) + std::chrono::nanoseconds(*fraction);
}

// Short enough that adding it to a clock's current time does not overflow.
constexpr std::chrono::hours kLongestSleep{24 * 365};

class SystemTime final : public TimeSource {
 public:
  Time now() override { return Time::now(); }

  std::chrono::nanoseconds since_boot() override {
    timespec ts{};
    clock_gettime(CLOCK_BOOTTIME, &ts);
    return std::chrono::seconds(ts.tv_sec) + std::chrono::nanoseconds(ts.tv_nsec);
  }

  bool sleep(std::chrono::nanoseconds duration, std::stop_token stop) override {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, std::min<std::chrono::nanoseconds>(duration, kLongestSleep),
                   [] { return false; });
    return !stop.stop_requested();
  }
};

}  // namespace

Result<Time> Time::parse(std::string_view text) {
  if (const auto time = parse_rfc3339(text); time && time->in_range()) return *time;
  return fail(Code::kInvalidArgument,
              "time: not RFC 3339 (such as 2024-05-01T12:00:00.5Z) in the years 1 to 9999");
}

Time Time::now() {
  return Time(std::chrono::system_clock::now());
}

std::string Time::text() const {
  if (!in_range()) return fmt::format("{}s{:+}ns", seconds_, nanoseconds_);
  const std::chrono::sys_seconds instant{std::chrono::seconds(seconds_)};
  const auto day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(instant - day);
  std::string text =
      fmt::format("{:04d}-{:02d}-{:02d}T{:02d}:{:02d}:{:02d}", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                  clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  if (nanoseconds_ != 0) {
    text += fmt::format(".{:09d}", nanoseconds_);
    while (text.back() == '0') text.pop_back();
  }
  return text + "Z";
}

TimeSource& system_time() {
  static SystemTime time;
  return time;
}

}  // namespace stator
