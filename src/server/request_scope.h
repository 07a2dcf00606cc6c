// SPDX-License-Identifier: Apache-2.0
// RequestScope: observes one request from its arrival to its response, for metrics and logs.
//
// Thread safety: one thread at a time; a scope moves between threads with its request.
// Lifetime: everything that the observer points to must outlive every scope.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "http/server.h"
#include "server/key_limiter.h"
#include "server/request_log.h"
#include "server/request_metrics.h"
#include "stator/result.h"

namespace stator::server {

// The receivers of observations. Null: none.
struct RequestObserver {
  RequestMetrics* metrics = nullptr;
  RequestLog* log = nullptr;
};

class RequestScope {
 public:
  RequestScope(const RequestObserver& observer, const http::Request& request);
  RequestScope(RequestScope&& other) noexcept
      : observer_(std::exchange(other.observer_, {})),
        operation_(other.operation_),
        start_(other.start_),
        request_bytes_(other.request_bytes_),
        items_(other.items_),
        examined_(other.examined_),
        batch_size_(other.batch_size_),
        table_(std::move(other.table_)),
        index_(std::move(other.index_)),
        details_(std::move(other.details_)),
        permit_(std::move(other.permit_)) {}
  RequestScope& operator=(RequestScope&&) = delete;
  // Without finish(), the request counts as abandoned.
  ~RequestScope();

  // Sets the number of the operation, or unknown_operation(). Other requests are not counted.
  void set_operation(std::size_t operation) { operation_ = operation; }
  void set_unknown_operation();
  void note_table(std::string_view table, std::string_view index);  // see protocol/facts.h
  void note_items(std::size_t items, std::size_t examined) {
    items_ = items;
    examined_ = examined;
  }

  void note_batch(std::size_t size) { batch_size_ = size; }

  // Keeps the request in progress for its key until finish().
  void keep(KeyLimiter::Permit permit) { permit_ = std::move(permit); }

  // Stops observing, because another scope takes over the request.
  void dismiss() { observer_ = {}; }
  // Call once. `error` can be null.
  void finish(const http::Response& response, const Error* error, std::string_view request_id);

 private:
  static constexpr std::size_t kNoOperation = SIZE_MAX;
  struct Details {  // for the log
    std::string client;
    std::string method;
    std::string path;
    std::string traceparent;
  };

  void write_line(RequestLog& log, const http::Response& response, const Error* error,
                  std::chrono::nanoseconds duration, std::string_view request_id) const;

  RequestObserver observer_;
  std::size_t operation_ = kNoOperation;
  std::chrono::steady_clock::time_point start_;
  std::size_t request_bytes_;
  std::size_t items_ = 0;
  std::size_t examined_ = 0;
  std::optional<std::size_t> batch_size_;  // absent: the request is not a batch or transaction
  std::string table_;
  std::string index_;
  std::unique_ptr<const Details> details_;  // if there is a log
  KeyLimiter::Permit permit_;
};

}  // namespace stator::server
