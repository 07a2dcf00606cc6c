// SPDX-License-Identifier: Apache-2.0
// The server's log: lines on its standard error.
//
// Thread safety: from any thread.
#pragma once

#include <cstdint>
#include <string>

namespace stator::server {

enum class LogFormat { kText, kJson };

// For all lines from now on.
void set_log_format(LogFormat format);

// One line, whatever is in the text: what does not print is a question mark, and long texts are
// cut.
void log_error(std::string text);

// The line of log_error() in JSON.
std::string error_to_json_line(int64_t unix_ms, std::string text);

// "2026-01-02T03:04:05.678Z"
std::string timestamp(int64_t unix_ms);

}  // namespace stator::server
