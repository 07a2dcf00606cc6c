// SPDX-License-Identifier: Apache-2.0
// RequestLog: a line for each request, and for each slow one.
//
// Lines contain no header except traceparent, no query string, and no part of an item. Fields that
// clients choose are truncated, and separators in them become question marks. Thread safety: any
// thread; no caller waits for a file.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/line_writer.h"
#include "server/log.h"

namespace stator::server {

// The content of a line. Empty fields are omitted in JSON, and "-" in text.
struct RequestLine {
  int64_t unix_ms = 0;  // of the response
  std::string_view client = {};
  std::string_view operation = {};  // empty: not an operation; then `method` and `path` are set
  std::string_view table = {};      // see protocol::table_in
  std::string_view index = {};
  std::size_t items = 0;          // in the response
  std::size_t examined = 0;       // items read to find them
  int status = 0;                 // 0: no response could be sent
  std::string_view error = {};    // the exception's name
  std::size_t request_bytes = 0;  // of the body
  std::size_t response_bytes = 0;
  std::chrono::nanoseconds duration{0};
  std::string_view request_id = {};
  std::string_view traceparent = {};
  std::string_view method = {};
  std::string_view path = {};
};

std::string to_text(const RequestLine& line);
// An object; `slow` adds a level and a message.
std::string to_json(const RequestLine& line, bool slow);

// The value of a traceparent header, empty if it is not valid.
// https://www.w3.org/TR/trace-context/#traceparent-header
std::string_view valid_traceparent(std::string_view value);

class RequestLog {
 public:
  // A null writer gets no lines. `slow_only` gets requests that take `slow` or longer. The writers
  // must outlive the log.
  RequestLog(LogFormat format, LineWriter* all, LineWriter* slow_only,
             std::chrono::milliseconds slow)
      : format_(format), all_(all), slow_only_(slow_only), slow_(slow) {}

  void write(const RequestLine& line);

 private:
  LogFormat format_;
  LineWriter* all_;
  LineWriter* slow_only_;
  std::chrono::milliseconds slow_;
};

}  // namespace stator::server
