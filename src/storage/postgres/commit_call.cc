// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/commit_call.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>
#include <utility>

#include "base/big_endian.h"
#include "base/random.h"
#include "storage/postgres/row_key.h"
#include "storage/schema_rows.h"

namespace stator::postgres {
namespace {

constexpr std::size_t kRequestIdBytes = 16;
// Columns of a commit's result. That of settle() has the first three.
constexpr int kCommitVersion = 0;
constexpr int kConflicts = 1;
constexpr int kChanged = 2;
constexpr int kIsLate = 3;
constexpr int kRows = 4;
constexpr int kAllColumns = 5;

std::vector<KeyLock> sorted(std::vector<KeyLock> locks) {
  std::ranges::sort(locks, {}, [](const KeyLock& lock) {
    return std::pair(lock.hash, lock.is_shared);  // exclusive first
  });
  const auto repeated = std::ranges::unique(locks, {}, &KeyLock::hash);
  locks.erase(repeated.begin(), repeated.end());
  return locks;
}

std::string version_bytes(uint64_t version) {
  std::string bytes;
  append_big_endian(bytes, version);
  return bytes;
}

}  // namespace

std::vector<KeyLock> locks_of(std::span<const std::string_view> keys, SchemaVersions expected) {
  std::vector<KeyLock> locks;
  locks.reserve(keys.size() + expected.size());
  for (const std::string_view key : keys) locks.push_back({.hash = lock_of(key)});
  for (const SchemaVersion& schema : expected) {
    locks.push_back({.hash = lock_of(schema.row->key()), .is_shared = true});
  }
  return sorted(std::move(locks));
}

void send_locks(Connection& connection, std::span<const KeyLock> locks) {
  if (locks.size() == 2) {
    Parameters parameters;
    for (const KeyLock& lock : locks) parameters.int8(lock.hash).boolean(lock.is_shared);
    return connection.send(Statement::kLockTwo, parameters);
  }
  ArrayValue hashes(ElementType::kInt8);
  ArrayValue shared(ElementType::kBool);
  for (const KeyLock& lock : locks) {
    hashes.add_int8(lock.hash);
    shared.add_bool(lock.is_shared);
  }
  connection.send(Statement::kLock, Parameters().array(hashes).array(shared));
}

// Versioned rows need no locks, because no other commit writes the same ones.
void Commit::lock_keys() {
  std::vector<std::string_view> keys;
  keys.reserve(guards.size() + batch.writes().size());
  for (const Guard& guard : guards) keys.push_back(guard.key);
  auto versioned = batch.versioned().begin();
  for (std::size_t i = 0; i < batch.writes().size(); ++i) {
    if (versioned != batch.versioned().end() && versioned->write == i) {
      ++versioned;
    } else {
      keys.push_back(batch.writes()[i].key);
    }
  }
  locks = locks_of(keys, expected);
}

int32_t request_day() {
  const auto now = std::chrono::system_clock::now();
  return static_cast<int32_t>(
      std::chrono::floor<std::chrono::days>(now).time_since_epoch().count());
}

CommitCall::CommitCall(int32_t day) : day_(day), id_(random_bytes(kRequestIdBytes)) {}

bool CommitCall::fits(const Commit& commit) const {
  if (commits_.empty()) return true;
  if (commit.is_alone || commits_.front().is_alone) return false;
  const auto ordinals = static_cast<int32_t>(commit.batch.versioned().size()) + 1;
  if (commits_.size() >= kCommitsMax || bytes_ + commit.batch.bytes() > kBytesMax ||
      locks_.size() + commit.locks.size() > kLocksMax || ordinal_ + ordinals > kOrdinalsMax) {
    return false;
  }
  return std::ranges::none_of(commit.locks, [&](const KeyLock& lock) {
    const auto held = locks_.find(lock.hash);
    return held != locks_.end() && !(held->second && lock.is_shared);
  });
}

bool CommitCall::add(Commit& commit) {
  if (!fits(commit)) return false;
  const auto number = static_cast<int32_t>(commits_.size());
  for (const KeyLock& lock : commit.locks) locks_.emplace(lock.hash, lock.is_shared);
  for (const SchemaVersion& schema : commit.expected) {
    const RowKey row(schema.row->key());
    schemas_.p.add_bytes(row.p);
    schemas_.s.add_bytes(row.s);
    schemas_.batch.add_int4(number);
    schema_versions_.add_bytes(version_bytes(schema.version));
  }
  for (const Guard& guard : commit.guards) {
    const RowKey row(guard.key);
    reads_.p.add_bytes(row.p);
    reads_.s.add_bytes(row.s);
    reads_.batch.add_int4(number);
    read_versions_.add_int8(guard.version);
  }
  add_writes(commit.batch, number);
  bytes_ += commit.batch.bytes();
  last_ordinals_.push_back(ordinal_);
  commits_.push_back(std::move(commit));
  return true;
}

// Of several writes to one key, only the last one counts. The version of the rows is the last
// ordinal of their batch, after the ordinals of its versioned rows.
void CommitCall::add_writes(const Batch& batch, int32_t number) {
  const std::vector<Write>& writes = batch.writes();
  const std::vector<Batch::Versioned>& versioned = batch.versioned();
  for (const Batch::Versioned& row : versioned) {
    const Write& write = writes[row.write];
    logs_.p.add_bytes(write.key);
    logs_.s.add_bytes(*write.value);
    logs_.batch.add_int4(number);
    log_at_.add_int4(static_cast<int32_t>(row.offset));
    log_ordinals_.add_int4(++ordinal_);
  }
  ++ordinal_;
  std::unordered_set<std::string_view> seen;
  auto next_versioned = versioned.rbegin();
  for (std::size_t i = writes.size(); i-- > 0;) {
    if (next_versioned != versioned.rend() && next_versioned->write == i) {
      ++next_versioned;
      continue;
    }
    const Write& write = writes[i];
    if (!seen.insert(write.key).second) continue;
    const RowKey row(write.key);
    Columns& columns = write.value ? puts_ : erases_;
    columns.p.add_bytes(row.p);
    columns.s.add_bytes(row.s);
    columns.batch.add_int4(number);
    (write.value ? last_put_ : last_erase_) = &write;
    if (!write.value) continue;
    put_values_.add_bytes(*write.value);
    put_ordinals_.add_int4(ordinal_);
  }
}

bool CommitCall::is_alone() const {
  return commits_.size() == 1 && commits_[0].expected.size() == 1 &&
         commits_[0].guards.size() <= kFewGuards && erases_.p.count() <= 1 && logs_.p.count() == 0;
}

void CommitCall::send_alone(Connection& connection) {
  const Commit& commit = commits_[0];
  const SchemaVersion& expected = commit.expected[0];
  const RowKey schema(expected.row->key());
  const std::string schema_version = version_bytes(expected.version);
  Parameters parameters;
  parameters.int4(day_).bytes(id_).bytes(schema.p).bytes(schema.s).bytes(schema_version);
  std::array<std::string, kFewGuards> versions;
  for (std::size_t i = 0; i < commit.guards.size(); ++i) {
    const RowKey row(commit.guards[i].key);
    versions[i] = version_bytes(static_cast<uint64_t>(commit.guards[i].version));
    parameters.bytes(row.p).bytes(row.s).bytes(versions[i]);
  }
  const bool one_put = puts_.p.count() == 1;
  if (one_put) {
    const RowKey row(last_put_->key);
    parameters.bytes(row.p).bytes(row.s).bytes(*last_put_->value);
  } else {
    parameters.array(puts_.p).array(puts_.s).array(put_values_);
  }
  const bool erases = last_erase_ != nullptr;
  if (erases) {
    const RowKey row(last_erase_->key);
    parameters.bytes(row.p).bytes(row.s);
  }
  connection.send(commit_alone(commit.guards.size(), one_put, erases), parameters);
}

void CommitCall::send(Connection& connection) {
  std::vector<KeyLock> locks;
  locks.reserve(locks_.size());
  for (const auto& [hash, is_shared] : locks_) locks.push_back({hash, is_shared});
  send_locks(connection, sorted(std::move(locks)));
  is_alone() ? send_alone(connection) : send_together(connection);
}

void CommitCall::send_together(Connection& connection) {
  const bool erases = erases_.p.count() > 0;
  const bool logs = logs_.p.count() > 0;
  Parameters parameters;
  parameters.int4(day_).bytes(id_).int4(static_cast<int32_t>(commits_.size()));
  parameters.array(schemas_.p).array(schemas_.s).array(schema_versions_).array(schemas_.batch);
  parameters.array(reads_.p).array(reads_.s).array(read_versions_).array(reads_.batch);
  parameters.array(puts_.p).array(puts_.s).array(put_values_).array(put_ordinals_);
  parameters.array(puts_.batch);
  if (erases) parameters.array(erases_.p).array(erases_.s).array(erases_.batch);
  if (logs) {
    parameters.array(logs_.p).array(log_at_).array(logs_.s).array(log_ordinals_);
    parameters.array(logs_.batch);
  }
  connection.send(commit_together(erases, logs), parameters);
}

SqlResult<Rows> CommitCall::settle(Connection& connection,
                                   std::chrono::milliseconds timeout) const {
  connection.send(Statement::kSettle, Parameters().int4(day_).bytes(id_));
  connection.end();
  if (!connection.responds_within(timeout)) {
    return std::unexpected(SqlError{.state = kLostState, .message = kUnconfirmed});
  }
  auto rows = connection.results();
  if (!rows) return std::unexpected(std::move(rows).error());
  return std::move(rows->front());
}

LogPosition CommitCall::end_of(const Rows& rows) {
  return LogPosition{
      rows.is_null(0, kCommitVersion) ? 0 : rows.number(0, kCommitVersion) + kOrdinalsMax + 1};
}

// The result has a row for each guard.
void CommitCall::report_rows(const Rows& rows) {
  auto found = rows.texts(0, kRows);
  std::size_t next = 0;
  for (Commit& commit : commits_) {
    for (const Guard& guard : commit.guards) {
      auto& row = found[next++];
      if (guard.version == kReported) commit.reported.push_back(std::move(row));
    }
  }
}

std::vector<CommitResult> CommitCall::outcomes(const Rows& rows) {
  std::vector<CommitResult> outcomes(commits_.size());
  const CommitResult conflict{
      .outcome = CommitOutcome::kConflict,
      .error = {.code = Code::kConflict, .message = "other transactions came between"}};
  const bool is_complete = rows.columns() == kAllColumns;
  if (is_complete && rows.bytes(0, kIsLate)[0] != 0) {
    std::ranges::fill(
        outcomes,
        CommitResult{.outcome = CommitOutcome::kUnavailable,
                     .error = {.code = Code::kUnavailable,
                               .message = "the clocks of Stator and PostgreSQL differ by more "
                                          "than a day"}});
    return outcomes;
  }
  if (rows.is_null(0, kCommitVersion)) {
    // Nothing was applied. The result of a call contains the reason, a tombstone does not.
    std::ranges::fill(outcomes, conflict);
  } else {
    const uint64_t commit_version = rows.number(0, kCommitVersion);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      outcomes[i].sequence = commit_version + static_cast<uint64_t>(last_ordinals_[i]);
    }
  }
  const auto set = [&](int column, const CommitResult& outcome) {
    for (const int32_t batch : rows.numbers(0, column)) {
      const auto index = static_cast<std::size_t>(batch);
      if (index < outcomes.size()) outcomes[index] = outcome;
    }
  };
  set(kConflicts, conflict);
  set(kChanged, schema_changed());
  if (is_complete) report_rows(rows);
  return outcomes;
}

}  // namespace stator::postgres
