// SPDX-License-Identifier: Apache-2.0
// RequestMetrics: counts requests and their outcomes, by operation and by table.
//
// Thread safety: any thread; calls do not wait, except that a table's first request takes a lock.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "metrics/counters.h"
#include "metrics/text.h"
#include "server/table_labels.h"
#include "stator/result.h"

namespace stator::server {

// Requests that reach no operation, by the reason.
enum class Rejection { kOverloaded, kTooLarge, kMalformed };

// The outcome of one request.
struct RequestOutcome {
  std::size_t operation = 0;  // names().size(): unknown
  int status = 200;
  const Error* error = nullptr;  // null without an error of the API
  std::chrono::nanoseconds duration{0};
  std::size_t request_bytes = 0;               // of the body
  std::size_t response_bytes = 0;              // of the body
  std::size_t items = 0;                       // in the response
  std::optional<std::size_t> batch_size = {};  // see protocol::batch_size_in
  std::string_view table = {};                 // see protocol::table_in
};

// The counts since the start.
struct RequestTotals {
  std::vector<uint64_t> durations;  // of each operation, one per bucket
  std::vector<uint64_t> errors;     // of all operations, by error_name()
  uint64_t rejections = 0;
};

class RequestMetrics {
 public:
  // `operations` must outlive it. Requests of more than `tables_max` tables are counted together.
  RequestMetrics(std::span<const std::string_view> operations, std::size_t tables_max);

  std::size_t unknown_operation() const { return operations_.size(); }
  void count(const RequestOutcome& outcome);
  void count(Rejection rejection) { rejections_[static_cast<std::size_t>(rejection)]++; }
  // A request whose response could not be sent: the client had disconnected, or no memory was left.
  void count_abandoned() { abandoned_++; }
  void write(metrics::Text& text) const;

  RequestTotals totals() const;
  // Upper bounds of the buckets of durations, in nanoseconds; one more bucket has no bound.
  static std::span<const uint64_t> duration_bounds();
  std::string_view name_of(std::size_t operation) const;  // "Unknown" is the last
  std::size_t operation_count() const { return operations_.size() + 1; }
  static std::string_view error_name(std::size_t error);
  static bool is_throttle(std::size_t error);

 private:
  enum class Access { kNone, kRead, kWrite };  // of items in tables that the request names
  static constexpr std::size_t kCodes = static_cast<std::size_t>(Code::kExpired) + 1;
  static constexpr std::size_t kErrors = kCodes + 1;  // one for errors without a code

  static Access access_of(std::string_view operation);
  void count_error(const RequestOutcome& outcome);
  void count_table(const RequestOutcome& outcome, Access access);
  void write_errors(metrics::Text& text) const;
  void write_tables(metrics::Text& text) const;

  const std::span<const std::string_view> operations_;
  std::vector<Access> accesses_;  // by operation
  metrics::Counters by_operation_;
  std::unique_ptr<std::atomic<uint64_t>[]> errors_;  // by operation and code
  TableLabels tables_;
  metrics::Counters by_table_;
  std::array<std::atomic<uint64_t>, 3> rejections_ = {};
  std::atomic<uint64_t> abandoned_ = 0;
};

}  // namespace stator::server
