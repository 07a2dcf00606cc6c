// SPDX-License-Identifier: Apache-2.0
// JobRunner: long work of the engine, done in short steps by a few threads that all jobs share.
//
// Jobs take turns, one step each, so that a short one does not wait for a long one. A step that
// fails is tried again after a pause that grows with each failure; the other jobs go on. A job ends
// when it is done, when an error cannot pass, or when it has made no progress for kGiveUpMs.
//
// Thread safety: every method may be called from any thread at once, also from a step. A job's own
// methods run on one thread at a time.
// Lifetime: what jobs use must outlive stop().
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

enum class JobState { kMore, kDone };

class Job {
 public:
  virtual ~Job() = default;
  // A bounded part of the work. After an error the same part is asked for again.
  virtual Result<JobState> step() = 0;
  // How long the job waits after a step before the next one, unless retry_now() comes first.
  virtual std::chrono::milliseconds pause() { return {}; }
  // The next step is far away: releases snapshots and files.
  virtual void rest() {}
  // Ends the job for good. An error is retried, without a limit.
  virtual Result<void> abandon(const Error& why) = 0;
};

// Whether the same step can succeed later: a full queue or disk, a refused read or write.
bool is_passing(const Error& error);

// Pause after `failures` in a row, 1 or more: from 0.1 s, doubled up to a minute. `jitter` in [0,
// 1) takes away up to half of it.
std::chrono::milliseconds retry_delay(int failures, double jitter);

class JobRunner {
 public:
  static constexpr std::chrono::hours kGiveUpAfter{24};
  static constexpr std::chrono::seconds kLongPause{5};  // from which on a job rests
  static constexpr std::size_t kThreads = 2;

  using Report = std::function<void(LogLevel, const std::string& line)>;
  using Delay = std::function<std::chrono::milliseconds(int failures)>;
  // Without a `delay`: retry_delay().
  explicit JobRunner(Report report, Delay delay = {});
  ~JobRunner() { stop(); }
  JobRunner(const JobRunner&) = delete;
  JobRunner& operator=(const JobRunner&) = delete;

  // `name` is for people and for failure(): "backup 0123".
  void add(std::string name, std::unique_ptr<Job> job);
  // A job of one step that is retried until it succeeds.
  void add(std::string name, std::move_only_function<Result<void>()> action);
  bool has(std::string_view name) const;
  // Where diagnostics go; can be empty.
  const Report& report() const { return report_; }
  // Makes every job that pauses ready.
  void retry_now();
  // Why the last step of the job failed; absent if it did not, or if there is no such job.
  std::optional<Error> failure(std::string_view name) const;
  struct Stats {
    std::size_t jobs = 0;
    std::size_t failing = 0;  // whose last step failed
    std::chrono::milliseconds oldest{0};
  };
  Stats stats() const;
  // Waits for the steps under way and drops every job. Not from a step.
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
  };
  using Entries = std::list<Entry>;
  struct Line {
    LogLevel level;
    std::string text;
  };

  void run();
  Entries::iterator next_ready(Time now);
  void wait(std::unique_lock<std::mutex>& lock, Time now);
  // True: the job has ended.
  bool settle(Entry& entry, Result<JobState> result, std::vector<Line>& lines);
  static Result<JobState> take_step(Entry& entry);

  const Report report_;
  const Delay delay_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  Entries entries_;  // the longest waiting first
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace stator
