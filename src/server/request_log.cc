// SPDX-License-Identifier: Apache-2.0
#include "server/request_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "server/log_field.h"

namespace stator::server {
namespace {

constexpr std::size_t kTraceparentBytes = 55;

double milliseconds_of(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

bool is_lower_hex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_zero(std::string_view text) {
  return text.find_first_not_of('0') == text.npos;
}

}  // namespace

std::string to_text(const RequestLine& line) {
  std::string text = "time=" + timestamp(line.unix_ms);
  const auto field = [&](std::string_view name, std::string_view value) {
    text.append(" ").append(name).append("=").append(value.empty() ? "-" : log_field(value));
  };
  field("client", line.client);
  field("operation", line.operation);
  field("table", line.table);
  fmt::format_to(std::back_inserter(text), " status={}", line.status);
  field("error", line.error);
  fmt::format_to(std::back_inserter(text), " request_bytes={} response_bytes={} ms={:.3f}",
                 line.request_bytes, line.response_bytes, milliseconds_of(line.duration));
  field("index", line.index);
  fmt::format_to(std::back_inserter(text), " items={} examined={}", line.items, line.examined);
  field("request_id", line.request_id);
  field("traceparent", line.traceparent);
  if (!line.operation.empty()) return text;
  field("method", line.method);
  field("path", line.path);
  return text;
}

std::string to_json(const RequestLine& line, bool slow) {
  std::string text = R"({"time":")" + timestamp(line.unix_ms) + '"';
  const auto field = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    text.append(",\"").append(name).append("\":\"").append(log_field(value)).append("\"");
  };
  if (slow) text.append(R"(,"level":"warning","message":"slow request")");
  field("client", line.client);
  field("operation", line.operation);
  field("table", line.table);
  fmt::format_to(std::back_inserter(text), R"(,"status":{})", line.status);
  field("error", line.error);
  fmt::format_to(std::back_inserter(text), R"(,"request_bytes":{},"response_bytes":{},"ms":{:.3f})",
                 line.request_bytes, line.response_bytes, milliseconds_of(line.duration));
  field("index", line.index);
  fmt::format_to(std::back_inserter(text), R"(,"items":{},"examined":{})", line.items,
                 line.examined);
  field("request_id", line.request_id);
  field("traceparent", line.traceparent);
  if (line.operation.empty()) {
    field("method", line.method);
    field("path", line.path);
  }
  return text + '}';
}

std::string_view valid_traceparent(std::string_view value) {
  // version 2 "-" trace id 32 "-" parent id 16 "-" flags 2; later versions may append "-…".
  if (value.size() < kTraceparentBytes || value.size() > kLogFieldBytesMax) return {};
  const auto version = value.substr(0, 2);
  const auto trace = value.substr(3, 32);
  const auto parent = value.substr(36, 16);
  const auto flags = value.substr(53, 2);
  if (value[2] != '-' || value[35] != '-' || value[52] != '-') return {};
  for (const auto part : {version, trace, parent, flags}) {
    if (!is_lower_hex(part)) return {};
  }
  if (version == "ff" || is_zero(trace) || is_zero(parent)) return {};
  if (value.size() == kTraceparentBytes) return value;
  if (version == "00" || value[kTraceparentBytes] != '-') return {};
  return value.substr(0, kTraceparentBytes);
}

void RequestLog::write(const RequestLine& line) {
  const bool json = format_ == LogFormat::kJson;
  if (all_ != nullptr) all_->write(json ? to_json(line, false) : to_text(line));
  if (slow_only_ == nullptr || line.duration < slow_) return;
  slow_only_->write(json ? to_json(line, true) : "slow request: " + to_text(line));
}

}  // namespace stator::server
