// SPDX-License-Identifier: Apache-2.0
// Rates of operations, measured in turns so that a noisy machine disturbs all contenders alike.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace stator::bench {

// One operation of one thread; false ends the run with an error.
using Operation = std::function<bool(uint64_t sequence)>;
// Makes the operation of thread `index`; called before the clock starts.
using OperationFactory = std::function<Operation(int index)>;

struct Contender {
  std::string name;
  OperationFactory make;
};

struct Contest {
  std::string title;
  int threads = 1;
  std::vector<Contender> contenders;  // the first one is what the others are compared with
};

struct Plan {
  int turns = 3;  // of each contender; the median counts
  std::chrono::milliseconds turn{1000};
};

// Runs the contest and prints a line a contender: operations a second, p50 and p99 in
// microseconds, and the ratio to the first. False where an operation failed.
bool run_contest(const Contest& contest, const Plan& plan);

}  // namespace stator::bench
