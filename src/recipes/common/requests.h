// SPDX-License-Identifier: Apache-2.0
// How recipes send requests: what failures mean, retries with jitter, pages, batches.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stator/recipes/common.h"

namespace stator::recipes {

enum class Trouble {
  kNone,      // the request was understood and refused: repeating it changes nothing
  kConflict,  // another write was under way
  kThrottle,  // too much, too fast
  kUnknown,   // no answer: it may have taken effect
};
// A cancelled transaction is judged by its reasons' codes: a conflict or a throttle among them
// decides, since the others may have been judged by an image that is passing.
Trouble trouble_of(const Error& error);

// The reason of one action of a cancelled transaction; null where there is none.
const CancellationReason* reason_at(const Error& error, std::size_t index);
bool condition_failed_at(const Error& error, std::size_t index);
// Whether all of a table can be used: it and its indexes are there.
bool is_active(const TableDescription& table);
// The item that came with a failed condition; null where none did.
const Item* item_in(const Error& error);
const Item* item_at(const Error& error, std::size_t index);  // of one action of a transaction
// The item on which a write's condition failed: `sent` with the refusal, or read now, since not
// every endpoint sends it.
Result<std::optional<Item>> refused_item(Client& client, const std::string& table, const Item& key,
                                         const Item* sent);

// Random between zero and min(max, base * 2^attempt); attempt counts from 0.
std::chrono::nanoseconds jittered(std::chrono::nanoseconds base, std::chrono::nanoseconds max,
                                  int attempt);

// The error to return when the attempts are used up: conflicts with transactions and throttles by
// their own codes, which are retryable(), not as a canceled transaction. kConflict is permanent.
Error final_error(Error error);

// Unknown outcomes have been repeated below already, each attempt waiting for a time-out.
inline constexpr int kMaxUnknownAttempts = 3;

// Runs `attempt` (which returns a Result) until it answers or the policy ends. Only for requests
// that may take effect twice.
template <class F>
auto with_retries(const RetryPolicy& policy, TimeSource& time, const std::stop_token& stop,
                  F&& attempt) -> decltype(attempt()) {
  int unknown = 0;
  for (int tried = 0;; ++tried) {
    auto result = attempt();
    if (result) return result;
    const Trouble trouble = trouble_of(result.error());
    if (trouble == Trouble::kNone) return result;
    if (trouble == Trouble::kUnknown) ++unknown;
    if (tried + 1 >= policy.max_attempts || unknown >= kMaxUnknownAttempts) {
      return Failure(final_error(std::move(result).error()));
    }
    if (!time.sleep(jittered(policy.backoff_base, policy.backoff_max, tried), stop)) {
      return fail(Code::kCancelled, "stopped while waiting to repeat a request");
    }
  }
}

template <class F>
auto with_retries(const RetryPolicy& policy, TimeSource& time, F&& attempt) -> decltype(attempt()) {
  return with_retries(policy, time, std::stop_token(), std::forward<F>(attempt));
}

// Up to `limit` items of a query, and whether there are more. May hold fewer than `limit` where
// the service's page of 1 MB ends first, but never none while more follow.
struct ItemPage {
  std::vector<Item> items;
  bool more = false;
};
Result<ItemPage> query_page(Client& client, const RetryPolicy& policy, TimeSource& time,
                            QueryRequest request, int limit);
// Exactly `wanted` items where there are as many, over as many pages as it takes.
Result<std::vector<Item>> query_items(Client& client, const RetryPolicy& policy, TimeSource& time,
                                      QueryRequest request, std::size_t wanted);

inline constexpr std::size_t kBatchWrites = 25;
inline constexpr std::size_t kBatchGets = 100;

// BatchWriteItem of up to 25 writes of different keys, what comes back unprocessed sent again.
// Returns the number of requests it took.
Result<int64_t> write_batch(Client& client, const RetryPolicy& policy, TimeSource& time,
                            const std::stop_token& stop, const std::string& table,
                            std::vector<WriteRequest> writes);

// BatchGetItem of up to 100 different keys, consistent, unprocessed ones asked for again.
Result<std::vector<Item>> get_batch(Client& client, const RetryPolicy& policy, TimeSource& time,
                                    const std::string& table, std::vector<Item> keys,
                                    const std::string& projection, const Names& names);

}  // namespace stator::recipes
