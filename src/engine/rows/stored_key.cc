// SPDX-License-Identifier: Apache-2.0
#include "engine/rows/stored_key.h"

namespace stator {

void add_key(const KeyShape& shape, ItemView item, Item& key) {
  for (const auto* attributes : {&shape.hash, &shape.range}) {
    for (const AttributeDefinition& attribute : *attributes) {
      if (const auto value = item.find(attribute.name)) {
        key.emplace(attribute.name, decode_value(*value));
      }
    }
  }
}

}  // namespace stator
