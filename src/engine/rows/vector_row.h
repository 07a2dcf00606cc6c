// SPDX-License-Identifier: Apache-2.0
// Rows of a vector index, one for each item in it. docs/formats/keys.md.
//
// The key is that of an index entry whose key is the HASH element of the search schema, so the rows
// that one search examines are adjacent. The value contains everything that a search needs before
// it knows the nearest items: the vector, hashes of the attributes for filters, and the item's row
// key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/rows/row_layout.h"

namespace stator {

// The definition of an index, as far as its rows depend on it.
struct VectorShape {
  KeyShape key;                              // HASH: that of the search schema, or none; no RANGE
  std::vector<AttributeDefinition> filters;  // INLINE_FILTER
  std::string attribute;
  std::size_t dimensions = 0;
};

// The numbers of a list, as floats. Absent if the value is not a list of `dimensions` numbers, or a
// number is out of the range of a float.
std::optional<std::vector<float>> vector_of(ValueView value, std::size_t dimensions);

struct VectorRow {
  std::string key;
  std::string value;
};
// `entry_bytes` is the size of the entry in the size of the index. Absent if the item is not in the
// index, because the vector or the HASH attribute is missing or invalid.
std::optional<VectorRow> vector_row(const Hash128& secret, const KeyShape& table,
                                    const VectorShape& shape, ItemView item, uint32_t entry_bytes);

// The rows that a search with this HASH attribute examines; all rows of an index without one.
KeyRange vector_range(const Hash128& secret, const VectorShape& shape, const Item& hash);

// The hash that represents the value of a filter in the rows.
Hash128 filter_hash(const Hash128& secret, const AttributeValue& value);

// A view of a row's value, which it borrows.
class VectorRowView {
 public:
  // Errors: kCorruption if the value is too short for this shape.
  static Result<VectorRowView> of(std::string_view value, const VectorShape& shape);

  // The Euclidean length of the vector.
  float length() const;
  std::string_view filter(std::size_t index) const;
  const char* vector() const { return value_.data() + vector_at_; }  // not aligned
  std::string_view item_key() const { return value_.substr(item_key_at_); }

 private:
  VectorRowView(std::string_view value, std::size_t vector_at, std::size_t item_key_at)
      : value_(value), vector_at_(vector_at), item_key_at_(item_key_at) {}

  std::string_view value_;
  std::size_t vector_at_;
  std::size_t item_key_at_;
};
// The size of the entry in the size of the index; 0 for a value that is too short.
uint32_t vector_entry_bytes(std::string_view value);

}  // namespace stator
