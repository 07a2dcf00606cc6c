// SPDX-License-Identifier: Apache-2.0
// External sources of the feed commands: announcements through NATS, followers from MySQL.
#pragma once

#include <chrono>
#include <string>

#include "mariadb/followers.h"
#include "nats/feed_bus.h"
#include "stator/recipes/feed.h"

namespace CLI {
class App;
}

namespace stator::cli {

struct FeedSources {
  std::string nats_url;
  nats::FeedBusOptions bus;
  std::chrono::milliseconds ack_wait{30'000};
  std::string mysql_address;
  std::string mysql_password_file;
  mariadb::FollowersOptions mysql;
};

// --nats and its options; `worker` adds those of consumers.
void add_nats_flags(CLI::App& command, FeedSources& sources, bool worker);
// --mysql and its options.
void add_mysql_flags(CLI::App& command, FeedSources& sources);

// Connects to the requested sources.
Result<void> open_sources(FeedSources sources, FeedOptions& options);

}  // namespace stator::cli
