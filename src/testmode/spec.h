// SPDX-License-Identifier: Apache-2.0
// Spec: the faults that a test mode injects, as rules in JSON. docs/testing.md.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stator/result.h"
#include "stator/value.h"

namespace stator::testmode {

enum class Fault {
  kInternalError,
  kThrottling,
  kTransactionConflict,
  kTransactionInProgress,
  kDelay,
  kUnprocessed,
  kReadLag,
  kIndexLag,
  kCreating,
  kProvisionedThroughput,
};

inline constexpr int64_t kBurstSecondsMax = 300;  // as in DynamoDB

struct Rule {
  Fault fault = Fault::kInternalError;
  std::vector<std::string> operations = {};  // empty: all
  std::vector<std::string> tables = {};      // empty: all, and requests that name none
  // The range of matching requests that get the fault, counted from 1.
  int64_t first = 1;
  int64_t last = std::numeric_limits<int64_t>::max();
  double probability = 1;  // of a fault for each request from `first` to `last`
  bool applied = false;    // kInternalError: the operation runs, only its response is lost
  Code error = Code::kProvisionedThroughputExceeded;  // kThrottling
  std::string limit = {};  // kThrottling: the end of the reason; empty: the one of `error`
  int64_t ms = 0;          // kDelay, the lags, kCreating
  int64_t ms_max = 0;      // kDelay: a time from `ms` to this one
  int64_t burst_seconds = kBurstSecondsMax;  // kProvisionedThroughput: how long unused units stay

  bool operator==(const Rule&) const = default;
};

struct Spec {
  std::optional<int64_t> seed = {};
  std::vector<Rule> rules = {};

  bool operator==(const Spec&) const = default;
};

inline constexpr std::size_t kSpecBytesMax = 64UL << 10;
inline constexpr std::size_t kRulesMax = 100;

// `operations`: the names of operations that rules can contain. Errors: kInvalidArgument with one
// line that names the member, also for unknown members and above the limits.
Result<Spec> parse_spec(std::string_view json, std::span<const std::string_view> operations);

// Whether it is an operation on items.
bool is_data_operation(std::string_view name);

// The rule as a member of `rules`, with the operations that it applies to.
Item to_item(const Rule& rule);

}  // namespace stator::testmode
