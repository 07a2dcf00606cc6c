// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/transactions.h"

#include <fmt/format.h>

#include <utility>

#include "storage/postgres/reading.h"
#include "storage/schema_rows.h"

namespace stator::postgres {
namespace {

constexpr int kUnlockedAttemptsMax = 2;
constexpr int kLockedAttemptsMax = 6;

CommitResult is_full() {
  return failed_with({.code = Code::kThrottling,
                      .message = "too many calls are waiting for PostgreSQL; try again later"});
}

std::optional<CommitResult> check_versions(const Batch& batch) {
  if (batch.versioned().size() < CommitCall::kOrdinalsMax) return std::nullopt;
  return failed_with({.code = Code::kInvalidArgument,
                      .message = "a transaction has more than 4,094 changes to record"});
}

}  // namespace

struct Transactions::Call {
  std::span<const std::string> keys;
  Decide decide;  // null: a blind write
  CommitDone done;
  std::vector<SchemaVersion> expected;
  int attempts = 0;

  std::vector<std::string_view> read_keys() const {
    std::vector<std::string_view> all(keys.begin(), keys.end());
    for (const SchemaVersion& schema : expected) all.push_back(schema.row->key());
    return all;
  }
  // Decides on the rows of read_keys().
  Decided decide_on(const KeyRows& found);
};

Transactions::Decided Transactions::Call::decide_on(const KeyRows& found) {
  Decided decided;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::size_t row = keys.size() + i;
    const uint64_t version = found.is_present(row) ? schema_version_in(found.value(row)) : 0;
    if (version != expected[i].version) {
      decided.ended = schema_changed();
      return decided;
    }
  }
  std::vector<std::optional<std::string>> rows;
  rows.reserve(keys.size());
  Commit& commit = decided.commit;
  commit.guards.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool is_present = found.is_present(i);
    commit.guards.push_back({.key = keys[i], .version = is_present ? found.version(i) : 0});
    rows.push_back(is_present ? std::optional<std::string>(found.value(i)) : std::nullopt);
  }
  commit.batch = decide(rows);
  commit.expected = expected;
  if (commit.batch.empty()) {
    decided.ended.emplace();
  } else {
    decided.ended = check_versions(commit.batch);
  }
  return decided;
}

Transactions::CallPtr Transactions::call_of(std::span<const std::string> keys, Decide decide,
                                            CommitDone done, SchemaVersions expected) {
  return std::make_unique<Call>(Call{.keys = keys,
                                     .decide = std::move(decide),
                                     .done = std::move(done),
                                     .expected = {expected.begin(), expected.end()}});
}

void Transactions::transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                            SchemaVersions expected) {
  if (reads_.is_full()) return done(is_full());
  auto call = call_of(keys, std::move(decide), std::move(done), expected);
  attempt(std::move(call));
}

// The commit has no guards that could fail, but can lose a deadlock. Then it is read first.
void Transactions::transact_foreseen(std::span<const std::string> keys, Decide decide,
                                     CommitDone done, SchemaVersions expected) {
  auto call = call_of(keys, std::move(decide), std::move(done), expected);
  std::vector<std::optional<std::string>> absent(keys.size());
  Commit commit{.expected = call->expected, .batch = call->decide(absent)};
  if (commit.batch.empty() || check_versions(commit.batch)) {
    if (reads_.is_full()) return call->done(is_full());
    return attempt(std::move(call));
  }
  for (const std::string& key : keys) commit.guards.push_back({.key = key, .version = kReported});
  submit(std::move(commit), std::move(call));
}

void Transactions::write(Batch batch, CommitDone done, SchemaVersions expected) {
  if (auto refused = check_versions(batch)) return done(std::move(*refused));
  auto call = call_of({}, {}, std::move(done), expected);
  Commit commit{.expected = call->expected, .batch = std::move(batch)};
  submit(std::move(commit), std::move(call));
}

// The read of a transaction that has no locks.
class Transactions::FirstRead final : public KeyRead {
 public:
  FirstRead(Transactions& transactions, CallPtr call)
      : transactions_(transactions), call_(std::move(call)), keys_(call_->read_keys()) {}

  std::size_t key_count() const override { return keys_.size(); }
  std::string_view key(std::size_t number) const override { return keys_[number]; }
  void finish(const Result<KeyRows>& rows) override {
    transactions_.decide(std::move(call_), rows);
  }

 private:
  Transactions& transactions_;
  CallPtr call_;
  const std::vector<std::string_view> keys_;
};

void Transactions::attempt(CallPtr call) {
  reads_.post(std::make_unique<FirstRead>(*this, std::move(call)));
}

void Transactions::decide(CallPtr call, const Result<KeyRows>& rows) {
  if (!rows) return call->done(failed_with(rows.error()));
  Decided decided = call->decide_on(*rows);
  if (decided.ended) return call->done(std::move(*decided.ended));
  submit(std::move(decided.commit), std::move(call));
}

void Transactions::submit(Commit commit, CallPtr call) {
  commit.lock_keys();
  if (commit.locks.size() > CommitCall::kCommitLocksMax) {
    return call->done(
        failed_with({.code = Code::kInvalidArgument,
                     .message = fmt::format("a transaction writes or reads {} keys, more than {}",
                                            commit.locks.size(), CommitCall::kCommitLocksMax)}));
  }
  Call* const waiting = call.get();
  commit.done = [this, call = std::move(call)](Commit* ended, CommitResult result) mutable {
    ++call->attempts;
    if (result.outcome != CommitOutcome::kConflict) {
      const bool is_known = result.outcome == CommitOutcome::kCommitted && !ended->reported.empty();
      if (is_known) static_cast<void>(call->decide(ended->reported));
      return call->done(std::move(result));
    }
    if (call->decide) return try_again(std::move(call));
    post(locked_, std::move(call),
         [this, commit = std::move(*ended)](Session& session, CallPtr blind) mutable {
           run_blind(session, std::move(commit), std::move(blind));
         });
  };
  if (auto queued = committer_.submit(commit); !queued) {
    waiting->done(failed_with(std::move(queued).error()));
  }
}

// Rejects the call if too many calls are waiting. Nothing of it was applied.
template <class Step>
void Transactions::post(WorkerPool& pool, CallPtr call, Step step) {
  if (pool.is_full()) return call->done(is_full());
  pool.post([call = std::move(call), step = std::move(step)](Session& session) mutable {
    step(session, std::move(call));
  });
}

void Transactions::try_again(CallPtr call) {
  if (call->attempts < kUnlockedAttemptsMax) {
    if (reads_.is_full()) return call->done(is_full());
    attempt(std::move(call));
  } else {
    post(locked_, std::move(call),
         [this](Session& session, CallPtr next) { run_locked(session, std::move(next)); });
  }
}

// The call waits for its locks in the server, so it needs no pause between attempts. Conflicts come
// only from a deadlock or from a lock that is held for long.
void Transactions::run_locked(Session& session, CallPtr call) {
  CommitResult result;
  for (int tries = 0; tries < kLockedAttemptsMax; ++tries) {
    result = try_locked(session, *call);
    if (result.outcome != CommitOutcome::kConflict) break;
  }
  call->done(std::move(result));
}

void Transactions::run_blind(Session& session, Commit commit, CallPtr call) {
  CommitResult result;
  for (int tries = 0; tries < kLockedAttemptsMax; ++tries) {
    auto connection = session.connected();
    if (!connection) return call->done(failed_with(connection.error()));
    CommitCall single;
    single.add(commit);
    result = run_single(session, **connection, single, false);
    if (result.outcome != CommitOutcome::kConflict) break;
    commit = std::move(single.take_commits().front());
  }
  call->done(std::move(result));
}

CommitResult Transactions::run_single(Session& session, Connection& connection, CommitCall& call,
                                      bool in_transaction) {
  auto outcomes = run_call(session, connection, call, in_transaction, settle_timeout_);
  return outcomes ? std::move(outcomes->front()) : failed_with(outcomes.error());
}

CommitResult Transactions::try_locked(Session& session, Call& call) {
  const std::vector<std::string_view> keys = call.read_keys();
  const auto locks = locks_of(std::span(keys).first(call.keys.size()), call.expected);
  SentKeys sent;
  for (const std::string_view key : keys) sent.add(key);
  Connection* held = nullptr;
  const auto rows = session.read([&](Connection& connection) {
    held = &connection;
    connection.send(Statement::kBegin);
    send_locks(connection, locks);
    sent.send(connection);
    connection.end();
    auto found = connection.results();
    if (!found) connection.roll_back();
    return found;
  });
  if (!rows) return failed_with(rows.error());
  Decided decided = call.decide_on(sent.rows(rows->back()));
  if (decided.ended) {
    held->roll_back();
    return std::move(*decided.ended);
  }
  CommitCall commit;
  decided.commit.lock_keys();
  commit.add(decided.commit);
  return run_single(session, *held, commit, true);
}

}  // namespace stator::postgres
