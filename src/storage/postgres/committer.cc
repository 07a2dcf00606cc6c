// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/committer.h"

#include <random>
#include <ranges>
#include <utility>

#include "base/wait_permit.h"

namespace stator::postgres {
namespace {

constexpr std::size_t kLookedAtMax = 256;  // commits of the queue, to find some that fit together
constexpr std::chrono::milliseconds kPauseFirst{5};
constexpr std::chrono::milliseconds kPauseMax{500};
constexpr std::chrono::milliseconds kLookAtStop{100};
// A call on one machine takes less. With standbys far away, calls overlap.
constexpr std::chrono::milliseconds kPatience{3};
// While a call runs, another one begins if so many bytes are queued: the server then works for
// longer than a few threads take to be woken. A smaller call would be better if it waited for more.
constexpr std::size_t kSecondCallBytes = 20'000;

std::vector<CommitResult> all_of(std::size_t count, CommitOutcome outcome, const Error& error) {
  return {count, CommitResult{.outcome = outcome, .error = error}};
}

// Sleeps for a random time between pause / 2 and `pause`.
void pause_for(std::chrono::milliseconds pause) {
  thread_local std::minstd_rand random(std::random_device{}());
  const auto us = std::chrono::microseconds(pause).count();
  std::this_thread::sleep_for(
      std::chrono::microseconds(us / 2 + static_cast<int64_t>(random()) % (us / 2 + 1)));
}

std::vector<CommitResult> unknown(std::size_t count, const std::string& why) {
  return all_of(
      count, CommitOutcome::kUnknown,
      {.code = Code::kOutcomeUnknown, .message = "the outcome of the commit is not known: " + why});
}

std::vector<CommitResult> outcomes_of(Session& session, CommitCall& call, const Rows& rows) {
  session.server().acknowledge(CommitCall::end_of(rows));
  return call.outcomes(rows);
}

void end(Commit& commit, CommitResult result) {
  auto done = std::move(commit.done);
  done(&commit, std::move(result));
}

// Asks the server until it responds without a warning. Such a response is itself a commit, so it is
// replicated, and so is the outcome that it reports.
std::vector<CommitResult> settle_call(Session& session, CommitCall& call, std::string why,
                                      std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::chrono::milliseconds pause = kPauseFirst;
  for (;;) {
    if (auto connection = session.connected()) {
      (*connection)->take_warning();
      const auto rows = call.settle(**connection, (*connection)->response_timeout());
      if (rows && !(*connection)->take_warning()) return outcomes_of(session, call, *rows);
      if (!rows) why = rows.error().message;
    }
    if (std::chrono::steady_clock::now() + pause >= deadline) break;
    pause_for(pause);
    pause = std::min(2 * pause, kPauseMax);
  }
  return unknown(call.size(), why);
}

}  // namespace

CommitResult failed_with(Error error) {
  const bool is_conflict = error.code == Code::kConflict;
  return {.outcome = is_conflict ? CommitOutcome::kConflict : CommitOutcome::kUnavailable,
          .error = std::move(error)};
}

// If a commit gets no response, its connection stays open. A commit that waits for a standby must
// not be cancelled, and without a client its server process would continue to wait.
Result<std::vector<CommitResult>> run_call(Session& session, Connection& connection,
                                           CommitCall& call, bool in_transaction,
                                           std::chrono::milliseconds timeout) {
  connection.take_warning();
  call.send(connection);
  if (in_transaction) connection.send(Statement::kCommit);
  connection.end();
  if (!connection.responds_within(connection.response_timeout() + timeout)) {
    return unknown(call.size(), kUnconfirmed);
  }
  const auto rows = connection.results();
  if (rows && !connection.take_warning()) {
    return outcomes_of(session, call, CommitCall::result_in(*rows));
  }
  if (rows) return settle_call(session, call, "it was not replicated", timeout);
  const bool is_refused = rows.error().state == kReadOnlyState;
  if (connection.is_broken() && !is_refused) {
    return settle_call(session, call, rows.error().message, timeout);
  }
  if (in_transaction) connection.roll_back();
  return Failure(to_error(rows.error()));
}

Committer::Committer(const ConnectionOptions& connections, Server& server,
                     const CommitterOptions& options)
    : options_(options) {
  for (std::size_t i = 0; i < options.connections; ++i) {
    sessions_.push_back(std::make_unique<Session>(connections, server));
    free_.push_back(sessions_.back().get());
  }
  for (std::size_t i = 0; i < options.connections; ++i) threads_.emplace_back([this] { run(); });
}

Committer::~Committer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.wake_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

Result<void> Committer::submit(Commit& commit) {
  std::unique_lock lock(mutex_);
  if (unconfirmed_ == sessions_.size()) return fail(Code::kUnavailable, kUnconfirmed);
  const std::size_t bytes = commit.batch.bytes();
  if (queued_bytes_ > 0 && queued_bytes_ + bytes > options_.queue_bytes_max) {
    return fail(Code::kThrottling, "too many commits are waiting for PostgreSQL; try again later");
  }
  queued_bytes_ += bytes;
  queue_.push_back(std::move(commit));
  if (!may_begin()) {
    if (is_watched_) return {};
  } else if (WaitPermit::covers(WaitFor::kServer) && running_ == 0 && queue_.size() == 1) {
    begin(lock, gather());
    if (queue_.empty()) return {};
  }
  wake_.wake_one();
  return {};
}

bool Committer::is_stuck() const {
  const std::lock_guard lock(mutex_);
  return unconfirmed_ == sessions_.size();
}

StoreStats Committer::stats() const {
  const std::lock_guard lock(mutex_);
  return {.commits = commits_,
          .commit_groups = calls_,
          .queued_commits = queue_.size(),
          .queued_bytes = queued_bytes_,
          .queued_bytes_max = options_.queue_bytes_max};
}

ConnectionPoolStats Committer::pool_stats(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  return {.name = name,
          .connections = sessions_.size(),
          .busy = running_,
          .queued_calls = queue_.size()};
}

// Called under the lock. Commits that do not fit keep their order.
CommitCall Committer::gather() {
  CommitCall call;
  std::size_t looked_at = 0;
  for (auto next = queue_.begin(); next != queue_.end() && looked_at < kLookedAtMax; ++looked_at) {
    const std::size_t bytes = next->batch.bytes();
    if (call.add(*next)) {
      queued_bytes_ -= bytes;
      next = queue_.erase(next);
    } else {
      ++next;
    }
  }
  commits_ += call.size();
  ++calls_;
  return call;
}

// Called under the lock, as all that follow up to begin().
bool Committer::may_begin() const {
  if (queue_.empty() || free_.empty()) return false;
  return running_ == 0 || (running_ == 1 && queued_bytes_ >= kSecondCallBytes) || stopping_ ||
         queue_.size() >= CommitCall::kCommitsMax || queued_bytes_ >= CommitCall::kBytesMax ||
         std::chrono::steady_clock::now() >= last_begin_ + kPatience;
}

void Committer::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!unresponsive_.empty()) {
      Session* const session = unresponsive_.back();
      unresponsive_.pop_back();
      wait_for_response(*session, lock);
      free_.push_back(session);
    } else if (may_begin()) {
      begin(lock, gather());
    } else if (queue_.empty() && stopping_) {
      return;
    } else if (!queue_.empty() && !free_.empty() && !is_watched_) {
      is_watched_ = true;
      wake_.wait_until(lock, last_begin_ + kPatience);
      is_watched_ = false;
    } else {
      wake_.wait(lock);
    }
  }
}

// Releases the lock while the call runs.
void Committer::begin(std::unique_lock<std::mutex>& lock, CommitCall call) {
  Session* const session = free_.back();
  free_.pop_back();
  ++running_;
  last_begin_ = std::chrono::steady_clock::now();
  // Commits that did not fit can begin another call, or need somebody to watch for its time.
  if (!queue_.empty() && !free_.empty()) wake_.wake_one();
  lock.unlock();
  commit(*session, std::move(call));
  const bool has_responded = session->responds_within({});
  lock.lock();
  --running_;
  if (has_responded) return free_.push_back(session);
  ++unconfirmed_;
  unresponsive_.push_back(session);
  wake_.wake_one();
}

void Committer::commit(Session& session, CommitCall call) {
  Result<std::vector<CommitResult>> outcomes;
  auto connection = session.connected();
  if (connection) {
    sweep_each_day(**connection);
    outcomes = run_call(session, **connection, call, false, options_.settle_timeout);
  } else {
    outcomes = all_of(call.size(), CommitOutcome::kUnavailable, connection.error());
  }
  std::vector<Commit> commits = call.take_commits();
  if (!outcomes && commits.size() > 1) return put_back(std::move(commits));
  if (!outcomes) outcomes = std::vector{failed_with(outcomes.error())};
  for (std::size_t i = 0; i < commits.size(); ++i) end(commits[i], std::move((*outcomes)[i]));
}

void Committer::put_back(std::vector<Commit> commits) {
  {
    const std::lock_guard lock(mutex_);
    commits_ -= commits.size();
    for (Commit& commit : commits | std::views::reverse) {
      commit.is_alone = true;
      queued_bytes_ += commit.batch.bytes();
      queue_.push_front(std::move(commit));
    }
    wake_.wake_all();
  }
}

// The session takes no commits until the server responds. If all wait, queued commits are rejected.
void Committer::wait_for_response(Session& session, std::unique_lock<std::mutex>& lock) {
  for (bool responded = false; !responded && !stopping_;) {
    std::deque<Commit> refused;
    if (unconfirmed_ == sessions_.size()) {
      refused.swap(queue_);
      queued_bytes_ = 0;
    }
    lock.unlock();
    for (Commit& commit : refused) {
      end(commit, failed_with({.code = Code::kUnavailable, .message = kUnconfirmed}));
    }
    responded = session.responds_within(kLookAtStop);
    lock.lock();
  }
  --unconfirmed_;
}

// Erases the requests of two days ago. After an error, they remain until tomorrow.
void Committer::sweep_each_day(Connection& connection) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(swept_day_, request_day()) == request_day()) return;
  }
  [[maybe_unused]] const auto swept = connection.execute(Statement::kSweepRequests);
}

}  // namespace stator::postgres
