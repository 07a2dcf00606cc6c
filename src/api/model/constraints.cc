// SPDX-License-Identifier: Apache-2.0
#include "api/model/constraints.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/model/layer.h"
#include "api/model/messages.h"
#include "api/model/table_name.h"
#include "base/ascii.h"
#include "base/utf8.h"
#include "fmt/format.h"

namespace stator {
namespace {

constexpr std::size_t kNameCharactersMax = 255;
constexpr std::size_t kReportedMax = 10;      // violations in one message
constexpr std::size_t kValueBytesMax = 1024;  // of a value quoted in a message

// The model counts characters, which are Unicode's code points.
std::size_t character_count(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, is_utf8_continuation));
}

bool is_name_character(char c) {
  return is_ascii_alphanumeric(c) || c == '_' || c == '-' || c == '.';
}

}  // namespace

void Constraints::add(std::string_view path, std::string text, std::string_view current,
                      bool missing) {
  Violations& violations = path == "tableName" ? own_table_ : rest_;
  const auto includes = [&](const Violation& violation) {
    if (violation.path == path) return missing || violation.missing || violation.text == text;
    return violation.missing && path.starts_with(violation.path) &&
           path[violation.path.size()] == '.';
  };
  if (violations.size() == kReportedMax || std::ranges::any_of(violations, includes)) return;
  violations.push_back({.path = std::string(path),
                        .text = std::move(text),
                        .current = std::string(current),
                        .missing = missing});
}

void Constraints::violated(std::string_view value, std::string_view path,
                           std::string_view constraint, std::string_view current) {
  add(path, fmt::format(messages::kViolation, utf8_prefix(value, kValueBytesMax), path, constraint),
      current);
}

void Constraints::violated_unquoted(std::string_view path, std::string_view constraint) {
  add(path, fmt::format(messages::kUnquotedViolation, path, constraint));
}

void Constraints::missing(std::string_view path) {
  if (path == "item" || path == "key") lacks_subject_ = true;
  add(path, fmt::format(messages::kMissing, path), {}, true);
}

void Constraints::report_alone(std::string message) {
  if (!alone_) alone_ = std::move(message);
}

void Constraints::length(std::string_view value, std::string_view path, std::size_t least,
                         std::size_t most) {
  count(character_count(value), path, least, most, value);
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
  length(value, path, least, kNameCharactersMax);
  if (value.empty() && least > 1) violated(value, path, messages::kNamePattern);
}

void Constraints::table_name(std::string_view value, std::string_view path) {
  resource_name(table_name_in(value), path, 1);
}

void Constraints::item_operation_table(std::string_view value) {
  if (!value.empty()) return table_name(value, "tableName");
  missing("tableName");
}

void Constraints::table_operation_table(std::string_view value) {
  if (!value.empty()) return resource_name(table_name_in(value), "tableName");
  table_required_ = own_table_.empty();
}

void Constraints::sort_by(std::span<const std::string_view> members) {
  const auto same_letter = [](char a, char b) { return ascii_lower(a) == ascii_lower(b); };
  const auto place = [&](const Violation& violation) {
    const std::string_view path = violation.path;
    const std::string_view member = path.substr(0, path.find('.'));
    return std::ranges::find_if(members,
                                [&](std::string_view name) {
                                  return std::ranges::equal(name, member, same_letter);
                                }) -
           members.begin();
  };
  if (lacks_subject_) {
    rest_.insert(rest_.begin(), own_table_.begin(), own_table_.end());
    own_table_.clear();
  }
  Violations sorted;
  sorted.reserve(rest_.size());
  for (std::ptrdiff_t at = 0; at <= std::ssize(members); ++at) {
    std::ranges::copy_if(rest_, std::back_inserter(sorted),
                         [&](const Violation& violation) { return place(violation) == at; });
  }
  rest_ = std::move(sorted);
}

Result<void> Constraints::result() const {
  if (empty()) return {};
  if (table_required_) return fail(Code::kValidation, messages::kTableNameRequired);
  if (alone_ && own_table_.empty() && !lacks_subject_) return fail(Code::kValidation, *alone_);
  const Violations& told = own_table_.empty() ? rest_ : own_table_;
  std::string texts;
  for (const Violation& violation : told) {
    if (!texts.empty()) texts += "; ";
    texts += violation.current.empty() || lacks_subject_ ? violation.text : violation.current;
  }
  if (told.size() == 1) return fail(Code::kValidation, counted(texts));
  return fail(Code::kValidation, fmt::format(messages::kSeveralErrors, told.size(), texts));
}

std::string counted(std::string_view message) {
  return fmt::format(messages::kOneError, 1, message);
}

Error worded(Layer layer, Error error) {
  const bool bare = error.code != Code::kValidation || error.message == messages::kEmptyValue ||
                    error.message == messages::kManyTypes;
  if (layer == Layer::kCounted && !bare) error.message = counted(error.message);
  return error;
}

Result<void> worded(Layer layer, Result<void> result) {
  if (result) return result;
  return Failure(worded(layer, std::move(result).error()));
}

}  // namespace stator
