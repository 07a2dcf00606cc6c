// SPDX-License-Identifier: Apache-2.0
// FeedState: what the parts of a Feed share: the client, the options, caches, and functions that
// make the keys and items of the feed's table (docs/formats/recipes.md).
//
// Thread safety: any thread.
// Lifetime: a Feed creates it and its copies share it. The client and the time source outlive it.
// Blocking: release(), refused_by() and announce() send requests.
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

// Values of a post's attribute `spread`: whether its followers get copies of it, or it is merged
// into their feeds when these are read (FeedOptions::merge_over). Absent: copies.
inline constexpr const char* kSpreadCopies = "copies";
inline constexpr const char* kSpreadMerged = "merged";

// Prefix of the partitions with the recipients of a post, if the feed has no table of followers.
inline constexpr const char* kRecipientsPrefix = "SENT#";
// The partition of the feed's settings (feed_settings.h).
inline constexpr const char* kSettingsUser = "SETTINGS#";
inline constexpr int kMaxOutboxShards = 64;

// A worker claims an item, a post to deliver or a shard of the stream, before it works on it. The
// condition of the update that sets `claim` and `claim_until`: there is no claim, or it is the
// worker's own or has expired. Use it with claim_values(). A claim that ends after `:latest` was
// set by a clock that is ahead; it counts as expired.
inline constexpr const char* kClaimIsFree =
    "attribute_not_exists(claim) OR claim = :mine OR claim_until < :now OR claim_until > :latest";

// A range key as text, for cursors and names.
std::string text_of(const AttributeValue& range_key);

struct FeedState {
  Client& client;
  FeedOptions options;
  TimeSource& time;
  // The feed's own table of followers; null without FeedOptions::followers_table.
  std::shared_ptr<TableFollowers> table_followers;
  Followers* followers;  // that table, or FeedOptions::followers; null: posts cannot be delivered
  mutable std::atomic<int64_t> last_post_us{0};  // Unix time of the last post; see next_post_time()
  mutable MergedAuthors merged_authors = {};
  FeedSettings settings = {};

  // Errors: kInvalidArgument; the message names the option, or `argument`.
  Result<void> check_options() const;
  Result<void> check_user(std::string_view argument, const UserId& user) const;

  // The key of an item in a user's feed.
  Item key_of(const UserId& user, const AttributeValue& range_key) const;
  // The key of a post in the partition from which the author's posts are merged.
  Item merged_key_of(const UserId& author, const AttributeValue& range_key) const;
  // The key of the item in which workers store their position in a shard of the stream.
  Item shard_key(std::string_view shard) const;
  // The copy of a post for a follower's feed. `post`: the item in the author's feed.
  Item copy_of(const Item& post, const UserId& author, const UserId& follower) const;
  // The item that replaces a retracted post at `key`, in any feed, until it expires.
  Item tombstone_of(const UserId& author, Item key) const;
  int64_t tombstone_expiry() const;  // of one that is made now; Unix time in seconds
  // The inverse of text_of(). Errors: kBadCursor.
  Result<AttributeValue> range_key_from(const std::string& text) const;
  // Whether `range_key` is that of a newer post, in the order of the layout.
  bool is_newer(const AttributeValue& range_key, const AttributeValue& other) const;

  // Values of the attribute `outbox`, which undelivered posts have. The outbox index has one
  // partition per value, which is a shard of the outbox.
  std::string outbox_prefix() const;              // of all values
  std::string outbox(int shard) const;            // of the posts in a shard
  std::string outbox_of(const PostId& id) const;  // of a post
  // Returns the item on which the condition of a write to `key` failed; absent if it does not
  // exist. Reads the item if `error`, that of the write, does not contain it.
  Result<std::optional<Item>> refused_by(const Error& error, const Item& key) const;
  // Announces a post on the bus, if there is one. Errors are ignored, because workers also poll.
  void announce(const UserId& author, const PostId& id) const;

  // Returns the time for the id of a new post: `now`, or a microsecond after the last returned time
  // if that is up to max_skew ahead. So the times of one object's posts ascend,
  // unless the clock is set back further.
  Time next_post_time(Time now) const;
  int64_t now_ms() const;  // Unix time
  // The values of kClaimIsFree for the claim `claim`, a random id of the worker, and `:until`, when
  // the claim will end. Unix times in milliseconds.
  Values claim_values(const std::string& claim) const;
  // Removes the claim from the item at `key`, if the item still has it. Takes at most five seconds,
  // also after the worker was stopped. If it fails, the claim stays until it expires.
  void release(const Item& key, const std::string& claim) const;

  // Errors: kConflict if the item is not a post.
  Result<Post> post_of(const Item& item) const;
};

}  // namespace stator::recipes
