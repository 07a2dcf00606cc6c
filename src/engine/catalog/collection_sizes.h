// SPDX-License-Identifier: Apache-2.0
// CollectionSizes: the sizes of counted item collections (items with one partition key).
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

// Sizes of one table, shared by all its versions. A collection is named by the hash in its row
// keys. Nothing is stored. On a shared store, each process adds only its own writes to its counts.
// Thread safety: any thread.
class CollectionSizes {
 public:
  using Parts = std::vector<std::shared_ptr<Counters>>;  // the table's, then each local index's

  // Returns the size of a collection; absent if it has not been counted.
  std::optional<int64_t> bytes(const std::string& hash) const;
  // Returns new counters, with which the caller must count the collection. Empty if it is already
  // counted, or if too many counts are in progress. At the limit of collections, those below
  // `small_bytes` are dropped.
  Parts begin(const std::string& hash, std::size_t parts, int64_t small_bytes);
  void finish(const std::string& hash);
  // The count failed.
  void forget(const std::string& hash);
  // Adds the changes of a commit in each part. `sequence` is that of the CommitResult.
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
