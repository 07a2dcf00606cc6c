// SPDX-License-Identifier: Apache-2.0
// Sizes as DynamoDB counts them: see docs/formats/item.md.
#include "value/encoded.h"
#include "value/key.h"

namespace stator {
namespace {

constexpr std::size_t kCollectionOverhead = 3;  // of a list or map; each element adds 1

// One byte, plus one for each pair of digits (pairs begin at even decimal places) and one for a
// minus sign.
std::size_t number_size_bytes(std::string_view key) {
  const NumberPlaces places = number_key_places(key);
  if (places.first < places.last) return 1;
  const int pairs = (places.first >> 1) - (places.last >> 1) + 1;
  return 1 + static_cast<std::size_t>(pairs) + (places.negative ? 1 : 0);
}

std::size_t attributes_size_bytes(AttributeCursor cursor, std::size_t overhead) {
  std::size_t size = 0;
  while (auto attribute = cursor.next()) {
    size += overhead + attribute->name.size() + value_size_bytes(attribute->value);
  }
  return size;
}

std::size_t elements_size_bytes(ElementCursor cursor, std::size_t overhead) {
  std::size_t size = 0;
  while (auto element = cursor.next()) size += overhead + value_size_bytes(*element);
  return size;
}

}  // namespace

std::size_t item_size_bytes(ItemView item) {
  return attributes_size_bytes(item.attributes(), 0);
}

std::size_t value_size_bytes(ValueView value) {
  switch (value.type()) {
    case AttributeType::kS:
    case AttributeType::kB:
      return value.text().size();
    case AttributeType::kN:
      return number_size_bytes(value.number_key());
    case AttributeType::kBool:
    case AttributeType::kNull:
      return 1;
    case AttributeType::kSs:
    case AttributeType::kNs:
    case AttributeType::kBs:
      return elements_size_bytes(value.elements(), 0);
    case AttributeType::kL:
      return kCollectionOverhead + elements_size_bytes(value.elements(), 1);
    case AttributeType::kM:
      return kCollectionOverhead + attributes_size_bytes(value.attributes(), 1);
  }
  return 0;
}

}  // namespace stator
