// SPDX-License-Identifier: Apache-2.0
// The cost of each step of a recipe and of its reference implementation, one line for each.
#pragma once

#include <chrono>
#include <cstdio>

#include "support/counting_client.h"

namespace stator::bench {

// Runs `step` this many times, with the number of the run, and prints the average cost.
template <class F>
Result<void> measure_steps(const char* what, examples::CountingClient& client, int times, F step) {
  using Clock = std::chrono::steady_clock;
  const examples::Cost before = client.cost();
  const auto start = Clock::now();
  for (int i = 0; i < times; ++i) STATOR_RETURN_IF_ERROR(step(i));
  const std::chrono::duration<double, std::milli> took = Clock::now() - start;
  const examples::Cost cost = client.cost() - before;
  std::printf("  %-34s %7.1f requests %7.1f WCU %6.1f RCU %9.3f ms\n", what,
              static_cast<double>(cost.requests) / times, cost.write_units / times,
              cost.read_units / times, took.count() / times);
  return {};
}

}  // namespace stator::bench
