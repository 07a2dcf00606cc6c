// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/transactions.h"

#include <utility>

#include "storage/postgres/reading.h"
#include "storage/schema_rows.h"

namespace stator::postgres {
namespace {

constexpr int kUnlockedAttemptsMax = 2;
constexpr int kLockedAttemptsMax = 6;

CommitResult refused_because(Error error) {
  return {.outcome = CommitOutcome::kUnavailable, .error = std::move(error)};
}

CommitResult is_full() {
  return refused_because({.code = Code::kThrottling,
                          .message = "too many calls are waiting for PostgreSQL; try again later"});
}

CommitResult failed_because(const SqlError& error) {
  return {.outcome = is_conflict(error) ? CommitOutcome::kConflict : CommitOutcome::kUnavailable,
          .error = to_error(error)};
}

std::optional<CommitResult> check_size(const Batch& batch) {
  if (batch.versioned().size() < CommitCall::kOrdinalsMax) return std::nullopt;
  return refused_because({.code = Code::kInvalidArgument,
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
  // From what was read of read_keys().
  Decided decide_on(std::vector<VersionedRow> found);
};

Transactions::Decided Transactions::Call::decide_on(std::vector<VersionedRow> found) {
  Decided decided;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& value = found[keys.size() + i].value;
    if ((value ? schema_version_in(*value) : 0) != expected[i].version) {
      decided.ended = schema_changed();
      return decided;
    }
  }
  std::vector<std::optional<std::string>> rows;
  rows.reserve(keys.size());
  Commit& commit = decided.commit;
  commit.guards.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    commit.guards.push_back({.key = keys[i], .version = found[i].version});
    rows.push_back(std::move(found[i].value));
  }
  commit.batch = decide(rows);
  commit.expected = expected;
  if (commit.batch.empty()) {
    decided.ended.emplace();
  } else {
    decided.ended = check_size(commit.batch);
  }
  return decided;
}

void Transactions::transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                            SchemaVersions expected) {
  if (reads_.is_full()) return done(is_full());
  auto call = std::make_unique<Call>(Call{.keys = keys,
                                          .decide = std::move(decide),
                                          .done = std::move(done),
                                          .expected = {expected.begin(), expected.end()}});
  reads_.post([this, call = std::move(call)](Session& session) mutable {
    attempt(session, std::move(call));
  });
}

void Transactions::write(Batch batch, CommitDone done, SchemaVersions expected) {
  if (auto refused = check_size(batch)) return done(std::move(*refused));
  auto call = std::make_unique<Call>(Call{.keys = {},
                                          .decide = {},
                                          .done = std::move(done),
                                          .expected = {expected.begin(), expected.end()}});
  Commit commit{.expected = call->expected, .batch = std::move(batch)};
  submit(std::move(commit), std::move(call));
}

// On a connection of reads. A connection that broke is replaced once: nothing was sent that
// changes anything.
void Transactions::attempt(Session& session, CallPtr call) {
  const std::vector<std::string_view> keys = call->read_keys();
  SqlResult<std::vector<Rows>> rows;
  for (int tries = 0; tries < 2; ++tries) {
    auto connection = session.connected();
    if (!connection) return call->done(failed_because(connection.error()));
    send_versioned(**connection, keys);
    (*connection)->end();
    rows = (*connection)->results();
    if (rows || !(*connection)->is_broken()) break;
  }
  if (!rows) return call->done(failed_because(rows.error()));
  Decided decided = call->decide_on(versioned_rows(rows->front()));
  if (decided.ended) return call->done(std::move(*decided.ended));
  submit(std::move(decided.commit), std::move(call));
}

void Transactions::submit(Commit commit, CallPtr call) {
  Call* const waiting = call.get();
  commit.lock_keys();
  commit.done = [this, call = std::move(call)](Commit* ended, CommitResult result) mutable {
    ++call->attempts;
    if (result.outcome != CommitOutcome::kConflict) return call->done(std::move(result));
    if (call->decide) return try_again(std::move(call));
    if (call->attempts >= kLockedAttemptsMax) return call->done(std::move(result));
    submit(std::move(*ended), std::move(call));
  };
  if (!committer_.submit(commit)) waiting->done(is_full());
}

void Transactions::try_again(CallPtr call) {
  if (call->attempts < kUnlockedAttemptsMax) {
    reads_.post([this, call = std::move(call)](Session& session) mutable {
      attempt(session, std::move(call));
    });
  } else {
    locked_.post([this, call = std::move(call)](Session& session) mutable {
      run_locked(session, std::move(call));
    });
  }
}

// It waits for its locks in the server, so it needs no pause between attempts: only a deadlock or
// a lock that others keep for long makes a conflict.
void Transactions::run_locked(Session& session, CallPtr call) {
  CommitResult result;
  for (int tries = 0; tries < kLockedAttemptsMax; ++tries) {
    result = try_locked(session, *call);
    if (result.outcome != CommitOutcome::kConflict) break;
  }
  call->done(std::move(result));
}

CommitResult Transactions::try_locked(Session& session, Call& call) {
  auto connected = session.connected();
  if (!connected) return failed_because(connected.error());
  Connection& connection = **connected;
  const std::vector<std::string_view> keys = call.read_keys();
  ArrayValue hashes(ElementType::kInt8);
  ArrayValue shared(ElementType::kBool);
  for (const KeyLock& lock : locks_of(std::span(keys).first(call.keys.size()), call.expected)) {
    hashes.add_int8(lock.hash);
    shared.add_bool(lock.is_shared);
  }
  connection.send(Statement::kBegin);
  connection.send(Statement::kLock, Parameters().array(hashes).array(shared));
  send_versioned(connection, keys);
  connection.end();
  const auto rows = connection.results();
  const auto roll_back = [&] {
    connection.send(Statement::kRollback);
    connection.end_and_ignore();
  };
  if (!rows) {
    roll_back();
    return failed_because(rows.error());
  }
  Decided decided = call.decide_on(versioned_rows(rows->back()));
  if (decided.ended) {
    roll_back();
    return std::move(*decided.ended);
  }
  CommitCall commit;
  decided.commit.lock_keys();
  commit.add(decided.commit);
  return std::move(run_call(session, connection, commit, true, settle_timeout_).front());
}

}  // namespace stator::postgres
