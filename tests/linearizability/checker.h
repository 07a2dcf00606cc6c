// SPDX-License-Identifier: Apache-2.0
// Decides whether a history of concurrent operations on items is linearizable: whether each
// operation can be given one moment between its call and its return such that, one after the other
// in that order, they answer what was answered.
//
// After Wing & Gong, "Testing and verifying concurrent objects" (1993), with Lowe's memoisation of
// what has been placed and the state it leads to ("Testing for linearizability", 2017). Items that
// no operation joins are checked apart, since linearizability is local.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace stator::test {

// An item is its key and this one number; absent: there is no such item.
using Value = std::optional<int64_t>;

// What an operation does to one item. A read, or a condition check, leaves it as it is.
struct Action {
  enum class Kind { kRead, kPut, kAdd, kErase };

  std::string key;
  Kind kind = Kind::kRead;
  int64_t operand = 0;                 // of kPut and kAdd; an absent item counts from 0
  std::optional<Value> expected = {};  // the condition: what the item must hold before
  // What the answer told of it.
  std::optional<Value> before = {};
  std::optional<Value> after = {};
  bool condition_failed = false;
};

enum class Outcome {
  kApplied,  // every condition held, every action took effect at once
  kRefused,  // the conditions marked as failed did not hold, and nothing changed
  kUnknown,  // one of the two, or it was never executed
};

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// Times are of one monotonic clock. An operation of unknown outcome returned when it could no
// longer take effect: when the process that had it was dead, or never.
struct Operation {
  int64_t called_ns = 0;
  int64_t returned_ns = kNever;
  Outcome outcome = Outcome::kApplied;
  std::vector<Action> actions = {};  // at most one a key
};

struct Verdict {
  enum class Kind { kLinearizable, kViolated, kUndecided };
  Kind kind = Kind::kLinearizable;
  std::string explanation = {};  // the items' history, marked with how far an order was found
};

// Every item is absent before the history. kUndecided once `configurations_max` states of one group
// of items were looked at.
Verdict check_linearizable(const std::vector<Operation>& history,
                           std::size_t configurations_max = 2'000'000);

std::string to_string(const Operation& operation);

}  // namespace stator::test
