// SPDX-License-Identifier: Apache-2.0
#include "bench/measure.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>

namespace stator::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

struct Turn {
  double per_second = 0;
  double p50_us = 0;
  double p99_us = 0;
  bool failed = false;
};

double percentile(std::vector<double>& sorted, double part) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

Turn run_turn(const Contender& contender, int threads, std::chrono::milliseconds length) {
  std::atomic<bool> go = false;
  std::atomic<bool> stop = false;
  std::atomic<bool> failed = false;
  std::vector<std::vector<double>> latencies(static_cast<std::size_t>(threads));
  std::vector<std::thread> workers;
  for (int index = 0; index < threads; ++index) {
    workers.emplace_back([&, index, operation = contender.make(index)] {
      std::vector<double>& mine = latencies[static_cast<std::size_t>(index)];
      go.wait(false);
      SteadyClock::time_point before = SteadyClock::now();
      for (uint64_t sequence = 0; !stop.load(std::memory_order_relaxed); ++sequence) {
        if (!operation(sequence)) {
          failed = true;
          return;
        }
        const SteadyClock::time_point after = SteadyClock::now();
        mine.push_back(std::chrono::duration<double, std::micro>(after - before).count());
        before = after;
      }
    });
  }
  const SteadyClock::time_point start = SteadyClock::now();
  go = true;
  go.notify_all();
  std::this_thread::sleep_for(length);
  stop = true;
  for (std::thread& worker : workers) worker.join();
  const double seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();

  std::vector<double> all;
  for (const auto& mine : latencies) all.insert(all.end(), mine.begin(), mine.end());
  std::ranges::sort(all);
  return {.per_second = static_cast<double>(all.size()) / seconds,
          .p50_us = percentile(all, 0.5),
          .p99_us = percentile(all, 0.99),
          .failed = failed};
}

}  // namespace

bool run_contest(const Contest& contest, const Plan& plan) {
  std::vector<std::vector<Turn>> turns(contest.contenders.size());
  for (int turn = 0; turn < plan.turns; ++turn) {
    for (std::size_t i = 0; i < contest.contenders.size(); ++i) {
      turns[i].push_back(run_turn(contest.contenders[i], contest.threads, plan.turn));
      if (turns[i].back().failed) {
        std::printf("%s: an operation of '%s' failed\n", contest.title.c_str(),
                    contest.contenders[i].name.c_str());
        return false;
      }
    }
  }
  std::printf("\n%s (%d at once)\n", contest.title.c_str(), contest.threads);
  double first = 0;
  for (std::size_t i = 0; i < contest.contenders.size(); ++i) {
    std::ranges::sort(turns[i], {}, &Turn::per_second);
    const Turn& median = turns[i][turns[i].size() / 2];
    if (i == 0) first = median.per_second;
    std::printf("  %-34s %10.0f/s   p50 %8.1f us   p99 %8.1f us   x %.2f\n",
                contest.contenders[i].name.c_str(), median.per_second, median.p50_us, median.p99_us,
                median.per_second / first);
  }
  std::fflush(stdout);
  return true;
}

}  // namespace stator::bench
