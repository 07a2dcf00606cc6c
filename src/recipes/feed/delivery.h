// SPDX-License-Identifier: Apache-2.0
// Delivery: one worker's delivery of the posts in the outbox.
//
// For each post: claim it, page through the followers, write one copy for each (copies.h), then
// remove the author's item from the outbox if its version is still the delivered one. An edit or a
// retraction is then also delivered to former followers (recipients.h). Copies have the post's own
// key, so any step can be repeated. Before the copies of the next page are written, or if it cannot
// be read, the position is stored in the author's item, so a crash repeats at most one page. When
// the claim expires, another worker resumes. Claims only avoid duplicate work: two workers can
// safely deliver the same post. A worker that was overtaken by a newer version stops: it must not
// write the older one to users who followed after the newer one was delivered (pass_followers()).
//
// An edit or a retraction during delivery makes the last step's condition fail, and the post is
// processed again. A post that fails is postponed (put_off.h); delivery continues with the others.
//
// Thread safety: one thread at a time.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "recipes/feed/copies.h"
#include "recipes/feed/feed_state.h"
#include "recipes/feed/put_off.h"
#include "recipes/feed/recipients.h"

namespace stator::recipes {

class Delivery {
 public:
  Delivery(const FeedState& state, std::stop_token stop);

  enum class Outcome {
    kDone,  // delivered, or nothing to deliver
    kBusy,  // another worker has claimed it
    kPutOff,
  };
  // Errors: kCancelled; the client's after retryable failures of several claims in a row;
  // kUnavailable if more posts are postponed than the worker of a stream can remember.
  Result<Outcome> deliver(const UserId& author, const AttributeValue& range_key);
  // Delivers the post whose key an item has. Leaves one that is postponed to retry(), so that many
  // slow ones do not keep new posts waiting.
  Result<Outcome> deliver(const Item& item);

  // Delivers the posts in one partition of the index, oldest first, except busy and postponed ones.
  Result<void> drain(const std::string& outbox);
  // Delivers the postponed posts that are due, the longest overdue first, until ten have failed:
  // each can take long, and new posts wait meanwhile.
  Result<void> retry();
  bool has_put_off() const { return !put_off_.empty(); }
  bool has_due() const { return !put_off_.due().empty(); }

  Delivered done() const;
  const Result<void>& first_failure() const { return first_failure_; }

 private:
  struct Claim {
    std::optional<Item> post;  // absent: it does not exist
    bool mine = false;         // claimed
  };
  struct Job {
    UserId author;
    Item key;
    std::string claim;  // this attempt's name in claims
    PostVersion version = {};
  };

  Result<Outcome> attempt(const Item& item);
  Result<Outcome> deliver(Job job);
  Result<Outcome> deliver_claimed(Job& job);
  Result<Outcome> put_off(const Item& key, const UserId& author, Error error);
  Result<Claim> claim(const Job& job);
  Result<std::string> spread_of(const Job& job);
  Result<bool> has_too_many_followers(const UserId& author);
  Result<bool> pass(const Job& job);
  std::vector<UserId> unreached(const Job& job, std::vector<UserId> users);
  Result<bool> pass_followers(const Job& job);
  Result<bool> is_unchanged(const Job& job, const std::vector<UserId>& users);
  Result<bool> pass_former(const Job& job, std::string cursor);
  Result<bool> store(const Job& job, const std::string& attribute, const std::string& value);
  Result<bool> finish(const Job& job);

  const FeedState& state_;
  const FeedOptions& options_;
  std::stop_token stop_;
  Copies copies_;
  Recipients recipients_;
  PutOff put_off_;
  std::set<std::string> reached_;  // users reached by this pass; empty for a first version
  int64_t posts_ = 0;
  int unclaimed_in_a_row_ = 0;  // consecutive claims with retryable failures
  Result<void> first_failure_;
};

}  // namespace stator::recipes
