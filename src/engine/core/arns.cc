// SPDX-License-Identifier: Apache-2.0
#include "engine/core/arns.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "engine/errors/admin_messages.h"
#include "engine/errors/messages.h"

namespace stator {
namespace {

// "arn:partition:service:region:account:resource"; the last part keeps its colons.
std::vector<std::string_view> arn_parts(std::string_view arn) {
  constexpr std::size_t kPartsMax = 6;
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < kPartsMax) {
    const std::size_t end = arn.find(':');
    if (end == std::string_view::npos) break;
    parts.push_back(arn.substr(0, end));
    arn.remove_prefix(end + 1);
  }
  parts.push_back(arn);
  return parts;
}

}  // namespace

std::string table_arn(const EngineCore& engine, std::string_view table) {
  return std::string("arn:aws:dynamodb:")
      .append(engine.options.region)
      .append(":")
      .append(engine.options.account)
      .append(":table/")
      .append(table);
}

std::string stream_label(int64_t created_ms) {
  const std::chrono::sys_time<std::chrono::milliseconds> time{
      std::chrono::milliseconds(created_ms)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  char text[64];
  const int length = std::snprintf(
      text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03d", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return {text, static_cast<std::size_t>(length)};
}

std::string stream_arn(const EngineCore& engine, std::string_view table, int64_t created_ms) {
  return table_arn(engine, table).append("/stream/").append(stream_label(created_ms));
}

Result<ArnParts> parse_table_arn(const EngineCore& engine, const std::string& arn) {
  const std::vector<std::string_view> parts = arn_parts(arn);
  if (parts[0] != "arn") return fail(Code::kValidation, messages::no_arn(arn));
  if (parts.size() < 6 || parts[2] != "dynamodb") {
    return fail(Code::kAccessDenied, messages::kAccessDenied);
  }
  constexpr std::string_view kTable = "table/";
  std::string_view resource = parts[5];
  if (!resource.starts_with(kTable)) return fail(Code::kValidation, messages::no_table_arn(arn));
  if (parts[4] != engine.options.account) {
    return fail(Code::kAccessDenied, messages::kAccessDenied);
  }
  resource.remove_prefix(kTable.size());
  const std::size_t name_end = std::min(resource.find('/'), resource.size());
  constexpr std::size_t kNameLeast = 3;
  if (parts[3] != engine.options.region || name_end < kNameLeast) {
    return fail(Code::kValidation, messages::invalid_table_arn(arn));
  }
  return ArnParts{.table = std::string(resource.substr(0, name_end)),
                  .rest = std::string(resource.substr(name_end))};
}

}  // namespace stator
