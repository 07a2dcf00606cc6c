// SPDX-License-Identifier: Apache-2.0
// The semaphore's guarantees among processes that are killed, or stopped beyond the end of their
// leases. Their clocks are skewed, and their requests and replies are lost or late.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>

#include "cli/process.h"
#include "recipes/semaphore_faults/guarded_file.h"
#include "stator/http_client.h"
#include "stator/recipes/semaphore.h"
#include "support/must.h"
#include "support/paths.h"
#include "support/server_process.h"
#include "support/tcp_proxy.h"
#include "support/temp_dir.h"

namespace stator::test {
namespace {

using namespace std::chrono_literals;

struct Faults {
  const char* name;
  int permits;
  std::vector<int> clock_rates;  // percent of the true rate, assigned in turn
  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest's name
  friend void PrintTo(const Faults& faults, std::ostream* out) { *out << faults.name; }
};

// A lease in a process's log, in nanoseconds of the machine's clock.
struct Held {
  int64_t asked = 0;
  int64_t from = 0;
  int64_t until = 0;  // no other process may have it before
};

class SemaphoreFaults : public testing::TestWithParam<Faults> {
 protected:
  static constexpr int kWorkers = 5;
  static constexpr int kLeaseMs = 300;
  static constexpr std::size_t kLeasesWanted = 150;

  SemaphoreFaults() {
    EXPECT_FALSE(server_.url().empty());
    client_ = std::make_unique<HttpClient>(must(HttpClient::open({.endpoint = server_.url()})));
    must(create_table_if_missing(*client_, Semaphore::table_definition({.table = "Locks"})));
  }

  std::unique_ptr<Process> start_worker() {
    const auto& rates = GetParam().clock_rates;
    const int rate = rates[static_cast<std::size_t>(started_++) % rates.size()];
    return std::make_unique<Process>(std::vector<std::string>{
        build_path("tests/recipes/semaphore_faults/semaphore_worker"), proxy_.url(), path(),
        std::to_string(GetParam().permits), std::to_string(kLeaseMs), std::to_string(rate),
        std::to_string(random() % 1'000'000)});
  }
  std::string path() const { return directory_.path().string(); }

  unsigned random() {
    const std::scoped_lock lock(mutex_);
    return static_cast<unsigned>(random_());
  }

  TcpProxy::Fate fate() {
    using Kind = TcpProxy::Fate::Kind;
    switch (random() % 40) {
      case 0:
        return {.kind = Kind::kLoseRequest};
      case 1:
        return {.kind = Kind::kLoseReply};
      case 2:
        return {.kind = Kind::kDeliverLate,
                .delay = std::chrono::milliseconds(random() % (3 * kLeaseMs))};
      default:
        return {};
    }
  }

  std::map<int64_t, Held> read_log() const {
    std::map<int64_t, Held> leases;
    std::ifstream log(path() + "/log");
    for (std::string line; std::getline(log, line);) {
      std::istringstream words(line);
      std::string what;
      int64_t fence = 0;
      Held held;
      words >> what >> fence;
      if (what == "A") {
        words >> held.asked >> held.from >> held.until;
        EXPECT_TRUE(leases.emplace(fence, held).second) << "fence " << fence << " twice";
      } else {
        words >> leases[fence].until;
      }
    }
    return leases;
  }

  // Kills, stops and resumes processes at random until enough has happened.
  void make_trouble() {
    std::vector<std::unique_ptr<Process>> workers;
    workers.reserve(kWorkers);
    for (int i = 0; i < kWorkers; ++i) workers.push_back(start_worker());
    const auto start = std::chrono::steady_clock::now();
    for (int turn = 0;; ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));
      auto& worker = workers[random() % workers.size()];
      const unsigned what = random() % 10;
      if (what == 0) {
        worker = start_worker();  // the old one is killed
        ++killed_;
      } else if (what < 3) {
        worker->send_signal(SIGSTOP);
      } else {
        worker->send_signal(SIGCONT);
      }
      const auto gone = std::chrono::steady_clock::now() - start;
      if (turn % 20 == 0 && (gone > 300s || (killed_ > 5 && read_log().size() > kLeasesWanted))) {
        break;
      }
    }
    std::ofstream(path() + "/end").flush();
    // A process can be stopped, or can stop itself once more.
    const auto is_running = [](const auto& worker) { return worker->is_running(); };
    const auto patience = std::chrono::steady_clock::now() + 2min;
    while (std::ranges::any_of(workers, is_running) &&
           std::chrono::steady_clock::now() < patience) {
      for (const auto& worker : workers) worker->send_signal(SIGCONT);
      std::this_thread::sleep_for(20ms);
    }
    for (const auto& worker : workers) {
      if (worker->is_running()) {
        ADD_FAILURE() << "does not end:\n" << worker->threads();
        worker->send_signal(SIGKILL);
      }
      EXPECT_EQ(worker->wait(), 0) << worker->err();
    }
  }

  void expect_at_most_the_limit(const std::map<int64_t, Held>& leases) const {
    std::vector<std::pair<int64_t, int>> changes;  // at equal times, the end comes first
    for (const auto& [fence, held] : leases) {
      if (held.until <= held.from) continue;
      changes.emplace_back(held.from, 1);
      changes.emplace_back(held.until, -1);
    }
    std::ranges::sort(changes);
    int now = 0;
    for (const auto& [time, change] : changes) {
      now += change;
      ASSERT_LE(now, GetParam().permits) << "at " << time;
    }
  }

  static void expect_fences_to_grow(const std::map<int64_t, Held>& leases) {
    // By token: a process that had the lock before another requested it has the smaller token.
    int64_t latest_request = 0;
    for (const auto& [fence, held] : leases) {
      ASSERT_GT(held.from, latest_request)
          << "fence " << fence << " was had before a smaller one was asked for";
      latest_request = std::max(latest_request, held.asked);
    }
  }

  std::vector<int64_t> history() const {
    const auto item =
        client_->get_item({.table = "Locks", .key = {{"pk", "history"}}, .consistent_read = true})
            .value()
            .item;
    std::vector<int64_t> fences;
    if (!item) return fences;
    for (const AttributeValue& fence : *item->at("fences").get_if<List>()) {
      fences.push_back(fence.get_if<Number>()->to_int64().value());
    }
    return fences;
  }

  TempDir directory_;
  ServerProcess server_{stator_binary(), {"--memory"}};
  std::mutex mutex_;
  const unsigned seed_ = std::random_device()();
  std::minstd_rand random_{seed_};  // guarded by mutex_
  int started_ = 0;
  int killed_ = 0;
  std::unique_ptr<HttpClient> client_;
  TcpProxy proxy_{
      static_cast<uint16_t>(std::stoi(server_.url().substr(server_.url().rfind(':') + 1))),
      [this] { return fate(); }};
};

TEST_P(SemaphoreFaults, KeepItsGuarantees) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  make_trouble();
  const auto leases = read_log();
  ASSERT_GT(leases.size(), kLeasesWanted / 3);
  expect_fences_to_grow(leases);
  // If clocks have other rates, leases can overlap; fencing tokens still protect.
  if (GetParam().clock_rates == std::vector{100}) expect_at_most_the_limit(leases);

  const std::vector<int64_t> commits = history();
  EXPECT_GT(commits.size(), 0U);
  for (const int64_t fence : commits) EXPECT_TRUE(leases.contains(fence)) << fence;
  if (GetParam().permits == 1) {
    EXPECT_TRUE(std::ranges::is_sorted(commits))
        << "a commit came late: " << testing::PrintToString(commits);
  }
  const auto file = GuardedFile(path() + "/guarded").content();
  EXPECT_EQ(file.value, file.writes) << "a write was lost";
  EXPECT_GT(file.writes, 0);
  std::printf("%zu leases, %zu commits, %ld writes of the file, %ld refused, %d killed\n",
              leases.size(), commits.size(), static_cast<long>(file.writes),
              static_cast<long>(file.refused), killed_);
  // Locks without a live holder can be acquired again.
  Semaphore locks(*client_, {.table = "Locks"});
  EXPECT_TRUE(locks.acquire("lock", {.permits = GetParam().permits, .wait = 30s}).has_value());
}

INSTANTIATE_TEST_SUITE_P(With, SemaphoreFaults,
                         testing::Values(Faults{"OnePermit", 1, {100}},
                                         Faults{"ThreePermits", 3, {100}},
                                         Faults{"ClocksOfManyRates", 1, {100, 300, 40}}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace stator::test
