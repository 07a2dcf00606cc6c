// SPDX-License-Identifier: Apache-2.0
// Encoding appends to one string. A collection's length is not known before its content is written,
// so one byte is reserved for it. If it needs more, the content is moved.
#include "value/encoded.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "value/byte_reader.h"
#include "value/key.h"

namespace stator {
namespace {

// The type bytes of docs/formats/item.md are the numbers of the enumerators. Items are stored with
// them, so another order of the enumerators must not compile.
static_assert(AttributeType::kS == AttributeType{0});
static_assert(AttributeType::kN == AttributeType{1});
static_assert(AttributeType::kB == AttributeType{2});
static_assert(AttributeType::kBool == AttributeType{3});
static_assert(AttributeType::kNull == AttributeType{4});
static_assert(AttributeType::kSs == AttributeType{5});
static_assert(AttributeType::kNs == AttributeType{6});
static_assert(AttributeType::kBs == AttributeType{7});
static_assert(AttributeType::kL == AttributeType{8});
static_assert(AttributeType::kM == AttributeType{9});

void append_type(std::string& out, AttributeType type) {
  out.push_back(static_cast<char>(type));
}

void append_bytes(std::string& out, std::string_view bytes) {
  append_varint(out, bytes.size());
  out.append(bytes);
}

void append_element(std::string& out, const std::string& text) {
  append_type(out, AttributeType::kS);
  append_bytes(out, text);
}

void append_element(std::string& out, const Binary& binary) {
  append_type(out, AttributeType::kB);
  append_bytes(out, binary.bytes);
}

void append_element(std::string& out, const Number& number) {
  append_type(out, AttributeType::kN);
  const std::size_t length_at = out.size();
  out.push_back('\0');
  append_number_key(out, number);
  out[length_at] = static_cast<char>(out.size() - length_at - 1);
}

void append_element(std::string& out, const AttributeValue& value);

// The length of a collection, written when the content is complete.
class LengthPrefix {
 public:
  LengthPrefix(std::string& out, AttributeType type, std::size_t count) : out_(out) {
    append_type(out, type);
    at_ = out.size();
    out.push_back('\0');
    append_varint(out, count);
  }

  void finish() {
    const std::size_t length = out_.size() - at_ - 1;
    if (length < 0x80) {
      out_[at_] = static_cast<char>(length);
      return;
    }
    std::string varint;
    append_varint(varint, length);
    out_.replace(at_, 1, varint);
  }

 private:
  std::string& out_;
  std::size_t at_;
};

template <class T>
void append_set(std::string& out, AttributeType type, const SetOf<T>& set) {
  const std::vector<T>& elements = set.elements();
  std::size_t distinct = elements.empty() ? 0 : 1;
  for (std::size_t i = 1; i < elements.size(); ++i) {
    if (!(elements[i] == elements[i - 1])) ++distinct;
  }
  LengthPrefix prefix(out, type, distinct);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (i == 0 || !(elements[i] == elements[i - 1])) append_element(out, elements[i]);
  }
  prefix.finish();
}

void append_element(std::string& out, bool value) {
  append_type(out, AttributeType::kBool);
  out.push_back(value ? '\1' : '\0');
}

void append_element(std::string& out, const Null& /*null*/) {
  append_type(out, AttributeType::kNull);
}

void append_element(std::string& out, const StringSet& set) {
  append_set(out, AttributeType::kSs, set);
}

void append_element(std::string& out, const NumberSet& set) {
  append_set(out, AttributeType::kNs, set);
}

void append_element(std::string& out, const BinarySet& set) {
  append_set(out, AttributeType::kBs, set);
}

void append_element(std::string& out, const List& list) {
  LengthPrefix prefix(out, AttributeType::kL, list.size());
  for (const AttributeValue& value : list) append_element(out, value);
  prefix.finish();
}

void append_attributes(std::string& out, const Map& map) {
  for (const auto& [name, value] : map) {
    append_bytes(out, name);
    append_element(out, value);
  }
}

void append_element(std::string& out, const Map& map) {
  LengthPrefix prefix(out, AttributeType::kM, map.size());
  append_attributes(out, map);
  prefix.finish();
}

void append_element(std::string& out, const AttributeValue& value) {
  std::visit([&out](const auto& alternative) { append_element(out, alternative); },
             value.variant());
}

bool take_attribute(std::string_view& in, AttributeView& attribute) {
  std::string_view value;
  if (!take_bytes(in, attribute.name) || !take_value(in, value)) return false;
  attribute.value = ValueView(value);
  return true;
}

// Compares by unsigned bytes. Most names differ in the first byte; comparing it saves a call.
int compare_names(std::string_view left, std::string_view right) {
  if (!left.empty() && !right.empty() && left.front() != right.front()) {
    return static_cast<unsigned char>(left.front()) - static_cast<unsigned char>(right.front());
  }
  return left.compare(right);
}

// Names are sorted: the search ends at the first name beyond the one looked for.
std::optional<ValueView> find_attribute(std::string_view body, std::string_view name) {
  std::string_view found;
  while (take_bytes(body, found)) {
    const int order = compare_names(found, name);
    if (order > 0) return std::nullopt;
    const std::size_t length = encoded_value_length(body);
    if (length == 0) return std::nullopt;
    if (order == 0) return ValueView(body.substr(0, length));
    body.remove_prefix(length);
  }
  return std::nullopt;
}

template <class T, class Decode>
SetOf<T> decode_set(ValueView value, Decode decode) {
  std::vector<T> elements;
  elements.reserve(std::min(value.element_count(), value.bytes().size()));
  for (ElementCursor cursor = value.elements(); auto element = cursor.next();) {
    elements.push_back(decode(*element));
  }
  return SetOf<T>(std::move(elements));
}

// The types that most attributes have are constructed in place, not moved into it.
Map decode_attributes(AttributeCursor cursor) {
  Map map;
  while (const auto attribute = cursor.next()) {
    const auto& [name, value] = *attribute;
    if (value.type() == AttributeType::kS) {
      map.emplace_hint(map.end(), name, value.text());
    } else if (value.type() == AttributeType::kN) {
      map.emplace_hint(map.end(), name, value.number());
    } else {
      map.emplace_hint(map.end(), name, decode_value(value));
    }
  }
  return map;
}

}  // namespace

bool take_long_varint(std::string_view& in, uint64_t& value) {
  uint64_t result = 0;
  for (std::size_t i = 0; i < in.size() && i < 9; ++i) {
    const auto byte = static_cast<unsigned char>(in[i]);
    result |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
    if (byte >= 0x80) continue;
    if (byte == 0) return false;
    value = result;
    in.remove_prefix(i + 1);
    return true;
  }
  return false;
}

bool open_collection(std::string_view value, std::string_view& body, uint64_t& count) {
  if (value.empty()) return false;
  value.remove_prefix(1);
  return take_bytes(value, body) && take_varint(body, count);
}

AttributeType ValueView::type() const {
  return bytes_.empty() ? AttributeType::kNull : static_cast<AttributeType>(bytes_.front());
}

std::string_view ValueView::text() const {
  std::string_view rest = bytes_.substr(bytes_.empty() ? 0 : 1);
  std::string_view text;
  take_bytes(rest, text);
  return text;
}

std::string_view ValueView::number_key() const {
  return text();
}

Number ValueView::number() const {
  return number_from_key(number_key());
}

bool ValueView::boolean() const {
  return bytes_.size() > 1 && bytes_[1] != 0;
}

std::size_t ValueView::element_count() const {
  std::string_view body;
  uint64_t count = 0;
  return open_collection(bytes_, body, count) ? static_cast<std::size_t>(count) : 0;
}

std::optional<ValueView> ValueView::element(std::size_t index) const {
  if (type() != AttributeType::kL || index >= element_count()) return std::nullopt;
  ElementCursor cursor(*this);
  for (; index > 0; --index) {
    if (!cursor.next()) return std::nullopt;
  }
  return cursor.next();
}

ElementCursor ValueView::elements() const {
  return ElementCursor(*this);
}

std::size_t ValueView::attribute_count() const {
  return element_count();
}

std::optional<ValueView> ValueView::attribute(std::string_view name) const {
  std::string_view body;
  uint64_t count = 0;
  if (type() != AttributeType::kM || !open_collection(bytes_, body, count)) return std::nullopt;
  return find_attribute(body, name);
}

AttributeCursor ValueView::attributes() const {
  std::string_view body;
  uint64_t count = 0;
  if (type() != AttributeType::kM || !open_collection(bytes_, body, count)) body = {};
  return AttributeCursor(body);
}

ElementCursor::ElementCursor(ValueView collection) {
  uint64_t count = 0;
  if (!open_collection(collection.bytes(), rest_, count)) rest_ = {};
}

std::optional<ValueView> ElementCursor::next() {
  std::string_view value;
  if (!take_value(rest_, value)) return std::nullopt;
  return ValueView(value);
}

std::optional<AttributeView> AttributeCursor::next() {
  AttributeView attribute;
  if (!take_attribute(rest_, attribute)) {
    rest_ = {};
    return std::nullopt;
  }
  return attribute;
}

std::optional<ValueView> ItemView::find(std::string_view name) const {
  return bytes_.empty() ? std::nullopt : find_attribute(bytes_.substr(1), name);
}

AttributeCursor ItemView::attributes() const {
  return AttributeCursor(bytes_.empty() ? bytes_ : bytes_.substr(1));
}

std::size_t ItemView::attribute_count() const {
  std::size_t count = 0;
  for (AttributeCursor cursor = attributes(); cursor.next();) ++count;
  return count;
}

EncodedItem encode_item(const Item& item) {
  std::string bytes(1, kItemVersion);
  append_attributes(bytes, item);
  return bytes;
}

std::string encode_value(const AttributeValue& value) {
  std::string bytes;
  append_element(bytes, value);
  return bytes;
}

Item decode_item(ItemView item) {
  return decode_attributes(item.attributes());
}

AttributeValue decode_value(ValueView value) {
  const auto text = [](ValueView element) { return std::string(element.text()); };
  switch (value.type()) {
    case AttributeType::kS:
      return text(value);
    case AttributeType::kN:
      return value.number();
    case AttributeType::kB:
      return Binary{text(value)};
    case AttributeType::kBool:
      return value.boolean();
    case AttributeType::kNull:
      return Null{};
    case AttributeType::kSs:
      return decode_set<std::string>(value, text);
    case AttributeType::kNs:
      return decode_set<Number>(value, [](ValueView element) { return element.number(); });
    case AttributeType::kBs:
      return decode_set<Binary>(value,
                                [&text](ValueView element) { return Binary{text(element)}; });
    case AttributeType::kL: {
      List list;
      list.reserve(std::min(value.element_count(), value.bytes().size()));
      for (ElementCursor cursor = value.elements(); auto element = cursor.next();) {
        list.push_back(decode_value(*element));
      }
      return list;
    }
    case AttributeType::kM:
      return decode_attributes(value.attributes());
  }
  return Null{};
}

ItemBuilder::ItemBuilder() : bytes_(1, kItemVersion) {}

void ItemBuilder::add(std::string_view name, ValueView value) {
  STATOR_CHECK(empty_ || last_name_ < name);
  empty_ = false;
  last_name_.assign(name);
  append_bytes(bytes_, name);
  bytes_.append(value.bytes());
}

EncodedItem ItemBuilder::finish() && {
  return std::move(bytes_);
}

void EncodedItems::append(std::string_view item) {
  bytes_.append(item);
  ends_.push_back(bytes_.size());
}

ItemView EncodedItems::operator[](std::size_t index) const {
  const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
  return ItemView(std::string_view(bytes_).substr(begin, ends_[index] - begin));
}

}  // namespace stator
