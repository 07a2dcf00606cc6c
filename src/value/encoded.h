// SPDX-License-Identifier: Apache-2.0
// The binary form of items and values, and views that read it in place. docs/formats/item.md.
//
// The form is canonical: attribute names of maps and elements of sets are sorted and numbers are
// their order-preserving key bytes, so deep equality of two values is equality of their bytes.
// Lifetime: views borrow the bytes. Create views only on bytes that validate_item() accepted, or
// that the functions and the builder of this file produced; then reading cannot fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/value.h"

namespace stator {

using EncodedItem = std::string;  // an item in binary form, version byte first

// One value: its type byte, then the payload.
class ValueView {
 public:
  ValueView() = default;
  explicit ValueView(std::string_view bytes) : bytes_(bytes) {}

  AttributeType type() const;
  std::string_view bytes() const { return bytes_; }  // type byte and payload, exactly

  std::string_view text() const;        // kS and kB: the bytes
  std::string_view number_key() const;  // kN: order-preserving bytes, see value/key.h
  Number number() const;                // kN
  bool boolean() const;                 // kBool

  // Elements of kL, in order; of kSs, kNs, kBs, sorted, each as a value of type kS, kN, kB.
  std::size_t element_count() const;
  std::optional<ValueView> element(std::size_t index) const;  // kL; linear
  class ElementCursor elements() const;

  // Attributes of kM, sorted by name.
  std::size_t attribute_count() const;
  std::optional<ValueView> attribute(std::string_view name) const;
  class AttributeCursor attributes() const;

  bool operator==(const ValueView& other) const { return bytes_ == other.bytes_; }

 private:
  std::string_view bytes_;
};

// Forward-only: `for (ElementCursor c = v.elements(); auto e = c.next();)`.
class ElementCursor {
 public:
  explicit ElementCursor(ValueView collection);
  std::optional<ValueView> next();

 private:
  std::string_view rest_;
};

struct AttributeView {
  std::string_view name;
  ValueView value;
};

class AttributeCursor {
 public:
  explicit AttributeCursor(std::string_view body) : rest_(body) {}
  std::optional<AttributeView> next();

 private:
  std::string_view rest_;
};

class ItemView {
 public:
  explicit ItemView(std::string_view bytes) : bytes_(bytes) {}
  std::string_view bytes() const { return bytes_; }
  std::optional<ValueView> find(std::string_view name) const;  // top level
  AttributeCursor attributes() const;
  std::size_t attribute_count() const;

 private:
  std::string_view bytes_;
};

EncodedItem encode_item(const Item& item);
std::string encode_value(const AttributeValue& value);

// Errors: kCorruption if the bytes are not an item: truncated, unsorted, wrong version, nested too
// deeply.
Result<void> validate_item(std::string_view bytes);
Item decode_item(ItemView item);
AttributeValue decode_value(ValueView value);

// Builds an item from attributes in strictly ascending order of name. In another order, the process
// ends (STATOR_CHECK).
class ItemBuilder {
 public:
  ItemBuilder();
  void add(std::string_view name, ValueView value);
  EncodedItem finish() &&;

 private:
  std::string bytes_;
  std::string last_name_;
  bool empty_ = true;
};

// A page of items in one buffer. append() invalidates the views of all items.
class EncodedItems {
 public:
  void append(std::string_view item);
  std::size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  ItemView operator[](std::size_t index) const;

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

// Size in bytes as DynamoDB counts it: names and values.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
std::size_t item_size_bytes(ItemView item);
std::size_t value_size_bytes(ValueView value);

}  // namespace stator
