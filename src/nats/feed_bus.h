// SPDX-License-Identifier: Apache-2.0
// FeedBus on NATS JetStream. Each announcement is delivered to one of the workers that share
// `durable`. If it is not acknowledged within `ack_wait`, it is redelivered to any of them. The
// server deletes it when it is acknowledged, or after a day.
//
// announce() waits up to `timeout` until the server has stored the announcement. While the server
// is unavailable, announcements are skipped for some seconds at a time, so that publishing does not
// wait for it.
// Thread safety: any thread.
// Lifetime: announcements from take() borrow nothing. After the bus is destroyed, their done() has
// no effect.
// Errors: those of JetStream.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "nats/jetstream.h"
#include "stator/recipes/feed.h"

namespace stator::nats {

struct FeedBusOptions {
  std::string url = "nats://127.0.0.1:4222";
  std::string credentials_file = {};  // see JetStreamOptions
  std::chrono::milliseconds timeout{1'000};
  std::string stream = "FEED";  // created if missing
  std::string subject = "feed.posts";
  std::string durable = "feed-workers";
  std::chrono::milliseconds ack_wait{30'000};  // set by the first worker
};

// Connects at once; subscribes at the first take().
Result<std::shared_ptr<FeedBus>> open_feed_bus(const FeedBusOptions& options);

}  // namespace stator::nats
