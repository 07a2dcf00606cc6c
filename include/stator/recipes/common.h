// SPDX-License-Identifier: Apache-2.0
// Shared parts of the recipes: pages with cursors, retries, table creation.
//
// Errors: each recipe lists its own. In addition, any call can return an error of the client:
// throttling, kUnavailable, kTimeout, kOutcomeUnknown, kResourceNotFound for a missing table.
// Arguments are checked before any request is sent: kInvalidArgument, with a message that begins
// with the argument's name.
// Stop tokens end a call within about a second, also during a request (see CallLimits for clients
// that cannot end one). A worker of a feed then takes up to 5 s more to release its claim of a
// post, and with Outbox::kStream another 5 s for that of a shard. A call that was stopped with
// kCancelled might have executed its last request; it is safe to repeat.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "stator/client.h"
#include "stator/recipes/time.h"

namespace stator {

// One page of a result. Entries that exist during the whole iteration appear exactly once.
template <class T>
struct Page {
  std::vector<T> items;
  std::string next = {};  // pass as the cursor of the same query; empty: this is the last page
};

// Cursors are opaque strings, safe in URLs. A cursor is valid only for the query that returned it:
// kBadCursor if it is damaged or belongs to another query. A cursor contains a position and never
// a partition, so a forged cursor gives access to nothing that its holder could not query.
struct PageOptions {
  int limit = 100;  // 1 to 1,000
  std::string cursor = {};
  bool newest_first = true;  // if the result is ordered by time
};

// How often a recipe repeats a request after a conflict, throttling or an unknown outcome (all
// writes of a recipe are safe to repeat). Pauses are random between zero and
// min(backoff_max, backoff_base * 2^n). The client's own retries are not counted.
struct RetryPolicy {
  int max_attempts = 10;  // in total, 1 or more
  std::chrono::milliseconds backoff_base{10};
  std::chrono::milliseconds backoff_max{1'000};
};

// A table that a recipe needs.
struct RecipeTable : CreateTableRequest {
  // NOLINTNEXTLINE(google-explicit-constructor)
  RecipeTable(CreateTableRequest request, std::string expiry_attribute = {})
      : CreateTableRequest(std::move(request)), expiry(std::move(expiry_attribute)) {}
  std::string expiry;  // the time-to-live attribute; empty: items do not expire
};

// Creates the table if it does not exist, waits until it is ACTIVE, and enables time to live if its
// items expire. If the endpoint does not support time to live, items stay. Many processes can call
// this concurrently.
// Errors: kConflict if a table of that name has another key schema, lacks one of the indexes or the
// stream, or has another time-to-live attribute.
Result<TableDescription> create_table_if_missing(Client& client, const RecipeTable& table);

}  // namespace stator
