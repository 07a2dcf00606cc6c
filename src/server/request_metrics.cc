// SPDX-License-Identifier: Apache-2.0
#include "server/request_metrics.h"

#include <algorithm>
#include <string>

#include "api/wire/wire.h"
#include "stator/client.h"

namespace stator::server {
namespace {

using metrics::Buckets;
using metrics::Counters;
using metrics::Text;

constexpr double kNanosecondsPerSecond = 1e9;
constexpr uint64_t kMicrosecond = 1'000;
constexpr uint64_t kMillisecond = 1'000'000;

constexpr Buckets<16> kDurations({50 * kMicrosecond, 100 * kMicrosecond, 250 * kMicrosecond,
                                  500 * kMicrosecond, 1 * kMillisecond, 2'500 * kMicrosecond,
                                  5 * kMillisecond, 10 * kMillisecond, 25 * kMillisecond,
                                  50 * kMillisecond, 100 * kMillisecond, 250 * kMillisecond,
                                  500 * kMillisecond, 1'000 * kMillisecond, 2'500 * kMillisecond,
                                  10'000 * kMillisecond});
constexpr Buckets<8> kSizes({256, 1'024, 4'096, 16'384, 65'536, 262'144, 1'048'576, 4'194'304});
constexpr Buckets<7> kBatchSizes({1, 2, 5, 10, 25, 50, 100});

// Offsets of an operation's counters.
constexpr std::size_t kDuration = 0;
constexpr std::size_t kRequestSize = kDuration + decltype(kDurations)::kCounters;
constexpr std::size_t kResponseSize = kRequestSize + decltype(kSizes)::kCounters;
constexpr std::size_t kBatchSize = kResponseSize + decltype(kSizes)::kCounters;
constexpr std::size_t kItems = kBatchSize + decltype(kBatchSizes)::kCounters;
constexpr std::size_t kFailedConditions = kItems + 1;
constexpr std::size_t kConflicts = kFailedConditions + 1;
constexpr std::size_t kPerOperation = kConflicts + 1;

// Offsets of a table's counters.
constexpr std::size_t kReads = 0;
constexpr std::size_t kWrites = 1;
constexpr std::size_t kReadTime = 2;
constexpr std::size_t kWriteTime = 3;
constexpr std::size_t kTableErrors = 4;  // by kind
constexpr std::size_t kTableItems = 8;
constexpr std::size_t kTableFailedConditions = 9;
constexpr std::size_t kPerTable = 10;

constexpr std::array<std::string_view, 4> kKinds = {"user", "system", "throttle", "conditional"};
enum Kind : std::size_t { kUser, kSystem, kThrottle, kConditional };

Kind kind_of(int status, Code code) {
  switch (code) {
    case Code::kConditionalCheckFailed:
      return kConditional;
    case Code::kProvisionedThroughputExceeded:
    case Code::kThrottling:
    case Code::kRequestLimitExceeded:
      return kThrottle;
    default:
      return status >= 500 ? kSystem : kUser;
  }
}

// 1 if the error has this code; for a canceled transaction, the number of such reasons.
std::size_t reasons_in(const Error& error, Code code, std::string_view reason) {
  if (error.code == code) return 1;
  if (error.code != Code::kTransactionCanceled || !error.detail) return 0;
  return static_cast<std::size_t>(
      std::ranges::count(error.detail->reasons, reason, &CancellationReason::code));
}

bool has_batches(std::string_view operation) {
  constexpr std::array<std::string_view, 4> kBatches = {"BatchGetItem", "BatchWriteItem",
                                                        "TransactGetItems", "TransactWriteItems"};
  return std::ranges::find(kBatches, operation) != kBatches.end();
}

std::size_t failed_conditions_in(const Error& error) {
  return reasons_in(error, Code::kConditionalCheckFailed, "ConditionalCheckFailed");
}

}  // namespace

RequestMetrics::RequestMetrics(std::span<const std::string_view> operations, std::size_t tables_max)
    : operations_(operations),
      by_operation_((operations.size() + 1) * kPerOperation),
      errors_(std::make_unique<std::atomic<uint64_t>[]>((operations.size() + 1) * kErrors)),
      tables_(tables_max),
      by_table_((tables_max + 1) * kPerTable) {
  for (const std::string_view operation : operations) accesses_.push_back(access_of(operation));
  accesses_.push_back(Access::kNone);
}

RequestMetrics::Access RequestMetrics::access_of(std::string_view operation) {
  constexpr std::array<std::string_view, 6> kReading = {
      "BatchGetItem", "GetItem", "Query", "Scan", "SearchVectors", "TransactGetItems"};
  constexpr std::array<std::string_view, 5> kWriting = {"BatchWriteItem", "DeleteItem", "PutItem",
                                                        "TransactWriteItems", "UpdateItem"};
  if (std::ranges::find(kReading, operation) != kReading.end()) return Access::kRead;
  if (std::ranges::find(kWriting, operation) != kWriting.end()) return Access::kWrite;
  return Access::kNone;
}

std::string_view RequestMetrics::name_of(std::size_t operation) const {
  return operation < operations_.size() ? operations_[operation] : "Unknown";
}

void RequestMetrics::count(const RequestOutcome& outcome) {
  const std::size_t first = outcome.operation * kPerOperation;
  kDurations.observe(by_operation_, first + kDuration,
                     static_cast<uint64_t>(std::max<int64_t>(0, outcome.duration.count())));
  kSizes.observe(by_operation_, first + kRequestSize, outcome.request_bytes);
  kSizes.observe(by_operation_, first + kResponseSize, outcome.response_bytes);
  if (outcome.batch_size) {
    kBatchSizes.observe(by_operation_, first + kBatchSize, *outcome.batch_size);
  }
  if (outcome.items > 0) by_operation_.add(first + kItems, outcome.items);
  if (outcome.error != nullptr || outcome.status >= 400) count_error(outcome);
  const Access access = accesses_[outcome.operation];
  if (access != Access::kNone) count_table(outcome, access);
}

void RequestMetrics::count_error(const RequestOutcome& outcome) {
  const auto code = outcome.error == nullptr
                        ? kCodes
                        : static_cast<std::size_t>(wire::public_code(outcome.error->code));
  errors_[outcome.operation * kErrors + code].fetch_add(1, std::memory_order_relaxed);
  if (outcome.error == nullptr) return;
  const std::size_t first = outcome.operation * kPerOperation;
  const std::size_t conditions = failed_conditions_in(*outcome.error);
  const std::size_t conflicts =
      reasons_in(*outcome.error, Code::kTransactionConflict, "TransactionConflict");
  if (conditions > 0) by_operation_.add(first + kFailedConditions, conditions);
  if (conflicts > 0) by_operation_.add(first + kConflicts, conflicts);
}

void RequestMetrics::count_table(const RequestOutcome& outcome, Access access) {
  // Success and a failed condition prove that the table exists.
  const bool exists =
      outcome.error == nullptr ? outcome.status < 400 : failed_conditions_in(*outcome.error) > 0;
  const bool one = !outcome.table.empty() && outcome.table != "*";
  std::size_t table = TableLabels::kNone;
  if (one) table = exists ? tables_.find_or_add(outcome.table) : tables_.find(outcome.table);
  if (table == TableLabels::kNone) table = tables_.max();
  const std::size_t first = table * kPerTable;
  const bool reads = access == Access::kRead;
  by_table_.add(first + (reads ? kReads : kWrites));
  by_table_.add(first + (reads ? kReadTime : kWriteTime),
                static_cast<uint64_t>(std::max<int64_t>(0, outcome.duration.count())));
  if (outcome.items > 0) by_table_.add(first + kTableItems, outcome.items);
  if (outcome.status < 400) return;
  const Code code = outcome.error == nullptr ? Code::kValidation : outcome.error->code;
  by_table_.add(first + kTableErrors + kind_of(outcome.status, code));
  if (outcome.error == nullptr) return;
  const std::size_t conditions = failed_conditions_in(*outcome.error);
  if (conditions > 0) by_table_.add(first + kTableFailedConditions, conditions);
}

void RequestMetrics::write(Text& text) const {
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i <= operations_.size(); ++i) {
    uint64_t requests = 0;
    for (std::size_t bucket = 0; bucket <= kDurations.bounds().size(); ++bucket) {
      requests += by_operation_.total(i * kPerOperation + kDuration + bucket);
    }
    if (requests > 0) used.push_back(i);
  }
  text.histogram("stator_request_duration_seconds",
                 "From the last byte of a request to its response.");
  for (const std::size_t i : used) {
    text.sample({{"operation", name_of(i)}}, kDurations, by_operation_,
                i * kPerOperation + kDuration, kNanosecondsPerSecond);
  }
  text.histogram("stator_request_size_bytes", "Bodies of requests.");
  for (const std::size_t i : used) {
    text.sample({{"operation", name_of(i)}}, kSizes, by_operation_,
                i * kPerOperation + kRequestSize, 1);
  }
  text.histogram("stator_response_size_bytes", "Bodies of responses.");
  for (const std::size_t i : used) {
    text.sample({{"operation", name_of(i)}}, kSizes, by_operation_,
                i * kPerOperation + kResponseSize, 1);
  }
  text.histogram("stator_batch_size", "Keys, items or actions of a batch or transaction.");
  for (const std::size_t i : used) {
    if (!has_batches(name_of(i))) continue;
    text.sample({{"operation", name_of(i)}}, kBatchSizes, by_operation_,
                i * kPerOperation + kBatchSize, 1);
  }
  const auto write_counts = [&](std::string_view name, std::string_view help, std::size_t counter) {
    text.counter(name, help);
    for (const std::size_t i : used) {
      text.sample({{"operation", name_of(i)}}, by_operation_.total(i * kPerOperation + counter));
    }
  };
  write_counts("stator_returned_items_total", "Items, or records of streams, in responses.",
               kItems);
  write_counts("stator_conditional_check_failures_total",
               "Failed conditions, those of transactions included.", kFailedConditions);
  write_counts("stator_transaction_conflicts_total",
               "Requests, and actions of transactions, that met a conflict.", kConflicts);
  write_errors(text);
  constexpr std::array<std::string_view, 3> kReasons = {"overloaded", "too_large", "malformed"};
  text.counter("stator_rejected_requests_total", "Requests that reached no operation.");
  for (std::size_t i = 0; i < kReasons.size(); ++i) {
    text.sample({{"reason", kReasons[i]}}, rejections_[i].load(std::memory_order_relaxed));
  }
  text.counter("stator_abandoned_requests_total",
               "Requests whose response could not be given: the client had gone.",
               abandoned_.load(std::memory_order_relaxed));
  write_tables(text);
}

void RequestMetrics::write_errors(Text& text) const {
  text.counter("stator_errors_total", "Responses with an error, by the exception's name.");
  for (std::size_t i = 0; i <= operations_.size(); ++i) {
    for (std::size_t error = 0; error < kErrors; ++error) {
      const uint64_t count = errors_[i * kErrors + error].load(std::memory_order_relaxed);
      if (count == 0) continue;
      const auto code = static_cast<Code>(std::min(error, kCodes - 1));
      const bool coded = error < kCodes;
      const Kind kind = coded ? kind_of(wire::http_status(code), code) : kUser;
      text.sample({{"operation", name_of(i)}, {"kind", kKinds[kind]}, {"error", error_name(error)}},
                  count);
    }
  }
}

RequestTotals RequestMetrics::totals() const {
  const std::size_t buckets = kDurations.bounds().size() + 1;
  RequestTotals totals{.durations = std::vector<uint64_t>(operation_count() * buckets),
                       .errors = std::vector<uint64_t>(kErrors)};
  for (std::size_t i = 0; i < operation_count(); ++i) {
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
      totals.durations[i * buckets + bucket] =
          by_operation_.total(i * kPerOperation + kDuration + bucket);
    }
    for (std::size_t error = 0; error < kErrors; ++error) {
      totals.errors[error] += errors_[i * kErrors + error].load(std::memory_order_relaxed);
    }
  }
  for (const auto& count : rejections_) totals.rejections += count.load(std::memory_order_relaxed);
  return totals;
}

std::span<const uint64_t> RequestMetrics::duration_bounds() {
  return kDurations.bounds();
}

std::string_view RequestMetrics::error_name(std::size_t error) {
  return error < kCodes ? code_name(static_cast<Code>(error)) : "Other";
}

bool RequestMetrics::is_throttle(std::size_t error) {
  return error < kCodes && kind_of(0, static_cast<Code>(error)) == kThrottle;
}

void RequestMetrics::write_tables(Text& text) const {
  const std::size_t named = tables_.size();
  const auto each = [&](const auto& write_one) {
    for (std::size_t i = 0; i < named; ++i) write_one(tables_.name(i), i * kPerTable);
    write_one("other", tables_.max() * kPerTable);
  };
  text.counter("stator_table_requests_total", "Reads and writes of items, by table.");
  each([&](std::string_view table, std::size_t first) {
    text.sample({{"table", table}, {"type", "read"}}, by_table_.total(first + kReads));
    text.sample({{"table", table}, {"type", "write"}}, by_table_.total(first + kWrites));
  });
  text.counter("stator_table_request_duration_seconds_total",
               "Time of these requests; divide by their number.");
  each([&](std::string_view table, std::size_t first) {
    const auto seconds = [&](std::size_t counter) {
      return static_cast<double>(by_table_.total(first + counter)) / kNanosecondsPerSecond;
    };
    text.sample({{"table", table}, {"type", "read"}}, seconds(kReadTime));
    text.sample({{"table", table}, {"type", "write"}}, seconds(kWriteTime));
  });
  text.counter("stator_table_errors_total", "Responses with an error, by table.");
  each([&](std::string_view table, std::size_t first) {
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
      text.sample({{"table", table}, {"kind", kKinds[kind]}},
                  by_table_.total(first + kTableErrors + kind));
    }
  });
  const auto write_counts = [&](std::string_view name, std::string_view help, std::size_t counter) {
    text.counter(name, help);
    each([&](std::string_view table, std::size_t first) {
      text.sample({{"table", table}}, by_table_.total(first + counter));
    });
  };
  write_counts("stator_table_returned_items_total", "Items in responses, by table.", kTableItems);
  write_counts("stator_table_conditional_check_failures_total", "Failed conditions, by table.",
               kTableFailedConditions);
}

}  // namespace stator::server
