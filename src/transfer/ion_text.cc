// SPDX-License-Identifier: Apache-2.0
#include "transfer/ion_text.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "api/model/base64.h"
#include "api/model/utf8.h"
#include "base/ascii.h"

namespace stator::transfer {
namespace {

constexpr int kDepthMax = 34;  // 32 levels in an item, the item and its wrapper

bool is_letter(char c) {
  return is_ascii_letter(c) || c == '_' || c == '$';
}

// Returns false for a code point beyond Unicode and for half of a surrogate pair.
bool append_utf8(std::string& out, uint32_t point) {
  if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return false;
  const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xc0 | point >> 6);
  } else if (point < 0x10000) {
    put(0xe0 | point >> 12);
    put(0x80 | (point >> 6 & 63));
  } else {
    put(0xf0 | point >> 18);
    put(0x80 | (point >> 12 & 63));
    put(0x80 | (point >> 6 & 63));
  }
  if (point >= 0x80) put(0x80 | (point & 63));
  return true;
}

// Recursive-descent parser of one text. Errors: kValidation if parsing can continue after the
// value, otherwise kCorruption.
class Ion {
 public:
  explicit Ion(std::string_view text) : text_(text) {}

  std::size_t position() const { return at_; }
  bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  void skip_version_marker() {
    skip_blanks();
    constexpr std::string_view kMarker = "$ion_1_0";
    if (text_.substr(at_).starts_with(kMarker)) at_ += kMarker.size();
  }

  Result<AttributeValue> value(int depth) {
    if (depth == kDepthMax) return fail(Code::kCorruption, "item nested more than 32 levels deep");
    skip_blanks();
    if (at_ == text_.size()) return fail(Code::kCorruption, "a value is missing");
    const char c = text_[at_];
    if (c == '{') return text_.substr(at_).starts_with("{{") ? blob() : structure(depth);
    if (c == '[') return list(depth);
    if (c == '"') return string();
    if (c == '-' || is_ascii_digit(c)) return number();
    return word(depth);
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").contains(text_[at_])) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  Failure unexpected() const {
    return fail(Code::kCorruption, "not valid Ion at byte " + std::to_string(at_));
  }

  std::string_view identifier() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_ascii_digit(text_[at_]))) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // true, false, null, or an annotation and its list.
  Result<AttributeValue> word(int depth) {
    const std::string_view name = identifier();
    if (name == "true") return AttributeValue(true);
    if (name == "false") return AttributeValue(false);
    if (name == "null") {
      if (at_ < text_.size() && text_[at_] == '.') {
        ++at_;
        if (identifier().empty()) return unexpected();
      }
      return AttributeValue(Null{});
    }
    if (name.empty() || !text_.substr(at_).starts_with("::")) return unexpected();
    at_ += 2;
    STATOR_ASSIGN_OR_RETURN(AttributeValue annotated, value(depth + 1));
    return set_of(name, annotated);
  }

  template <class T>
  static Result<AttributeValue> set_from(const List& list) {
    std::vector<T> elements;
    for (const AttributeValue& value : list) {
      const T* element = value.get_if<T>();
      if (element == nullptr)
        return fail(Code::kValidation, "a set has an element of another type");
      elements.push_back(*element);
    }
    SetOf<T> set(std::move(elements));
    if (set.empty() || set.has_duplicates()) {
      return fail(Code::kValidation, "a set is empty or has an element twice");
    }
    return set;
  }

  // Called after the whole value is read, so that parsing can continue after an error.
  Result<AttributeValue> set_of(std::string_view annotation, const AttributeValue& value) {
    const List* list = value.get_if<List>();
    Result<AttributeValue> set = fail(Code::kValidation, "an annotation is not one of DynamoDB's");
    if (list != nullptr && annotation == "$dynamodb_SS") set = set_from<std::string>(*list);
    if (list != nullptr && annotation == "$dynamodb_NS") set = set_from<Number>(*list);
    if (list != nullptr && annotation == "$dynamodb_BS") set = set_from<Binary>(*list);
    return set;
  }

  Result<AttributeValue> number() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view("+-.0123456789dDeE").contains(text_[at_])) ++at_;
    std::string decimal(text_.substr(begin, at_ - begin));
    std::ranges::replace_if(decimal, [](char c) { return c == 'd' || c == 'D'; }, 'e');
    STATOR_ASSIGN_OR_RETURN(const Number number, Number::parse(decimal));
    return number;
  }

  std::optional<uint32_t> hexadecimal(std::size_t digits) {
    uint32_t point = 0;
    const std::string_view hex = text_.substr(at_, digits);
    const auto read = std::from_chars(hex.data(), hex.data() + hex.size(), point, 16);
    if (hex.size() < digits || read.ec != std::errc() || read.ptr != hex.data() + digits) {
      return std::nullopt;
    }
    at_ += digits;
    return point;
  }

  // Reads an escape sequence after its backslash.
  bool escape(std::string& out) {
    if (at_ == text_.size()) return false;
    const char c = text_[at_++];
    constexpr std::string_view kFrom = "abtnfrv0\"'\\/?";
    constexpr std::string_view kTo("\a\b\t\n\f\r\v\0\"'\\/?", 13);
    if (const std::size_t simple = kFrom.find(c); simple != std::string_view::npos) {
      out += kTo[simple];
      return true;
    }
    const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    auto point = digits > 0 ? hexadecimal(digits) : std::nullopt;
    if (!point) return false;
    // A pair of surrogates, as JSON writes them.
    if (c == 'u' && *point >= 0xd800 && *point < 0xdc00) {
      if (!text_.substr(at_).starts_with("\\u")) return false;
      at_ += 2;
      const auto low = hexadecimal(4);
      if (!low || *low < 0xdc00 || *low > 0xdfff) return false;
      point = 0x10000 + ((*point - 0xd800) << 10) + (*low - 0xdc00);
    }
    return append_utf8(out, *point);
  }

  Result<std::string> quoted(char quote) {
    std::string out;
    for (++at_; at_ < text_.size();) {
      const char c = text_[at_++];
      if (c == quote) return out;
      if (c != '\\') {
        out += c;
      } else if (!escape(out)) {
        break;
      }
    }
    return unexpected();
  }

  Result<AttributeValue> string() {
    STATOR_ASSIGN_OR_RETURN(std::string text, quoted('"'));
    return AttributeValue(std::move(text));
  }

  Result<AttributeValue> blob() {
    const std::size_t end = text_.find("}}", at_);
    if (end == std::string_view::npos) return unexpected();
    std::string base64(text_.substr(at_ + 2, end - at_ - 2));
    std::erase_if(base64, [](char c) { return std::string_view(" \t\r\n").contains(c); });
    at_ = end + 2;
    auto bytes = wire::from_base64(base64);
    if (!bytes) return fail(Code::kCorruption, "a blob is not in base64");
    return AttributeValue(Binary{std::move(*bytes)});
  }

  Result<AttributeValue> list(int depth) {
    List elements;
    std::optional<Error> invalid;
    ++at_;
    while (!take(']')) {
      auto element = value(depth + 1);
      if (!element && element.error().code != Code::kValidation) return element;
      if (element) elements.push_back(std::move(*element));
      if (!element && !invalid) invalid = element.error();
      if (!take(',')) {
        if (take(']')) break;
        return unexpected();
      }
    }
    if (invalid) return Failure(*invalid);
    return elements;
  }

  Result<std::string> field_name() {
    skip_blanks();
    if (at_ == text_.size()) return unexpected();
    const char c = text_[at_];
    if (c == '"' || c == '\'') return quoted(c);
    const std::string_view name = identifier();
    if (name.empty()) return unexpected();
    return std::string(name);
  }

  Result<AttributeValue> structure(int depth) {
    Map members;
    std::optional<Error> invalid;
    ++at_;
    while (!take('}')) {
      STATOR_ASSIGN_OR_RETURN(std::string name, field_name());
      if (!take(':')) return unexpected();
      auto member = value(depth + 1);
      if (!member && member.error().code != Code::kValidation) return member;
      if (!member && !invalid) invalid = member.error();
      if (member) members.insert_or_assign(std::move(name), std::move(*member));
      if (!take(',')) {
        if (take('}')) break;
        return unexpected();
      }
    }
    if (invalid) return Failure(*invalid);
    return members;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Moves a member of the record into `out` if it exists; kValidation if it has another type.
template <class T>
Result<void> take_member(Map& record, std::string_view name, std::optional<T>& out) {
  const auto found = record.find(name);
  if (found == record.end()) return {};
  if (T* value = found->second.get_if<T>()) {
    out = std::move(*value);
    return {};
  }
  return fail(Code::kValidation, "the member '" + std::string(name) + "' has the wrong type");
}

Result<void> take_condition(Map& record, PutItemRequest& put) {
  STATOR_RETURN_IF_ERROR(take_member(record, "ConditionExpression", put.condition));
  std::optional<Map> names;
  STATOR_RETURN_IF_ERROR(take_member(record, "ExpressionAttributeNames", names));
  if (names) put.names.emplace();
  while (names && !names->empty()) {
    auto node = names->extract(names->begin());
    const std::string* name = node.mapped().get_if<std::string>();
    if (name == nullptr) return fail(Code::kValidation, "an attribute name is not a string");
    put.names->emplace(std::move(node.key()), *name);
  }
  return take_member(record, "ExpressionAttributeValues", put.values);
}

Result<PutItemRequest> put_in(Result<AttributeValue> read, Conditions conditions) {
  if (!read) return failure_of(std::move(read));
  Map* record = read->get_if<Map>();
  std::optional<Map> item;
  if (record != nullptr) STATOR_RETURN_IF_ERROR(take_member(*record, "Item", item));
  if (!item) return fail(Code::kValidation, "the member 'Item' is missing");
  PutItemRequest put{.table = {}, .item = std::move(*item)};
  if (conditions == Conditions::kRead) STATOR_RETURN_IF_ERROR(take_condition(*record, put));
  return put;
}

}  // namespace

RecordParser::Outcome IonLines::parse(std::string_view text, PutItemRequest& put, Error& error,
                                      std::size_t& used) {
  if (!wire::is_utf8(text)) {
    error = {.code = Code::kCorruption, .message = "not in UTF-8"};
    return Outcome::kDamaged;
  }
  Ion ion(text);
  ion.skip_version_marker();
  if (ion.at_end()) return Outcome::kNothing;
  auto read = put_in(ion.value(0), conditions_);
  used = ion.position();
  if (read) {
    put = std::move(*read);
    return Outcome::kItem;
  }
  error = std::move(read).error();
  return error.code == Code::kValidation ? Outcome::kNoItem : Outcome::kDamaged;
}

}  // namespace stator::transfer
