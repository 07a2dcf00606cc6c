// SPDX-License-Identifier: Apache-2.0
// Injection: the faults of one request and its response. The owner of the request keeps it until
// the response is complete.
//
// Lifetime: the timer must outlive it. The test mode and the engine need not.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/model/responses.h"
#include "stator/client.h"
#include "testmode/provisioned_units.h"
#include "testmode/timer.h"

namespace stator::testmode {

struct Injection {
  // Returned instead of running the operation.
  std::optional<Error> refusal = {};
  // Replaces the response of a successful operation; then `lost` is incremented.
  std::optional<Error> error_after = {};
  std::shared_ptr<std::atomic<uint64_t>> lost = {};
  // Delay of the response, also of an error, by the timer.
  std::chrono::milliseconds delay{0};
  Timer* timer = nullptr;
  // The writes or keys of a batch that are returned as unprocessed: first their positions, until
  // TestMode::withhold() moves them from the batch to the maps.
  std::vector<bool> withheld_parts = {};  // empty: none
  std::map<std::string, std::vector<WriteRequest>, std::less<>> withheld_writes = {};
  std::map<std::string, KeysAndAttributes, std::less<>> withheld_keys = {};
  bool is_creating = false;  // DescribeTable reports the table as CREATING
  // Counts the capacity that the operation uses, whether or not `wanted` reports it.
  std::shared_ptr<ProvisionedUnits> units = {};
  std::vector<Partition> partitions = {};  // those that the request uses
  bool reads = false;                      // whether the operation uses read units
  std::string table_used = {};             // a failed condition uses one unit of this table
  ReturnConsumedCapacity wanted = ReturnConsumedCapacity::kNone;  // by the client

  // Applies the faults to the result of the operation, once: it moves the unprocessed items.
  template <class Output>
  void amend(Result<Output>& result) {
    if (units) count_units(result);
    if (!result) return;
    if (error_after) {
      ++*lost;
      result = Failure(*error_after);
      return;
    }
    if constexpr (std::is_same_v<Output, BatchWriteItemResult>) {
      for (auto& [table, writes] : withheld_writes) {
        auto& unprocessed = result->unprocessed[table];
        for (WriteRequest& write : writes) unprocessed.push_back(std::move(write));
      }
    } else if constexpr (std::is_same_v<Output, BatchGetItemResponse>) {
      for (auto& [table, keys] : withheld_keys) {
        const auto [at, is_new] = result->unprocessed.try_emplace(table, std::move(keys));
        if (is_new) continue;
        for (Item& key : keys.keys) at->second.keys.push_back(std::move(key));
      }
    } else if constexpr (std::is_same_v<Output, DescribeTableResult>) {
      if (!is_creating) return;
      result->table.status = TableStatus::kCreating;
      for (IndexDescription& index : result->table.global_indexes) {
        index.status = TableStatus::kCreating;
      }
    }
  }

 private:
  template <class Output>
  void count_units(Result<Output>& result) {
    if (!result) {
      if (result.error().code == Code::kConditionalCheckFailed) {
        units->use({.table = table_used, .total = {.units = 1}}, partitions, reads);
      }
      return;
    }
    if constexpr (requires { result->capacity.begin()->total; }) {
      for (ConsumedCapacity& used : result->capacity) count(used);
      if (wanted == ReturnConsumedCapacity::kNone) result->capacity.clear();
    } else if constexpr (requires { result->capacity->total; }) {
      if (!result->capacity) return;
      count(*result->capacity);
      if (wanted == ReturnConsumedCapacity::kNone) result->capacity.reset();
    }
  }
  void count(ConsumedCapacity& used) {
    // A transaction that is repeated with its token uses read units.
    units->use(used, partitions, reads || used.total.read.has_value());
    if (wanted == ReturnConsumedCapacity::kIndexes) return;
    used = {.table = std::move(used.table), .total = used.total};
  }
};

}  // namespace stator::testmode
