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

// For all lines from now on.
void set_log_format(LogFormat format);

// One line, whatever is in the text: what does not print is a question mark, and long texts are
// cut.
void log(LogLevel level, std::string text);
inline void log_error(std::string text) {
  log(LogLevel::kError, std::move(text));
}

// The line of log() in JSON.
std::string to_json_line(int64_t unix_ms, LogLevel level, std::string text);

// "2026-01-02T03:04:05.678Z"
std::string timestamp(int64_t unix_ms);

}  // namespace stator::server
