// SPDX-License-Identifier: Apache-2.0
// CommitCall: independent commits in one transaction of PostgreSQL, each with its own outcome.
//
// Thread safety: none.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "storage/postgres/binary_values.h"
#include "storage/postgres/connection.h"
#include "storage/transact_store.h"

namespace stator::postgres {

struct KeyLock {
  int64_t hash = 0;
  bool is_shared = false;
  bool operator==(const KeyLock&) const = default;
};

// A key that a transaction read, and the version that it must still have.
struct Guard {
  std::string_view key;  // borrowed
  int64_t version = 0;   // 0: absent; kReported: any, and the result has the row
};

// The locks of some keys and schema versions: ascending, distinct, exclusive if any is.
std::vector<KeyLock> locks_of(std::span<const std::string_view> keys, SchemaVersions expected);
// Sends the statement that takes them.
void send_locks(Connection& connection, std::span<const KeyLock> locks);

struct Commit {
  std::vector<Guard> guards;
  std::vector<SchemaVersion> expected;
  Batch batch;
  std::vector<KeyLock> locks;  // set by lock_keys()
  bool is_alone = false;       // it must have its own call
  // Set with the outcome: the rows of the guards with kReported. Empty if the reply was lost.
  std::vector<std::optional<std::string>> reported;
  // Receives the commit, so that it can be repeated; never null.
  std::move_only_function<void(Commit* ended, CommitResult result)> done;

  void lock_keys();
};

// The day that a request belongs to, since 1970 by this machine's clock.
int32_t request_day();

class CommitCall {
 public:
  static constexpr std::size_t kCommitsMax = 64;
  static constexpr std::size_t kBytesMax = 1UL << 20;  // one commit may exceed this and the next
  // All transactions share the server's table of locks.
  static constexpr std::size_t kLocksMax = 128;  // one commit may exceed this
  // 100 items of a transaction, each with an old and a new entry of 25 indexes and of TTL, and
  // their tables: 5,400.
  static constexpr std::size_t kCommitLocksMax = 5'500;
  // The number of commit versions that one transaction of PostgreSQL can assign.
  static constexpr int32_t kOrdinalsMax = 4095;

  explicit CommitCall(int32_t day = request_day());
  // Adds a commit. Returns false, without a change, if it does not fit or has a lock in common with
  // another one.
  bool add(Commit& commit);
  bool empty() const { return commits_.empty(); }

  // Sends the call.
  void send(Connection& connection);
  // Of the results of the pipeline that began with send(), the one with the outcome.
  static const Rows& result_in(const std::vector<Rows>& results) { return results[1]; }
  // Ensures that the call has ended, and returns its result. A call that has not arrived yet is
  // rejected when it does. If there is no response within `timeout`, the connection continues to
  // wait for it.
  SqlResult<Rows> settle(Connection& connection, std::chrono::milliseconds timeout) const;
  // The outcome of each commit, from the result of the call or of settle(). Sets Commit::reported.
  std::vector<CommitResult> outcomes(const Rows& rows);
  // The end of the commit versions of the transaction that applied the call; 0: it was not applied.
  static LogPosition end_of(const Rows& rows);
  std::vector<Commit> take_commits() { return std::move(commits_); }
  std::size_t size() const { return commits_.size(); }

 private:
  // Columns of rows, in the order of the parameters of commit_together().
  struct Columns {
    ArrayValue p{ElementType::kBytea};
    ArrayValue s{ElementType::kBytea};
    ArrayValue batch{ElementType::kInt4};
  };

  bool fits(const Commit& commit) const;
  void report_rows(const Rows& rows);
  bool is_alone() const;  // commit_alone() is enough
  void send_alone(Connection& connection);
  void add_writes(const Batch& batch, int32_t number);
  void send_together(Connection& connection);

  const int32_t day_;
  const std::string id_;
  std::vector<Commit> commits_;
  std::vector<int32_t> last_ordinals_;
  std::unordered_map<int64_t, bool> locks_;  // hash -> is shared
  std::size_t bytes_ = 0;
  int32_t ordinal_ = 0;

  Columns schemas_;
  ArrayValue schema_versions_{ElementType::kBytea};
  Columns reads_;
  ArrayValue read_versions_{ElementType::kInt8};
  Columns puts_;
  ArrayValue put_values_{ElementType::kBytea};
  ArrayValue put_ordinals_{ElementType::kInt4};
  Columns erases_;
  // Borrowed from their commits.
  const Write* last_put_ = nullptr;
  const Write* last_erase_ = nullptr;
  Columns logs_;  // p: the whole key; s: the value
  ArrayValue log_at_{ElementType::kInt4};
  ArrayValue log_ordinals_{ElementType::kInt4};
};

}  // namespace stator::postgres
