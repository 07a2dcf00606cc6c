// SPDX-License-Identifier: Apache-2.0
// Row keys of items and index entries. docs/formats/keys.md.
//
// A keyspace (`space` in names) contains the rows of a table or an index. Its id is never reused. A
// row key consists of that id (4 bytes, big endian), a keyed hash of the partition key's components
// (16 bytes), and the sort part:
//   item         the table's sort key, if it has one
//   index entry  the index's sort keys, then a keyed hash of the table's key (16 bytes), which
//                distinguishes entries with equal index keys
// Every component is self-delimiting, so bytewise order is DynamoDB's order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/big_endian.h"
#include "stator/requests.h"
#include "storage/transact_store.h"
#include "value/encoded.h"
#include "value/key.h"

namespace stator {

using SpaceId = uint32_t;
inline constexpr SpaceId kCatalogSpace = 0;
inline constexpr SpaceId kTokenSpace = 1;
inline constexpr SpaceId kTokenExpirySpace = 2;
inline constexpr SpaceId kFirstTableSpace = 16;

// Maximum bytes of the HASH and of the RANGE attributes of a key.
inline constexpr std::size_t kHashKeyBytesMax = 2048;
inline constexpr std::size_t kRangeKeyBytesMax = 1024;
// Maximum bytes of a row key. The longest is an index entry whose sort keys are a string of zero
// bytes, each stored as two, with its terminator, and three numbers of 21 bytes.
inline constexpr std::size_t kRowKeyBytesMax =
    kPartitionBytes + (2 * kRangeKeyBytesMax + 2) + 3 * std::size_t{21} + sizeof(Hash128);
static_assert(kRowKeyBytesMax < 2704, "PostgreSQL's limit for a row of an index");

// The key attributes of a table or an index, and the keyspace of its rows.
struct KeyShape {
  SpaceId space = 0;
  std::vector<AttributeDefinition> hash;
  std::vector<AttributeDefinition> range;
};

// The attribute at the top level. nullptr or no value if the item does not have it.
inline const AttributeValue* find_attribute(const Item& item, std::string_view name) {
  const auto found = item.find(name);
  return found == item.end() ? nullptr : &found->second;
}
inline std::optional<ValueView> find_attribute(ItemView item, std::string_view name) {
  return item.find(name);
}

// The length in eight bytes, then the bytes.
void append_field(std::string& bytes, std::string_view field);

// All rows of a keyspace.
KeyRange space_range(SpaceId space);
// The rows of one segment of a parallel scan. It depends only on the arguments, so the segments are
// disjoint and complete even if rows are written between two pages.
KeyRange segment_range(SpaceId space, uint64_t segment, uint64_t total_segments);

// The first kPartitionBytes of a row key; `components` are the encoded HASH values.
std::string partition_key(const Hash128& secret, SpaceId space, std::string_view components);

// The row key of an item. Its key attributes must be present and have the schema's types.
std::string item_row_key(const Hash128& secret, const KeyShape& table, const Item& key);
std::string item_row_key(const Hash128& secret, const KeyShape& table, ItemView item);

// The row key of an item's entry in an index. Absent if the item lacks a key attribute of the
// index, or has an invalid one: of another type, empty or too long. Only items that are older than
// the index can have invalid ones.
std::optional<std::string> index_row_key(const Hash128& secret, const KeyShape& table,
                                         const KeyShape& index, const Item& key);
std::optional<std::string> index_row_key(const Hash128& secret, const KeyShape& table,
                                         const KeyShape& index, ItemView item);

// The two parts of an index_row_key(): the prefix, and the tie-breaker, which is the same for every
// image of an item and in every index. The tie-breaker is absent if the item lacks the table's key.
std::optional<std::string> index_row_prefix(const Hash128& secret, const KeyShape& index,
                                            ItemView item);
std::optional<Hash128> tie_breaker(const Hash128& secret, const KeyShape& table, ItemView item);

// Whether a stored key attribute is equal to a requested one.
bool same_key_value(const std::optional<ValueView>& stored, const AttributeValue& wanted);
// Whether the HASH attributes of a stored item are the requested ones. Keys with the same hash
// share a partition, so compare them after reading. The sort part of a row key is exact.
bool has_partition(ItemView item, const KeyShape& shape, const Item& key);
// item_size_bytes() of a stored item; absent if it does not have the attributes of `hash`, the
// requested partition key. In one pass, because a page has many items.
std::optional<std::size_t> size_in_partition(ItemView item, const Item& hash);

}  // namespace stator
