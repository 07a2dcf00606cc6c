// SPDX-License-Identifier: Apache-2.0
// CollectionSizes: the sizes of item collections, of those that are counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/catalog/table.h"

namespace stator {

// Of one table, in all its versions. Collections are named by the hash in their row keys. Nothing
// is stored: if several processes share the store, each adds only its own writes to what it has
// counted.
// Thread safety: every method may be called from any thread at once.
class CollectionSizes {
 public:
  using Parts = std::vector<std::shared_ptr<Counters>>;  // the table's, then each local index's

  // Absent: not counted yet.
  std::optional<int64_t> bytes(const std::string& hash) const;
  // Counters of a collection that is to be counted now. Empty if it is counted already, or too many
  // are at this moment. Collections below `small_bytes` are forgotten when there are too many.
  Parts begin(const std::string& hash, std::size_t parts, int64_t small_bytes);
  void finish(const std::string& hash);
  // Its count came to nothing.
  void forget(const std::string& hash);
  // What a commit changed in each part; `sequence` is CommitResult's.
  void add(const std::string& hash, uint64_t sequence, const std::vector<int64_t>& bytes);

 private:
  static constexpr std::size_t kKept = 4096;
  static constexpr std::size_t kCountedAtOnce = 8;

  struct Collection {
    Parts parts;
    bool counted = false;

    int64_t bytes() const;
  };

  mutable std::mutex mutex_;
  std::atomic<bool> is_used_ = false;
  std::map<std::string, Collection> collections_;
  std::size_t counting_ = 0;
};

}  // namespace stator
