// SPDX-License-Identifier: Apache-2.0
// Query, Scan.
#include <optional>
#include <utility>

#include "api/validation/validate.h"
#include "engine/core/run_read.h"
#include "engine/errors/messages.h"
#include "engine/query/page.h"
#include "engine/query/query_operations.h"

namespace stator {
namespace {

Result<RangePlan> plan_of(const Table& table, const QueryRequest& request) {
  return plan_query(table, request);
}

Result<RangePlan> plan_of(const Table& table, const ScanRequest& request) {
  return plan_scan(table, request);
}

template <class Request, class R>
class ReadOfRange {
 public:
  using Response = R;

  explicit ReadOfRange(const Request& request) : request_(request) {}

  Result<void> prepare(const EngineCore&, const CatalogSnapshot& snapshot) {
    const TablePtr* table = snapshot.find(request_.table);
    if (table == nullptr) {
      STATOR_RETURN_IF_ERROR(check_expressions(request_));
      return fail(Code::kResourceNotFound, messages::kResourceNotFound);
    }
    auto plan = plan_of(**table, request_);
    if (!plan) return failure_of(std::move(plan));
    page_.emplace(std::move(*plan));
    return {};
  }

  void read(EngineCore& engine, ReadDone done) { page_->read(engine, std::move(done)); }
  Result<R> finish() { return page_->finish(request_.return_capacity); }

 private:
  const Request& request_;
  std::optional<PageRead<R>> page_;
};

template <class Request, class R>
void query_or_scan(EngineCore& engine, const Request& request, Done<R>&& done) {
  if (auto valid = validate(request); !valid) return done(failure_of(std::move(valid)));
  run_read<ReadOfRange<Request, R>>(engine, std::move(done), request);
}

}  // namespace

void query(EngineCore& engine, const QueryRequest& request, Done<PageResponse> done) {
  query_or_scan(engine, request, std::move(done));
}

void query(EngineCore& engine, const QueryRequest& request, Done<PageResult> done) {
  query_or_scan(engine, request, std::move(done));
}

void scan(EngineCore& engine, const ScanRequest& request, Done<PageResponse> done) {
  query_or_scan(engine, request, std::move(done));
}

void scan(EngineCore& engine, const ScanRequest& request, Done<PageResult> done) {
  query_or_scan(engine, request, std::move(done));
}

}  // namespace stator
