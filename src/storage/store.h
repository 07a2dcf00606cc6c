// SPDX-License-Identifier: Apache-2.0
// Store: an ordered, transactional map from byte strings to byte strings.
//
// Keys: kPartitionBytes of partition (a space id and a hash, see partition_key), then the sort
// part, compared as unsigned bytes. A distributed store routes by the first part.
// Thread safety: every method may be called from any thread at once; a ReadView or Transaction by
// one thread at a time.
// Visibility: commits apply atomically and in one order. get, scan and ReadView see only what is as
// durable as the store was told to make it: nothing that a crash could take back. A read that
// starts after a commit was acknowledged sees all of it.
// Lifetime: views and transactions must be destroyed before the store. Destroying the store waits
// for commits under way.
// Errors: kIo, kCorruption, kThrottling when a bounded queue is full. Absence is a value.
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

namespace stator {

inline constexpr std::size_t kPartitionBytes = 20;
inline constexpr std::size_t kStampBytes = 8;

struct StoreCapabilities {
  std::size_t key_bytes_max = 0;
  std::size_t value_bytes_max = 0;
  std::size_t transaction_bytes_max = 0;
  bool snapshot_spans_partitions = false;
};

struct KeyRange {
  std::string begin;  // inclusive
  std::string end;    // exclusive; empty: no end
};

enum class Direction { kForward, kBackward };

struct ScanOptions {
  KeyRange range;
  Direction direction = Direction::kForward;
  // How many rows the caller expects to visit: a hint for read-ahead, never a limit. 0: unknown.
  std::size_t expected_rows = 0;
};

// Called for each row in order; the views die with the call. False ends the scan.
using RowVisitor = FunctionRef<bool(std::string_view key, std::string_view value)>;
using ValueVisitor = FunctionRef<void(std::string_view value)>;
// Called for each thing found wrong, with one line that names it.
using DamageVisitor = FunctionRef<void(std::string_view damage)>;
using BytesVisitor = FunctionRef<void(uint64_t done_bytes, uint64_t total_bytes)>;

// One consistent state of the whole store. Short-lived: a page, one TransactGetItems.
class ReadView {
 public:
  virtual ~ReadView() = default;
  // True and one call of `visit` where the key is present; false where it is absent.
  virtual Result<bool> get(std::string_view key, ValueVisitor visit) = 0;
  virtual Result<void> scan(const ScanOptions& options, RowVisitor visit) = 0;
};

// A view, and which commits it has: those with a CommitResult::sequence up to its own, and no
// others.
struct NumberedView {
  std::unique_ptr<ReadView> view;
  uint64_t sequence = 0;
};

enum class CommitOutcome {
  kCommitted,
  kConflict,     // another transaction came between; nothing was applied, try again
  kUnknown,      // the connection broke at the commit: it may or may not have been applied
  kUnavailable,  // refused or failed; nothing was applied
};

struct CommitResult {
  CommitOutcome outcome = CommitOutcome::kCommitted;
  Error error = {};  // why, where not committed
  // Of a commit with writes, in the order in which commits apply: see NumberedView.
  uint64_t sequence = 0;
};
using CommitDone = std::move_only_function<void(CommitResult)>;

// Reads and writes that apply together or not at all.
// Destroying it without a commit drops its writes and releases its locks. A transaction that holds
// guards ends on the thread that took them, and that thread has no other one with guards meanwhile.
class Transaction {
 public:
  virtual ~Transaction() = default;

  // Values in the order of `keys`, absent keys too, each guarded until commit: no other
  // transaction's get_for_update returns for any of them in between. At most one call a
  // transaction (the store locks in an order of its own, so transactions cannot deadlock).
  // Sees the newest committed or queued version, which may not be durable yet.
  virtual Result<std::vector<std::optional<std::string>>> get_for_update(
      std::span<const std::string> keys) = 0;
  // An unguarded read of the newest version, queued ones included.
  virtual Result<bool> get(std::string_view key, ValueVisitor visit) = 0;

  virtual void put(std::string_view key, std::string_view value) = 0;
  virtual void erase(std::string_view key) = 0;
  // Puts a row whose key is `prefix`, a stamp of kStampBytes that the commit chooses, `suffix`.
  // Stamps order as commits apply, and within one as they were put: a reader of any state that has
  // a stamp has every row with an earlier one. They are big endian, above 0, and grow after a
  // restart, after a crash and in copies. None is given twice in one history of the store, unless
  // durability is os and a loss of power took the row.
  virtual void put_stamped(std::string_view prefix, std::string_view suffix,
                           std::string_view value) = 0;

  // Queues the writes in order, releases the guards and returns; the transaction is spent.
  // `done` runs exactly once, on any thread (this one included), when the writes, and every queued
  // version that this transaction read, are as durable as the store promises. A transaction
  // without writes is committed too before its caller answers from what it read.
  // `done` must not block and must not begin a transaction that waits.
  virtual void commit(CommitDone done) = 0;
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

class Store {
 public:
  virtual ~Store() = default;

  virtual StoreCapabilities capabilities() const = 0;
  virtual StoreHealth health() const = 0;
  virtual StoreStats stats() const { return {}; }
  // No row that can be read has a later stamp.
  virtual uint64_t last_stamp() const = 0;

  // A point read of the newest durable version, without a view.
  virtual Result<bool> get(std::string_view key, ValueVisitor visit) = 0;
  virtual Result<std::unique_ptr<ReadView>> read_view() = 0;
  // Waits for a write that is on its way to the disk: not for requests.
  virtual Result<NumberedView> numbered_view() = 0;
  virtual Result<std::unique_ptr<Transaction>> begin() = 0;

  // Cuts a range into at most `parts` adjacent ranges of similar weight that cover it exactly.
  virtual Result<std::vector<KeyRange>> split_ranges(const KeyRange& range, std::size_t parts) = 0;
  // Erases every key of the range. Not atomic; call it again after a crash. Nobody may write there.
  virtual Result<void> drop_range(const KeyRange& range) = 0;
  // Writes a consistent copy that can be opened as a store of its own into `directory`, which must
  // not exist. kInvalidArgument from a store without files.
  virtual Result<void> checkpoint(const std::filesystem::path& directory) = 0;
  // Reads every file and compares what it holds with its checksums; a store without files has none
  // that could be damaged.
  virtual void verify_files(DamageVisitor damaged, BytesVisitor progress) = 0;
};

// Blocks until the commit's outcome is known.
CommitResult commit_and_wait(Transaction& transaction);

}  // namespace stator
