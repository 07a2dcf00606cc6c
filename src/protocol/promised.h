// SPDX-License-Identifier: Apache-2.0
// Operations whose responses a test gets from a promise. Compiled in one test only, as they take
// seconds.
#pragma once

#include <future>
#include <string>
#include <utility>

#include "protocol/operations.h"

namespace stator::protocol {

struct Promised {
  std::promise<Result<std::string>>* answer;
  void operator()(Result<std::string> given) const { answer->set_value(std::move(given)); }
};

extern template class Operations<Promised>;

}  // namespace stator::protocol
