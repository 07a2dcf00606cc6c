// SPDX-License-Identifier: Apache-2.0
// Store: a TransactStore of one process, with views that borrow it.
//
// Thread safety: every method may be called from any thread at once; a ReadView by one thread at a
// time.
// Visibility: commits apply atomically and in one order. get, scan and ReadView see only what is as
// durable as the store was told to make it: nothing that a crash could take back. A read that
// starts after a commit was acknowledged sees all of it.
// Calls: transact, write and read complete on the calling thread, except that `done` of a write
// waits for the disk. transact runs `decide` with its keys locked, on the newest versions, which
// may not be durable yet; so transactions of one key need not wait for the disk between them.
// Commit versions: they order as commits apply. A reader of any state that has a commit version has
// every row with an earlier one.
// Lifetime: views must be destroyed before the store. Destroying the store waits for commits under
// way.
// Errors: kIo, kCorruption, kThrottling when a bounded queue is full. Absence is a value.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

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

class Store : public TransactStore {
 public:
  // No row that can be read has a later commit version.
  virtual uint64_t last_commit_version() const = 0;

  // A point read of the newest durable version, without a view.
  virtual Result<bool> get(std::string_view key, ValueVisitor visit) = 0;
  virtual Result<std::unique_ptr<ReadView>> read_view() = 0;
  // Waits for a write that is on its way to the disk: not for requests.
  virtual Result<NumberedView> numbered_view() = 0;
};

}  // namespace stator
