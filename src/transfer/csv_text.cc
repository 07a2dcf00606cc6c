// SPDX-License-Identifier: Apache-2.0
#include "transfer/csv_text.h"

#include <algorithm>
#include <set>
#include <utility>

#include "api/model/base64.h"
#include "api/model/utf8.h"

namespace stator::transfer {
namespace {

constexpr std::size_t kColumnsMax = 10'000;

// The state of quoting after a character.
enum class Quoting { kOutside, kFieldBegin, kInside, kQuoteInside };

Quoting behind(Quoting before, char c, char delimiter) {
  if (before == Quoting::kInside) return c == '"' ? Quoting::kQuoteInside : Quoting::kInside;
  if (before != Quoting::kOutside && c == '"') return Quoting::kInside;
  return c == delimiter ? Quoting::kFieldBegin : Quoting::kOutside;
}

Result<std::vector<std::string>> fields_of(std::string_view text, char delimiter) {
  std::vector<std::string> fields(1);
  Quoting quoting = Quoting::kFieldBegin;
  for (const char c : text) {
    const Quoting before = std::exchange(quoting, behind(quoting, c, delimiter));
    if (quoting == Quoting::kFieldBegin) {
      if (fields.size() == kColumnsMax) return fail(Code::kValidation, "row has too many fields");
      fields.emplace_back();
    } else if (before == Quoting::kQuoteInside && quoting == Quoting::kOutside) {
      return fail(Code::kValidation, "a quoted field continues after its closing quote");
    } else if (quoting == Quoting::kOutside && c == '"') {
      return fail(Code::kValidation, "a quote is not escaped");
    } else if (quoting == Quoting::kOutside ||
               (quoting == Quoting::kInside && before != Quoting::kFieldBegin)) {
      fields.back() += c;
    }
  }
  return fields;
}

}  // namespace

bool CsvRows::goes_on(std::string_view line, bool went_on) const {
  Quoting quoting = went_on ? Quoting::kInside : Quoting::kFieldBegin;
  for (const char c : line) quoting = behind(quoting, c, options_.delimiter);
  return quoting == Quoting::kInside;
}

Result<void> CsvRows::take_header(std::vector<std::string> fields) {
  const std::set<std::string_view> names(fields.begin(), fields.end());
  if (names.contains("") || names.size() < fields.size()) {
    return fail(Code::kCorruption, "column names in the header must be unique and not empty");
  }
  options_.header = std::move(fields);
  has_header_ = true;
  return {};
}

Result<AttributeValue> CsvRows::value_of(const std::string& column, std::string text) const {
  const auto key = options_.key_types.find(column);
  if (key == options_.key_types.end() || key->second == ScalarType::kS) return text;
  if (key->second == ScalarType::kN) {
    STATOR_ASSIGN_OR_RETURN(const Number number, Number::parse(text));
    return number;
  }
  auto bytes = wire::from_base64(text);
  if (!bytes) return fail(Code::kValidation, "binary key is not in base64");
  return Binary{std::move(*bytes)};
}

Result<Item> CsvRows::item_of(std::vector<std::string> fields) const {
  if (fields.size() != options_.header.size()) {
    return fail(Code::kValidation, "row has another number of fields than the header");
  }
  Item item;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    STATOR_ASSIGN_OR_RETURN(auto value, value_of(options_.header[i], std::move(fields[i])));
    item.emplace(options_.header[i], std::move(value));
  }
  return item;
}

RecordParser::Outcome CsvRows::parse(std::string_view text, PutItemRequest& put, Error& error,
                                     std::size_t& used) {
  used = text.size();
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (text.empty()) return Outcome::kNothing;
  Result<std::vector<std::string>> fields =
      wire::is_utf8(text)
          ? fields_of(text, options_.delimiter)
          : Result<std::vector<std::string>>(fail(Code::kValidation, "row is not in UTF-8"));
  if (!has_header_) {
    const auto taken = fields ? take_header(std::move(*fields)) : failure_of(std::move(fields));
    if (!taken) error = taken.error();
    return taken ? Outcome::kNothing : Outcome::kDamaged;
  }
  Result<Item> read = fields ? item_of(std::move(*fields)) : failure_of(std::move(fields));
  if (!read) {
    error = std::move(read).error();
    return Outcome::kNoItem;
  }
  put.item = std::move(*read);
  return Outcome::kItem;
}

}  // namespace stator::transfer
