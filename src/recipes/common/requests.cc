// SPDX-License-Identifier: Apache-2.0
#include "recipes/common/requests.h"

#include <cstring>
#include <utility>

#include "base/random.h"

namespace stator::recipes {
namespace {

bool is_throttle(std::string_view reason) {
  return reason == "ThrottlingError" || reason == "ProvisionedThroughputExceeded";
}

constexpr int64_t kMaxFilteredPage = 1000;  // items examined per request

Trouble trouble_of_reasons(const Error& error) {
  const bool throttled = std::ranges::any_of(
      error.detail->reasons, [](const auto& reason) { return is_throttle(reason.code); });
  return throttled ? Trouble::kThrottle : Trouble::kConflict;
}

Failure throttled() {
  return fail(Code::kThrottling, "the endpoint keeps returning requests unprocessed");
}

}  // namespace

bool is_active(const TableDescription& table) {
  return table.status == TableStatus::kActive &&
         std::ranges::all_of(table.global_indexes, [](const IndexDescription& index) {
           return index.status == TableStatus::kActive;
         });
}

Trouble trouble_of(const Error& error) {
  if (!error.retryable()) return Trouble::kNone;
  switch (error.code) {
    case Code::kTransactionCanceled:
      return trouble_of_reasons(error);
    case Code::kTransactionConflict:
    case Code::kReplicatedWriteConflict:
    case Code::kTransactionInProgress:
      return Trouble::kConflict;
    case Code::kTimeout:
    case Code::kUnavailable:
    case Code::kOutcomeUnknown:
    case Code::kInternalServerError:
    case Code::kServiceUnavailable:
      return Trouble::kUnknown;
    default:
      return Trouble::kThrottle;
  }
}

const CancellationReason* reason_at(const Error& error, std::size_t index) {
  if (error.code != Code::kTransactionCanceled || !error.detail) return nullptr;
  return index < error.detail->reasons.size() ? &error.detail->reasons[index] : nullptr;
}

bool condition_failed_at(const Error& error, std::size_t index) {
  const CancellationReason* reason = reason_at(error, index);
  return reason != nullptr && reason->code == "ConditionalCheckFailed";
}

const Item* item_in(const Error& error) {
  return error.detail && error.detail->item ? &*error.detail->item : nullptr;
}

const Item* item_at(const Error& error, std::size_t index) {
  const CancellationReason* reason = reason_at(error, index);
  return reason != nullptr && reason->item ? &*reason->item : nullptr;
}

Result<std::optional<Item>> refused_item(Client& client, const std::string& table, const Item& key,
                                         const Item* sent) {
  if (sent != nullptr) return *sent;
  STATOR_ASSIGN_OR_RETURN(GetItemResult found,
                          client.get_item({.table = table, .key = key, .consistent_read = true}));
  return std::move(found.item);
}

std::chrono::nanoseconds jittered(std::chrono::nanoseconds base, std::chrono::nanoseconds max,
                                  int attempt) {
  std::chrono::nanoseconds ceiling = std::min(base, max);
  for (int i = 0; i < attempt && ceiling < max; ++i) ceiling = std::min(ceiling * 2, max);
  if (ceiling.count() <= 0) return std::chrono::nanoseconds(0);
  const std::string bytes = random_bytes(sizeof(uint64_t));
  uint64_t random = 0;
  std::memcpy(&random, bytes.data(), sizeof random);
  return std::chrono::nanoseconds(
      static_cast<int64_t>(random % static_cast<uint64_t>(ceiling.count() + 1)));
}

Error final_error(Error error) {
  if (error.code != Code::kTransactionCanceled && error.code != Code::kTransactionConflict) {
    return error;
  }
  const bool throttle = trouble_of(error) == Trouble::kThrottle;
  error.message =
      (throttle ? "throttled on every attempt: " : "conflicts on every attempt: ") + error.message;
  error.code = throttle ? Code::kThrottling : Code::kTransactionConflict;
  return error;
}

Result<ItemPage> query_page(Client& client, const RetryPolicy& policy, TimeSource& time,
                            QueryRequest request, int limit) {
  request.limit = limit + 1;  // one extra item shows whether more follow
  for (;;) {
    STATOR_ASSIGN_OR_RETURN(PageResult result,
                            with_retries(policy, time, [&] { return client.query(request); }));
    ItemPage page{.items = std::move(result.items), .more = result.last_evaluated_key.has_value()};
    if (page.items.empty() && page.more) {
      request.exclusive_start_key = std::move(result.last_evaluated_key);
      continue;
    }
    if (page.items.size() > static_cast<std::size_t>(limit)) {
      page.items.resize(static_cast<std::size_t>(limit));
      page.more = true;
    }
    return page;
  }
}

Result<std::vector<Item>> query_items(Client& client, const RetryPolicy& policy, TimeSource& time,
                                      QueryRequest request, std::size_t wanted) {
  std::vector<Item> items;
  request.limit = static_cast<int64_t>(wanted);
  for (;;) {
    STATOR_ASSIGN_OR_RETURN(PageResult result,
                            with_retries(policy, time, [&] { return client.query(request); }));
    const auto passed = static_cast<int64_t>(result.items.size());
    std::move(result.items.begin(), result.items.end(), std::back_inserter(items));
    if (items.size() > wanted) items.resize(wanted);
    if (items.size() == wanted || !result.last_evaluated_key) return items;
    request.exclusive_start_key = std::move(result.last_evaluated_key);
    // If the filter removed most items, the next page is twice as large, or a long row of such
    // items would take very many requests.
    const bool mostly_filtered =
        result.scanned_count == *request.limit && passed < *request.limit - passed;
    request.limit = mostly_filtered
                        ? std::min(*request.limit * 2, std::max(*request.limit, kMaxFilteredPage))
                        : static_cast<int64_t>(wanted - items.size());
  }
}

Result<int64_t> write_batch(Client& client, const RetryPolicy& policy, TimeSource& time,
                            const std::stop_token& stop, const std::string& table,
                            std::vector<WriteRequest> writes) {
  BatchWriteItemRequest request;
  request.items[table] = std::move(writes);
  int64_t requests = 0;
  for (int tried = 0;; ++tried) {
    STATOR_ASSIGN_OR_RETURN(BatchWriteItemResult result, with_retries(policy, time, stop, [&] {
                              ++requests;
                              return client.batch_write_item(request);
                            }));
    const auto left = result.unprocessed.find(table);
    if (left == result.unprocessed.end() || left->second.empty()) return requests;
    if (left->second.size() < request.items[table].size()) tried = 0;  // progress
    if (tried + 1 >= policy.max_attempts) return throttled();
    request.items[table] = std::move(left->second);
    if (!time.sleep(jittered(policy.backoff_base, policy.backoff_max, tried), stop)) {
      return fail(Code::kCancelled, "stopped in the middle of a batch");
    }
  }
}

Result<std::vector<Item>> get_batch(Client& client, const RetryPolicy& policy, TimeSource& time,
                                    const std::string& table, std::vector<Item> keys,
                                    const std::optional<std::string>& projection,
                                    const std::optional<Names>& names) {
  BatchGetItemRequest request;
  request.items[table] = KeysAndAttributes{
      .keys = std::move(keys), .consistent_read = true, .projection = projection, .names = names};
  std::vector<Item> items;
  for (int tried = 0;; ++tried) {
    STATOR_ASSIGN_OR_RETURN(BatchGetItemResult result, with_retries(policy, time, [&] {
                              return client.batch_get_item(request);
                            }));
    if (const auto found = result.items.find(table); found != result.items.end()) {
      std::move(found->second.begin(), found->second.end(), std::back_inserter(items));
    }
    const auto left = result.unprocessed.find(table);
    if (left == result.unprocessed.end() || left->second.keys.empty()) return items;
    if (left->second.keys.size() < request.items[table].keys.size()) tried = 0;
    if (tried + 1 >= policy.max_attempts) return throttled();
    request.items[table].keys = std::move(left->second.keys);
    time.sleep(jittered(policy.backoff_base, policy.backoff_max, tried), {});
  }
}

}  // namespace stator::recipes
