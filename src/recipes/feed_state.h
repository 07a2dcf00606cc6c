// SPDX-License-Identifier: Apache-2.0
// What the two halves of Feed share: feed.cc (posts and reads) and delivery.cc (the outbox).
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "recipes/table_followers.h"
#include "stator/recipes/feed.h"

namespace stator {

struct Feed::State {
  Client& client;
  FeedOptions options;
  TimeSource& time;
  std::shared_ptr<recipes::TableFollowers> table_followers;  // null where they live elsewhere
  Followers* followers;                                      // null: nobody follows anybody
  mutable std::atomic<int64_t> last_post_us{0};              // so that one object's posts never tie

  // The value of the attribute `outbox`, by which the index finds what is undelivered.
  static std::string outbox(int shard);
  std::string outbox_of(const PostId& id) const;

  Result<void> check_options() const;
  Item key_of(const UserId& user, const AttributeValue& range_key) const;
};

}  // namespace stator
