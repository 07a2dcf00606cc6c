// SPDX-License-Identifier: Apache-2.0
// Item collections: what one partition key has in a table and its local indexes, and the service's
// limit on that.
//
// No collection exceeds the limit before the table as a whole does, so nothing is counted until
// then. From then on a job counts the collection of each write that adds bytes, once, and the
// writes that follow keep the count exact. Until it is done they are admitted, so a collection can
// exceed the limit by what is written meanwhile, and by what writes at the same moment add.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/items/write_action.h"

namespace stator {

// Of one table, in all its versions. Collections are named by the hash in their row keys.
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

// As evaluate_write(), and kItemCollectionSizeLimitExceeded for a write that makes its collection
// too large.
Result<WriteEffect> evaluate_within_limit(Engine::Impl& engine, const WriteAction& action,
                                          std::optional<std::string> before);

// After the commit.
void count_collection(const WriteAction& action, const WriteEffect& effect, uint64_t sequence);

// The partition key alone and the size of its collection, estimated if it is not counted; absent
// for tables without local indexes.
std::optional<ItemCollectionMetrics> collection_metrics(const WriteAction& action);

}  // namespace stator
