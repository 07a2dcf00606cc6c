// SPDX-License-Identifier: Apache-2.0
#include "api/constraints.h"

#include <algorithm>

#include "api/messages.h"
#include "fmt/format.h"

namespace stator {
namespace {

constexpr std::size_t kNameBytesMax = 255;
constexpr std::size_t kReportedMax = 10;      // violations in one message
constexpr std::size_t kValueBytesMax = 1024;  // of a value quoted in a message

// The value, cut where it is long, and never within a character.
std::string_view shortened(std::string_view value) {
  if (value.size() <= kValueBytesMax) return value;
  std::size_t end = kValueBytesMax;
  while (end > 0 && (static_cast<unsigned char>(value[end]) & 0xC0) == 0x80) --end;
  return value.substr(0, end);
}

std::string_view name_in_arn(std::string_view value) {
  constexpr std::string_view kTable = ":table/";
  const std::size_t table = value.starts_with("arn:") ? value.find(kTable) : std::string_view::npos;
  if (table != std::string_view::npos) value.remove_prefix(table + kTable.size());
  return value;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

}  // namespace

Constraints::Violations* Constraints::violations_at(std::string_view path) {
  Violations& violations = path == "tableName" ? own_table_ : rest_;
  if (violations.count == kReportedMax) return nullptr;
  if (violations.count++ > 0) violations.text += "; ";
  return &violations;
}

void Constraints::violated(std::string_view value, std::string_view path,
                           std::string_view constraint) {
  Violations* const violations = violations_at(path);
  if (violations == nullptr) return;
  fmt::format_to(std::back_inserter(violations->text), messages::kViolation, shortened(value), path,
                 constraint);
}

void Constraints::violated_unquoted(std::string_view path, std::string_view constraint) {
  Violations* const violations = violations_at(path);
  if (violations == nullptr) return;
  fmt::format_to(std::back_inserter(violations->text), messages::kUnquotedViolation, path,
                 constraint);
}

void Constraints::missing(std::string_view path) {
  const std::string text = fmt::format(messages::kMissing, path);
  // The reader of the request may have said so already.
  if (own_table_.text.find(text) != text.npos || rest_.text.find(text) != text.npos) return;
  if (Violations* const violations = violations_at(path)) violations->text += text;
}

void Constraints::length(std::string_view value, std::string_view path, std::size_t least,
                         std::size_t most) {
  count(value.size(), path, least, most, value);
}

void Constraints::range(int64_t value, std::string_view path, int64_t least, int64_t most) {
  if (value < least) {
    violated(std::to_string(value), path, fmt::format(messages::kValueAtLeast, least));
  } else if (value > most) {
    violated(std::to_string(value), path, fmt::format(messages::kValueAtMost, most));
  }
}

void Constraints::count(std::size_t count, std::string_view path, std::size_t least,
                        std::size_t most, std::string_view value) {
  if (count < least) {
    violated(value, path, fmt::format(messages::kLengthAtLeast, least));
  } else if (count > most) {
    violated(value, path, fmt::format(messages::kLengthAtMost, most));
  }
}

void Constraints::resource_name(std::string_view value, std::string_view path, std::size_t least) {
  if (!std::ranges::all_of(value, is_name_character)) violated(value, path, messages::kNamePattern);
  length(value, path, least, kNameBytesMax);
}

void Constraints::table_name(std::string_view value, std::string_view path) {
  resource_name(name_in_arn(value), path, 1);
}

void Constraints::used_table(std::string_view value) {
  if (!value.empty()) return table_name(value, "tableName");
  if (own_table_.count == 0) missing("tableName");
}

void Constraints::managed_table(std::string_view value) {
  if (!value.empty()) return resource_name(name_in_arn(value), "tableName");
  table_required_ = own_table_.count == 0;
}

Result<void> Constraints::result() const {
  if (empty()) return {};
  if (table_required_) return fail(Code::kValidation, messages::kTableNameRequired);
  const Violations& told = own_table_.count > 0 ? own_table_ : rest_;
  return fail(Code::kValidation,
              told.count == 1 ? fmt::format(messages::kOneError, told.count, told.text)
                              : fmt::format(messages::kSeveralErrors, told.count, told.text));
}

}  // namespace stator
