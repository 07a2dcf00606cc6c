// SPDX-License-Identifier: Apache-2.0
// Delivery of what is in the outbox, by one worker.
//
// For one post: claim it, page through the followers, write one copy each (copies.h), then take the
// author's item out of the outbox if it is still the version that was delivered. An edit or a
// retraction then goes on to former followers (recipients.h). Copies have the post's own key, so
// any part can be repeated. After each page the place is noted in the author's item, so that a
// crash costs at most one page. The claim expires, and another worker resumes. Claims only save
// work: two workers that deliver one post do no harm.
//
// An edit or a retraction in the middle makes the last step's condition fail, and the post is
// looked at again. A post that fails is put off (put_off.h); the others go on.
//
// From one thread at a time.
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
    kDone,  // by this worker, or there was nothing to do
    kBusy,  // another worker has claimed it
    kPutOff,
  };
  // Errors: kCancelled; the client's if it has failed several posts in a row for reasons that pass;
  // kUnavailable if more posts are put off than the worker of a stream can remember.
  Result<Outcome> deliver(const UserId& author, const AttributeValue& range_key);
  Result<Outcome> deliver(const Item& item);  // the post whose key an item has

  // Every post in one partition of the index, oldest first, except those that are busy or put off.
  Result<void> drain(const std::string& outbox);
  // Posts that were put off and whose time has come.
  Result<void> retry();
  bool has_put_off() const { return !put_off_.empty(); }

  Delivered done() const;
  const Result<void>& first_failure() const { return first_failure_; }

 private:
  struct Look {
    std::optional<Item> post;  // absent: it does not exist (any more)
    bool mine = false;         // claimed
  };
  struct Job {
    UserId author;
    Item key;
    std::string claim;  // this attempt's name in claims
    PostVersion version = {};
  };

  Result<Outcome> deliver(Job job);
  Result<Outcome> deliver_claimed(Job& job);
  Result<Outcome> put_off(const Item& key, const UserId& author, Error error);
  Result<Look> claim(const Job& job);
  void release(const Job& job);
  Result<std::string> spread_of(const Job& job);
  Result<bool> has_too_many_followers(const UserId& author);
  Result<void> pass(const Job& job);
  std::vector<UserId> unreached(const Job& job, std::vector<UserId> users);
  Result<void> pass_followers(const Job& job);
  Result<void> pass_former(const Job& job, std::string cursor);
  Result<bool> note(const Job& job, const std::string& attribute, const std::string& value);
  Result<bool> finish(const Job& job);

  const FeedState& state_;
  const FeedOptions& options_;
  std::stop_token stop_;
  Copies copies_;
  Recipients recipients_;
  PutOff put_off_;
  std::set<std::string> reached_;  // followers, by this pass, if there are former ones to pass
  int64_t posts_ = 0;
  int passing_in_a_row_ = 0;  // posts that failed for reasons that pass
  Result<void> first_failure_;
};

}  // namespace stator::recipes
