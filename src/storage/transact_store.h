// SPDX-License-Identifier: Apache-2.0
// TransactStore: an ordered, transactional map from byte strings to byte strings, which several
// processes can share.
//
// Keys: a partition of kPartitionBytes (a space id and a hash, see partition_key()), then the sort
// part, compared as unsigned bytes. A distributed store routes by the partition.
// Thread safety: every method can be called from any thread.
// Callbacks: run on the calling thread or on a thread of the store, and must not block. `done` runs
// exactly once, without locks held, and can call the store. Other callbacks can run with locks held
// (`decide` with those of its keys), and must not call the store. Exception: the body of
// with_view() can wait.
// Reads: bounded and short, about a page. Longer work consists of steps that resume by key. Each
// step can read a later state than the previous one.
// One process: calls complete on the calling thread, except that `done` of a write waits for the
// disk.
// Visibility: commits apply atomically. Reads return only data that is as durable as the store's
// options require. A read that starts after a commit was acknowledged sees all of the commit.
// Lifetime: the destructor waits for calls in progress.
// Errors: kIo, kCorruption, kUnavailable; kThrottling if a bounded queue is full. Absence is a
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
  bool several_processes = false;  // other processes can change the data
};

struct KeyRange {
  std::string begin;  // inclusive
  std::string end;    // exclusive; empty: no end
};

enum class Direction { kForward, kBackward };

enum class CommitOutcome {
  kCommitted,
  kConflict,       // what it read has changed, or was lost; nothing was applied
  kUnknown,        // it might have been applied, or might be applied later
  kUnavailable,    // rejected or failed; nothing was applied
  kSchemaChanged,  // a schema does not have the expected version; nothing was applied
};

struct CommitResult {
  CommitOutcome outcome = CommitOutcome::kCommitted;
  Error error = {};  // the reason, unless committed; the outcome does not follow from its code
  // The number of a commit with writes. Numbers of commits with a common key ascend; in a store
  // with LocalViews, those of all commits do.
  uint64_t sequence = 0;
};
using CommitDone = std::move_only_function<void(CommitResult)>;

// The values that a transaction read, in the order of its keys; absent for absent keys. Borrowed
// for the call, which can move from them.
using GuardedRows = std::span<std::optional<std::string>>;
// Returns the writes of a transaction, which can be none. It can run more than once, each time with
// the rows of a new attempt, so its result must depend only on the rows and on constants.
using Decide = std::move_only_function<Batch(GuardedRows rows)>;

struct RangeRead {
  KeyRange range;
  Direction direction = Direction::kForward;
  // The number of rows that the caller expects to visit, a hint for read-ahead. 0: unknown.
  std::size_t expected_rows = 0;
};

// The keys and ranges are borrowed until `done` has run.
struct ReadRequest {
  std::span<const std::string> keys = {};
  std::span<const RangeRead> ranges = {};
  // Reads everything from one snapshot. A single key or range always is.
  bool one_state = false;
  // If it is set, the store can call it after some visits. They are then void, and the read starts
  // over, from another snapshot.
  std::optional<FunctionRef<void()>> start_over = {};
};

// Called for the present keys, in the order of the request, then for the rows of each range. `part`
// is the position of the key, or the number of keys plus the position of the range. Key and value
// are borrowed for the call. Return false to end the read; to resume it, start after this key.
using ReadVisitor =
    FunctionRef<bool(std::size_t part, std::string_view key, std::string_view value)>;
using RowVisitor = FunctionRef<bool(std::string_view key, std::string_view value)>;
using ValueVisitor = FunctionRef<void(std::string_view value)>;
using ReadDone = std::move_only_function<void(Result<void>)>;

// A snapshot of the whole store. Thread safety: one thread at a time.
class ReadView {
 public:
  virtual ~ReadView() = default;
  // Calls `visit` and returns true if the key is present; otherwise returns false.
  virtual Result<bool> get(std::string_view key, ValueVisitor visit) = 0;
  // Visits the present keys in their order, until `visit` returns false. A shared store reads all
  // of them with one round trip, so the caller limits their number. `visit` must not use the view.
  virtual Result<void> get_many(std::span<const std::string> keys, ReadVisitor visit);
  // `visit` must not use the view.
  virtual Result<void> scan(const RangeRead& range, RowVisitor visit) = 0;
};
using ViewBody = FunctionRef<Result<void>(ReadView&)>;

// A position in the order of versioned rows (Batch::put_versioned): the commit version in a row's
// key. Positions can be compared and stored, also across restarts. The difference of two positions
// has no meaning.
enum class LogPosition : uint64_t {};

// A view that can be kept as long as the store exists, which has exactly the commits with a
// CommitResult::sequence up to `sequence`.
struct NumberedView {
  std::unique_ptr<ReadView> view;
  uint64_t sequence = 0;
};

// Receives the writes of each commit before any view has them.
class CommitObserver {
 public:
  virtual ~CommitObserver() = default;
  // Called in the order of the sequences, by one thread at a time. Commits wait for it, so it must
  // return quickly. It must not call the store. The commit can still fail.
  virtual void on_commit(uint64_t sequence, std::span<const Write> writes) = 0;
};

// Features of a store of one process: it numbers all commits in the order in which they apply, and
// its views have no time limit. An open view makes the store keep replaced versions.
// Lifetime: views must be destroyed before the store.
class LocalViews {
 public:
  virtual ~LocalViews() = default;
  virtual Result<std::unique_ptr<ReadView>> view() = 0;
  // Waits for a write that is in progress, so it is not for frequent requests. The view has every
  // commit that an observer has received, unless the commit failed.
  virtual Result<NumberedView> numbered_view() = 0;
  // Replaces the observer; null removes it. After the call returns, the previous observer is not
  // called.
  virtual void observe(CommitObserver* observer) = 0;
};

// Called for each error that is found, with one line that describes it.
using DamageVisitor = FunctionRef<void(std::string_view damage)>;
using BytesVisitor = FunctionRef<void(uint64_t done_bytes, uint64_t total_bytes)>;

// Operations on the files of a store.
class StoreFiles {
 public:
  virtual ~StoreFiles() = default;
  // Writes a consistent copy, which can be opened as a store, to `directory`, which must not exist.
  virtual Result<void> checkpoint(const std::filesystem::path& directory) = 0;
  // Reads every file and checks its checksums.
  virtual void verify_files(DamageVisitor damaged, BytesVisitor progress) = 0;
};

struct StoreHealth {
  bool writable = true;
  std::string reason;  // why it is not writable, in one line
};

// A pool of threads with one connection each, which execute calls from one queue.
struct ConnectionPoolStats {
  std::string_view name;
  uint64_t connections = 0;
  uint64_t busy = 0;
  uint64_t queued_calls = 0;
};

// Statistics of a store that several processes share.
struct SharedStoreStats {
  std::vector<ConnectionPoolStats> pools;
  // How long one transaction has held back safe_position(); 0 unless longer than a few seconds.
  std::chrono::milliseconds horizon_lag{0};
  std::string address = {};  // of the database, "db1:5432"; empty: not connected yet
};

// Statistics since the store was opened, and current sizes. Members that do not apply are zero.
struct StoreStats {
  uint64_t commits = 0;        // commits that wrote something or waited for writes
  uint64_t commit_groups = 0;  // groups of commits that were written together
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

  // Reads `keys`, calls `decide`, and commits the batch that it returns if none of the rows,
  // present or absent, has changed in the meantime. Conflicts are retried a limited number of
  // times. `done` runs when the writes and everything that was read are durable, also if nothing
  // was written. `keys` is borrowed until then.
  // The batch can also write other keys, without checking them. They are protected from concurrent
  // transactions only if all transactions that write them read a common key (for an index entry,
  // the item).
  //
  // Fails with kSchemaChanged unless the schemas have the `expected` versions when the commit is
  // ordered; without writes, when the keys are read. A commit that gives a schema a new version is
  // ordered after all commits that expected the previous one: a reader of the version sees them.
  virtual void transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                        SchemaVersions expected = {}) = 0;
  // The same for a `decide` that puts the same values into `keys` for all rows, and writes nothing
  // else. It can leave out the values that the rows have already. A store can call it with absent
  // rows, commit the batch, and call it again with the rows that were replaced, whose batch it
  // ignores. The second call is missing if the reply to the commit was lost.
  virtual void transact_foreseen(std::span<const std::string> keys, Decide decide, CommitDone done,
                                 SchemaVersions expected = {}) {
    transact(keys, std::move(decide), std::move(done), expected);
  }
  // Commits a batch, regardless of the values of its keys. A transaction that has read one of these
  // keys does not commit with the older value. `expected`: see above.
  virtual void write(Batch batch, CommitDone done, SchemaVersions expected = {}) = 0;

  // These two are cheap on a store of one process. On a shared store they can read, so they can
  // block: do not call them from callbacks.
  virtual Result<std::shared_ptr<const SchemaRow>> schema_row(std::string_view key) = 0;
  // Returns the version that a transaction must expect now.
  virtual Result<uint64_t> schema_version(const SchemaRow& row) = 0;

  // Visits the keys and ranges of the request, until `visit` returns false. Rows are not copied. If
  // the read fails, some rows can have been visited. `visit` is borrowed until `done` has run.
  virtual void read(const ReadRequest& request, ReadVisitor visit, ReadDone done) = 0;
  // Runs `body` at most once, with a snapshot, then `done` with its result. `body` is borrowed
  // until then. It can read several times and wait: a shared store runs it on a thread for that.
  virtual void with_view(ViewBody body, ReadDone done) = 0;

  // Returns a position before which no more versioned rows can appear: reads that start now see all
  // of them.
  virtual Result<LogPosition> safe_position() = 0;

  // Divides a range into at most `parts` adjacent ranges of similar size that cover it exactly.
  virtual Result<std::vector<KeyRange>> split_ranges(const KeyRange& range, std::size_t parts) = 0;
  // Erases every key of the range. Not atomic: repeat it after a crash. No concurrent write may use
  // the range.
  virtual Result<void> drop_range(const KeyRange& range) = 0;

  // Null for a store without files.
  virtual StoreFiles* files() { return nullptr; }
  // Null for a store that several processes can share.
  virtual LocalViews* local_views() { return nullptr; }
};

// Blocking forms of the calls above. Do not call them from callbacks of the store.
CommitResult transact_and_wait(TransactStore& store, std::span<const std::string> keys,
                               FunctionRef<Batch(GuardedRows)> decide,
                               SchemaVersions expected = {});
CommitResult write_and_wait(TransactStore& store, Batch batch, SchemaVersions expected = {});
Result<void> read_and_wait(TransactStore& store, const ReadRequest& request, ReadVisitor visit);
// Calls `visit` and returns true if the key is present; otherwise returns false.
Result<bool> read_value(TransactStore& store, const std::string& key, ValueVisitor visit);
Result<void> read_range(TransactStore& store, const RangeRead& range, RowVisitor visit);
Result<void> view_and_wait(TransactStore& store, ViewBody body);

// Runs `body`, which takes a ReadView& and returns a Result, and returns this Result.
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

// Calls StoreFiles::checkpoint(). Errors: also kInvalidArgument if the store has no files.
Result<void> copy_files(TransactStore& store, const std::filesystem::path& directory);

}  // namespace stator
