// SPDX-License-Identifier: Apache-2.0
// GetItem, TransactGetItems.
#include <set>
#include <utility>

#include "api/validation/validate.h"
#include "engine/errors/messages.h"
#include "engine/errors/service_errors.h"
#include "engine/items/capacity.h"
#include "engine/items/item_operations.h"
#include "engine/items/item_reads.h"
#include "engine/items/item_rules.h"
#include "engine/items/request_expressions.h"
#include "engine/items/transact_write.h"

namespace stator {
namespace {

Result<GetItemResponse> read_one(const EngineCore& engine, const CatalogSnapshot& snapshot,
                                 const GetItemRequest& request) {
  const TablePtr* table = snapshot.find(request.table);
  STATOR_ASSIGN_OR_RETURN(
      const auto projection,
      parse_projection(table == nullptr ? nullptr : table->get(), request.projection, request.names,
                       request.legacy, Layer::kCurrent));
  if (table == nullptr) return fail(Code::kResourceNotFound, messages::kResourceNotFound);
  STATOR_RETURN_IF_ERROR(check_key((*table)->key(), request.key));

  CapacityMeter meter(request.return_capacity);
  STATOR_ASSIGN_OR_RETURN(FoundItem found,
                          read_item(engine, **table, request.key, projection, meter.wanted()));
  GetItemResponse response;
  response.item = std::move(found.item);
  meter.add(**table, read_units(found.bytes) * (request.consistent_read ? 1 : 0.5));
  response.capacity = meter.one();
  return response;
}

Result<TransactGetItemsResponse> read_all(const EngineCore& engine, const CatalogSnapshot& snapshot,
                                          const TransactGetItemsRequest& request) {
  std::vector<std::optional<ProjectionExpression>> projections;
  std::vector<const Table*> tables;
  std::vector<CancellationReason> reasons;
  std::set<std::string> keys;
  std::vector<std::string> row_keys;  // in their order
  bool cancelled = false;
  for (const TransactGetItem& item : request.items) {
    const TablePtr* found = snapshot.find(item.table);
    STATOR_ASSIGN_OR_RETURN(auto projection,
                            parse_projection(found == nullptr ? nullptr : found->get(),
                                             item.projection, item.names, false, Layer::kOlder));
    if (found == nullptr) return fail(Code::kResourceNotFound, messages::kResourceNotFound);
    projections.push_back(std::move(projection));
    const Table& table = **found;
    tables.push_back(&table);
    STATOR_RETURN_IF_ERROR(check_no_empty_key(table.key(), item.key));
    CancellationReason& reason = reasons.emplace_back();
    if (auto checked = check_key(table.key(), item.key); !checked) {
      cancelled = true;
      reason.code = "ValidationError";
      reason.message = std::move(checked).error().message;
    } else if (!keys.insert(
                        row_keys.emplace_back(item_row_key(table.secret(), table.key(), item.key)))
                    .second) {
      return fail(Code::kValidation, messages::kRepeatedTransactionItem);
    }
  }
  if (cancelled) return transaction_cancelled(std::move(reasons));

  STATOR_ASSIGN_OR_RETURN(const auto rows, read_together(engine, tables, row_keys));
  TransactGetItemsResponse response;
  CapacityMeter meter(request.return_capacity, CapacityMeter::Report::kRead);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    FoundItem found;
    if (const auto& row = rows[i]) {
      show_row(*row, *tables[i], request.items[i].key, projections[i], true, found);
    }
    bytes += found.bytes;
    if (bytes > kTransactionBytesMax)
      return fail(Code::kValidation, messages::kTransactionTooLarge);
    meter.add(*tables[i], read_units(found.bytes) * 2);
    response.items.push_back(std::move(found.item));
  }
  response.capacity = meter.all();
  return response;
}

}  // namespace

Result<GetItemResponse> get_item(const EngineCore& engine, const GetItemRequest& request) {
  STATOR_RETURN_IF_ERROR(validate(request));
  return on_newest_tables(
      engine, [&](const CatalogSnapshot& snapshot) { return read_one(engine, snapshot, request); });
}

Result<TransactGetItemsResponse> transact_get_items(const EngineCore& engine,
                                                    const TransactGetItemsRequest& request) {
  STATOR_RETURN_IF_ERROR(validate(request));
  return on_newest_tables(
      engine, [&](const CatalogSnapshot& snapshot) { return read_all(engine, snapshot, request); });
}

}  // namespace stator
