// SPDX-License-Identifier: Apache-2.0
#include "api/constraints.h"

#include <algorithm>

#include "fmt/format.h"

namespace stator {
namespace {

constexpr std::size_t kReportedMax = 10;      // violations in one message
constexpr std::size_t kValueBytesMax = 1024;  // of a value quoted in a message

// The value, cut where it is long, and never within a character.
std::string_view shortened(std::string_view value) {
  if (value.size() <= kValueBytesMax) return value;
  std::size_t end = kValueBytesMax;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0) == 0x80) --end;
  return value.substr(0, end);
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

}  // namespace

void Constraints::violated(std::string_view value, std::string_view path,
                           std::string_view constraint) {
  if (count_ == kReportedMax) return;
  fmt::format_to(std::back_inserter(text_), "{}Value '{}' at '{}' failed to satisfy constraint: {}",
                 count_ == 0 ? "" : "; ", shortened(value), path, constraint);
  ++count_;
}

void Constraints::missing(std::string_view path) {
  if (count_ == kReportedMax) return;
  fmt::format_to(std::back_inserter(text_),
                 "{}Value null at '{}' failed to satisfy constraint: Member must not be null",
                 count_ == 0 ? "" : "; ", path);
  ++count_;
}

void Constraints::length(std::string_view value, std::string_view path, std::size_t least,
                         std::size_t most) {
  if (value.size() < least) {
    violated(value, path,
             fmt::format("Member must have length greater than or equal to {}", least));
  } else if (value.size() > most) {
    violated(value, path, fmt::format("Member must have length less than or equal to {}", most));
  }
}

void Constraints::range(int64_t value, std::string_view path, int64_t least, int64_t most) {
  if (value < least) {
    violated(std::to_string(value), path,
             fmt::format("Member must have value greater than or equal to {}", least));
  } else if (value > most) {
    violated(std::to_string(value), path,
             fmt::format("Member must have value less than or equal to {}", most));
  }
}

void Constraints::count(std::size_t count, std::string_view path, std::size_t least,
                        std::size_t most, std::string_view value) {
  if (count < least) {
    violated(value, path,
             fmt::format("Member must have length greater than or equal to {}", least));
  } else if (count > most) {
    violated(value, path, fmt::format("Member must have length less than or equal to {}", most));
  }
}

void Constraints::resource_name(std::string_view value, std::string_view path) {
  if (!std::ranges::all_of(value, is_name_character)) {
    violated(value, path, "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+");
  }
  length(value, path, 3, 255);
}

void Constraints::table_name(std::string_view value, std::string_view path) {
  constexpr std::string_view kTable = ":table/";
  const std::size_t table = value.starts_with("arn:") ? value.find(kTable) : std::string_view::npos;
  if (table != std::string_view::npos) value.remove_prefix(table + kTable.size());
  resource_name(value, path);
}

Result<void> Constraints::result() const {
  if (count_ == 0) return {};
  return fail(Code::kValidation, fmt::format("{} validation error{} detected: {}", count_,
                                             count_ == 1 ? "" : "s", text_));
}

}  // namespace stator
