// SPDX-License-Identifier: Apache-2.0
// Rows of a vector index: one for each item that is in it. docs/formats/keys.md.
//
// The key is that of an index entry whose key is the HASH element of the search schema: the items
// that one search can find are next to each other. The value is what a search looks at, so that it
// reads nothing else before it knows the nearest items: the vector, hashes of the attributes that
// it can filter by, and the row key of the item.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/rows/row_layout.h"

namespace stator {

// What an index says of its rows.
struct VectorShape {
  KeyShape key;                              // HASH: that of the search schema, or none; no RANGE
  std::vector<AttributeDefinition> filters;  // INLINE_FILTER
  std::string attribute;
  std::size_t dimensions = 0;
};

// The numbers of a list, as floats. Absent: it is no list of that many numbers, or one of them is
// beyond the range of a float.
std::optional<std::vector<float>> vector_of(ValueView value, std::size_t dimensions);

struct VectorRow {
  std::string key;
  std::string value;
};
// `entry_bytes` is what the entry counts in the index's size. Absent: the item is not in the index,
// because it lacks the vector or the HASH attribute, or has one that no write could give it.
std::optional<VectorRow> vector_row(const Hash128& secret, const KeyShape& table,
                                    const VectorShape& shape, ItemView item, uint32_t entry_bytes);

// All rows that a search among the items with this HASH attribute looks at; of an index without
// one, all rows.
KeyRange vector_range(const Hash128& secret, const VectorShape& shape, const Item& hash);

// Stands for the value of a filter in the rows.
Hash128 filter_hash(const Hash128& secret, const AttributeValue& value);

// Views of a row's value, which must live as long.
class VectorRowView {
 public:
  // kCorruption if it is too short to be a row of this shape.
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
// What the entry counts in the index's size; 0 for a value that is too short.
uint32_t vector_entry_bytes(std::string_view value);

}  // namespace stator
