// SPDX-License-Identifier: Apache-2.0
// Recipients: the users whose feeds can contain a copy of a post although they no longer follow its
// author.
//
// In the followers table, unfollowing keeps a row (table_followers.h). If followers are stored
// elsewhere, delivery records the recipients before it writes their copies, in items of the feed's
// table: up to 1,000 users, or 200 KB, in each.
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

  // Call before writing copies for these followers. Returns false if `unchanged`, a check of the
  // author's item, has failed; then no copy may be written. An edit or a retraction after the check
  // finds the recipients; an earlier one would have missed them.
  Result<bool> record(const PostVersion& version, std::span<const UserId> followers,
                      const TransactWriteItem& unchanged);
  // Former followers, and possibly current ones, in a stable order.
  Result<Page<UserId>> page(const PostVersion& version, int limit, const std::string& cursor);
  // Call after a retraction has reached all recipients.
  Result<void> forget(const PostVersion& version);

 private:
  Item key_of(const PostVersion& version, const AttributeValue& range_key) const;
  QueryRequest notes_of(const PostVersion& version) const;

  const FeedState& state_;
  std::stop_token stop_;
};

}  // namespace stator::recipes
