// SPDX-License-Identifier: Apache-2.0
#include "bench/measure.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <random>
#include <thread>

namespace stator::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

struct Turn {
  double per_second = 0;
  std::vector<double> latencies_us;  // sorted
  bool failed = false;
};

double percentile(const std::vector<double>& sorted, double part) {
  if (sorted.empty()) return 0;
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

struct Worker {
  Operation operation;
  std::vector<double> latencies_us = {};
  bool failed = false;

  void run_closed(const std::atomic<bool>& stop) {
    SteadyClock::time_point before = SteadyClock::now();
    while (!stop.load(std::memory_order_relaxed)) {
      if (!operation()) {
        failed = true;
        return;
      }
      const SteadyClock::time_point after = SteadyClock::now();
      latencies_us.push_back(Microseconds(after - before).count());
      before = after;
    }
  }

  // Operations are due at random times, as from many independent clients.
  void run_open(const std::atomic<bool>& stop, double per_second, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> gap(per_second);
    SteadyClock::time_point due = SteadyClock::now();
    while (!stop.load(std::memory_order_relaxed)) {
      due += std::chrono::duration_cast<SteadyClock::duration>(
          std::chrono::duration<double>(gap(random)));
      std::this_thread::sleep_until(due);
      if (!operation()) {
        failed = true;
        return;
      }
      latencies_us.push_back(Microseconds(SteadyClock::now() - due).count());
    }
  }
};

Turn run_turn(const Contender& contender, const Contest& contest,
              std::chrono::milliseconds length) {
  const int threads = contender.threads > 0 ? contender.threads : contest.threads;
  std::vector<Worker> workers;
  workers.reserve(static_cast<std::size_t>(threads));
  for (int index = 0; index < threads; ++index) workers.push_back({contender.make(index)});
  std::atomic<bool> go = false;
  std::atomic<bool> stop = false;
  std::vector<std::thread> running;
  running.reserve(workers.size());
  for (std::size_t index = 0; index < workers.size(); ++index) {
    running.emplace_back([&, index] {
      go.wait(false);
      if (contest.offered_per_second > 0) {
        workers[index].run_open(stop, contest.offered_per_second / threads, index + 1);
      } else {
        workers[index].run_closed(stop);
      }
    });
  }
  const SteadyClock::time_point start = SteadyClock::now();
  go = true;
  go.notify_all();
  std::this_thread::sleep_for(length);
  stop = true;
  for (std::thread& thread : running) thread.join();
  const double seconds = std::chrono::duration<double>(SteadyClock::now() - start).count();

  Turn turn;
  for (const Worker& worker : workers) {
    turn.failed = turn.failed || worker.failed;
    turn.latencies_us.insert(turn.latencies_us.end(), worker.latencies_us.begin(),
                             worker.latencies_us.end());
  }
  std::ranges::sort(turn.latencies_us);
  turn.per_second = static_cast<double>(turn.latencies_us.size()) / seconds;
  return turn;
}

void print(const Measurement& row) {
  std::printf("  %-34s %3d at once %9.0f/s   p50 %8.1f   p99 %8.1f   p99.9 %8.1f us   x %.2f\n",
              row.contender.c_str(), row.threads, row.per_second, row.p50_us, row.p99_us,
              row.p999_us, row.ratio);
}

}  // namespace

bool run_contest(const Contest& contest, const Plan& plan, std::vector<Measurement>& results) {
  if (contest.title.find(plan.only) == std::string::npos) return true;
  std::vector<std::vector<Turn>> turns(contest.contenders.size());
  const auto failed = [&](std::size_t i) { return !turns[i].empty() && turns[i].back().failed; };
  for (int turn = 0; turn < plan.turns; ++turn) {
    for (std::size_t i = 0; i < contest.contenders.size(); ++i) {
      if (!failed(i)) turns[i].push_back(run_turn(contest.contenders[i], contest, plan.turn));
    }
  }
  std::printf("\n%s\n", contest.title.c_str());
  bool good = true;
  double first = 0;
  for (std::size_t i = 0; i < contest.contenders.size(); ++i) {
    const Contender& contender = contest.contenders[i];
    if (failed(i)) {
      std::printf("  %-34s an operation failed\n", contender.name.c_str());
      good = false;
      continue;
    }
    std::ranges::sort(turns[i], {}, &Turn::per_second);
    const Turn& median = turns[i][turns[i].size() / 2];
    if (first == 0) first = median.per_second;
    results.push_back({.contest = contest.title,
                       .threads = contender.threads > 0 ? contender.threads : contest.threads,
                       .contender = contender.name,
                       .per_second = median.per_second,
                       .p50_us = percentile(median.latencies_us, 0.5),
                       .p99_us = percentile(median.latencies_us, 0.99),
                       .p999_us = percentile(median.latencies_us, 0.999),
                       .ratio = first > 0 ? median.per_second / first : 0});
    print(results.back());
  }
  std::fflush(stdout);
  return good;
}

}  // namespace stator::bench
