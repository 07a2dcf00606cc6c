// SPDX-License-Identifier: Apache-2.0
// Delivery of what is in the outbox, by one worker.
//
// For one post: claim it, page through the followers, write (or, for a retracted post, delete) one
// copy each in batches of 25, then take the author's item out of the outbox (or delete it) on
// condition that it is still what was delivered. Copies have the post's own key, so any part may be
// done twice. After each page of followers the place is noted in the author's item, so that a crash
// costs a page at most; the claim runs out, and another worker goes on.
//
// An edit or a retraction in the middle makes the last step's condition fail, and the post is
// looked at again. So does a worker that lost its claim while it wrote: what it has written may be
// of an older state than what others have delivered since, and is written over.
//
// From one thread at a time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "recipes/feed_state.h"

namespace stator::recipes {

class Delivery {
 public:
  Delivery(const FeedState& state, std::stop_token stop);

  enum class Outcome {
    kDone,  // by this worker, or there was nothing to do
    kBusy,  // another worker has claimed it
  };
  Result<Outcome> deliver(const UserId& author, const AttributeValue& range_key);
  // The post whose key an item has; kConflict where it is no post's.
  Result<Outcome> deliver(const Item& item);

  // Every post in one partition of the index, oldest first, those excepted that are busy.
  Result<void> drain(const std::string& outbox);

  const Delivered& done() const { return done_; }

 private:
  // What a post comes to: its copies are to be of `edits`, or to be gone.
  struct Version {
    bool retracted = false;
    int64_t edits = 0;
    bool operator==(const Version&) const = default;
  };
  struct Look {
    std::optional<Item> post;  // absent: there is none (any more)
    bool mine = false;         // claimed
  };
  struct Job {
    UserId author;
    Item key;
    Version version = {};
    bool mine = false;
  };

  Result<Job> job_of(const Item& item) const;
  Result<Outcome> deliver(Job job);
  Result<Outcome> deliver_claimed(Job job);
  Result<Look> claim(const Item& key);
  void release(const Item& key);
  Result<std::string> spread_of(const Job& job, const Item& post);
  Result<bool> has_too_many_followers(const UserId& author);
  Result<void> pass(const Job& job, const Item& post);
  Result<void> pass_followers(const Job& job, const Item& post);
  Result<void> pass_merged(const Job& job, const Item& post);
  Result<void> send(std::vector<WriteRequest>& writes);
  Result<bool> note(const Job& job, const std::string& attribute, const std::string& value);
  Result<bool> finish(const Job& job);

  std::string still(const Job& job) const;
  Values values_of(const Job& job) const;

  const FeedState& state_;
  const FeedOptions& options_;
  std::stop_token stop_;
  std::string claim_;  // this worker's name in claims
  Delivered done_;
};

// One post that cannot be delivered must not hold up the others; an absent service does.
Result<void> put_off(Result<Delivery::Outcome> failed, Result<void>& first_failure);

}  // namespace stator::recipes
