// SPDX-License-Identifier: Apache-2.0
// Operations whose responses a test gets from a promise. Only one test instantiates the template,
// which takes seconds to compile.
#pragma once

#include <chrono>
#include <future>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/operations.h"

namespace stator::protocol {

struct Promised {
  std::promise<Result<std::string>>* response;
  void operator()(Result<std::string> given) const { response->set_value(std::move(given)); }
};

extern template class Operations<Promised>;

// Runs an operation by its name and waits for the response.
inline Result<std::string> ask(Engine& engine, std::string_view name, std::string_view json) {
  const auto run = Operations<Promised>::find(name);
  if (run == nullptr) return fail(Code::kUnknownOperation, "");
  std::promise<Result<std::string>> response;
  auto given = response.get_future();
  run({.engine = engine, .waiting = nullptr}, json, {&response});
  if (given.wait_for(std::chrono::minutes(1)) == std::future_status::ready) return given.get();
  return fail(Code::kInternalServerError, "no response");
}

}  // namespace stator::protocol
