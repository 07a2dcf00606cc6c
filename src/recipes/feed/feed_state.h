// SPDX-License-Identifier: Apache-2.0
// What the parts of Feed share: feed.cc (posts), feed_reads.cc (reads and trimming),
// feed_followers.cc (who follows whom) and feed_worker.cc (delivery).
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/feed/merged_authors.h"
#include "recipes/feed/table_followers.h"
#include "stator/recipes/feed.h"

namespace stator::recipes {

// How a post reaches the followers, in its attribute `spread`; absent: by copies.
inline constexpr const char* kSpreadCopies = "copies";
inline constexpr const char* kSpreadMerged = "merged";

// Of the partitions that note whom a post was delivered to, if followers live elsewhere.
inline constexpr const char* kRecipientsPrefix = "SENT#";

// With claim_values. An end further ahead than any that is set now is of a clock that was wrong.
inline constexpr const char* kClaimIsFree =
    "attribute_not_exists(claim) OR claim = :mine OR claim_until < :now OR claim_until > :latest";

// A range key as text, for cursors and names.
std::string text_of(const AttributeValue& range_key);

struct FeedState {
  Client& client;
  FeedOptions options;
  TimeSource& time;
  std::shared_ptr<TableFollowers> table_followers;  // null where they live elsewhere
  Followers* followers;                             // null: nobody follows anybody
  mutable std::atomic<int64_t> last_post_us{0};     // so that one object's posts never tie
  mutable MergedAuthors merged_authors = {};

  Result<void> check_options() const;
  Result<void> check_user(std::string_view argument, const UserId& user) const;

  Item key_of(const UserId& user, const AttributeValue& range_key) const;
  // In the partition from which an author's posts are merged.
  Item merged_key_of(const UserId& author, const AttributeValue& range_key) const;
  // What workers keep of a shard of the stream.
  Item shard_key(std::string_view shard) const;
  // The item of a post in a follower's feed, of the author's own item.
  Item copy_of(const Item& post, const UserId& author, const UserId& follower) const;
  // What stays of a retracted post, in any feed.
  Item tombstone_of(const UserId& author, Item key) const;
  int64_t tombstone_expiry() const;  // Unix time in seconds
  // The opposite of text_of; kBadCursor.
  Result<AttributeValue> range_key_from(const std::string& text) const;
  // Newest first; values as the layout orders them.
  bool is_newer(const AttributeValue& range_key, const AttributeValue& other) const;

  // The value of the attribute `outbox`, by which the index finds what is undelivered.
  std::string outbox_prefix() const;
  std::string outbox(int shard) const;
  std::string outbox_of(const PostId& id) const;
  // The item on which a write's condition failed.
  Result<std::optional<Item>> refused_by(const Error& error, const Item& key) const;
  void announce(const UserId& author, const PostId& id) const;

  Time next_post_time(Time now) const;
  int64_t now_ms() const;
  Values claim_values(const std::string& claim) const;

  Result<Post> post_of(const Item& item) const;
};

}  // namespace stator::recipes
