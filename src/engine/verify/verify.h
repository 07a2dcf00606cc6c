// SPDX-License-Identifier: Apache-2.0
// verify: whether what a store holds is what the engine could have written there.
//
// Checked are the files' checksums, the catalog, every item, every index entry both ways, the
// counters that a clean stop left, the logs of changes, the idempotency tokens, and that every row
// belongs to somebody.
// The store is only read. Nobody may write to it meanwhile, and no engine may be open on it.
// Memory does not grow with the data: an index and its table are compared by keyed sums over all
// their entries, and entry by entry only where these differ.
#pragma once

#include <cstdint>
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
  uint64_t finding_count = 0;     // of all
  uint64_t tables = 0;
  uint64_t items = 0;
  uint64_t index_entries = 0;
  uint64_t changes = 0;  // in logs
  uint64_t tokens = 0;
  // Tables whose number of items the last process could not leave behind, as it did not end
  // cleanly: nothing is wrong with them, and they are counted when somebody asks.
  std::vector<std::string> uncounted;

  bool is_sound() const { return finding_count == 0; }
};

// `total` is 0 where it is not known.
using VerifyProgress = FunctionRef<void(std::string_view doing, uint64_t done, uint64_t total)>;

VerifyReport verify(TransactStore& store, VerifyProgress progress);

}  // namespace stator
