// SPDX-License-Identifier: Apache-2.0
// TestEngine: the engine of a test. If STATOR_TEST_BACKEND is "pair", it consists of two engines on
// one SharedBackend, like two processes; if it is "postgres", on one schema of PostgreSQL
// (tests/postgres/postgres_pair.cc). Each use of the pointer selects one of them at random. So a
// test can create a table with one engine and use it at once with the other.
//
// Thread safety: any thread, except opening and reset().
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <utility>

#include "engine/engine.h"
#include "support/from_environment.h"
#include "support/must.h"
#include "support/shared_store.h"

namespace stator::test {

inline bool tests_run_on_a_pair() {
  return std::getenv("STATOR_TEST_BACKEND") != nullptr;
}

// The store resolves each of these, so no request fails because of them.
inline constexpr SharedFaults kPairFaults{
    .conflicts = 50, .lost_replies = 50, .late = 50, .outages = 0, .slow = 5};

// Opens a store of one process on the backend that it owns.
using OpenStore = std::function<std::unique_ptr<TransactStore>(uint32_t seed)>;
// Creates an empty backend. Set by tests/postgres/postgres_pair.cc; otherwise on_shared_backend().
inline OpenStore (*make_pair_backend)(uint32_t seed) = nullptr;

inline OpenStore on_shared_backend(uint32_t backend_seed) {
  const auto backend = std::make_shared<SharedBackend>(backend_seed, kPairFaults);
  return [backend](uint32_t seed) { return std::make_unique<SharedStore>(*backend, seed); };
}

class TestEngine {
 public:
  TestEngine() = default;
  TestEngine(const TestEngine&) = delete;
  TestEngine& operator=(const TestEngine&) = delete;
  TestEngine& operator=(std::unique_ptr<Engine> engine) {
    reset();
    engines_[0] = std::move(engine);
    return *this;
  }
  ~TestEngine() { reset(); }

  // Opens both engines on an empty backend.
  void open_pair(const EngineOptions& options) {
    reset();
    const auto make = make_pair_backend != nullptr ? make_pair_backend : &on_shared_backend;
    open_store_ = make(static_cast<uint32_t>(seed_));
    reopen_pair(options);
  }
  // Stops and starts both engines, like processes.
  void reopen_pair(const EngineOptions& options) {
    reset();
    for (std::size_t i = 0; i < engines_.size(); ++i) {
      const auto seed = static_cast<uint32_t>(seed_ + 1 + i);
      engines_[i] = must_soon([&] { return Engine::open(open_store_(seed), options); });
    }
  }
  // Opens a pair's backend without an engine. Call after reset().
  std::unique_ptr<TransactStore> open_backend() const {
    return open_store_(static_cast<uint32_t>(seed_));
  }
  // Stops the engines, but keeps the backend for reopen_pair() and open_backend().
  void reset() {
    for (auto& engine : engines_) engine.reset();
  }

  Engine* operator->() const { return &**this; }
  Engine& operator*() const {
    if (!engines_[1]) return *engines_[0];
    // With the same seed, the calls of one thread select the same engines in each run.
    std::mt19937 random(static_cast<uint32_t>(seed_ + calls_.fetch_add(1)));
    return *engines_[random() % 2];
  }
  // Visits each engine of a pair, or the only engine.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& engine : engines_) {
      if (engine) visit(*engine);
    }
  }
  uint64_t seed() const { return seed_; }

 private:
  const uint64_t seed_ = number_from_environment("STATOR_SEED", std::random_device{}());
  mutable std::atomic<uint64_t> calls_ = 0;
  OpenStore open_store_;  // empty for one engine
  std::array<std::unique_ptr<Engine>, 2> engines_;
};

}  // namespace stator::test
