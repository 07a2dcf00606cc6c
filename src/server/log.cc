// SPDX-License-Identifier: Apache-2.0
#include "server/log.h"

#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <ctime>

#include "base/clock.h"

namespace stator::server {
namespace {

std::atomic<LogFormat> log_format = LogFormat::kText;

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      break;
  }
  return spdlog::level::err;
}

void clean_line(std::string& text) {
  constexpr std::size_t kBytesMax = 2000;
  text.resize(std::min(text.size(), kBytesMax));
  std::ranges::replace_if(text, [](unsigned char c) { return c < ' ' || c == 0x7f; }, '?');
}

}  // namespace

void set_log_format(LogFormat format) {
  log_format = format;
}

std::string timestamp(int64_t unix_ms) {
  const auto seconds = static_cast<std::time_t>(unix_ms / 1000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     unix_ms % 1000);
}

std::string to_json_line(int64_t unix_ms, LogLevel level, std::string text) {
  clean_line(text);
  std::string line = fmt::format(R"({{"time":"{}","level":"{}","message":")", timestamp(unix_ms),
                                 spdlog::level::to_string_view(spdlog_level(level)));
  for (const char c : text) {
    if (c == '"' || c == '\\') line.push_back('\\');
    // A character that was truncated in the middle would be invalid UTF-8.
    line.push_back(c < 0 ? '?' : c);
  }
  return line + "\"}";
}

void log(LogLevel level, std::string text) {
  static const auto logger = spdlog::stderr_logger_mt("stator");
  static const auto plain = [] {
    auto made = spdlog::stderr_logger_mt("stator-json");
    made->set_pattern("%v");
    return made;
  }();
  const auto severity = spdlog_level(level);
  if (log_format == LogFormat::kJson) {
    plain->log(severity, "{}", to_json_line(system_clock().unix_ms(), level, std::move(text)));
    return;
  }
  clean_line(text);
  logger->log(severity, "{}", text);
}

}  // namespace stator::server
