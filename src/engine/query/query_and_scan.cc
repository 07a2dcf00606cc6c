// SPDX-License-Identifier: Apache-2.0
// Query, Scan.
#include <utility>

#include "api/validation/validate.h"
#include "engine/core/current_tables.h"
#include "engine/errors/messages.h"
#include "engine/query/page.h"
#include "engine/query/query_operations.h"

namespace stator {
namespace {

template <class Request, class Plan>
Result<PageResponse> read_range(const EngineCore& engine, const Request& request, Plan make_plan) {
  STATOR_RETURN_IF_ERROR(validate(request));
  return on_newest_tables(engine, [&](const CatalogSnapshot& snapshot) -> Result<PageResponse> {
    const TablePtr* table = snapshot.find(request.table);
    if (table == nullptr) {
      STATOR_RETURN_IF_ERROR(check_expressions(request));
      return fail(Code::kResourceNotFound, messages::kResourceNotFound);
    }
    STATOR_ASSIGN_OR_RETURN(const RangePlan plan, make_plan(**table, request));
    return read_page(engine, plan, request.return_capacity);
  });
}

}  // namespace

Result<PageResponse> query(const EngineCore& engine, const QueryRequest& request) {
  return read_range(engine, request, plan_query);
}

Result<PageResponse> scan(const EngineCore& engine, const ScanRequest& request) {
  return read_range(engine, request, plan_scan);
}

}  // namespace stator
