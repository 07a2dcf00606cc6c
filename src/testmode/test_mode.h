// SPDX-License-Identifier: Apache-2.0
// TestMode: injects faults into the operations of an engine, by rules. For the tests of
// applications. docs/testing.md.
//
// Repeatable: the fault of a request depends on the seed, the rule, and the number of earlier
// requests that matched the rule. So the same sequence of requests gets the same faults. Lags,
// creation and provisioned throughput depend on the engine's clock instead.
// Thread safety: any thread.
// Lifetime: the engine and the timer must outlive it. No operation may be in progress when it
// starts or is destroyed; responses can be outstanding.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/core/read_lag.h"
#include "engine/engine.h"
#include "testmode/injection.h"
#include "testmode/lagged_views.h"
#include "testmode/provisioned_units.h"
#include "testmode/spec.h"
#include "testmode/targets.h"
#include "testmode/timer.h"

namespace stator::testmode {

class TestMode final : private ReadLag {
 public:
  // The seed is random if the spec has none. Errors: those of replace().
  static Result<std::unique_ptr<TestMode>> start(Engine& engine, Timer& timer, const Spec& spec);
  ~TestMode() override;
  TestMode(const TestMode&) = delete;
  TestMode& operator=(const TestMode&) = delete;

  // Replaces the rules, and resets their counts. Without a seed, the current one remains. Errors:
  // kInvalidArgument, without a change, if a rule has a lag and the store does not support it.
  Result<void> replace(const Spec& spec);
  // {"rules":[{"fault":…,"matched":N,"injected":N},…],"seed":N}
  std::string to_json() const;

  // Returns the faults of a request that is about to run. Removes unprocessed items from a batch.
  template <class Request>
  std::unique_ptr<Injection> on_request(std::string_view operation, Request& request) {
    auto injection = std::make_unique<Injection>();
    injection->timer = &timer_;
    const auto current = plan();
    Target target = target_of(operation, request);
    if (current->counts_units) {
      target.partitions = partitions_of(*tables(), request);
    }
    decide(*current, target, *injection);
    if constexpr (requires { request.items.begin()->second; }) {
      if (!injection->refusal && !injection->withheld_parts.empty()) withhold(request, *injection);
    }
    if constexpr (requires { request.return_capacity; }) {
      if (injection->units) {
        injection->wanted =
            std::exchange(request.return_capacity, ReturnConsumedCapacity::kIndexes);
      }
    }
    return injection;
  }

 private:
  struct ActiveRule {
    Rule rule;
    std::unique_ptr<LaggedViews> views = {};       // of a lag
    std::shared_ptr<ProvisionedUnits> units = {};  // of provisioned throughput
    std::atomic<int64_t> matched = 0;
    std::shared_ptr<std::atomic<uint64_t>> injected = std::make_shared<std::atomic<uint64_t>>(0);

    bool concerns(std::string_view table) const;
    bool concerns(const Target& target) const;
  };
  struct Plan {
    int64_t seed = 0;
    bool counts_units = false;
    std::vector<std::unique_ptr<ActiveRule>> rules = {};
  };

  TestMode(Engine& engine, Timer& timer) : engine_(engine), timer_(timer) {}

  std::shared_ptr<const Plan> plan() const;
  std::shared_ptr<const CatalogSnapshot> tables() const;
  void decide(const Plan& current, const Target& target, Injection& injection) const;
  std::optional<Error> error_of(const Rule& rule, const Target& target, uint64_t bits) const;
  void check_creating(const ActiveRule& active, const Target& target, Injection& injection) const;
  void check_units(const ActiveRule& active, const Target& target, bool is_decided,
                   Injection& injection) const;
  static void withhold(BatchWriteItemRequest& request, Injection& injection);
  static void withhold(BatchGetItemRequest& request, Injection& injection);
  std::optional<Result<void>> read(const Table& table, Of of, ViewBody body) override;

  Engine& engine_;
  Timer& timer_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Plan> plan_;
};

}  // namespace stator::testmode
