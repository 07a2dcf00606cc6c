// SPDX-License-Identifier: Apache-2.0
// MergedAuthors: the authors whose posts are, or ever were, merged when feeds are read.
//
// The table stores the list in 16 items of up to 400 KB, by the hash of the author's id, and one
// item that earlier releases wrote. Each Feed caches the list for `merged_refresh`, so that reading
// feeds does not read it.
//
// Thread safety: any thread.
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

  // The list, at most `merged_refresh` plus the duration of a request old.
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
