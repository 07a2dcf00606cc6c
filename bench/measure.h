// SPDX-License-Identifier: Apache-2.0
// Rates and latencies of operations, measured in turns so that noise affects all candidates
// equally.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace stator::bench {

// One operation of one thread; false ends the run with an error.
using Operation = std::function<bool()>;
// Makes the operation of thread `index`; called before the clock starts.
using OperationFactory = std::function<Operation(int index)>;

struct Contender {
  std::string name;
  OperationFactory make;
  int threads = 0;  // 0: as many as the contest's
};

struct Contest {
  std::string title;
  int threads = 1;
  std::vector<Contender> contenders;  // the first one is the baseline
  // If not 0, open loop: operations per second offered to each candidate, at times independent of
  // its responses. Latency then counts from the time when the operation was due.
  double offered_per_second = 0;
};

struct Plan {
  int turns = 3;  // of each candidate; the median counts
  std::chrono::milliseconds turn{1000};
  std::string only;  // runs only contests whose title contains it
};

// The median turn of one candidate.
struct Measurement {
  std::string contest;
  int threads = 0;
  std::string contender;
  double per_second = 0;
  double p50_us = 0;
  double p99_us = 0;
  double p999_us = 0;
  double ratio = 0;  // of its rate to that of the first candidate
};

// Runs the contest and appends a measurement for each candidate. Omits candidates with a failed
// operation, and then returns false. Contests that the plan excludes add nothing.
bool run_contest(const Contest& contest, const Plan& plan, std::vector<Measurement>& results);

}  // namespace stator::bench
