// SPDX-License-Identifier: Apache-2.0
// MergedAuthors: the authors whose posts are, or ever were, merged when feeds are read.
//
// The list is in the table, in 16 items of up to 400 KB by the hash of the author's id, and one
// that earlier releases wrote. Each Feed keeps a copy, read again after `merged_refresh`, so that
// reading feeds does not read the list.
//
// Thread safety: every method from any thread at once.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>

#include "stator/recipes/feed.h"

namespace stator::recipes {

class MergedAuthors {
 public:
  using List = std::shared_ptr<const std::set<std::string>>;

  // Up to `merged_refresh` old, and as long as a request for it takes.
  Result<List> list(const FeedState& state);
  // Writes nothing if the author is known to be in the list.
  Result<void> add(const FeedState& state, const UserId& author, const std::stop_token& stop);

 private:
  static Result<List> stored(const FeedState& state);

  std::mutex mutex_;
  // Guarded by mutex_:
  List list_;
  bool is_refreshing_ = false;
  std::chrono::nanoseconds next_refresh_{0};
};

}  // namespace stator::recipes
