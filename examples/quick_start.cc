// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "stator/database.h"

int main() {
  auto db = stator::Database::open({.path = "data"});  // without a path: in memory
  if (!db) return std::cerr << db.error().message << '\n', 1;
  (void)db->create_table({.table = "Toggles",
                          .attributes = {{"pk", stator::ScalarType::kS}},
                          .key_schema = {{"pk", stator::KeyType::kHash}},
                          .billing_mode = stator::BillingMode::kPayPerRequest});

  auto put = db->put_item({.table = "Toggles",
                           .item = {{"pk", "123"}, {"on", true}},
                           .condition = "attribute_not_exists(pk)"});
  if (!put) std::cout << stator::code_name(put.error().code) << '\n';  // on the second run

  auto got = db->get_item({.table = "Toggles", .key = {{"pk", "123"}}});
  if (got && got->item) std::cout << to_debug_string(*got->item) << '\n';
}
