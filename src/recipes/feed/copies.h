// SPDX-License-Identifier: Apache-2.0
// Copies: the items of a post in its followers' feeds.
//
// Every write is conditional. A version replaces only older ones, and a tombstone (a retracted
// post without content, until it expires) replaces all. So a request that arrives late, twice, or
// from a worker that lost its claim cannot undo an edit or a retraction.
//
// First versions are INSERT statements, 25 per request. BatchWriteItem has no conditions, so
// edits and tombstones are PutItem requests. Up to `parallel_writes` requests run at a time.
//
// Thread safety: one caller at a time. Lifetime: borrows the state.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "recipes/feed/feed_state.h"

namespace stator::recipes {

struct PostVersion {
  UserId author;
  Item post;  // the author's own item, or only its key if the item is deleted
  bool retracted = false;
  int64_t edits = 0;

  bool is_first() const { return edits == 0 && !retracted; }
  bool is_same_as(const PostVersion& other) const {
    return retracted == other.retracted && edits == other.edits;
  }
};

// The version that the author's own item holds.
PostVersion version_of(const UserId& author, Item post);

enum class Relation {
  kFollows,
  kFollowed,  // formerly: existing copies are edited or retracted, and none is created
};

class Copies {
 public:
  Copies(const FeedState& state, std::stop_token stop)
      : state_(state), options_(state.options), stop_(std::move(stop)) {}

  // Errors: the client's; kCancelled. Some copies might have been written.
  Result<void> write(const PostVersion& version, std::span<const UserId> users, Relation relation);
  // Writes the single copy of a post of a merged author (see merged_authors.h). All followers read
  // this copy.
  Result<void> write_merged(const PostVersion& version);

  int64_t written() const { return written_; }
  int64_t requests() const { return requests_; }

 private:
  Item copy_for(const PostVersion& version, const UserId& user) const;
  Result<void> insert(const PostVersion& version, std::span<const UserId> users);
  Result<void> put(const PostVersion& version, const UserId& user, Relation relation);
  Result<void> block(const PostVersion& version, const Item& key);
  Result<std::optional<Error>> send(const PutItemRequest& put);
  Result<void> in_parallel(std::size_t tasks, const std::function<Result<void>(std::size_t)>& run);

  const FeedState& state_;
  const FeedOptions& options_;
  std::stop_token stop_;
  std::atomic<int64_t> written_{0};
  std::atomic<int64_t> requests_{0};
  std::atomic<bool> has_statements_{true};  // until the endpoint rejects one
};

}  // namespace stator::recipes
