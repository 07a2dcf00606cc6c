// SPDX-License-Identifier: Apache-2.0
// How recipes send requests: classification of failures, retries with jitter, pages, batches.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stator/call_limits.h"
#include "stator/recipes/common.h"

namespace stator::recipes {

enum class Trouble {
  kNone,      // the request was rejected: repeating it does not help
  kConflict,  // a concurrent write
  kThrottle,  // too many requests
  kUnknown,   // no response: it might have taken effect
};
// For a cancelled transaction, a conflict or throttling among its reasons decides: other reasons
// might be based on an image that a concurrent write is about to replace.
Trouble trouble_of(const Error& error);

// The reason of one action of a cancelled transaction, or null.
const CancellationReason* reason_at(const Error& error, std::size_t index);
bool condition_failed_at(const Error& error, std::size_t index);
// Whether a table and all its indexes are ACTIVE.
bool is_active(const TableDescription& table);
// The item that was returned with a failed condition, or null.
const Item* item_in(const Error& error);
const Item* item_at(const Error& error, std::size_t index);  // of one action of a transaction
// The item on which a write's condition failed: `sent` if it was returned with the error, otherwise
// read now, because not every endpoint returns it.
Result<std::optional<Item>> refused_item(Client& client, const std::string& table, const Item& key,
                                         const Item* sent);

// Random between zero and min(max, base * 2^attempt); attempt counts from 0.
std::chrono::nanoseconds jittered(std::chrono::nanoseconds base, std::chrono::nanoseconds max,
                                  int attempt);

// The error to return after the last attempt. Transaction conflicts and throttling get their own
// codes, which are retryable(), instead of kTransactionCanceled. kConflict is permanent.
Error final_error(Error error);

// The client has already repeated requests with unknown outcomes, each until a timeout.
inline constexpr int kMaxUnknownAttempts = 3;

// Runs `attempt` (which returns a Result) until it succeeds, fails for good, or the policy ends.
// Only for requests that are safe to repeat.
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

// Stops as the CallLimits of the thread do.
template <class F>
auto with_retries(const RetryPolicy& policy, TimeSource& time, F&& attempt) -> decltype(attempt()) {
  const CallLimits* const limits = CallLimits::current();
  return with_retries(policy, time, limits != nullptr ? limits->stop() : std::stop_token(),
                      std::forward<F>(attempt));
}

// Up to `limit` items of a query, and whether more follow. Contains fewer than `limit` items if
// DynamoDB's page limit of 1 MB is reached first, but at least one if more follow.
struct ItemPage {
  std::vector<Item> items;
  bool more = false;
};
Result<ItemPage> query_page(Client& client, const RetryPolicy& policy, TimeSource& time,
                            QueryRequest request, int limit);
// Returns exactly `wanted` items, or all if there are fewer, from as many pages as necessary.
Result<std::vector<Item>> query_items(Client& client, const RetryPolicy& policy, TimeSource& time,
                                      QueryRequest request, std::size_t wanted);

inline constexpr std::size_t kBatchWrites = 25;
inline constexpr std::size_t kBatchGets = 100;

// BatchWriteItem with up to 25 writes of different keys. Sends unprocessed writes again. Returns
// the number of requests.
Result<int64_t> write_batch(Client& client, const RetryPolicy& policy, TimeSource& time,
                            const std::stop_token& stop, const std::string& table,
                            std::vector<WriteRequest> writes);

// Consistent BatchGetItem of up to 100 different keys. Requests unprocessed keys again.
Result<std::vector<Item>> get_batch(Client& client, const RetryPolicy& policy, TimeSource& time,
                                    const std::string& table, std::vector<Item> keys,
                                    const std::optional<std::string>& projection = {},
                                    const std::optional<Names>& names = {});

}  // namespace stator::recipes
