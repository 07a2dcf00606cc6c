// SPDX-License-Identifier: Apache-2.0
// Operations whose responses a test gets from a promise. Compiled in one test only, as they take
// seconds.
#pragma once

#include <chrono>
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

// Of an operation that has been run.
inline Result<std::string> answer_of(std::promise<Result<std::string>>& answer) {
  auto given = answer.get_future();
  if (given.wait_for(std::chrono::minutes(1)) == std::future_status::ready) return given.get();
  return fail(Code::kInternalServerError, "no answer");
}

}  // namespace stator::protocol
