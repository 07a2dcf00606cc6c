// SPDX-License-Identifier: Apache-2.0
// JsonWriter: writes JSON to one growing buffer and inserts commas.
// write_document: writes a document that is one object.
//
// Calls must nest as JSON does. Text must be UTF-8; it is escaped, not checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "stator/value.h"
#include "value/encoded.h"

namespace stator::wire {

class JsonWriter {
 public:
  static constexpr std::size_t kSizeHint = 256;
  explicit JsonWriter(std::size_t size_hint = kSizeHint);

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  // The name of a member of the API, which needs no escaping. Its value comes next.
  JsonWriter& key(std::string_view name);
  // A name chosen by a user, which is escaped.
  JsonWriter& user_key(std::string_view name);

  void text(std::string_view value);
  void boolean(bool value) { value_text(value ? "true" : "false"); }
  void integer(int64_t value);
  void real(double value);        // always with a point or an exponent
  void seconds(int64_t unix_ms);  // Unix time in seconds, to the millisecond
  void null() { value_text("null"); }

  // DynamoDB JSON.
  void value(const AttributeValue& value);
  void value(ValueView value);
  void item(const Item& item);
  void item(ItemView item);

  // Plain JSON values, without type names.
  void number(const Number& number);
  void base64(std::string_view bytes);

  // An object with the members that write() adds.
  template <class F>
  void object(F write) {
    begin_object();
    write();
    end_object();
  }
  // An array of the values that write(element) adds, one for each element.
  template <class Range, class F>
  void array(const Range& elements, F write) {
    begin_array();
    for (const auto& element : elements) write(element);
    end_array();
  }
  // An object with an entry for each entry of a map. A user chose its names; write(entry) adds the
  // value.
  template <class Map, class F>
  void entries(const Map& map, F write) {
    begin_object();
    for (const auto& [name, entry] : map) {
      user_key(name);
      write(entry);
    }
    end_object();
  }
  // An array of objects with the members that write(element) adds.
  template <class Range, class F>
  void objects(const Range& elements, F write) {
    array(elements, [&](const auto& element) { object([&] { write(element); }); });
  }

  std::string finish() &&;

 private:
  // Returns space for `count` more bytes, valid until the next call.
  char* reserve(std::size_t count) {
    if (buffer_.size() - used_ < count) grow(count);
    return buffer_.data() + used_;
  }
  void grow(std::size_t count);
  void put(char c) { *reserve(1) = c, ++used_; }
  void put(std::string_view raw) { used_ += raw.copy(reserve(raw.size()), raw.size()); }
  void separate() {
    if (comma_) put(',');
  }
  void open(char bracket) {
    separate();
    put(bracket);
    comma_ = false;
  }
  void close(char bracket) {
    put(bracket);
    comma_ = true;
  }
  void value_text(std::string_view raw) {
    separate();
    put(raw);
    comma_ = true;
  }
  void quoted(std::string_view value);
  void quoted_base64(std::string_view bytes);
  void quoted_number(ValueView number);
  void set_elements(ValueView set);

  std::string buffer_;  // its size is the allocated space; used_ bytes are written
  std::size_t used_ = 0;
  bool comma_ = false;  // whether a comma must come before the next value or name
};

// Returns an object with the members that write(json) adds.
template <class F>
std::string write_document(std::size_t size_hint, F write) {
  JsonWriter json(size_hint);
  json.object([&] { write(json); });
  return std::move(json).finish();
}
template <class F>
std::string write_document(F write) {
  return write_document(JsonWriter::kSizeHint, write);
}

}  // namespace stator::wire
