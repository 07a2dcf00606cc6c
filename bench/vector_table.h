// SPDX-License-Identifier: Apache-2.0
// The table of the benchmarks of vector searches.
#pragma once

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

}  // namespace stator::bench
