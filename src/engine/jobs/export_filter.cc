// SPDX-License-Identifier: Apache-2.0
#include "engine/jobs/export_filter.h"

#include "api/admin/document.h"
#include "api/validation/validate.h"
#include "api/wire/wire.h"
#include "engine/errors/admin_messages.h"

namespace stator {
namespace {

// The specification is stored with its values as DynamoDB JSON, so it goes through the reader of
// requests.
template <class Request>
Result<Request> request_of(const Table& table, Item specification) {
  specification["TableName"] = table.name();
  STATOR_ASSIGN_OR_RETURN(Request request,
                          wire::read_request<Request>(wire::document_to_json(specification)));
  STATOR_RETURN_IF_ERROR(validate(request));
  return request;
}

}  // namespace

Result<std::unique_ptr<ExportFilter>> ExportFilter::make(const Table& table,
                                                         const Item& specification) {
  auto filter = std::make_unique<ExportFilter>();
  const auto planned = [&]() -> Result<void> {
    if (specification.empty()) return fail(Code::kValidation, messages::kEmptyFilter);
    if (specification.contains("KeyConditionExpression")) {
      STATOR_ASSIGN_OR_RETURN(filter->query_, request_of<QueryRequest>(table, specification));
      STATOR_ASSIGN_OR_RETURN(filter->plan_, plan_query(table, filter->query_));
    } else {
      STATOR_ASSIGN_OR_RETURN(filter->scan_, request_of<ScanRequest>(table, specification));
      STATOR_ASSIGN_OR_RETURN(filter->plan_, plan_scan(table, filter->scan_));
    }
    return {};
  }();
  if (planned) return filter;
  return fail(Code::kValidation, messages::invalid_filter(planned.error().message));
}

bool ExportFilter::reads(std::string_view row_key) const {
  const KeyRange& range = plan_.range;
  return row_key >= range.begin && (range.end.empty() || row_key < range.end);
}

bool ExportFilter::selects(ItemView item) const {
  return !plan_.filter || plan_.filter->matches(item);
}

EncodedItem ExportFilter::projected(ItemView item) const {
  return plan_.projection ? plan_.projection->apply(item) : EncodedItem(item.bytes());
}

}  // namespace stator
