// SPDX-License-Identifier: Apache-2.0
// Extracts the key of a stored item.
#pragma once

#include <algorithm>
#include <utility>

#include "engine/rows/row_layout.h"

namespace stator {

// Returns the attributes of a stored item that one of the lists names. The elements of a list have
// a `name`.
template <class... Keys>
EncodedItem stored_key(ItemView item, const Keys&... keys) {
  ItemBuilder key;
  for (AttributeCursor cursor = item.attributes(); const auto attribute = cursor.next();) {
    const auto is_named = [&](const auto& element) { return element.name == attribute->name; };
    if ((std::ranges::any_of(keys, is_named) || ...)) key.add(attribute->name, attribute->value);
  }
  return std::move(key).finish();
}
inline EncodedItem stored_key(ItemView item, const KeyShape& shape) {
  return stored_key(item, shape.hash, shape.range);
}

}  // namespace stator
