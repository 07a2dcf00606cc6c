// SPDX-License-Identifier: Apache-2.0
// The table of the benchmarks of vector searches.
#pragma once

#include <span>

#include "stator/client.h"

namespace stator::bench {

// The table "Vectors", with an index "near" of the attribute "vector".
inline CreateTableRequest vector_table(int64_t dimensions, VectorDistanceFunction function) {
  return {.table = "Vectors",
          .attributes = {{"pk", ScalarType::kN}},
          .key_schema = {{"pk", KeyType::kHash}},
          .billing_mode = BillingMode::kPayPerRequest,
          .vector_indexes = {{{.name = "near",
                               .vector_attribute = "vector",
                               .projection = {.type = ProjectionType::kKeysOnly},
                               .dimensions = dimensions,
                               .distance_function = function}}}};
}

inline List list_of(std::span<const float> vector) {
  List list;
  for (const float component : vector) list.emplace_back(Number::from_double(component).value());
  return list;
}

}  // namespace stator::bench
