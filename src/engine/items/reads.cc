// SPDX-License-Identifier: Apache-2.0
// GetItem, TransactGetItems.
#include <set>
#include <span>
#include <utility>

#include "api/validation/validate.h"
#include "engine/core/read_lag.h"
#include "engine/core/run_read.h"
#include "engine/errors/messages.h"
#include "engine/items/capacity.h"
#include "engine/items/item_operations.h"
#include "engine/items/item_reads.h"
#include "engine/items/key_checks.h"
#include "engine/items/request_expressions.h"
#include "engine/items/transact_write.h"
#include "storage/read_rows.h"

namespace stator {
namespace {

// `R`: GetItemResponse or GetItemResult.
template <class R>
class ReadOfItem {
 public:
  using Response = R;

  explicit ReadOfItem(const GetItemRequest& request)
      : request_(request), wants_size_(request.return_capacity != ReturnConsumedCapacity::kNone) {}

  Result<void> prepare(const EngineCore&, const CatalogSnapshot& snapshot) {
    const TablePtr* table = snapshot.find(request_.table);
    STATOR_ASSIGN_OR_RETURN(projection_, parse_projection(table == nullptr ? nullptr : table->get(),
                                                          request_.projection, request_.names,
                                                          request_.legacy, Layer::kCurrent));
    if (table == nullptr) return fail(Code::kResourceNotFound, messages::kResourceNotFound);
    table_ = table->get();
    STATOR_RETURN_IF_ERROR(check_key(table_->key(), request_.key));
    row_key_ = item_row_key(table_->secret(), table_->key(), request_.key);
    return {};
  }

  void read(EngineCore& engine, ReadDone done) {
    const ReadRequest row{.keys = {&row_key_, 1}};
    const auto older = [&](ReadView& view) { return read_rows(view, row, *this); };
    if (!request_.consistent_read &&
        read_older(engine, *table_, ReadLag::Of::kTable, older, done)) {
      return;
    }
    read_tables(engine, std::span(&table_, 1), row, *this, std::move(done));
  }
  bool operator()(std::size_t, std::string_view, std::string_view value) {
    show_row(value, *table_, request_.key, projection_, wants_size_, found_);
    return true;
  }

  Result<R> finish() {
    R response{.item = std::move(found_.item), .capacity = {}};
    if (wants_size_) {
      CapacityMeter meter(request_.return_capacity);
      meter.add(*table_, read_units(found_.bytes) * (request_.consistent_read ? 1 : 0.5));
      response.capacity = meter.one();
    }
    return response;
  }

 private:
  const GetItemRequest& request_;
  const bool wants_size_;
  const Table* table_ = nullptr;
  std::optional<ProjectionExpression> projection_;
  std::string row_key_;
  Found<typename decltype(R::item)::value_type> found_;
};

template <class R>
void read_item(EngineCore& engine, const GetItemRequest& request, Done<R>&& done) {
  if (auto valid = validate(request); !valid) return done(failure_of(std::move(valid)));
  run_read<ReadOfItem<R>>(engine, std::move(done), request);
}

class ReadOfTransaction {
 public:
  using Response = TransactGetItemsResponse;

  explicit ReadOfTransaction(const TransactGetItemsRequest& request) : request_(request) {}

  Result<void> prepare(const EngineCore&, const CatalogSnapshot& snapshot) {
    std::vector<CancellationReason> reasons;
    std::set<std::string> keys;
    bool cancelled = false;
    for (const TransactGetItem& item : request_.items) {
      const TablePtr* found = snapshot.find(item.table);
      STATOR_ASSIGN_OR_RETURN(auto projection,
                              parse_projection(found == nullptr ? nullptr : found->get(),
                                               item.projection, item.names, false, Layer::kOlder));
      if (found == nullptr) return fail(Code::kResourceNotFound, messages::kResourceNotFound);
      const Table& table = **found;
      STATOR_RETURN_IF_ERROR(check_no_empty_key(table.key(), item.key));
      CancellationReason& reason = reasons.emplace_back();
      if (auto checked = check_key(table.key(), item.key); !checked) {
        cancelled = true;
        reason.code = "ValidationError";
        reason.message = std::move(checked).error().message;
        continue;
      }
      std::string row_key = item_row_key(table.secret(), table.key(), item.key);
      if (!keys.insert(row_key).second) {
        return fail(Code::kValidation, messages::kRepeatedTransactionItem);
      }
      reads_.add(table, item.key, std::move(projection), std::move(row_key));
    }
    if (cancelled) return transaction_cancelled(std::move(reasons));
    return {};
  }

  void read(EngineCore& engine, ReadDone done) {
    reads_.read(engine, /*one_state=*/true, std::move(done));
  }

  Result<TransactGetItemsResponse> finish() {
    TransactGetItemsResponse response;
    CapacityMeter meter(request_.return_capacity, CapacityMeter::Report::kRead);
    STATOR_ASSIGN_OR_RETURN(response.items, take_transaction(reads_, meter));
    response.capacity = meter.all();
    return response;
  }

 private:
  const TransactGetItemsRequest& request_;
  ItemReads reads_;
};

}  // namespace

Result<std::vector<std::optional<EncodedItem>>> take_transaction(ItemReads& reads,
                                                                 CapacityMeter& meter) {
  std::vector<std::optional<EncodedItem>> items;
  items.reserve(reads.parts().size());
  std::size_t bytes = 0;
  for (ItemReads::Part& part : reads.parts()) {
    bytes += part.found.bytes;
    if (bytes > kTransactionBytesMax) {
      return fail(Code::kValidation, messages::kTransactionTooLarge);
    }
    meter.add(part.table, read_units(part.found.bytes) * 2);
    items.push_back(std::move(part.found.item));
  }
  return items;
}

void get_item(EngineCore& engine, const GetItemRequest& request, Done<GetItemResponse> done) {
  read_item(engine, request, std::move(done));
}

void get_item(EngineCore& engine, const GetItemRequest& request, Done<GetItemResult> done) {
  read_item(engine, request, std::move(done));
}

void transact_get_items(EngineCore& engine, const TransactGetItemsRequest& request,
                        Done<TransactGetItemsResponse> done) {
  if (auto valid = validate(request); !valid) return done(failure_of(std::move(valid)));
  run_read<ReadOfTransaction>(engine, std::move(done), request);
}

}  // namespace stator
