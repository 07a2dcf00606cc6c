// SPDX-License-Identifier: Apache-2.0
#include "server/request_scope.h"

namespace stator::server {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kTableBytesMax = 1'100;  // of an ARN; longer texts name no table

}  // namespace

RequestScope::RequestScope(const RequestObserver& observer, const http::Request& request)
    : observer_(observer),
      start_(request.arrival == SteadyClock::time_point() ? SteadyClock::now() : request.arrival),
      request_bytes_(request.body.size()) {}

RequestScope::~RequestScope() {
  if (observer_.metrics != nullptr && operation_ != kNoOperation) {
    observer_.metrics->count_abandoned();
  }
}

void RequestScope::set_unknown_operation() {
  if (observer_.metrics != nullptr) operation_ = observer_.metrics->unknown_operation();
}

void RequestScope::note_table(std::string_view table) {
  if (table.size() <= kTableBytesMax) table_ = table;
}

void RequestScope::finish(const http::Response& response, const Error* error) {
  const RequestObserver observer = std::exchange(observer_, {});
  if (observer.metrics == nullptr || operation_ == kNoOperation) return;
  observer.metrics->count({.operation = operation_,
                           .status = response.status,
                           .error = error,
                           .duration = SteadyClock::now() - start_,
                           .request_bytes = request_bytes_,
                           .response_bytes = response.body.size(),
                           .items = items_,
                           .table = table_});
}

}  // namespace stator::server
