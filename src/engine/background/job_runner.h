// SPDX-License-Identifier: Apache-2.0
// JobRunner: runs long jobs in short steps, on a few threads that all jobs share.
//
// Jobs take turns, one step each, so that a short job does not wait for a long one. A failed step
// is retried after a pause that grows with each failure; the other jobs continue. A job ends when
// it is done, after a permanent error, or after kGiveUpAfter without progress, if it gives up.
//
// Thread safety: every method can be called from any thread, also from a step. The methods of one
// job run on one thread at a time, without locks held.
// Lifetime: the objects that jobs use must outlive stop().
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/log_level.h"
#include "stator/result.h"

namespace stator {

enum class JobState {
  kMore,
  kRetrying,  // more; the job is still behind the point that it had reached before its last failure
  kDone,
};

class Job {
 public:
  virtual ~Job() = default;
  // Does a bounded part of the work. After an error, the next call must repeat the same part.
  virtual Result<JobState> step() = 0;
  // Pause between a successful step and the next one. retry_now() ends it early.
  virtual std::chrono::milliseconds pause() { return {}; }
  // Releases snapshots and files, because the next step is at least kLongPause away.
  virtual void rest() {}
  // Whether temporary errors end the job after kGiveUpAfter without progress. Called with locks
  // held.
  virtual bool gives_up() const { return true; }
  // Ends the job permanently. After an error, it is called again, without a limit.
  virtual Result<void> abandon(const Error& why) = 0;
};

// Whether an error is temporary, so that the same step can succeed later: a full queue or disk, a
// rejected read or write.
bool is_passing(const Error& error);

// Returns the pause after `failures` consecutive failures (1 or more): 0.1 s, doubled with each
// failure up to a minute. `jitter`, from 0 to below 1, shortens it by up to half.
std::chrono::milliseconds retry_delay(int failures, double jitter);

class JobRunner {
 public:
  static constexpr std::chrono::hours kGiveUpAfter{24};
  static constexpr std::chrono::seconds kLongPause{5};  // the shortest with a call of rest()
  static constexpr std::size_t kThreads = 2;

  using Report = std::function<void(LogLevel, const std::string& line)>;
  using Delay = std::function<std::chrono::milliseconds(int failures)>;
  // Without a `delay`: retry_delay(). Without threads, only run_step() runs jobs.
  explicit JobRunner(Report report, Delay delay = {}, std::size_t threads = kThreads);
  ~JobRunner() { stop(); }
  JobRunner(const JobRunner&) = delete;
  JobRunner& operator=(const JobRunner&) = delete;

  // Adds a job. `name` appears in reports and identifies the job for failure(): "backup 0123".
  // After stop(), the job is dropped.
  void add(std::string name, std::unique_ptr<Job> job);
  // Adds a job of one step, which does not give up.
  void add(std::string name, std::move_only_function<Result<void>()> action);
  bool has(std::string_view name) const;
  // Receives diagnostics; can be empty.
  const Report& report() const { return report_; }
  // Runs one step of a job that is due, on the calling thread. Returns false if none is.
  bool run_step();
  // Ends the pauses of all jobs.
  void retry_now();
  // Returns the error of the job's last step; absent if the step succeeded or the job does not
  // exist.
  std::optional<Error> failure(std::string_view name) const;
  struct Stats {
    std::size_t jobs = 0;
    std::size_t failing = 0;  // whose last step failed
    std::chrono::milliseconds oldest{0};
  };
  Stats stats() const;
  // Waits for the steps in progress and drops all jobs. Must not be called from a step.
  void stop();

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Entry {
    std::string name;
    std::unique_ptr<Job> job;
    Time added = std::chrono::steady_clock::now();
    Time due = {};
    int failures = 0;                     // in a row
    std::chrono::milliseconds paused{0};  // since the last success
    std::optional<Error> failure = {};    // of the last step
    bool abandoned = false;
    bool running = false;

    bool is_ready(Time now) const { return !running && due <= now; }
  };
  using Entries = std::list<Entry>;
  struct Line {
    LogLevel level;
    std::string text;
  };

  void run();
  bool run_step(std::unique_lock<std::mutex>& lock, Time now);
  Entries::iterator next_ready(Time now);
  void wait(std::unique_lock<std::mutex>& lock, Time now);
  // Returns true if the job has ended.
  bool settle(Entry& entry, Result<JobState> result, std::vector<Line>& lines);
  static Result<JobState> take_step(Entry& entry);

  const Report report_;
  const Delay delay_;
  const std::size_t threads_max_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Entries entries_;  // the one that has waited longest first
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace stator
