// SPDX-License-Identifier: Apache-2.0
// TransactStore: an ordered, transactional map from byte strings to byte strings, which several
// processes can share.
//
// Keys: kPartitionBytes of partition (a space id and a hash, see partition_key), then the sort
// part, compared as unsigned bytes. A distributed store routes by the first part.
// Thread safety: every method may be called from any thread at once.
// Callbacks: run on the calling thread or on a thread of the store. `done` runs exactly once. None
// of them may block. `done` may call the store; no other may.
// Reads: bounded and short, about a page. Longer work goes in steps that resume by key. Each step
// can find a later state than the one before it.
// Calls of a store of one process complete on the calling thread, except that `done` of a write
// waits for the disk.
// Visibility: commits apply atomically. Reads return only what is as durable as the store was told
// to make it. A read that starts after a commit was acknowledged sees all of it.
// Lifetime: destroying the store waits for calls under way.
// Errors: kIo, kCorruption, kUnavailable, kThrottling when a bounded queue is full. Absence is a
// value.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
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
  // Of a commit with writes. Commits of one key have ascending numbers. In a store with LocalViews
  // all commits have.
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
  // How many rows the caller expects to visit: a hint for read-ahead, never a limit. 0: unknown.
  std::size_t expected_rows = 0;
};

// The keys and ranges are borrowed until `done` has run.
struct ReadRequest {
  std::span<const std::string> keys = {};
  std::span<const RangeRead> ranges = {};
  // Everything that this call visits is of one state of the store. A single key or range always is.
  bool one_state = false;
};

// Called for the keys that are present, in the order of the request, and then for the rows of each
// range. `part` numbers the keys of the request, and behind them the ranges. Key and value die with
// the call. False ends the read: the caller resumes behind this key if it wants more.
using ReadVisitor =
    FunctionRef<bool(std::size_t part, std::string_view key, std::string_view value)>;
using RowVisitor = FunctionRef<bool(std::string_view key, std::string_view value)>;
using ValueVisitor = FunctionRef<void(std::string_view value)>;
using ReadDone = std::move_only_function<void(Result<void>)>;

// One state of the whole store. For one thread at a time.
class ReadView {
 public:
  virtual ~ReadView() = default;
  // True and one call of `visit` if the key is present. False if it is absent.
  virtual Result<bool> get(std::string_view key, ValueVisitor visit) = 0;
  // `visit` must not use the view.
  virtual Result<void> scan(const RangeRead& range, RowVisitor visit) = 0;
};
using ViewBody = FunctionRef<Result<void>(ReadView&)>;

// A place in the order of versioned rows: big endian, it is the commit version in a row's key.
// Positions can be compared and kept, also across restarts; the distance between two means nothing.
enum class LogPosition : uint64_t {};

// A view that its owner keeps as long as it wants, and which commits it has: those with a
// CommitResult::sequence up to its own, and no others.
struct NumberedView {
  std::unique_ptr<ReadView> view;
  uint64_t sequence = 0;
};

// Receives the writes of each commit before any view has them.
class CommitObserver {
 public:
  virtual ~CommitObserver() = default;
  // Called in the order of the sequences, by one thread at a time. Commits wait for it, so it must
  // be quick; it must not call the store. The commit can still fail.
  virtual void on_commit(uint64_t sequence, std::span<const Write> writes) = 0;
};

// What only a store of one process has: it numbers all commits in the order in which they apply,
// and can keep a state. Views must be destroyed before the store.
class LocalViews {
 public:
  virtual ~LocalViews() = default;
  virtual Result<std::unique_ptr<ReadView>> view() = 0;
  // Waits for a write that is on its way to the disk: not for frequent requests. It has every
  // commit that an observer has received, unless the commit failed.
  virtual Result<NumberedView> numbered_view() = 0;
  // Replaces the observer; null removes it. After the call returns, the previous observer is not
  // called.
  virtual void observe(CommitObserver* observer) = 0;
};

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

// Threads with a connection each, which take calls from one queue.
struct ConnectionPoolStats {
  std::string_view name;
  uint64_t connections = 0;
  uint64_t busy = 0;
  uint64_t queued_calls = 0;
};

// Of a store that several processes share.
struct SharedStoreStats {
  std::vector<ConnectionPoolStats> pools;
  // How long one transaction has held back safe_position(); 0 unless longer than a few seconds.
  std::chrono::milliseconds horizon_lag{0};
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
  std::optional<SharedStoreStats> shared = {};
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

  // Visits what the request names, until `visit` returns false. Rows are lent in place. After an
  // error, some of them may have been visited. `visit` must live until `done` has run.
  virtual void read(const ReadRequest& request, ReadVisitor visit, ReadDone done) = 0;
  // Runs `body` at most once, on one state of the store, then `done` with the result. `body` must
  // live until then. It can read several times and wait: a shared store runs it on its own threads.
  virtual void with_view(ViewBody body, ReadDone done) = 0;

  // Every versioned row before this position that will ever exist is visible to reads that start
  // now.
  virtual Result<LogPosition> safe_position() = 0;

  // Cuts a range into at most `parts` adjacent ranges of similar weight that cover it exactly.
  virtual Result<std::vector<KeyRange>> split_ranges(const KeyRange& range, std::size_t parts) = 0;
  // Erases every key of the range. Not atomic; call it again after a crash. Nobody may write there.
  virtual Result<void> drop_range(const KeyRange& range) = 0;

  // Null for a store without files.
  virtual StoreFiles* files() { return nullptr; }
  // Null for a store that several processes can share.
  virtual LocalViews* local_views() { return nullptr; }
};

// These block until the call has completed; not for callbacks of the store.
CommitResult transact_and_wait(TransactStore& store, std::span<const std::string> keys,
                               FunctionRef<Batch(GuardedRows)> decide,
                               SchemaVersions expected = {});
CommitResult write_and_wait(TransactStore& store, Batch batch, SchemaVersions expected = {});
Result<void> read_and_wait(TransactStore& store, const ReadRequest& request, ReadVisitor visit);
// True and one call of `visit` if the key is present.
Result<bool> read_value(TransactStore& store, const std::string& key, ValueVisitor visit);
Result<void> read_range(TransactStore& store, const RangeRead& range, RowVisitor visit);
Result<void> view_and_wait(TransactStore& store, ViewBody body);

// Returns what `body`, which takes a ReadView& and returns a Result, returns.
template <class Body>
std::invoke_result_t<Body&, ReadView&> with_view(TransactStore& store, Body body) {
  using Returned = std::invoke_result_t<Body&, ReadView&>;
  std::optional<Returned> returned;
  auto done = view_and_wait(store, [&](ReadView& view) -> Result<void> {
    returned.emplace(body(view));
    return {};
  });
  if (!done) return Failure(std::move(done).error());
  return std::move(*returned);
}

// StoreFiles::checkpoint(); kInvalidArgument from a store without files.
Result<void> copy_files(TransactStore& store, const std::filesystem::path& directory);

}  // namespace stator
