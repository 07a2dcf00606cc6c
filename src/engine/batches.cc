// SPDX-License-Identifier: Apache-2.0
// BatchGetItem, BatchWriteItem: single-item operations side by side, atomic one by one.
#include <mutex>
#include <set>
#include <utility>

#include "api/messages.h"
#include "api/validate.h"
#include "engine/engine_impl.h"
#include "engine/item_reads.h"
#include "engine/item_rules.h"
#include "engine/messages.h"
#include "engine/request_expressions.h"
#include "engine/write_action.h"

namespace stator {
namespace {

constexpr std::size_t kBatchBytesMax = 16UL << 20;

struct TableReads {
  const std::string* name = nullptr;  // as the request has it
  const KeysAndAttributes* keys = nullptr;
  TablePtr table;
  std::optional<ProjectionExpression> projection;
};

Result<std::vector<TableReads>> prepare_reads(const CatalogueSnapshot& snapshot,
                                              const BatchGetItemRequest& request) {
  std::vector<TableReads> reads;
  for (const auto& [name, keys] : request.items) {
    TableReads table_reads{.name = &name, .keys = &keys};
    auto table = find_table(snapshot, name);
    STATOR_TRY(table_reads.projection, parse_projection(table ? table->get() : nullptr,
                                                        keys.projection, keys.names, keys.legacy));
    if (!table) return failure_of(std::move(table));
    table_reads.table = std::move(*table);
    reads.push_back(std::move(table_reads));
  }
  std::set<std::string> seen;
  for (const TableReads& table_reads : reads) {
    const Table& table = *table_reads.table;
    for (const Item& key : table_reads.keys->keys) {
      STATOR_CHECK_OK(check_key(table.key(), key));
      if (!seen.insert(item_row_key(table.secret(), table.key(), key)).second) {
        return fail(Code::kValidation, messages::kDuplicateKeys);
      }
    }
  }
  return reads;
}

// ---- Writes

// What the items of one batch share until the last of them is done.
struct BatchWrite {
  std::mutex mutex;
  std::size_t pending = 0;
  std::size_t written = 0;
  CapacityMeter meter;
  ReturnItemCollectionMetrics return_metrics = ReturnItemCollectionMetrics::kNone;
  BatchWriteItemResult result;
  std::optional<Error> throttled;
  std::optional<Error> failed;
  Done<BatchWriteItemResult> done;

  explicit BatchWrite(ReturnConsumedCapacity wanted) : meter(wanted) {}
};

WriteRequest request_of(const WriteAction& action) {
  if (action.action == TransactAction::kPut) {
    return {.put = decode_item(ItemView(action.item)), .delete_key = {}};
  }
  return {.put = {}, .delete_key = action.key};
}

void record(BatchWrite& batch, const std::string& name, const WriteAction& action,
            Result<WriteEffect> effect) {
  if (effect) {
    ++batch.written;
    meter_effect(batch.meter, *action.table, *effect, false);
    if (batch.return_metrics == ReturnItemCollectionMetrics::kSize) {
      if (auto metrics = collection_metrics(*action.table, action.key)) {
        batch.result.metrics[name].push_back(std::move(*metrics));
      }
    }
    return;
  }
  Error error = std::move(effect).error();
  if (error.code == Code::kThrottling) {
    batch.result.unprocessed[name].push_back(request_of(action));
    batch.throttled = std::move(error);
  } else if (!batch.failed) {
    batch.failed = std::move(error);
  }
}

void answer(BatchWrite& batch) {
  if (batch.failed) {
    batch.done(Failure(std::move(*batch.failed)));
  } else if (batch.throttled && batch.written == 0) {
    batch.done(Failure(std::move(*batch.throttled)));
  } else {
    batch.result.capacity = batch.meter.all();
    batch.done(std::move(batch.result));
  }
}

struct NamedAction {
  std::string name;  // of the table, as the request has it
  WriteAction action;
};

Result<NamedAction> prepare_write(const std::string& name, const TablePtr& table,
                                  const WriteRequest& request) {
  static const std::optional<std::string> no_expression;
  static const std::optional<Names> no_names;
  static const std::optional<Values> no_values;
  const bool puts = request.put.has_value();
  if (puts == request.delete_key.has_value()) {
    return fail(Code::kValidation, messages::kManyTypes);
  }
  const Item& item = puts ? *request.put : *request.delete_key;
  NamedAction prepared{.name = name, .action = {}};
  STATOR_TRY(prepared.action,
             parse_write(table, {.action = puts ? TransactAction::kPut : TransactAction::kDelete,
                                 .item = item,
                                 .update = no_expression,
                                 .condition = no_expression,
                                 .names = no_names,
                                 .values = no_values}));
  STATOR_CHECK_OK(check_write(prepared.action, item));
  return prepared;
}

Result<std::vector<NamedAction>> prepare_writes(const CatalogueSnapshot& snapshot,
                                                const BatchWriteItemRequest& request) {
  std::vector<NamedAction> actions;
  std::set<std::string> seen;
  for (const auto& [name, writes] : request.items) {
    STATOR_TRY(const TablePtr table, find_table(snapshot, name));
    for (const WriteRequest& write : writes) {
      STATOR_TRY(NamedAction action, prepare_write(name, table, write));
      if (!seen.insert(action.action.row_key).second) {
        return fail(Code::kValidation, messages::kDuplicateKeys);
      }
      actions.push_back(std::move(action));
    }
  }
  return actions;
}

}  // namespace

Result<BatchGetItemResponse> Engine::batch_get_item(const BatchGetItemRequest& request) {
  STATOR_CHECK_OK(validate(request));
  STATOR_TRY(const auto reads, prepare_reads(*impl_->catalogue->snapshot(), request));

  BatchGetItemResponse response;
  CapacityMeter meter(request.return_capacity);
  std::size_t bytes = 0;
  for (const TableReads& table_reads : reads) {
    const KeysAndAttributes& keys = *table_reads.keys;
    EncodedItems& items = response.items[*table_reads.name];
    for (std::size_t i = 0; i < keys.keys.size(); ++i) {
      if (bytes >= kBatchBytesMax) {
        KeysAndAttributes& rest = response.unprocessed[*table_reads.name];
        rest = keys;
        rest.keys.erase(rest.keys.begin(), rest.keys.begin() + static_cast<std::ptrdiff_t>(i));
        break;
      }
      auto found =
          read_item(*impl_->store, *table_reads.table, keys.keys[i], table_reads.projection, true);
      if (!found) return Failure(service_error(std::move(found).error()));
      bytes += found->bytes;
      meter.add(*table_reads.table, read_units(found->bytes) * (keys.consistent_read ? 1 : 0.5));
      if (found->item) items.append(*found->item);
    }
  }
  response.capacity = meter.all();
  return response;
}

void Engine::batch_write_item(const BatchWriteItemRequest& request,
                              Done<BatchWriteItemResult> done) {
  if (auto valid = validate(request); !valid) {
    done(failure_of(std::move(valid)));
    return;
  }
  auto actions = prepare_writes(*impl_->catalogue->snapshot(), request);
  if (!actions) {
    done(failure_of(std::move(actions)));
    return;
  }
  if (actions->empty()) {
    done(BatchWriteItemResult());
    return;
  }
  auto batch = std::make_shared<BatchWrite>(request.return_capacity);
  batch->pending = actions->size();
  batch->return_metrics = request.return_metrics;
  batch->done = std::move(done);
  for (NamedAction& named : *actions) {
    write_one(*impl_, std::move(named.action),
              [batch, name = std::move(named.name)](const WriteAction& action,
                                                    Result<WriteEffect> effect) {
                bool last = false;
                {
                  const std::lock_guard lock(batch->mutex);
                  record(*batch, name, action, std::move(effect));
                  last = --batch->pending == 0;
                }
                if (last) answer(*batch);
              });
  }
}

}  // namespace stator
