// SPDX-License-Identifier: Apache-2.0
// Text is copied in runs that end before the next byte that needs an escape. 32 bytes are examined
// at a time.
#include "api/json/json_writer.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <variant>

#include "api/model/base64.h"
#include "value/key.h"

namespace stator::wire {
namespace {

constexpr uint64_t kOnes = 0x0101010101010101;
constexpr uint64_t kHighs = 0x8080808080808080;

// Nonzero if one of the eight bytes is below 0x20, a quote or a backslash. Bits above the first
// such byte can be wrong; bits up to it are correct.
uint64_t needs_escape(uint64_t word) {
  const uint64_t control = (word - kOnes * 0x20) & ~word;
  const uint64_t quote = word ^ (kOnes * '"');
  const uint64_t backslash = word ^ (kOnes * '\\');
  return (control | ((quote - kOnes) & ~quote) | ((backslash - kOnes) & ~backslash)) & kHighs;
}

bool byte_needs_escape(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

using Bytes16 = unsigned char __attribute__((vector_size(16)));

constexpr std::size_t kBlockBytes = 2 * sizeof(Bytes16);

auto special_bytes(const char* bytes) {
  Bytes16 sixteen;
  std::memcpy(&sixteen, bytes, sizeof(sixteen));
  return (sixteen < 0x20) | (sixteen == '"') | (sixteen == '\\');
}

bool any_needs_escape(const char* block) {
  const auto found = special_bytes(block) | special_bytes(block + sizeof(Bytes16));
  uint64_t halves[2];
  std::memcpy(halves, &found, sizeof(found));
  return (halves[0] | halves[1]) != 0;
}

// Length of the prefix of `text` that needs no escapes.
std::size_t plain_length(std::string_view text) {
  std::size_t i = 0;
  while (i + kBlockBytes <= text.size() && !any_needs_escape(text.data() + i)) i += kBlockBytes;
  if constexpr (std::endian::native == std::endian::little) {
    for (; i + 8 <= text.size(); i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, text.data() + i, 8);
      const uint64_t found = needs_escape(word);
      if (found != 0) return i + static_cast<std::size_t>(std::countr_zero(found)) / 8;
    }
  }
  while (i < text.size() && !byte_needs_escape(text[i])) ++i;
  return i;
}

char* write_escape(char* out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  *out++ = '\\';
  switch (c) {
    case '"':
    case '\\':
      *out++ = c;
      return out;
    case '\n':
      *out++ = 'n';
      return out;
    case '\r':
      *out++ = 'r';
      return out;
    case '\t':
      *out++ = 't';
      return out;
    default:
      *out++ = 'u';
      *out++ = '0';
      *out++ = '0';
      *out++ = kHex[static_cast<unsigned char>(c) >> 4];
      *out++ = kHex[static_cast<unsigned char>(c) & 15];
      return out;
  }
}

constexpr std::size_t kEscapeMax = 6;

// The text before the content of a value, such as `{"S":`, by AttributeType.
constexpr std::string_view kOpenings[] = {R"({"S":)",    R"({"N":)",  R"({"B":)",  R"({"BOOL":)",
                                          R"({"NULL":)", R"({"SS":)", R"({"NS":)", R"({"BS":)",
                                          R"({"L":)",    R"({"M":)"};

std::string_view opening(AttributeType type) {
  return kOpenings[static_cast<std::size_t>(type)];
}

// Writes the part of a value after its type.
struct ContentWriter {
  JsonWriter& out;
  void operator()(const std::string& text) const { out.text(text); }
  void operator()(const Number& number) const { out.text(number.to_string()); }
  void operator()(const Binary& binary) const { out.base64(binary.bytes); }
  void operator()(bool boolean) const { out.boolean(boolean); }
  void operator()(const Null&) const { out.boolean(true); }
  void operator()(const Map& map) const { out.item(map); }
  void operator()(const List& list) const {
    out.array(list, [&](const AttributeValue& element) { out.value(element); });
  }
  template <class T>
  void operator()(const SetOf<T>& set) const {
    out.array(set.elements(), *this);
  }
};

}  // namespace

JsonWriter::JsonWriter(std::size_t size_hint) {
  grow(size_hint);
}

void JsonWriter::grow(std::size_t count) {
  const std::size_t room = std::max(used_ + count, 2 * buffer_.size());
  buffer_.resize_and_overwrite(room, [](char*, std::size_t size) { return size; });
}

std::string JsonWriter::finish() && {
  buffer_.resize(used_);
  return std::move(buffer_);
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  char* out = reserve(name.size() + 3);
  *out++ = '"';
  std::memcpy(out, name.data(), name.size());
  out += name.size();
  *out++ = '"';
  *out = ':';
  used_ += name.size() + 3;
  comma_ = false;
  return *this;
}

JsonWriter& JsonWriter::user_key(std::string_view name) {
  separate();
  quoted(name);
  put(':');
  comma_ = false;
  return *this;
}

void JsonWriter::quoted(std::string_view value) {
  put('"');
  for (;;) {
    const std::size_t plain = plain_length(value);
    put(value.substr(0, plain));
    if (plain == value.size()) break;
    char* const start = reserve(kEscapeMax);
    used_ += static_cast<std::size_t>(write_escape(start, value[plain]) - start);
    value.remove_prefix(plain + 1);
  }
  put('"');
}

void JsonWriter::quoted_base64(std::string_view bytes) {
  char* const start = reserve(base64_length(bytes.size()) + 2);
  char* out = start;
  *out++ = '"';
  out = write_base64(out, bytes);
  *out++ = '"';
  used_ += static_cast<std::size_t>(out - start);
}

void JsonWriter::text(std::string_view value) {
  separate();
  quoted(value);
  comma_ = true;
}

void JsonWriter::integer(int64_t value) {
  separate();
  char* const start = reserve(20);
  used_ += static_cast<std::size_t>(std::to_chars(start, start + 20, value).ptr - start);
  comma_ = true;
}

void JsonWriter::real(double value) {
  separate();
  char* const start = reserve(34);
  char* end = std::to_chars(start, start + 32, value).ptr;
  const std::string_view written(start, static_cast<std::size_t>(end - start));
  if (written.find_first_of(".e") == std::string_view::npos) {
    *end++ = '.';
    *end++ = '0';
  }
  used_ += static_cast<std::size_t>(end - start);
  comma_ = true;
}

void JsonWriter::seconds(int64_t unix_ms) {
  separate();
  char* const start = reserve(40);
  const int64_t whole = unix_ms / 1000;
  const int64_t rest = unix_ms % 1000;
  char* end = start;
  if (unix_ms < 0) *end++ = '-';
  end = std::to_chars(end, start + 30, whole < 0 ? -whole : whole).ptr;
  *end++ = '.';
  const auto thousandths = static_cast<int>(rest < 0 ? -rest : rest);
  *end++ = static_cast<char>('0' + thousandths / 100);
  *end++ = static_cast<char>('0' + thousandths / 10 % 10);
  *end++ = static_cast<char>('0' + thousandths % 10);
  used_ += static_cast<std::size_t>(end - start);
  comma_ = true;
}

void JsonWriter::number(const Number& number) {
  value_text(number.to_string());
}

void JsonWriter::base64(std::string_view bytes) {
  separate();
  quoted_base64(bytes);
  comma_ = true;
}

void JsonWriter::quoted_number(ValueView number) {
  char* const start = reserve(kNumberTextMax + 2);
  char* out = start;
  *out++ = '"';
  out = write_number_text(out, number.number_key());
  *out++ = '"';
  used_ += static_cast<std::size_t>(out - start);
}

void JsonWriter::set_elements(ValueView set) {
  const AttributeType type = set.type();
  put('[');
  bool first = true;
  for (ElementCursor cursor = set.elements(); auto element = cursor.next();) {
    if (!first) put(',');
    first = false;
    if (type == AttributeType::kSs) {
      quoted(element->text());
    } else if (type == AttributeType::kNs) {
      quoted_number(*element);
    } else {
      quoted_base64(element->text());
    }
  }
  put(']');
}

void JsonWriter::value(ValueView value) {
  separate();
  comma_ = false;
  const AttributeType type = value.type();
  put(opening(type));
  switch (type) {
    case AttributeType::kS:
      quoted(value.text());
      break;
    case AttributeType::kN:
      quoted_number(value);
      break;
    case AttributeType::kB:
      quoted_base64(value.text());
      break;
    case AttributeType::kBool:
      put(value.boolean() ? "true" : "false");
      break;
    case AttributeType::kNull:
      put("true");
      break;
    case AttributeType::kSs:
    case AttributeType::kNs:
    case AttributeType::kBs:
      set_elements(value);
      break;
    case AttributeType::kL:
      begin_array();
      for (ElementCursor cursor = value.elements(); auto element = cursor.next();) {
        this->value(*element);
      }
      end_array();
      break;
    case AttributeType::kM:
      begin_object();
      for (AttributeCursor cursor = value.attributes(); auto attribute = cursor.next();) {
        user_key(attribute->name).value(attribute->value);
      }
      end_object();
      break;
  }
  put('}');
  comma_ = true;
}

void JsonWriter::item(ItemView item) {
  begin_object();
  for (AttributeCursor cursor = item.attributes(); auto attribute = cursor.next();) {
    user_key(attribute->name).value(attribute->value);
  }
  end_object();
}

void JsonWriter::value(const AttributeValue& value) {
  separate();
  put(opening(value.type()));
  comma_ = false;
  std::visit(ContentWriter{*this}, value.variant());
  close('}');
}

void JsonWriter::item(const Item& item) {
  entries(item, [&](const AttributeValue& attribute) { value(attribute); });
}

}  // namespace stator::wire
