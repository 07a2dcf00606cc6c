// SPDX-License-Identifier: Apache-2.0
// The server's log: lines on its standard error.
//
// Thread safety: from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/log_level.h"

namespace stator::server {

enum class LogFormat { kText, kJson };

// Sets the format of all later lines.
void set_log_format(LogFormat format);

// Writes one line. Nonprinting characters become question marks, and long texts are truncated.
void log(LogLevel level, std::string text);
inline void log_error(std::string text) {
  log(LogLevel::kError, std::move(text));
}

// The line of log() in JSON.
std::string to_json_line(int64_t unix_ms, LogLevel level, std::string text);

// "2026-01-02T03:04:05.678Z"
std::string timestamp(int64_t unix_ms);

}  // namespace stator::server
