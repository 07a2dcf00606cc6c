// SPDX-License-Identifier: Apache-2.0
// Delivery of what is in the outbox.
//
// For one post: page through the followers, write (or, for a retracted post, delete) one copy each
// in batches of 25, then take the author's item out of the outbox (or delete it) on condition that
// it is still what was delivered. Copies have the post's own key, so any part may be done twice,
// by any worker. After each page of followers the place is noted in the author's item, so that a
// crash costs a page at most.
//
// A retraction in the middle makes the last step's condition fail, and the post is looked at
// again; one that another worker has completed meanwhile left no item, and the copies just written
// are withdrawn.
#include <algorithm>
#include <utility>

#include "recipes/feed_state.h"
#include "recipes/keys.h"
#include "recipes/requests.h"

namespace stator {

using namespace recipes;

namespace {

constexpr int kFollowersPage = 1000;  // 40 batches
constexpr int64_t kOutboxPage = 100;
constexpr int kMaxLooks = 8;  // at a post that keeps changing; the next delivery goes on

enum class Work { kCopy, kWithdraw };

class Delivery {
 public:
  Delivery(Client& client, const FeedOptions& options, TimeSource& time, Followers& followers,
           std::stop_token stop, Delivered& done)
      : client_(client),
        options_(options),
        time_(time),
        followers_(followers),
        stop_(std::move(stop)),
        done_(done) {}

  // Every post in one partition of the index, oldest first.
  Result<void> drain(const std::string& outbox) {
    QueryRequest request{.table = options_.table,
                         .index = "Outbox",
                         .key_condition = "outbox = :outbox",
                         .values = Values{{":outbox", outbox}},
                         .limit = kOutboxPage,
                         .forward = options_.layout == FeedLayout::kOrdered};
    Result<void> first_failure;
    do {
      STATOR_TRY(PageResult found, with_retries(options_.retry, time_, stop_,
                                                [&] { return client_.query(request); }));
      for (const Item& entry : found.items) {
        if (stop_.stop_requested()) return fail(Code::kCancelled, "stopped while delivering");
        auto delivered = deliver(entry);
        if (delivered) continue;
        // One post that cannot be delivered must not hold up the others; an absent service does.
        const bool passing = trouble_of(delivered.error()) != Trouble::kNone;
        if (passing || delivered.error().code == Code::kCancelled) return delivered;
        if (first_failure) first_failure = std::move(delivered);
      }
      request.exclusive_start_key = std::move(found.last_evaluated_key);
    } while (request.exclusive_start_key);
    return first_failure;
  }

 private:
  Result<void> deliver(const Item& entry) {
    const std::string* author = text_in(entry, "partition_key");
    const auto range_key = entry.find("range_key");
    if (author == nullptr || range_key == entry.end()) {
      return fail(Code::kConflict, "the outbox holds an item that is no post");
    }
    const Item key{{"partition_key", *author}, {"range_key", range_key->second}};
    bool copied = false;
    for (int looks = 0; looks < kMaxLooks; ++looks) {
      const GetItemRequest get{.table = options_.table, .key = key, .consistent_read = true};
      STATOR_TRY(GetItemResult found,
                 with_retries(options_.retry, time_, stop_, [&] { return client_.get_item(get); }));
      if (!found.item) {
        return copied ? pass(Work::kWithdraw, key, Item()) : Result<void>();
      }
      const Item& post = *found.item;
      if (!post.contains("outbox")) return {};  // another worker has delivered it
      const Work work = post.contains("retracted") ? Work::kWithdraw : Work::kCopy;
      STATOR_CHECK_OK(pass(work, key, post));
      copied = copied || work == Work::kCopy;
      STATOR_TRY(const bool finished, finish(work, key));
      if (finished) return {};
    }
    return {};
  }

  // One round over the followers, from where an earlier one stopped.
  Result<void> pass(Work work, const Item& key, const Item& post) {
    const UserId author{*text_in(key, "partition_key")};
    const AttributeValue& range_key = key.find("range_key")->second;
    const std::string* resume = text_in(post, "outbox_cursor");
    std::string cursor = resume != nullptr ? *resume : std::string();
    do {
      STATOR_TRY(Page<UserId> page, followers_.page(author, kFollowersPage, cursor));
      std::vector<WriteRequest> writes;
      for (const UserId& follower : page.items) {
        if (follower == author) continue;  // the outbox itself
        Item copy{{"partition_key", follower.text}, {"range_key", range_key}};
        if (work == Work::kCopy) {
          copy.emplace("author", author.text);
          if (const auto content = post.find("content"); content != post.end()) {
            copy.insert(*content);
          }
          writes.push_back({.put = std::move(copy)});
        } else {
          writes.push_back({.delete_key = std::move(copy)});
        }
        if (writes.size() == kBatchWrites) STATOR_CHECK_OK(send(writes));
      }
      STATOR_CHECK_OK(send(writes));
      cursor = std::move(page.next);
      if (!cursor.empty() && !post.empty()) STATOR_CHECK_OK(note_progress(work, key, cursor));
    } while (!cursor.empty());
    return {};
  }

  Result<void> send(std::vector<WriteRequest>& writes) {
    if (writes.empty()) return {};
    if (stop_.stop_requested()) return fail(Code::kCancelled, "stopped while delivering");
    const auto copies = static_cast<int64_t>(writes.size());
    STATOR_TRY(const int64_t requests, write_batch(client_, options_.retry, time_, stop_,
                                                   options_.table, std::exchange(writes, {})));
    done_.batches += requests;
    done_.copies += copies;
    return {};
  }

  // A failed condition means that the post has changed, which finish() will see.
  Result<void> note_progress(Work work, const Item& key, const std::string& cursor) {
    const UpdateItemRequest note{.table = options_.table,
                                 .key = key,
                                 .update = "SET outbox_cursor = :cursor",
                                 .condition = still(work),
                                 .values = Values{{":cursor", cursor}}};
    auto written =
        with_retries(options_.retry, time_, stop_, [&] { return client_.update_item(note); });
    if (!written && written.error().code != Code::kConditionalCheckFailed) {
      return failure_of(std::move(written));
    }
    return {};
  }

  // False when the post has changed since.
  Result<bool> finish(Work work, const Item& key) {
    auto written = with_retries(options_.retry, time_, stop_, [&]() -> Result<WriteResult> {
      if (work == Work::kWithdraw) {
        return client_.delete_item({.table = options_.table, .key = key, .condition = still(work)});
      }
      return client_.update_item({.table = options_.table,
                                  .key = key,
                                  .update = "REMOVE outbox, outbox_cursor",
                                  .condition = still(work)});
    });
    if (!written && written.error().code != Code::kConditionalCheckFailed) {
      return failure_of(std::move(written));
    }
    if (written) ++done_.posts;
    return written.has_value();
  }

  static std::string still(Work work) {
    return work == Work::kWithdraw ? "attribute_exists(retracted)"
                                   : "attribute_exists(outbox) AND attribute_not_exists(retracted)";
  }

  Client& client_;
  const FeedOptions& options_;
  TimeSource& time_;
  Followers& followers_;
  std::stop_token stop_;
  Delivered& done_;
};

bool is_passing(const Error& error) {
  return trouble_of(error) != Trouble::kNone;
}

}  // namespace

Result<Delivered> Feed::deliver_pending(const std::stop_token& stop) const {
  const State& state = *state_;
  STATOR_CHECK_OK(state.check_options());
  Delivered done;
  if (state.followers == nullptr) return done;
  Delivery delivery(state.client, state.options, state.time, *state.followers, stop, done);
  for (int shard = 0; shard < state.options.outbox_shards; ++shard) {
    STATOR_CHECK_OK(delivery.drain(State::outbox(shard)));
  }
  return done;
}

Result<Delivered> Feed::run_worker(const std::stop_token& stop,
                                   std::chrono::milliseconds idle) const {
  const State& state = *state_;
  constexpr std::chrono::seconds kLongestWait{10};
  Delivered total;
  int failures = 0;
  while (!stop.stop_requested()) {
    std::chrono::nanoseconds pause = idle;
    auto done = deliver_pending(stop);
    if (done) {
      failures = 0;
      total.posts += done->posts;
      total.copies += done->copies;
      total.batches += done->batches;
      if (done->posts > 0) continue;
    } else if (done.error().code == Code::kCancelled) {
      break;
    } else if (is_passing(done.error())) {
      pause = std::max<std::chrono::nanoseconds>(idle, jittered(idle, kLongestWait, failures++));
    } else {
      return done;
    }
    if (!state.time.sleep(pause, stop)) break;
  }
  return total;
}

}  // namespace stator
