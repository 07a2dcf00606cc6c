// SPDX-License-Identifier: Apache-2.0
// An announcement's text is the post id, a space, and the author.
#include "nats/feed_bus.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "base/random.h"

namespace stator::nats {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPauseAfterFailure{5};
constexpr std::size_t kIdBytes = 36;
// The server deletes older announcements; workers then find the posts only in the outbox.
constexpr std::chrono::hours kMaxAge{24};

class Bus final : public FeedBus {
 public:
  Bus(FeedBusOptions options, JetStream server)
      : options_(std::move(options)), server_(std::move(server)) {}

  Result<void> announce(const UserId& author, const PostId& id) override {
    if (Clock::now().time_since_epoch() < paused_until_.load()) {
      return fail(Code::kUnavailable, "the NATS server has not responded recently");
    }
    // A random message id: an edit announces the same post again, and JetStream drops repeated ids.
    auto published =
        server_.publish(options_.subject, id.text() + " " + author.text, random_uuid());
    if (!published) paused_until_ = (Clock::now() + kPauseAfterFailure).time_since_epoch();
    return published;
  }

  Result<std::vector<Announcement>> take(int most, std::chrono::milliseconds wait) override {
    const std::scoped_lock lock(mutex_);
    if (!subscription_) {
      STATOR_ASSIGN_OR_RETURN(subscription_,
                              server_.subscribe(options_.stream, options_.subject, options_.durable,
                                                options_.ack_wait));
    }
    auto fetched = subscription_->fetch(most, wait);
    if (!fetched) {
      // The next call subscribes again, because the server might have lost its consumers.
      subscription_.reset();
      return failure_of(std::move(fetched));
    }
    std::vector<Announcement> announcements;
    for (Message& message : *fetched) {
      const std::string_view text = message.text();
      const auto id = PostId::parse(text.substr(0, kIdBytes));
      if (!id || text.size() <= kIdBytes + 1 || text[kIdBytes] != ' ') {
        message.terminate();
        continue;
      }
      Announcement announcement{.author = {std::string(text.substr(kIdBytes + 1))}, .id = *id};
      auto kept = std::make_shared<Message>(std::move(message));
      announcement.done = [kept] { kept->acknowledge(); };
      announcements.push_back(std::move(announcement));
    }
    return announcements;
  }

 private:
  const FeedBusOptions options_;
  JetStream server_;
  std::atomic<Clock::duration> paused_until_{Clock::duration::zero()};
  std::mutex mutex_;
  std::optional<Subscription> subscription_;  // guarded by mutex_
};

}  // namespace

Result<std::shared_ptr<FeedBus>> open_feed_bus(const FeedBusOptions& options) {
  STATOR_ASSIGN_OR_RETURN(JetStream server,
                          JetStream::connect({.url = options.url,
                                              .credentials_file = options.credentials_file,
                                              .timeout = options.timeout}));
  STATOR_RETURN_IF_ERROR(
      server.create_queue_if_missing(options.stream, {options.subject}, kMaxAge));
  return std::make_shared<Bus>(options, std::move(server));
}

}  // namespace stator::nats
