// SPDX-License-Identifier: Apache-2.0
// What the recipes share: pages with cursors, retries, making their tables.
//
// Errors: each recipe names its own. Beside them any call may hand on what the client answered:
// throttling, kUnavailable, kTimeout, kOutcomeUnknown, kResourceNotFound for a missing table.
// Arguments are checked before any request: kInvalidArgument, and the message begins with the
// argument's name.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "stator/client.h"
#include "stator/recipes/time.h"

namespace stator {

// Some of an answer, and where the rest begins. Paging neither repeats nor skips what was there
// throughout.
template <class T>
struct Page {
  std::vector<T> items;
  std::string next = {};  // pass as the cursor of the same question; empty: nothing follows
};

// Cursors are opaque text, safe in URLs, good for the question that gave them and no other:
// kBadCursor for a damaged one, or one of another question. They carry a position and never a
// partition, so that a forged one reads nothing that its holder could not ask for.
struct PageOptions {
  int limit = 100;  // 1 to 1,000
  std::string cursor = {};
  bool newest_first = true;  // where the answer is ordered by time
};

// How often a request is repeated that met a conflict, a throttle or an unknown outcome (all of a
// recipe's writes are safe to repeat). Waits are random between zero and
// min(backoff_max, backoff_base * 2^n). What the client retries by itself comes on top.
struct RetryPolicy {
  int max_attempts = 10;  // in all, 1 or more
  std::chrono::milliseconds backoff_base{10};
  std::chrono::milliseconds backoff_max{1'000};
};

// A table that a recipe needs.
struct RecipeTable : CreateTableRequest {
  // NOLINTNEXTLINE(google-explicit-constructor)
  RecipeTable(CreateTableRequest request, std::string expiry_attribute = {})
      : CreateTableRequest(std::move(request)), expiry(std::move(expiry_attribute)) {}
  std::string expiry;  // the attribute that its items expire by; empty: they do not
};

// Creates the table, or finds it, waits until it is ACTIVE, and turns time to live on where its
// items expire (not on endpoints that have none: there they stay). Safe to call from many processes
// at once. kConflict when there is a table of that name with another key schema, without one of the
// indexes or the stream, or whose items expire by another attribute.
Result<TableDescription> create_table_if_missing(Client& client, const RecipeTable& table);

}  // namespace stator
