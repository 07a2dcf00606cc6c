// SPDX-License-Identifier: Apache-2.0
#include "engine/rows/row_layout.h"

#include <algorithm>

namespace stator {
namespace {

// Returns false if an attribute is absent or does not have the schema's type.
template <class Source>
bool append_components(std::string& key, const std::vector<AttributeDefinition>& attributes,
                       const Source& source) {
  return std::ranges::all_of(attributes, [&](const AttributeDefinition& attribute) {
    const auto value = find_attribute(source, attribute.name);
    if (!value || value->type() != attribute_type(attribute.type)) return false;
    append_key_component(key, *value);
    return true;
  });
}

std::size_t text_bytes(const AttributeValue& value) {
  if (const auto* text = value.get_if<std::string>()) return text->size();
  return value.get_if<Binary>()->bytes.size();
}

std::size_t text_bytes(ValueView value) {
  return value.text().size();
}

// Like append_components(), for unchecked attributes.
template <class Source>
bool append_index_components(std::string& key, const std::vector<AttributeDefinition>& attributes,
                             const Source& source, std::size_t bytes_max) {
  std::size_t bytes = 0;
  return std::ranges::all_of(attributes, [&](const AttributeDefinition& attribute) {
    const auto value = find_attribute(source, attribute.name);
    if (!value || value->type() != attribute_type(attribute.type)) return false;
    if (attribute.type != ScalarType::kN) {
      const std::size_t size = text_bytes(*value);
      bytes += size;
      if (size == 0 || bytes > bytes_max) return false;
    }
    append_key_component(key, *value);
    return true;
  });
}

template <class Source>
std::string item_row_key_of(const Hash128& secret, const KeyShape& table, const Source& source) {
  std::string components;
  append_components(components, table.hash, source);
  std::string key = partition_key(secret, table.space, components);
  append_components(key, table.range, source);
  return key;
}

template <class Source>
std::optional<std::string> index_row_prefix_of(const Hash128& secret, const KeyShape& index,
                                               const Source& source) {
  std::string components;
  if (!append_index_components(components, index.hash, source, kHashKeyBytesMax)) {
    return std::nullopt;
  }
  std::string key = partition_key(secret, index.space, components);
  if (!append_index_components(key, index.range, source, kRangeKeyBytesMax)) return std::nullopt;
  return key;
}

template <class Source>
std::optional<Hash128> tie_breaker_of(const Hash128& secret, const KeyShape& table,
                                      const Source& source) {
  std::string components;
  if (!append_components(components, table.hash, source)) return std::nullopt;
  if (!append_components(components, table.range, source)) return std::nullopt;
  return hash128(secret, components);
}

template <class Source>
std::optional<std::string> index_row_key_of(const Hash128& secret, const KeyShape& table,
                                            const KeyShape& index, const Source& source) {
  auto key = index_row_prefix_of(secret, index, source);
  if (!key) return std::nullopt;
  const auto tie_breaker = tie_breaker_of(secret, table, source);
  if (!tie_breaker) return std::nullopt;
  key->append(tie_breaker->begin(), tie_breaker->end());
  return key;
}

// Stored items lie far apart in memory. Requests all lines of one at once, because parsing would
// wait for one after the other.
void prefetch(ItemView item) {
  constexpr std::size_t kLineBytes = 64;
  constexpr std::size_t kBytesMax = 2048;
  const std::string_view row = item.bytes().substr(0, kBytesMax);
  for (std::size_t at = 0; at < row.size(); at += kLineBytes) __builtin_prefetch(row.data() + at);
}

}  // namespace

void append_field(std::string& bytes, std::string_view field) {
  append_big_endian(bytes, static_cast<uint64_t>(field.size()));
  bytes += field;
}

KeyRange space_range(SpaceId space) {
  KeyRange range;
  append_big_endian(range.begin, space);
  range.end = prefix_end(range.begin);
  return range;
}

KeyRange segment_range(SpaceId space, uint64_t segment, uint64_t total_segments) {
  KeyRange range = space_range(space);
  const std::string prefix = range.begin;
  // floor(segment * 2^64 / total): the first 64 bits of the lowest hash of the segment.
  __extension__ using Wide = unsigned __int128;
  const auto boundary = [&](uint64_t index) {
    std::string key = prefix;
    append_big_endian(key, static_cast<uint64_t>((Wide{index} << 64) / total_segments));
    return key;
  };
  if (segment > 0) range.begin = boundary(segment);
  if (segment + 1 < total_segments) range.end = boundary(segment + 1);
  return range;
}

std::string partition_key(const Hash128& secret, SpaceId space, std::string_view components) {
  std::string key;
  key.reserve(64);
  append_big_endian(key, space);
  const Hash128 hash = hash128(secret, components);
  key.append(hash.begin(), hash.end());
  return key;
}

std::string item_row_key(const Hash128& secret, const KeyShape& table, const Item& key) {
  return item_row_key_of(secret, table, key);
}

std::string item_row_key(const Hash128& secret, const KeyShape& table, ItemView item) {
  return item_row_key_of(secret, table, item);
}

std::optional<std::string> index_row_key(const Hash128& secret, const KeyShape& table,
                                         const KeyShape& index, const Item& key) {
  return index_row_key_of(secret, table, index, key);
}

std::optional<std::string> index_row_key(const Hash128& secret, const KeyShape& table,
                                         const KeyShape& index, ItemView item) {
  return index_row_key_of(secret, table, index, item);
}

std::optional<std::string> index_row_prefix(const Hash128& secret, const KeyShape& index,
                                            ItemView item) {
  return index_row_prefix_of(secret, index, item);
}

std::optional<Hash128> tie_breaker(const Hash128& secret, const KeyShape& table, ItemView item) {
  return tie_breaker_of(secret, table, item);
}

bool same_key_value(const std::optional<ValueView>& stored, const AttributeValue& wanted) {
  if (!stored || stored->type() != wanted.type()) return false;
  if (const auto* text = wanted.get_if<std::string>()) return stored->text() == *text;
  if (const auto* binary = wanted.get_if<Binary>()) return stored->text() == binary->bytes;
  if (const auto* number = wanted.get_if<Number>()) {
    return stored->number_key() == number_key(*number);
  }
  return false;
}

bool has_partition(ItemView item, const KeyShape& shape, const Item& key) {
  prefetch(item);
  return std::ranges::all_of(shape.hash, [&](const AttributeDefinition& attribute) {
    const auto wanted = key.find(attribute.name);
    return wanted != key.end() && same_key_value(item.find(attribute.name), wanted->second);
  });
}

// Both have their attributes in the order of the names.
std::optional<std::size_t> size_in_partition(ItemView item, const Item& hash) {
  prefetch(item);
  std::size_t bytes = 0;
  auto wanted = hash.begin();
  for (AttributeCursor cursor = item.attributes(); const auto attribute = cursor.next();) {
    bytes += attribute->name.size() + value_size_bytes(attribute->value);
    if (wanted == hash.end() || attribute->name != wanted->first) continue;
    if (!same_key_value(attribute->value, wanted->second)) return std::nullopt;
    ++wanted;
  }
  return wanted == hash.end() ? std::optional(bytes) : std::nullopt;
}

}  // namespace stator
