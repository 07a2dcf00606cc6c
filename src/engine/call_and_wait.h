// SPDX-License-Identifier: Apache-2.0
// The blocking form of the Engine operations that take a `done`. Must not be called from a
// callback.
#pragma once

#include <type_traits>
#include <utility>

#include "base/awaited.h"
#include "base/wait_permit.h"
#include "engine/engine.h"

namespace stator {

// Passes the result of a callback to the thread that waits for it.
template <class T>
class Outcome {
 public:
  // Returns the callback, which borrows this object. Call it once.
  Done<T> done() {
    return [this](Result<T>&& result) { result_.set(std::move(result)); };
  }
  Result<T> wait(const Engine& engine) {
    return engine.is_shared() ? result_.take() : result_.take_soon();
  }

 private:
  Awaited<Result<T>> result_;
};

// call_and_wait(engine, &Engine::query, {.table = "Music", ...})
template <class T, class Request>
Result<T> call_and_wait(Engine& engine, void (Engine::*operation)(const Request&, Done<T>),
                        const std::type_identity_t<Request>& request) {
  Outcome<T> outcome;
  {
    const WaitPermit permit(WaitFor::kServer);
    (engine.*operation)(request, outcome.done());
  }
  return outcome.wait(engine);
}

}  // namespace stator
