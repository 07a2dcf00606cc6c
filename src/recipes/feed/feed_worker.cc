// SPDX-License-Identifier: Apache-2.0
// The main loop of workers. delivery.cc delivers single posts.
#include <algorithm>
#include <utility>

#include "recipes/common/keys.h"
#include "recipes/common/requests.h"
#include "recipes/common/stop_limit.h"
#include "recipes/feed/delivery.h"
#include "recipes/feed/feed_stream.h"
#include "recipes/feed/post_keys.h"

namespace stator {

using namespace recipes;

namespace {

constexpr std::chrono::seconds kLongestWait{10};
constexpr int kAnnouncements = 16;

// Finds and delivers pending posts, in the stream or in the outbox index, as the options say.
class Waiting {
 public:
  Waiting(const FeedState& state, const std::stop_token& stop)
      : state_(state), stream_(state, stop) {}

  // Delivers postponed posts that are due, and posts found by one query; returns whether another
  // could find more. Neither failing nor many retries keep it from the query.
  Result<bool> deliver(Delivery& delivery) {
    const Result<void> retried = delivery.retry();
    STATOR_ASSIGN_OR_RETURN(const bool more, deliver_new(delivery));
    STATOR_RETURN_IF_ERROR(retried);
    return more;
  }

 private:
  // A first attempt that fails, for example without the index, must not add a worker.
  Result<bool> deliver_new(Delivery& delivery) {
    STATOR_ASSIGN_OR_RETURN(const bool more, state_.options.outbox == Outbox::kStream
                                                 ? stream_.read_shards(delivery)
                                                 : drain(delivery));
    STATOR_RETURN_IF_ERROR(state_.settings.add_worker(state_));
    return more;
  }

  Result<bool> drain(Delivery& delivery) {
    const int64_t before = delivery.done().posts;
    STATOR_ASSIGN_OR_RETURN(const FeedTerms terms, state_.settings.terms(state_));
    const int shards = std::max(terms.outbox_shards, state_.options.outbox_shards);
    for (int shard = 0; shard < shards; ++shard) {
      STATOR_RETURN_IF_ERROR(delivery.drain(state_.outbox(shard)));
    }
    return delivery.done().posts > before;
  }

  const FeedState& state_;
  FeedStream stream_;
};

Result<void> check_worker(const FeedState& state) {
  STATOR_RETURN_IF_ERROR(state.check_options());
  if (state.options.outbox == Outbox::kNone)
    return invalid("outbox", "must not be kNone for delivery");
  if (state.followers == nullptr) {
    return invalid("followers_table", "must name the followers to deliver to");
  }
  return {};
}

class Worker {
 public:
  Worker(const FeedState& state, std::stop_token stop, std::chrono::milliseconds idle)
      : state_(state),
        stop_(std::move(stop)),
        idle_(idle),
        waiting_(state, stop_),
        delivery_(state, stop_) {}

  Result<Delivered> run() {
    while (!stop_.stop_requested()) {
      const bool look = !state_.options.bus || state_.time.since_boot() >= next_look_;
      Result<void> step = look ? look_into_outbox() : wait_for_announcements();
      if (step) {
        failures_ = 0;
      } else if (step.error().retryable()) {
        rest(jittered(idle_, kLongestWait, failures_++));
      } else if (step.error().code != Code::kCancelled) {
        return failure_of(std::move(step));
      }
    }
    return delivery_.done();
  }

 private:
  Result<void> look_into_outbox() {
    const auto sweep = std::chrono::nanoseconds(state_.options.sweep);
    // Random, so that not all workers look at the same time.
    next_look_ = state_.time.since_boot() + sweep / 2 + jittered(sweep, sweep, 0);
    auto more = waiting_.deliver(delivery_);
    if (!more) return failure_of(std::move(more));
    if (*more) {
      next_look_ = {};
    } else if (!state_.options.bus) {
      rest(idle_);
    } else if (delivery_.has_due()) {  // retry() ended early
      next_look_ = std::min(next_look_, state_.time.since_boot() + idle_);
    }
    return {};
  }

  Result<void> wait_for_announcements() {
    auto announced = state_.options.bus->take(kAnnouncements, idle_);
    if (!announced) {
      next_look_ = {};
      rest(idle_);
      return {};
    }
    Result<void> first_failure;
    for (const Announcement& post : *announced) {
      if (stop_.stop_requested()) break;
      // A post whose handling fails is announced again, or found in the outbox.
      auto handled = handle(post);
      if (!handled && first_failure) first_failure = std::move(handled);
    }
    return first_failure;
  }

  Result<void> handle(const Announcement& post) {
    const auto range_key = PostKeys::range_key(state_.options.layout, post.id);
    if (!range_key || !state_.check_user("author", post.author)) {
      if (post.done) post.done();  // no worker can handle it
      return {};
    }
    STATOR_ASSIGN_OR_RETURN(const Delivery::Outcome outcome,
                            delivery_.deliver(post.author, *range_key));
    if (outcome == Delivery::Outcome::kDone && post.done) post.done();
    return {};
  }

  void rest(std::chrono::nanoseconds pause) {
    static_cast<void>(state_.time.sleep(std::max<std::chrono::nanoseconds>(idle_, pause), stop_));
  }

  const FeedState& state_;
  std::stop_token stop_;
  std::chrono::milliseconds idle_;
  Waiting waiting_;
  Delivery delivery_;
  std::chrono::nanoseconds next_look_{};
  int failures_ = 0;
};

}  // namespace

Result<Delivered> Feed::deliver_pending(const std::stop_token& stop) const {
  const StopLimit limit(stop);
  const FeedState& state = *state_;
  STATOR_RETURN_IF_ERROR(check_worker(state));
  Delivery delivery(state, stop);
  Waiting waiting(state, stop);
  bool more = true;
  while (more) {
    STATOR_ASSIGN_OR_RETURN(more, waiting.deliver(delivery));
    more = more && state.options.outbox == Outbox::kStream;
  }
  STATOR_RETURN_IF_ERROR(delivery.first_failure());
  return delivery.done();
}

Result<Delivered> Feed::run_worker(const std::stop_token& stop,
                                   std::chrono::milliseconds idle) const {
  const StopLimit limit(stop);
  const FeedState& state = *state_;
  STATOR_RETURN_IF_ERROR(check_worker(state));
  return Worker(state, stop, idle).run();
}

}  // namespace stator
