// SPDX-License-Identifier: Apache-2.0
#include "policy/times.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <utility>

namespace stator::policy {
namespace {

// Consumes text from its start.
class TimeText {
 public:
  explicit TimeText(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // A number of exactly `count` digits, from `least` to `most`.
  std::optional<int> digits(std::size_t count, int least, int most) {
    int value = 0;
    if (rest_.size() < count) return std::nullopt;
    const char* const start = rest_.begin();
    const char* const stop = start + count;
    const auto [end, error] = std::from_chars(start, stop, value);
    const bool whole = error == std::errc() && end == stop && rest_[0] != '-';
    if (!whole || value < least || value > most) return std::nullopt;
    rest_.remove_prefix(count);
    return value;
  }
  // Digits of a fraction, as thousandths.
  std::optional<int> fraction() {
    int value = 0;
    int places = 0;
    for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; rest_.remove_prefix(1)) {
      if (places < 3) value = value * 10 + (rest_[0] - '0');
      ++places;
    }
    if (places == 0) return std::nullopt;
    for (; places < 3; ++places) value *= 10;
    return value;
  }

 private:
  std::string_view rest_;
};

// "20:15Z", "20:15:30.5+01:00"; in milliseconds since the day's start in UTC.
std::optional<int64_t> parse_clock(TimeText& text) {
  constexpr int64_t kMinute = 60'000;
  const auto hour = text.digits(2, 0, 23);
  if (!hour || !text.take(':')) return std::nullopt;
  const auto minute = text.digits(2, 0, 59);
  if (!minute) return std::nullopt;
  int64_t ms = (*hour * 60 + *minute) * kMinute;
  if (text.take(':')) {
    const auto second = text.digits(2, 0, 59);
    if (!second) return std::nullopt;
    ms += int64_t{1000} * *second;
    if (text.take('.')) {
      const auto fraction = text.fraction();
      if (!fraction) return std::nullopt;
      ms += *fraction;
    }
  }
  if (text.take('Z')) return ms;
  const bool east = text.take('+');
  if (!east && !text.take('-')) return std::nullopt;
  const auto hours = text.digits(2, 0, 14);
  if (!hours || !text.take(':')) return std::nullopt;
  const auto minutes = text.digits(2, 0, 59);
  if (!minutes) return std::nullopt;
  const int64_t offset = (*hours * 60 + *minutes) * kMinute;
  return ms + (east ? -offset : offset);
}

std::optional<int64_t> parse_epoch(std::string_view text) {
  constexpr int64_t kSecondsMax = 253'402'300'799;  // the end of the year 9999
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (seconds < 0 || seconds > kSecondsMax) return std::nullopt;
  return seconds * 1000;
}

}  // namespace

std::optional<int64_t> parse_time(std::string_view whole) {
  constexpr std::size_t kYearDigits = 4;
  if (whole.size() > kYearDigits && whole[kYearDigits] != '-') return parse_epoch(whole);
  TimeText text(whole);
  const auto year = text.digits(kYearDigits, 1, 9999);
  if (!year) return parse_epoch(whole);
  int month = 1;
  int day = 1;
  int64_t clock_ms = 0;
  if (text.take('-')) {
    const auto given = text.digits(2, 1, 12);
    if (!given) return std::nullopt;
    month = *given;
    if (text.take('-')) {
      const auto given_day = text.digits(2, 1, 31);
      if (!given_day) return std::nullopt;
      day = *given_day;
      if (text.take('T')) {
        const auto clock = parse_clock(text);
        if (!clock) return std::nullopt;
        clock_ms = *clock;
      }
    }
  }
  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day)));
  if (!text.done() || !date.ok()) return std::nullopt;
  const std::chrono::milliseconds days = std::chrono::sys_days(date).time_since_epoch();
  return days.count() + clock_ms;
}

std::string time_text(int64_t unix_ms) {
  const auto time = std::chrono::floor<std::chrono::seconds>(
      std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(unix_ms)));
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string exact_time_text(int64_t unix_ms) {
  // In another time zone, a time can be just outside the years 1 to 9999 of UTC.
  constexpr int64_t kFarthestMs = int64_t{14 * 60 + 59} * 60'000;
  std::string text;
  for (const auto& [zone, offset_ms] :
       {std::pair("Z", int64_t{0}), std::pair("+14:59", kFarthestMs),
        std::pair("-14:59", -kFarthestMs)}) {
    const int64_t local_ms = unix_ms + offset_ms;
    text = time_text(local_ms);
    text.pop_back();
    text += fmt::format(".{:03}{}", (local_ms % 1000 + 1000) % 1000, zone);
    if (parse_time(text) == unix_ms) break;
  }
  return text;
}

}  // namespace stator::policy
