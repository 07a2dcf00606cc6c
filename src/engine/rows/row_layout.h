// SPDX-License-Identifier: Apache-2.0
// Row keys: where items and index entries are in the store. docs/formats/keys.md.
//
// A space is a table or an index; its id is never reused. A row key is the space (4 bytes, big
// endian), a keyed hash of the partition key's components (16 bytes), then the sort part:
//   item         the table's sort key, if it has one
//   index entry  the index's sort keys, then a keyed hash of the table's key (16 bytes), which
//                tells apart entries with equal index keys
// Every component is self-delimiting, so the bytes order as DynamoDB orders.
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

// Most bytes of a key's HASH and of its RANGE attributes.
inline constexpr std::size_t kHashKeyBytesMax = 2048;
inline constexpr std::size_t kRangeKeyBytesMax = 1024;
// Most bytes of a row key of any kind. An index entry is the longest: its sort keys can be a text
// of zero bytes, each stored as two, with its terminator, and three numbers of 21 bytes.
inline constexpr std::size_t kRowKeyBytesMax =
    kPartitionBytes + (2 * kRangeKeyBytesMax + 2) + 3 * std::size_t{21} + sizeof(Hash128);
static_assert(kRowKeyBytesMax < 2704, "PostgreSQL's limit for a row of an index");

// The key attributes of a table or an index, and the space that its rows are in.
struct KeyShape {
  SpaceId space = 0;
  std::vector<AttributeDefinition> hash;
  std::vector<AttributeDefinition> range;
};

AttributeType attribute_type(ScalarType type);

// The length in eight bytes, then the bytes.
void append_field(std::string& bytes, std::string_view field);

// All rows of a space.
KeyRange space_range(SpaceId space);
// The rows of one segment of a parallel scan. Depends on nothing but its arguments, so that the
// segments stay disjoint and complete whatever is written between two pages.
KeyRange segment_range(SpaceId space, uint64_t segment, uint64_t total_segments);

// The first kPartitionBytes of a row key; `components` are the encoded HASH values.
std::string partition_key(const Hash128& secret, SpaceId space, std::string_view components);

// The key of an item, whose key attributes must be present and of the schema's types.
std::string item_row_key(const Hash128& secret, const KeyShape& table, const Item& key);
std::string item_row_key(const Hash128& secret, const KeyShape& table, ItemView item);

// The key of an item's entry in an index; absent where the item lacks one of the index's keys, or
// has one that no write could give it, as an older item may in a new index: of another type, empty
// or too long.
std::optional<std::string> index_row_key(const Hash128& secret, const KeyShape& table,
                                         const KeyShape& index, const Item& key);
std::optional<std::string> index_row_key(const Hash128& secret, const KeyShape& table,
                                         const KeyShape& index, ItemView item);

// The two parts of an index_row_key: all of it but the tie-breaker, and the tie-breaker, which is
// the same for every image of an item and in every index. It is absent if the item lacks the
// table's key.
std::optional<std::string> index_row_prefix(const Hash128& secret, const KeyShape& index,
                                            ItemView item);
std::optional<Hash128> tie_breaker(const Hash128& secret, const KeyShape& table, ItemView item);

// Equality of a stored key attribute and one that was asked for.
bool same_key_value(const std::optional<ValueView>& stored, const AttributeValue& wanted);
// Whether the HASH attributes are those asked for: two keys may share a hash, and then they share
// a partition. The sort part of a row key is exact.
bool has_partition(ItemView item, const KeyShape& shape, const Item& key);

}  // namespace stator
