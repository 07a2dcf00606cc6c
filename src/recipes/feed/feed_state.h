// SPDX-License-Identifier: Apache-2.0
// State shared by the parts of Feed: feed.cc (posts), feed_reads.cc (reads and trimming),
// feed_followers.cc (followers), feed_settings.cc (settings) and feed_worker.cc (delivery).
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recipes/feed/feed_settings.h"
#include "recipes/feed/merged_authors.h"
#include "recipes/feed/table_followers.h"
#include "stator/recipes/feed.h"

namespace stator::recipes {

// The value of a post's attribute `spread`: how it reaches the followers. Absent: by copies.
inline constexpr const char* kSpreadCopies = "copies";
inline constexpr const char* kSpreadMerged = "merged";

// Prefix of the partitions that record the recipients of a post, if followers are stored elsewhere.
inline constexpr const char* kRecipientsPrefix = "SENT#";
// The partition of the settings. No user's id begins with it.
inline constexpr const char* kSettingsUser = "SETTINGS#";
inline constexpr int kMaxOutboxShards = 64;

// Condition, used with claim_values(): the claim is free, the caller's own, or expired. A claim
// that ends after `:latest` was set with a wrong clock, and counts as expired.
inline constexpr const char* kClaimIsFree =
    "attribute_not_exists(claim) OR claim = :mine OR claim_until < :now OR claim_until > :latest";

// A range key as text, for cursors and names.
std::string text_of(const AttributeValue& range_key);

struct FeedState {
  Client& client;
  FeedOptions options;
  TimeSource& time;
  std::shared_ptr<TableFollowers> table_followers;  // null if they are stored elsewhere
  Followers* followers;                             // null: the feed has no followers
  mutable std::atomic<int64_t> last_post_us{0};     // makes times of one object's posts unique
  mutable MergedAuthors merged_authors = {};
  FeedSettings settings = {};

  Result<void> check_options() const;
  Result<void> check_user(std::string_view argument, const UserId& user) const;

  Item key_of(const UserId& user, const AttributeValue& range_key) const;
  // The key of a post in the partition from which the author's posts are merged.
  Item merged_key_of(const UserId& author, const AttributeValue& range_key) const;
  // The key of the item in which workers store their position in a shard of the stream.
  Item shard_key(std::string_view shard) const;
  // The item of a post in a follower's feed, derived from the author's own item.
  Item copy_of(const Item& post, const UserId& author, const UserId& follower) const;
  // The tombstone of a retracted post, in any feed.
  Item tombstone_of(const UserId& author, Item key) const;
  int64_t tombstone_expiry() const;  // Unix time in seconds
  // The inverse of text_of(). Errors: kBadCursor.
  Result<AttributeValue> range_key_from(const std::string& text) const;
  // Whether `range_key` is that of a newer post, in the order of the layout.
  bool is_newer(const AttributeValue& range_key, const AttributeValue& other) const;

  // Of the attribute `outbox`, by which the index finds undelivered posts: the prefix of all
  // values, the value for a shard, and that of a post.
  std::string outbox_prefix() const;
  std::string outbox(int shard) const;
  std::string outbox_of(const PostId& id) const;
  // The item on which a write's condition failed, or nothing if there is none. Reads it if the
  // endpoint did not return it with `error`.
  Result<std::optional<Item>> refused_by(const Error& error, const Item& key) const;
  // Announces a post on the bus, if there is one. Errors are ignored.
  void announce(const UserId& author, const PostId& id) const;

  // `now`, or a later microsecond if this object already used it.
  Time next_post_time(Time now) const;
  int64_t now_ms() const;  // Unix time
  // For kClaimIsFree, and `:until`, the end of the new claim. Unix times in milliseconds.
  Values claim_values(const std::string& claim) const;
  // Releases a claim, if it was taken, even after a stop, within five seconds. If this fails, the
  // next worker waits until the claim expires.
  void release(const Item& key, const std::string& claim) const;

  Result<Post> post_of(const Item& item) const;
};

}  // namespace stator::recipes
