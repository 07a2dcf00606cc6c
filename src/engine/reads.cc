// SPDX-License-Identifier: Apache-2.0
// GetItem, TransactGetItems.
#include <utility>

#include "api/validate.h"
#include "engine/capacity.h"
#include "engine/engine_impl.h"
#include "engine/item_reads.h"
#include "engine/item_rules.h"
#include "engine/messages.h"
#include "engine/request_expressions.h"

namespace stator {

Result<GetItemResponse> Engine::get_item(const GetItemRequest& request) {
  STATOR_CHECK_OK(validate(request));
  const auto snapshot = impl_->catalogue->snapshot();
  const TablePtr* table = snapshot->find(request.table);
  if (table == nullptr) return fail(Code::kResourceNotFound, messages::kResourceNotFound);
  STATOR_TRY(const auto projection,
             parse_projection(**table, request.projection, request.names, request.legacy));
  STATOR_CHECK_OK(check_key((*table)->key(), request.key));

  CapacityMeter meter(request.return_capacity);
  auto found = read_item(*impl_->store, **table, request.key, projection, meter.wanted());
  if (!found) return Failure(service_error(std::move(found).error()));
  GetItemResponse response;
  response.item = std::move(found->item);
  meter.add(**table, read_units(found->bytes) * (request.consistent_read ? 1 : 0.5));
  response.capacity = meter.one();
  return response;
}

Result<TransactGetItemsResponse> Engine::transact_get_items(
    const TransactGetItemsRequest& request) {
  STATOR_CHECK_OK(validate(request));
  struct Read {
    const Table* table;
    std::optional<ProjectionExpression> projection;
  };
  const auto snapshot = impl_->catalogue->snapshot();
  std::vector<Read> reads;
  std::vector<CancellationReason> reasons;
  bool cancelled = false;
  for (const TransactGetItem& item : request.items) {
    const TablePtr* table = snapshot->find(item.table);
    if (table == nullptr) return fail(Code::kResourceNotFound, messages::kResourceNotFound);
    STATOR_TRY(auto projection, parse_projection(**table, item.projection, item.names, false));
    STATOR_CHECK_OK(check_no_empty_key((*table)->key(), item.key));
    CancellationReason& reason = reasons.emplace_back();
    if (auto checked = check_key((*table)->key(), item.key); !checked) {
      cancelled = true;
      reason.code = "ValidationError";
      reason.message = std::move(checked).error().message;
    }
    reads.push_back({.table = table->get(), .projection = std::move(projection)});
  }
  if (cancelled) return transaction_cancelled(std::move(reasons));

  auto view = impl_->store->read_view();
  if (!view) return Failure(service_error(std::move(view).error()));
  TransactGetItemsResponse response;
  CapacityMeter meter(request.return_capacity, CapacityMeter::Report::kRead);
  for (std::size_t i = 0; i < reads.size(); ++i) {
    auto found = read_item(**view, *reads[i].table, request.items[i].key, reads[i].projection,
                           meter.wanted());
    if (!found) return Failure(service_error(std::move(found).error()));
    meter.add(*reads[i].table, read_units(found->bytes) * 2);
    response.items.push_back(std::move(found->item));
  }
  response.capacity = meter.all();
  return response;
}

}  // namespace stator
