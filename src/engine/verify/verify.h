// SPDX-License-Identifier: Apache-2.0
// verify: checks whether the engine could have written the data of a store.
//
// It checks the checksums of the files, the catalog, every item, every index entry in both
// directions, the counters of a clean shutdown, the change logs, the idempotency tokens, and that
// every row belongs to a table, an index or another known space.
// It only reads the store. No engine may be open on it, and nothing may write to it.
// Memory does not grow with the data: an index and its table are compared by keyed sums over all
// entries, and entry by entry only if the sums differ.
// Blocking: waits for the store until all data has been read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "storage/transact_store.h"

namespace stator {

struct Finding {
  std::string_view
      kind;  // "file", "catalog", "item", "index", "counter", "change", "token", "orphan"
  std::string message;  // one line of UTF-8
};

struct VerifyReport {
  static constexpr std::size_t kFindingsMax = 100;

  std::vector<Finding> findings;  // the first kFindingsMax
  uint64_t finding_count = 0;     // of all findings
  uint64_t tables = 0;
  uint64_t items = 0;
  uint64_t index_entries = 0;
  uint64_t changes = 0;  // in logs
  uint64_t tokens = 0;
  // Tables without stored counters, because the last process did not shut down cleanly. This is not
  // an error: DescribeTable starts a count.
  std::vector<std::string> uncounted;

  bool is_sound() const { return finding_count == 0; }
};

// `total` is 0 if it is unknown.
using VerifyProgress = FunctionRef<void(std::string_view doing, uint64_t done, uint64_t total)>;

// `end`: no change has this commit version or a later one. Absent: the store's safe position, which
// a shared store finds with a commit.
VerifyReport verify(TransactStore& store, VerifyProgress progress,
                    std::optional<LogPosition> end = {});

}  // namespace stator
