// SPDX-License-Identifier: Apache-2.0
// Leases of jobs in virtual time: thousands of histories of processes that take jobs from each
// other. They sleep, crash and stop; their clocks drift and jump; requests and responses are lost
// or late. STATOR_SEED repeats a history, STATOR_LEASE_RUNS sets their number.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/job_leases.h"
#include "engine/catalog/records.h"
#include "support/from_environment.h"
#include "support/must.h"
#include "support/shared_store.h"
#include "support/virtual_world.h"

namespace stator {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using test::must;
using test::SeededRandom;
using test::SharedBackend;
using test::SharedStore;
using test::SharedWait;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kRuns = 200;
#else
constexpr uint64_t kRuns = 2'000;
#endif
constexpr std::size_t kJobs = 3;
constexpr std::ptrdiff_t kSteps = 12;  // of a job
constexpr std::size_t kProcesses = 5;
constexpr std::size_t kThreads = 3;  // of a process: heartbeats, maintenance, jobs
constexpr int64_t kDriftPpm = 500;
constexpr nanoseconds kInterval = 60s;  // EngineOptions::maintenance_interval
constexpr nanoseconds kLives = 90min;   // then the last process starts
constexpr nanoseconds kDeadline = 8h;   // of the last process

struct Tally {
  int acquired = 0;
  int expired = 0;  // acquired although the previous holder did not release them
  int lost = 0;
};

class History {
 public:
  History(uint64_t seed, Tally& tally)
      : random_(seed),
        tally_(tally),
        backend_(static_cast<uint32_t>(seed),
                 {.conflicts = 20, .lost_replies = 20, .late = 20, .outages = 300},
                 [this](SharedWait where) { wait(where); }) {
    for (uint32_t i = 0; i < kProcesses; ++i) {
      processes_.push_back(std::make_unique<Process>(backend_, static_cast<uint32_t>(seed) + i));
      Process& process = *processes_.back();
      const bool is_last = i == kProcesses - 1;
      process.start = world_.now() + (is_last ? kLives : random_.below(kLives));
      process.end = process.start + (is_last ? kDeadline : random_.below(kLives));
      process.is_last = is_last;
      process.stops = random_.chance(40);
    }
  }

  // Plays the history. Returns the first violation, or an empty string.
  std::string play() {
    JobRunner none({});
    none.stop();
    while (!Catalog::open(store_, none)) {
    }
    for (const Job& job : jobs_) {
      while (!Records(store_).put(job.record, Item{{"Status", "IN_PROGRESS"}})) {
      }
    }
    std::vector<std::function<void()>> threads;
    for (const auto& process : processes_) {
      threads.emplace_back([this, &process] { send_heartbeats(*process); });
      threads.emplace_back([this, &process] { maintain(*process); });
      threads.emplace_back([this, &process] { run_jobs(*process); });
    }
    world_.run(threads);
    backend_.deliver_late();
    for (const Job& job : jobs_) check(job);
    return wrong_;
  }

 private:
  struct Job {
    std::string record;
    std::string history;                // key of a row to which each step appends its fence
    std::set<uint64_t> fences = {};     // of all acquisitions
    std::set<uint64_t> finishers = {};  // of the holders that know that they have finished it
    bool is_finished = false;           // as the last process has read
    // When the holder last changed the lease's row, at the earliest.
    nanoseconds changed_at{0};
    bool may_be_free = true;  // the holder can have released it
  };
  struct Running {
    Job* job;
    std::shared_ptr<JobLease> lease;
  };
  struct Process {
    Process(SharedBackend& backend, uint32_t seed) : store(backend, seed) {}

    SharedStore store;
    JobLeases leases{store};
    std::list<Running> running = {};
    nanoseconds start{0};
    nanoseconds end{0};
    bool is_last = false;
    bool stops = false;  // otherwise it crashes: nothing is released
    nanoseconds asleep_until{0};
    nanoseconds clock_error{0};
    std::size_t threads = kThreads;
  };

  // ---- Time

  void wait(SharedWait where) {
    if (where == SharedWait::kDatabase) return world_.wait(random_.below(2ms));
    const bool is_slow = random_.chance(3);
    world_.wait(random_.below(is_slow ? nanoseconds(4min) : nanoseconds(20ms)));
    if (world_.running()) sleep_on(*processes_[*world_.running() / kThreads]);
  }
  // A stopped process stops with all its threads.
  void sleep_on(Process& process) {
    if (random_.below(150) == 0) process.asleep_until = world_.now() + random_.below(20min);
    while (world_.now() < process.asleep_until) world_.wait(process.asleep_until - world_.now());
  }
  void pause(Process& process, nanoseconds time) {
    world_.wait(time - time * random_.below(kDriftPpm) / 1'000'000);
    sleep_on(process);
  }
  int64_t now_ms(Process& process) {
    if (random_.chance(5)) process.clock_error = random_.below(24h * 365) - 12h * 365;
    return (world_.now() + process.clock_error + 24h * 365 * 50) / 1ms;
  }
  bool lives(const Process& process) const {
    return world_.now() < process.end && !(process.is_last && all_finished()) && wrong_.empty();
  }
  bool all_finished() const { return std::ranges::all_of(jobs_, &Job::is_finished); }

  // ---- The threads of a process

  void send_heartbeats(Process& process) {
    world_.wait(process.start - world_.now());
    while (lives(process)) {
      for (const Running& running : std::list(process.running)) {
        const nanoseconds began = world_.now();
        if (running.lease->is_held() && running.lease->send_heartbeat()) {
          running.job->changed_at = std::max(running.job->changed_at, began);
        }
      }
      pause(process, kInterval);
    }
    --process.threads;
  }

  void maintain(Process& process) {
    world_.wait(process.start - world_.now());
    while (lives(process)) {
      if (process.leases.look(now_ms(process))) {
        for (Job& job : jobs_) {
          if (process.is_last) job.is_finished = is_finished(job, process.store);
          if (!process.leases.is_free(lease_key(job.record))) continue;
          process.running.push_back({&job, process.leases.begin(record_work(job.record))});
        }
      }
      pause(process, kInterval + (random_.chance(10) ? random_.below(3min) : 0s));
    }
    --process.threads;
  }

  void run_jobs(Process& process) {
    world_.wait(process.start - world_.now());
    while (lives(process)) {
      if (!process.running.empty()) {
        const Running& running = *std::next(
            process.running.begin(), random_.below(static_cast<int64_t>(process.running.size())));
        if (step(running)) {
          process.leases.end(*running.lease);
          process.running.remove_if(
              [lease = running.lease](const Running& other) { return other.lease == lease; });
        }
      }
      pause(process, 1s + random_.below(3min));
    }
    while (process.threads > 1) world_.wait(1s);
    if (!process.stops) return;
    for (const Running& running : process.running) {
      if (running.lease->is_held()) running.job->may_be_free = true;
    }
    process.leases.release();
  }

  // Returns true if the job has ended for this process.
  bool step(const Running& running) {
    Job& job = *running.job;
    JobLease& lease = *running.lease;
    if (!lease.is_held() && !lease.is_lost()) {
      const nanoseconds began = first_takes_.try_emplace(running.lease, world_.now()).first->second;
      if (!lease.take()) return false;
      if (lease.is_held()) note_acquired(job, lease.fence(), began);
    }
    if (lease.is_lost()) return true;
    const std::array<std::string, 1> keys = {job.history};
    const auto finished = lease.commit(keys, [&](GuardedRows rows, Batch& batch) -> Result<bool> {
      const std::string history = rows[0].value_or("");
      if (std::ranges::count(history, ' ') == kSteps) return true;
      batch.put(job.history, history + std::to_string(lease.fence()) + " ");
      return false;
    });
    if (finished && *finished && Records(lease).put(job.record, Item{{"Status", "COMPLETED"}})) {
      job.finishers.insert(lease.fence());
      return true;
    }
    if (lease.is_lost()) ++tally_.lost;
    return lease.is_lost();
  }

  // ---- What must hold

  // A lease that nobody released has not changed during five looks by then, one per interval.
  void note_acquired(Job& job, uint64_t fence, nanoseconds began) {
    ++tally_.acquired;
    if (!job.fences.insert(fence).second) fail(job, "two acquisitions have one fencing token");
    if (fence < *job.fences.rbegin()) return;  // it slept, and has already lost the lease
    if (!job.may_be_free) {
      ++tally_.expired;
      const nanoseconds least =
          nanoseconds(kJobLeaseMs * 1ms) * (1'000'000 - kDriftPpm) / 1'000'000;
      if (world_.now() - job.changed_at < least) fail(job, "was taken from a process that works");
    }
    job.changed_at = began;
    job.may_be_free = false;
  }

  void check(const Job& job) {
    std::string history;
    must(read_value(store_, job.history, [&](std::string_view row) { history = row; }));
    std::istringstream text(history);
    std::ptrdiff_t steps = 0;
    uint64_t last = 0;
    for (uint64_t fence = 0; text >> fence; last = fence, ++steps) {
      if (fence < last) fail(job, "an earlier holder wrote after a later one: " + history);
    }
    if (steps != kSteps) fail(job, "has not done each step once: " + history);
    if (!is_finished(job, store_)) fail(job, "is not finished");
    if (job.finishers.size() > 1) fail(job, "several processes have finished it");
    if (must(read_value(store_, lease_key(job.record), [](std::string_view) {}))) {
      fail(job, "its lease remains");
    }
  }

  static bool is_finished(const Job& job, TransactStore& store) {
    const auto record = Records(store).get(job.record);
    return record && !is_open_job(*record);
  }

  void fail(const Job& job, const std::string& what) {
    if (wrong_.empty()) wrong_ = job.history.substr(kPartitionBytes) + ": " + what;
  }

  SeededRandom random_;
  Tally& tally_;
  test::VirtualWorld world_;
  SharedBackend backend_;
  SharedStore store_{backend_, 0};
  std::vector<Job> jobs_ = [] {
    std::vector<Job> jobs;
    jobs.reserve(kJobs);
    for (std::size_t i = 0; i < kJobs; ++i) {
      jobs.push_back({.record = record_key(RecordKind::kExport, std::to_string(i)),
                      .history = std::string(kPartitionBytes, 'x') + "job " + std::to_string(i)});
    }
    return jobs;
  }();
  std::vector<std::unique_ptr<Process>> processes_;
  // The first attempt of each can have succeeded, although its outcome was unknown.
  std::map<std::shared_ptr<JobLease>, nanoseconds> first_takes_;
  std::string wrong_;
};

TEST(JobLeaseSimulation, EachStepIsDoneOnceInTheOrderOfTheFencingTokens) {
  const auto [first, runs] = test::seeds_from_environment("STATOR_LEASE_RUNS", kRuns);
  Tally tally;
  for (uint64_t seed = first; seed < first + runs; ++seed) {
    const std::string wrong = History(seed, tally).play();
    ASSERT_EQ(wrong, "") << "STATOR_SEED=" << seed;
  }
  std::cout << runs << " histories: " << tally.acquired << " acquisitions, " << tally.expired
            << " of them of expired leases; " << tally.lost << " leases were lost during a step\n";
  if (runs < kRuns) return;
  EXPECT_GT(tally.expired, static_cast<int>(runs));
  EXPECT_GT(tally.lost, static_cast<int>(runs) / 20);
}

}  // namespace
}  // namespace stator
