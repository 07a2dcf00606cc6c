// SPDX-License-Identifier: Apache-2.0
#include "engine/background/job_runner.h"

#include <algorithm>
#include <random>
#include <utility>

namespace stator {
namespace {

class Action final : public Job {
 public:
  explicit Action(std::move_only_function<Result<void>()> action) : action_(std::move(action)) {}
  Result<JobState> step() override {
    STATOR_RETURN_IF_ERROR(action_());
    return JobState::kDone;
  }
  bool gives_up() const override { return false; }
  Result<void> abandon(const Error&) override { return {}; }

 private:
  std::move_only_function<Result<void>()> action_;
};

double any_jitter() {
  thread_local std::mt19937_64 random{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(random);
}

}  // namespace

bool is_passing(const Error& error) {
  switch (error.code) {
    case Code::kThrottling:
    case Code::kConflict:
    case Code::kIo:
    case Code::kUnavailable:
    case Code::kTimeout:
    case Code::kOutcomeUnknown:
      return true;
    default:
      return false;
  }
}

std::chrono::milliseconds retry_delay(int failures, double jitter) {
  constexpr std::chrono::milliseconds kFirst{100};
  constexpr std::chrono::milliseconds kLongest{60'000};
  constexpr int kDoublings = 10;
  const auto whole = std::min(kLongest, kFirst * (1 << std::clamp(failures - 1, 0, kDoublings)));
  return whole - std::chrono::milliseconds(
                     static_cast<int64_t>(static_cast<double>(whole.count()) * jitter / 2));
}

JobRunner::JobRunner(Report report, Delay delay, std::size_t threads)
    : report_(std::move(report)),
      delay_(delay ? std::move(delay)
                   : [](int failures) { return retry_delay(failures, any_jitter()); }),
      threads_max_(threads) {}

void JobRunner::add(std::string name, std::unique_ptr<Job> job) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  entries_.push_back({.name = std::move(name), .job = std::move(job)});
  // A thread that was woken for another job is still among the idle ones.
  const Time now = std::chrono::steady_clock::now();
  const auto ready =
      std::ranges::count_if(entries_, [&](const Entry& entry) { return entry.is_ready(now); });
  if (static_cast<std::size_t>(ready) > idle_ && threads_.size() < threads_max_) {
    threads_.emplace_back([this] { run(); });
  }
  wake_.notify_one();
}

void JobRunner::add(std::string name, std::move_only_function<Result<void>()> action) {
  add(std::move(name), std::make_unique<Action>(std::move(action)));
}

void JobRunner::retry_now() {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) entry.due = {};
  wake_.notify_all();
}

bool JobRunner::has(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::find(entries_, name, &Entry::name) != entries_.end();
}

std::optional<Error> JobRunner::failure(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(entries_, name, &Entry::name);
  return found == entries_.end() ? std::nullopt : found->failure;
}

JobRunner::Stats JobRunner::stats() const {
  const Time now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  Stats stats{.jobs = entries_.size()};
  for (const Entry& entry : entries_) {
    if (entry.failure) ++stats.failing;
    stats.oldest = std::max(
        stats.oldest, std::chrono::duration_cast<std::chrono::milliseconds>(now - entry.added));
  }
  return stats;
}

void JobRunner::stop() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
    wake_.notify_all();
  }
  for (std::thread& thread : threads) thread.join();
  Entries dropped;  // destroyed outside the lock: destructors of jobs can call add()
  const std::lock_guard lock(mutex_);
  dropped.swap(entries_);
}

JobRunner::Entries::iterator JobRunner::next_ready(Time now) {
  return std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.is_ready(now); });
}

void JobRunner::wait(std::unique_lock<std::mutex>& lock, Time now) {
  std::optional<Time> due;
  for (const Entry& entry : entries_) {
    if (!entry.running && entry.due > now) due = std::min(due.value_or(entry.due), entry.due);
  }
  ++idle_;
  if (due) {
    wake_.wait_until(lock, *due);
  } else {
    wake_.wait(lock);
  }
  --idle_;
}

Result<JobState> JobRunner::take_step(Entry& entry) {
  if (!entry.abandoned) return entry.job->step();
  STATOR_RETURN_IF_ERROR(entry.job->abandon(*entry.failure));
  return JobState::kDone;
}

bool JobRunner::settle(Entry& entry, Result<JobState> result, std::vector<Line>& lines) {
  if (result && *result == JobState::kRetrying) return false;
  if (result) {
    if (entry.failures > 0 && !entry.abandoned) {
      lines.push_back({LogLevel::kInfo, entry.name + ": resumed"});
    }
    entry.failures = 0;
    entry.paused = {};
    if (!entry.abandoned) entry.failure.reset();
    return *result == JobState::kDone;
  }
  const std::string& message = result.error().message;
  const bool is_news = !entry.failure || entry.failure->message != message;
  const bool gives_up =
      !is_passing(result.error()) || (entry.paused >= kGiveUpAfter && entry.job->gives_up());
  if (!entry.abandoned && gives_up) {
    entry.abandoned = true;
    entry.failures = 0;
    entry.due = {};
    lines.push_back({LogLevel::kError, entry.name + " failed: " + message});
    entry.failure = std::move(result).error();
    return false;
  }
  const std::chrono::milliseconds pause = delay_(++entry.failures);
  entry.paused += pause;
  entry.due = std::chrono::steady_clock::now() + pause;
  if (is_news) lines.push_back({LogLevel::kWarning, entry.name + " is retried: " + message});
  if (!entry.abandoned) entry.failure = std::move(result).error();
  return false;
}

void JobRunner::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const Time now = std::chrono::steady_clock::now();
    if (!run_step(lock, now)) wait(lock, now);
  }
}

bool JobRunner::run_step() {
  std::unique_lock lock(mutex_);
  return run_step(lock, std::chrono::steady_clock::now());
}

bool JobRunner::run_step(std::unique_lock<std::mutex>& lock, Time now) {
  const auto entry = next_ready(now);
  if (entry == entries_.end()) return false;
  entry->running = true;
  lock.unlock();
  Result<JobState> result = take_step(*entry);
  const bool continues = result && *result != JobState::kDone;
  const auto pause = continues ? entry->job->pause() : std::chrono::milliseconds(0);
  lock.lock();
  if (pause.count() > 0) entry->due = std::chrono::steady_clock::now() + pause;
  std::vector<Line> lines;
  const bool ended = settle(*entry, std::move(result), lines);
  const bool rests = !ended && entry->due > now + kLongPause;
  lock.unlock();
  // Outside the lock: both can call back.
  if (rests) entry->job->rest();
  if (ended) entry->job.reset();
  if (report_) {
    for (const Line& line : lines) report_(line.level, line.text);
  }
  lock.lock();
  entry->running = false;
  if (ended) {
    entries_.erase(entry);
  } else {
    entries_.splice(entries_.end(), entries_, entry);
    if (entry->due > now) wake_.notify_one();
  }
  return true;
}

}  // namespace stator
