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
  std::vector<Contender> contenders;  // the first one is what the others are compared with
  // Open loop where not 0: operations a second that each contender is to take, at moments that
  // do not depend on its answers. A latency then counts from the moment the operation was due.
  double offered_per_second = 0;
};

struct Plan {
  int turns = 3;  // of each contender; the median counts
  std::chrono::milliseconds turn{1000};
  std::string only;  // contests whose title holds this text
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
  double ratio = 0;  // to the first contender's rate
};

// Runs the contest and appends a measurement a contender but for those of which an operation
// failed; then it is false. Contests that the plan leaves out add nothing.
bool run_contest(const Contest& contest, const Plan& plan, std::vector<Measurement>& results);

}  // namespace stator::bench
