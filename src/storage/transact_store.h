// SPDX-License-Identifier: Apache-2.0
// TransactStore: an ordered, transactional map from byte strings to byte strings, which several
// processes can share.
//
// Keys: kPartitionBytes of partition (a space id and a hash, see partition_key), then the sort
// part, compared as unsigned bytes. A distributed store routes by the first part.
// Thread safety: every method may be called from any thread at once.
// Callbacks: run on the calling thread or on a thread of the store. `done` runs exactly once. None
// of them may block. `done` may call the store; `decide` must not.
// Visibility: commits apply atomically. Reads return only what is as durable as the store was told
// to make it. A read that starts after a commit was acknowledged sees all of it.
// Lifetime: destroying the store waits for calls under way.
// Errors: kIo, kCorruption, kUnavailable, kThrottling when a bounded queue is full. Absence is a
// value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "stator/result.h"
#include "storage/batch.h"
#include "storage/schema_row.h"

namespace stator {

inline constexpr std::size_t kPartitionBytes = 20;

struct StoreCapabilities {
  std::size_t key_bytes_max = 0;
  std::size_t value_bytes_max = 0;
  std::size_t transaction_bytes_max = 0;
  bool snapshot_spans_partitions = false;
  bool several_processes = false;  // others can change the data
};

struct KeyRange {
  std::string begin;  // inclusive
  std::string end;    // exclusive; empty: no end
};

enum class Direction { kForward, kBackward };

enum class CommitOutcome {
  kCommitted,
  kConflict,       // other transactions kept coming between; nothing was applied
  kUnknown,        // it may have been applied, or may still be
  kUnavailable,    // refused or failed; nothing was applied
  kSchemaChanged,  // a schema does not have the version that was expected; nothing was applied
};

struct CommitResult {
  CommitOutcome outcome = CommitOutcome::kCommitted;
  Error error = {};  // why, where not committed
  // Of a commit with writes. Commits of one key have ascending numbers. In a store of one process
  // all commits have: see NumberedView.
  uint64_t sequence = 0;
};
using CommitDone = std::move_only_function<void(CommitResult)>;

// The values of the keys that a transaction read, in the order of the keys; absent keys have none.
// Lent for the call. The values may be moved from.
using GuardedRows = std::span<std::optional<std::string>>;
// Returns what to write; an empty batch writes nothing. It can run more than once, each time with
// the rows of a new attempt, so it must decide on the rows and its own constants only.
using Decide = std::move_only_function<Batch(GuardedRows rows)>;

struct RangeRead {
  KeyRange range;
  Direction direction = Direction::kForward;
};

struct ReadRequest {
  std::vector<std::string> keys = {};
  std::vector<RangeRead> ranges = {};
  // Limits of one call. It reads at least one key or row, and ends with the one that reaches
  // `bytes_max`. An absent key counts as a row.
  std::size_t rows_max = 1000;
  std::size_t bytes_max = 1UL << 20;
  // Everything that this call returns is of one state of the store.
  bool one_state = false;
};

struct StoredRow {
  std::string key;
  std::string value;
  bool operator==(const StoredRow&) const = default;
};

struct ReadResult {
  std::vector<std::optional<std::string>> values;  // of the keys, in their order
  std::vector<std::vector<StoredRow>> ranges;      // the rows of each range, in its direction
  // What a limit left unread: later keys, and ranges from behind the last row on. Absent when
  // everything was read.
  std::optional<ReadRequest> rest;
};
using ReadDone = std::move_only_function<void(Result<ReadResult>)>;

// A place in the order of versioned rows: big endian, it is the commit version in a row's key.
// Positions can be compared and kept, also across restarts; the distance between two means nothing.
enum class LogPosition : uint64_t {};

// Called for each thing found wrong, with one line that names it.
using DamageVisitor = FunctionRef<void(std::string_view damage)>;
using BytesVisitor = FunctionRef<void(uint64_t done_bytes, uint64_t total_bytes)>;

// The files of a store that has them.
class StoreFiles {
 public:
  virtual ~StoreFiles() = default;
  // Writes a consistent copy that can be opened as a store of its own into `directory`, which must
  // not exist.
  virtual Result<void> checkpoint(const std::filesystem::path& directory) = 0;
  // Reads every file and compares what it holds with its checksums.
  virtual void verify_files(DamageVisitor damaged, BytesVisitor progress) = 0;
};

struct StoreHealth {
  bool writable = true;
  std::string reason;  // why not, one line; empty when writable
};

// What a store has done since it was opened, and what it holds. Zero for what it does not have.
struct StoreStats {
  uint64_t commits = 0;        // that wrote something or waited for writes
  uint64_t commit_groups = 0;  // written together
  uint64_t syncs = 0;
  uint64_t queued_commits = 0;
  uint64_t queued_bytes = 0;
  uint64_t queued_bytes_max = 0;
  uint64_t cache_bytes = 0;
  uint64_t cache_bytes_max = 0;
  uint64_t write_buffer_bytes = 0;
  uint64_t file_bytes = 0;                // of table files
  uint64_t pending_compaction_bytes = 0;  // estimated
};

class TransactStore {
 public:
  virtual ~TransactStore() = default;

  virtual StoreCapabilities capabilities() const = 0;
  virtual StoreHealth health() const = 0;
  virtual StoreStats stats() const { return {}; }

  // Reads `keys`, calls `decide`, and commits its batch if no row that was read has changed since,
  // absent ones included. Conflicts are retried here, a limited number of times. `done` runs when
  // the writes and everything that was read are durable, also if nothing was written. `keys` must
  // live until then.
  // The batch may write other keys too, whatever they hold. They are safe from other transactions
  // only if everyone who writes them reads a common key (an index entry and its item).
  //
  // It ends with kSchemaChanged unless schemas have the `expected` versions when it takes its place
  // among the commits; without writes, when it has read its keys. A commit that gives a schema a
  // new version comes after all that expected the one before: whoever sees the version sees them.
  virtual void transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                        SchemaVersions expected = {}) = 0;
  // Commits a batch whatever its keys hold. No transaction that read one of them commits on the
  // older value. `expected` as above.
  virtual void write(Batch batch, CommitDone done, SchemaVersions expected = {}) = 0;

  // These two cost nothing, or little, on a store of one process; otherwise they may read, and
  // block: not for callbacks.
  virtual Result<std::shared_ptr<const SchemaRow>> schema_row(std::string_view key) = 0;
  // The version that a transaction would have to expect now.
  virtual Result<uint64_t> schema_version(const SchemaRow& row) = 0;

  virtual void read(ReadRequest request, ReadDone done) = 0;

  // Every versioned row before this position that will ever exist is visible to reads that start
  // now.
  virtual Result<LogPosition> safe_position() = 0;

  // Cuts a range into at most `parts` adjacent ranges of similar weight that cover it exactly.
  virtual Result<std::vector<KeyRange>> split_ranges(const KeyRange& range, std::size_t parts) = 0;
  // Erases every key of the range. Not atomic; call it again after a crash. Nobody may write there.
  virtual Result<void> drop_range(const KeyRange& range) = 0;

  // Null for a store without files.
  virtual StoreFiles* files() { return nullptr; }
};

// These block until the call has completed; not for callbacks of the store.
CommitResult transact_and_wait(TransactStore& store, std::span<const std::string> keys,
                               FunctionRef<Batch(GuardedRows)> decide,
                               SchemaVersions expected = {});
CommitResult write_and_wait(TransactStore& store, Batch batch, SchemaVersions expected = {});
Result<ReadResult> read_and_wait(TransactStore& store, ReadRequest request);

// StoreFiles::checkpoint(); kInvalidArgument from a store without files.
Result<void> copy_files(TransactStore& store, const std::filesystem::path& directory);

}  // namespace stator
