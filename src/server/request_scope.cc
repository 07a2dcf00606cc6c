// SPDX-License-Identifier: Apache-2.0
#include "server/request_scope.h"

#include <exception>

#include "api/wire/wire.h"
#include "base/clock.h"
#include "server/dynamodb_service.h"
#include "server/log_field.h"

namespace stator::server {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kTableBytesMax = 1'100;  // of an ARN; no longer name is a table's
constexpr std::size_t kIndexBytesMax = 255;

}  // namespace

RequestScope::RequestScope(const RequestObserver& observer, const http::Request& request)
    : observer_(observer),
      start_(request.arrival == SteadyClock::time_point() ? SteadyClock::now() : request.arrival),
      request_bytes_(request.body.size()) {
  if (observer.log == nullptr) return;
  const auto path = request.target.substr(0, request.target.find('?'));
  details_ = std::make_unique<const Details>(
      Details{.client = std::string(request.peer),
              .method = std::string(request.method.substr(0, kLogFieldBytesMax)),
              .path = std::string(path.substr(0, kLogFieldBytesMax)),
              .traceparent = std::string(valid_traceparent(request.header("traceparent")))});
}

RequestScope::~RequestScope() {
  const RequestObserver observer = std::exchange(observer_, {});
  if (observer.metrics != nullptr && operation_ != kNoOperation) {
    observer.metrics->count_abandoned();
  }
  if (observer.log == nullptr) return;
  try {
    write_line(*observer.log, {.status = 0}, nullptr, SteadyClock::now() - start_, {});
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // Out of memory: the line is lost.
  }
}

void RequestScope::set_unknown_operation() {
  if (observer_.metrics != nullptr) operation_ = observer_.metrics->unknown_operation();
}

void RequestScope::note_table(std::string_view table, std::string_view index) {
  if (table.size() <= kTableBytesMax) table_ = table;
  if (observer_.log != nullptr && index.size() <= kIndexBytesMax) index_ = index;
}

void RequestScope::finish(const http::Response& response, const Error* error,
                          std::string_view request_id) {
  permit_ = {};  // the client can send its next request as soon as it has the response
  const RequestObserver observer = std::exchange(observer_, {});
  if (observer.metrics == nullptr && observer.log == nullptr) return;
  const auto duration = SteadyClock::now() - start_;
  if (observer.metrics != nullptr && operation_ != kNoOperation) {
    observer.metrics->count({.operation = operation_,
                             .status = response.status,
                             .error = error,
                             .duration = duration,
                             .request_bytes = request_bytes_,
                             .response_bytes = response.body.size(),
                             .items = items_,
                             .batch_size = batch_size_,
                             .table = table_});
  }
  if (observer.log != nullptr) write_line(*observer.log, response, error, duration, request_id);
}

void RequestScope::write_line(RequestLog& log, const http::Response& response, const Error* error,
                              std::chrono::nanoseconds duration,
                              std::string_view request_id) const {
  const auto names = DynamoDbService::operation_names();
  log.write({.unix_ms = system_clock().unix_ms(),
             .client = details_->client,
             .operation = operation_ < names.size() ? names[operation_] : std::string_view(),
             .table = table_,
             .index = index_,
             .items = items_,
             .examined = examined_,
             .status = response.status,
             .error = error == nullptr ? "" : code_name(wire::public_code(error->code)),
             .request_bytes = request_bytes_,
             .response_bytes = response.body.size(),
             .duration = duration,
             .request_id = request_id,
             .traceparent = details_->traceparent,
             .method = details_->method,
             .path = details_->path});
}

}  // namespace stator::server
