// SPDX-License-Identifier: Apache-2.0
// PutOff: the posts that a worker could not deliver, and when it retries each: after 1 s, then
// after twice as long each time, up to 5 min. It remembers up to 10,000 posts.
//
// Thread safety: one thread at a time.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "recipes/feed/feed_state.h"

namespace stator::recipes {

class PutOff {
 public:
  explicit PutOff(const FeedState& state) : state_(state) {}

  bool contains(const Item& key) const { return posts_.contains(name_of(key)); }
  bool waits(const Item& key) const;  // is not due yet
  // Returns false, without remembering the post, if there are too many already.
  bool add(const Item& key, const UserId& author, const Error& error);
  void remove(const Item& key) { posts_.erase(name_of(key)); }

  bool empty() const { return posts_.empty(); }
  // The keys of the posts that are due, the longest overdue first.
  std::vector<Item> due() const;

 private:
  struct Entry {
    Item key;
    int failures = 0;
    std::chrono::nanoseconds next_try{0};
  };
  std::string name_of(const Item& key) const;

  const FeedState& state_;
  std::map<std::string, Entry> posts_;
};

}  // namespace stator::recipes
