// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/committer.h"

#include <random>
#include <utility>

namespace stator::postgres {
namespace {

constexpr std::size_t kLookedAtMax = 256;  // of the queue, for commits that fit together
constexpr std::chrono::milliseconds kPauseFirst{5};
constexpr std::chrono::milliseconds kPauseMax{500};

std::vector<CommitResult> all_of(std::size_t count, CommitOutcome outcome, const Error& error) {
  return {count, CommitResult{.outcome = outcome, .error = error}};
}

// Between half of `pause` and all of it.
void pause_for(std::chrono::milliseconds pause) {
  thread_local std::minstd_rand random(std::random_device{}());
  const auto us = std::chrono::microseconds(pause).count();
  std::this_thread::sleep_for(
      std::chrono::microseconds(us / 2 + static_cast<int64_t>(random()) % (us / 2 + 1)));
}

// The server was asked until it answered without a warning: the answer itself is a commit, so
// it is replicated, and with it what it reports.
std::vector<CommitResult> settle_call(Session& session, const CommitCall& call, SqlError why,
                                      std::chrono::milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::chrono::milliseconds pause = kPauseFirst;
  for (;;) {
    auto connection = session.connected();
    if (connection) {
      (*connection)->take_warning();
      const auto rows = call.settle(**connection);
      if (rows && !(*connection)->take_warning()) return call.outcomes(*rows);
      if (!rows) why = rows.error();
    }
    if (std::chrono::steady_clock::now() + pause >= deadline) break;
    pause_for(pause);
    pause = std::min(2 * pause, kPauseMax);
  }
  return all_of(
      call.size(), CommitOutcome::kUnknown,
      {.code = Code::kOutcomeUnknown,
       .message = "the connection to PostgreSQL broke during the commit: " + why.message});
}

}  // namespace

std::vector<CommitResult> run_call(Session& session, Connection& connection, CommitCall& call,
                                   bool in_transaction, std::chrono::milliseconds timeout) {
  connection.take_warning();
  call.send(connection);
  if (in_transaction) connection.send(Statement::kCommit);
  connection.end();
  const auto rows = connection.results();
  if (rows && !connection.take_warning()) return call.outcomes(rows->front());
  if (rows) return settle_call(session, call, {.message = "it was not replicated"}, timeout);
  const bool is_refused = rows.error().state == kReadOnlyState;
  if (connection.is_broken() && !is_refused) {
    return settle_call(session, call, rows.error(), timeout);
  }
  if (in_transaction) {
    connection.send(Statement::kRollback);
    connection.end_and_ignore();
  }
  return all_of(call.size(),
                is_conflict(rows.error()) ? CommitOutcome::kConflict : CommitOutcome::kUnavailable,
                to_error(rows.error()));
}

Committer::Committer(const ConnectionOptions& connections, Reachability& reachability,
                     const CommitterOptions& options)
    : options_(options) {
  for (std::size_t i = 0; i < options.threads; ++i) {
    threads_.emplace_back(
        [this, &connections, &reachability] { run({connections, reachability}); });
  }
}

Committer::~Committer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool Committer::submit(Commit& commit) {
  {
    const std::lock_guard lock(mutex_);
    const std::size_t bytes = commit.batch.bytes();
    if (queued_bytes_ > 0 && queued_bytes_ + bytes > options_.queue_bytes_max) return false;
    queued_bytes_ += bytes;
    queue_.push_back(std::move(commit));
  }
  wake_.notify_one();
  return true;
}

StoreStats Committer::stats() const {
  const std::lock_guard lock(mutex_);
  return {.commits = commits_,
          .commit_groups = calls_,
          .queued_commits = queue_.size(),
          .queued_bytes = queued_bytes_,
          .queued_bytes_max = options_.queue_bytes_max};
}

// Under the lock. Those that do not fit stay in their order.
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

void Committer::run(Session session) {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    CommitCall call = gather();
    lock.unlock();
    commit(session, std::move(call));
    lock.lock();
  }
}

void Committer::commit(Session& session, CommitCall call) {
  std::vector<CommitResult> outcomes;
  auto connection = session.connected();
  if (connection) {
    sweep_each_day(**connection);
    outcomes = run_call(session, **connection, call, false, options_.settle_timeout);
  } else {
    outcomes = all_of(call.size(), CommitOutcome::kUnavailable, to_error(connection.error()));
  }
  std::vector<Commit> commits = call.take_commits();
  for (std::size_t i = 0; i < commits.size(); ++i) {
    auto done = std::move(commits[i].done);
    done(&commits[i], std::move(outcomes[i]));
  }
}

// Empties the requests of two days ago. After an error they stay until tomorrow.
void Committer::sweep_each_day(Connection& connection) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(swept_day_, request_day()) == request_day()) return;
  }
  [[maybe_unused]] const auto swept = connection.execute(Statement::kSweepRequests);
}

}  // namespace stator::postgres
