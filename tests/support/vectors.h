// SPDX-License-Identifier: Apache-2.0
// Vectors as items store them.
#pragma once

#include <vector>

#include "stator/value.h"

namespace stator::test {

inline List list_of(const std::vector<float>& vector) {
  List list;
  for (const float component : vector) list.emplace_back(Number::from_double(component).value());
  return list;
}

}  // namespace stator::test
