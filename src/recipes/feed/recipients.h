// SPDX-License-Identifier: Apache-2.0
// Recipients: the users whose feeds may hold a copy of a post although they no longer follow its
// author.
//
// In the table of followers, unfollowing leaves a row (table_followers.h). Followers who live
// elsewhere leave unnoticed, so delivery notes whom it writes to, before it does, in items of the
// feed's table: up to 1,000 users, or 200 KB, in each.
//
// Thread safety: one caller at a time. Lifetime: borrows the state.
#pragma once

#include <span>
#include <stop_token>
#include <string>

#include "recipes/feed/copies.h"

namespace stator::recipes {

class Recipients {
 public:
  Recipients(const FeedState& state, std::stop_token stop)
      : state_(state), stop_(std::move(stop)) {}

  // Call before a copy is written to any of these followers.
  Result<void> note(const PostVersion& version, std::span<const UserId> followers);
  // Former followers, and perhaps present ones, in a lasting order.
  Result<Page<UserId>> page(const PostVersion& version, int limit, const std::string& cursor);
  // After a retraction has reached them all.
  Result<void> forget(const PostVersion& version);

 private:
  Item key_of(const PostVersion& version, const AttributeValue& range_key) const;
  QueryRequest notes_of(const PostVersion& version) const;

  const FeedState& state_;
  std::stop_token stop_;
};

}  // namespace stator::recipes
