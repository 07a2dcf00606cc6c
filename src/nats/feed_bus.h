// SPDX-License-Identifier: Apache-2.0
// FeedBus on NATS JetStream: each announcement goes to one of the workers that share `durable`,
// and comes again, to any of them, where it is not done within `ack_wait`. It is gone from the
// server when it is done, or after a day.
//
// An announcement waits for the server to keep it, `timeout` at most; while the server is away
// announcements are left out for some seconds at a time, so that publishing does not wait for it.
// Thread safety: from any thread at once. Lifetime: what take() gave must not outlive the bus.
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
  std::string credentials_file = {};  // as JetStream's
  std::chrono::milliseconds timeout{1'000};
  std::string stream = "FEED";  // made if missing
  std::string subject = "feed.posts";
  std::string durable = "feed-workers";
  std::chrono::milliseconds ack_wait{30'000};  // set by the first worker
};

// Connects at once; subscribes when something is taken.
Result<std::shared_ptr<FeedBus>> open_feed_bus(const FeedBusOptions& options);

}  // namespace stator::nats
