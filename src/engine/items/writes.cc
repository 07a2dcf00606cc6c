// SPDX-License-Identifier: Apache-2.0
// PutItem, UpdateItem, DeleteItem.
#include <utility>

#include "api/validation/validate.h"
#include "engine/core/current_tables.h"
#include "engine/items/collections.h"
#include "engine/items/item_operations.h"
#include "engine/items/write_action.h"

namespace stator {
namespace {

struct Wanted {
  ReturnValues values = ReturnValues::kNone;
  ReturnConsumedCapacity capacity = ReturnConsumedCapacity::kNone;
  ReturnItemCollectionMetrics metrics = ReturnItemCollectionMetrics::kNone;
};

// Returns no value if none of the updated paths exists.
std::optional<EncodedItem> some(EncodedItem part) {
  if (ItemView(part).attribute_count() == 0) return std::nullopt;
  return part;
}

std::optional<EncodedItem> returned_values(ReturnValues wanted, const WriteAction& action,
                                           WriteEffect& effect) {
  switch (wanted) {
    case ReturnValues::kNone:
      return std::nullopt;
    case ReturnValues::kAllOld:
      return std::move(effect.before);
    case ReturnValues::kAllNew:
      return std::move(effect.updated);
    case ReturnValues::kUpdatedOld:
      if (!action.update || !effect.before) return std::nullopt;
      return some(action.update->updated_part(ItemView(*effect.before)));
    case ReturnValues::kUpdatedNew:
      if (!action.update || !effect.updated) return std::nullopt;
      return some(action.update->updated_part(ItemView(*effect.updated)));
  }
  return std::nullopt;
}

WriteResponse make_response(const Wanted& wanted, const WriteAction& action, WriteEffect effect) {
  WriteResponse response;
  CapacityMeter meter(wanted.capacity);
  meter_effect(meter, *action.table, effect, false);
  response.capacity = meter.one();
  response.attributes = returned_values(wanted.values, action, effect);
  if (wanted.metrics == ReturnItemCollectionMetrics::kSize) {
    response.metrics = collection_metrics(action);
  }
  return response;
}

Result<WriteAction> prepare(const CatalogSnapshot& snapshot, const std::string& table_name,
                            const WriteParameters& parameters) {
  auto table = find_table(snapshot, table_name);
  STATOR_ASSIGN_OR_RETURN(WriteAction action,
                          parse_write(table ? std::move(*table) : nullptr, parameters));
  if (!table) return failure_of(std::move(table));
  STATOR_RETURN_IF_ERROR(check_write(action, parameters.item));
  return action;
}

template <class Request>
void write(ItemEngine& engine, const Request& request, TransactAction kind, const Item& item,
           const std::optional<std::string>& update, Done<WriteResponse> done) {
  if (auto valid = validate(request); !valid) return done(failure_of(std::move(valid)));
  on_newest_tables(
      engine,
      [&request, kind, &item, &update](const CatalogSnapshot& snapshot) {
        return prepare(snapshot, request.table,
                       {.action = kind,
                        .item = item,
                        .update = update,
                        .condition = request.condition,
                        .names = request.names,
                        .values = request.values,
                        .on_condition_failure = request.on_condition_failure,
                        .legacy = request.legacy,
                        .layer = Layer::kCounted});
      },
      [&engine, &request, done = std::move(done)](Result<WriteAction> action) mutable {
        if (!action) return done(failure_of(std::move(action)));
        action->returns_old = request.return_values == ReturnValues::kAllOld;
        const Wanted wanted{.values = request.return_values,
                            .capacity = request.return_capacity,
                            .metrics = request.return_metrics};
        write_one(engine, std::move(*action),
                  [wanted, done = std::move(done)](const WriteAction& written,
                                                   Result<WriteEffect> effect) mutable {
                    if (!effect) return done(failure_of(std::move(effect)));
                    done(make_response(wanted, written, std::move(*effect)));
                  });
      });
}

const std::optional<std::string> no_update;

}  // namespace

void put_item(ItemEngine& engine, const PutItemRequest& request, Done<WriteResponse> done) {
  write(engine, request, TransactAction::kPut, request.item, no_update, std::move(done));
}

void update_item(ItemEngine& engine, const UpdateItemRequest& request, Done<WriteResponse> done) {
  write(engine, request, TransactAction::kUpdate, request.key, request.update, std::move(done));
}

void delete_item(ItemEngine& engine, const DeleteItemRequest& request, Done<WriteResponse> done) {
  write(engine, request, TransactAction::kDelete, request.key, no_update, std::move(done));
}

}  // namespace stator
