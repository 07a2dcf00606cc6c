// SPDX-License-Identifier: Apache-2.0
// Decides whether a history of concurrent operations on items is linearizable. Each operation must
// have a point in time between its call and its return. The order of these points must explain
// every response.
//
// Follows Wing & Gong, "Testing and verifying concurrent objects" (1993), with Lowe's memoization
// of placed operations and states ("Testing for linearizability", 2017). Items that no operation
// connects are checked separately, because linearizability is a local property.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace stator::test {

// An item is its key and one number. Absent: the item does not exist.
using Value = std::optional<int64_t>;

// The effect of an operation on one item. A read or a condition check does not change it.
struct Action {
  enum class Kind { kRead, kPut, kAdd, kErase };

  std::string key;
  Kind kind = Kind::kRead;
  int64_t operand = 0;                 // of kPut and kAdd; an absent item counts from 0
  std::optional<Value> expected = {};  // the condition: the value of the item before
  // Values in the response.
  std::optional<Value> before = {};
  std::optional<Value> after = {};
  bool condition_failed = false;
};

enum class Outcome {
  kApplied,  // every condition was true, and all actions took effect atomically
  kRefused,  // the conditions marked as failed did not hold, and nothing changed
  kUnknown,  // applied, rejected, or never executed
};

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Times are of one monotonic clock. An operation with an unknown outcome returns when it can no
// longer take effect: when its process was dead, or never.
struct Operation {
  int64_t called_ns = 0;
  int64_t returned_ns = kNever;
  Outcome outcome = Outcome::kApplied;
  std::vector<Action> actions = {};  // at most one per key
};

struct Verdict {
  enum class Kind { kLinearizable, kViolated, kUndecided };
  Kind kind = Kind::kLinearizable;
  std::string explanation = {};  // the items' history, marked up to where an order was found
};

// Every item is absent before the history. The verdict is kUndecided after `configurations_max`
// states of one group of items.
Verdict check_linearizable(const std::vector<Operation>& history,
                           std::size_t configurations_max = 2'000'000);

std::string to_string(const Operation& operation);

}  // namespace stator::test
