// SPDX-License-Identifier: Apache-2.0
#include "engine/rows/vector_row.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace stator {
namespace {

static_assert(std::endian::native == std::endian::little, "rows hold floats as they are in memory");

constexpr std::size_t kLengthAt = sizeof(uint32_t);
constexpr std::size_t kFiltersAt = kLengthAt + sizeof(float);

void append_float(std::string& bytes, float number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace

std::optional<std::vector<float>> vector_of(ValueView value, std::size_t dimensions) {
  if (value.type() != AttributeType::kL || value.element_count() != dimensions) return std::nullopt;
  std::vector<float> vector;
  vector.reserve(dimensions);
  for (ElementCursor cursor = value.elements(); const auto element = cursor.next();) {
    if (element->type() != AttributeType::kN) return std::nullopt;
    vector.push_back(static_cast<float>(element->number().to_double()));
    if (!std::isfinite(vector.back())) return std::nullopt;
  }
  return vector;
}

std::optional<VectorRow> vector_row(const Hash128& secret, const KeyShape& table,
                                    const VectorShape& shape, ItemView item, uint32_t entry_bytes) {
  const auto value = item.find(shape.attribute);
  if (!value) return std::nullopt;
  const auto vector = vector_of(*value, shape.dimensions);
  if (!vector) return std::nullopt;
  auto key = index_row_key(secret, table, shape.key, item);
  if (!key) return std::nullopt;

  VectorRow row{.key = std::move(*key), .value = {}};
  double squares = 0;
  for (const float component : *vector) squares += double{component} * component;
  append_big_endian(row.value, entry_bytes);
  append_float(row.value, static_cast<float>(std::min<double>(std::sqrt(squares), HUGE_VALF)));
  for (const AttributeDefinition& filter : shape.filters) {
    const auto given = item.find(filter.name);
    const bool usable = given && given->type() == attribute_type(filter.type);
    const Hash128 hash = usable ? filter_hash(secret, decode_value(*given)) : Hash128();
    row.value.append(hash.begin(), hash.end());
  }
  row.value.append(reinterpret_cast<const char*>(vector->data()), vector->size() * sizeof(float));
  row.value += item_row_key(secret, table, item);
  return row;
}

KeyRange vector_range(const Hash128& secret, const VectorShape& shape, const Item& hash) {
  std::string components;
  for (const AttributeDefinition& attribute : shape.key.hash) {
    append_key_component(components, hash.find(attribute.name)->second);
  }
  KeyRange range{.begin = partition_key(secret, shape.key.space, components), .end = {}};
  range.end = prefix_end(range.begin);
  return range;
}

Hash128 filter_hash(const Hash128& secret, const AttributeValue& value) {
  std::string component;
  append_key_component(component, value);
  return hash128(secret, component);
}

Result<VectorRowView> VectorRowView::of(std::string_view value, const VectorShape& shape) {
  const std::size_t vector_at = kFiltersAt + shape.filters.size() * sizeof(Hash128);
  const std::size_t item_key_at = vector_at + shape.dimensions * sizeof(float);
  if (value.size() < item_key_at + kPartitionBytes) {
    return fail(Code::kCorruption, "a row of a vector index is damaged");
  }
  return VectorRowView(value, vector_at, item_key_at);
}

float VectorRowView::length() const {
  float length = 0;
  std::memcpy(&length, value_.data() + kLengthAt, sizeof length);
  return length;
}

std::string_view VectorRowView::filter(std::size_t index) const {
  return value_.substr(kFiltersAt + index * sizeof(Hash128), sizeof(Hash128));
}

uint32_t vector_entry_bytes(std::string_view value) {
  return value.size() < sizeof(uint32_t)
             ? 0
             : static_cast<uint32_t>(read_big_endian(value.substr(0, sizeof(uint32_t))));
}

}  // namespace stator
