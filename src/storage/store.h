// SPDX-License-Identifier: Apache-2.0
// Store: a TransactStore of one process, with views and transactions that borrow it.
//
// Thread safety: every method may be called from any thread at once; a ReadView or Transaction by
// one thread at a time.
// Visibility: commits apply atomically and in one order. get, scan and ReadView see only what is as
// durable as the store was told to make it: nothing that a crash could take back. A read that
// starts after a commit was acknowledged sees all of it.
// Calls: transact, write and read complete on the calling thread, except that `done` of a write
// waits for the disk. transact runs `decide` with its keys locked, on the newest versions, which
// may not be durable yet; so transactions of one key need not wait for the disk between them.
// Lifetime: views and transactions must be destroyed before the store. Destroying the store waits
// for commits under way.
// Errors: kIo, kCorruption, kThrottling when a bounded queue is full. Absence is a value.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "stator/result.h"
#include "storage/transact_store.h"

namespace stator {

struct ScanOptions {
  KeyRange range;
  Direction direction = Direction::kForward;
  // How many rows the caller expects to visit: a hint for read-ahead, never a limit. 0: unknown.
  std::size_t expected_rows = 0;
};

// Called for each row in order; the views die with the call. False ends the scan.
using RowVisitor = FunctionRef<bool(std::string_view key, std::string_view value)>;
using ValueVisitor = FunctionRef<void(std::string_view value)>;

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

class Store : public TransactStore {
 public:
  // No row that can be read has a later stamp.
  virtual uint64_t last_stamp() const = 0;

  // A point read of the newest durable version, without a view.
  virtual Result<bool> get(std::string_view key, ValueVisitor visit) = 0;
  virtual Result<std::unique_ptr<ReadView>> read_view() = 0;
  // Waits for a write that is on its way to the disk: not for requests.
  virtual Result<NumberedView> numbered_view() = 0;
  virtual Result<std::unique_ptr<Transaction>> begin() = 0;
};

// Blocks until the commit's outcome is known.
CommitResult commit_and_wait(Transaction& transaction);

}  // namespace stator
