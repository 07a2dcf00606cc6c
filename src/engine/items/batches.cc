// SPDX-License-Identifier: Apache-2.0
// BatchGetItem, BatchWriteItem: single-item operations side by side, atomic one by one.
#include <algorithm>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "api/model/messages.h"
#include "api/validation/validate.h"
#include "engine/errors/messages.h"
#include "engine/errors/service_errors.h"
#include "engine/items/collections.h"
#include "engine/items/item_operations.h"
#include "engine/items/item_reads.h"
#include "engine/items/item_rules.h"
#include "engine/items/request_expressions.h"
#include "engine/items/write_action.h"

namespace stator {
namespace {

constexpr std::size_t kBatchBytesMax = 16UL << 20;

struct TableReads {
  const std::string* name = nullptr;  // as the request has it
  const KeysAndAttributes* keys = nullptr;
  TablePtr table;
  std::optional<ProjectionExpression> projection;
};

// The keys of a batch, which must differ. The service compares them before it looks for tables and
// their schemas.
class Seen {
 public:
  Result<void> add(const std::string& table, const Item& key) {
    if (keys_.emplace(table, encode_item(key)).second) return {};
    return fail(Code::kValidation, messages::kDuplicateKeys);
  }

 private:
  std::set<std::pair<std::string, EncodedItem>> keys_;
};

Result<std::vector<TableReads>> prepare_reads(const CatalogSnapshot& snapshot,
                                              const BatchGetItemRequest& request) {
  std::vector<TableReads> reads;
  Seen seen;
  std::optional<Error> missing;
  for (const auto& [name, keys] : request.items) {
    TableReads table_reads{.name = &name, .keys = &keys};
    auto table = find_table(snapshot, name);
    STATOR_ASSIGN_OR_RETURN(table_reads.projection,
                            parse_projection(table ? table->get() : nullptr, keys.projection,
                                             keys.names, keys.legacy, Layer::kCurrent));
    for (const Item& key : keys.keys) STATOR_RETURN_IF_ERROR(seen.add(name, key));
    if (table) {
      table_reads.table = std::move(*table);
    } else if (!missing) {
      missing = std::move(table).error();
    }
    reads.push_back(std::move(table_reads));
  }
  if (missing) return Failure(std::move(*missing));
  for (const TableReads& table_reads : reads) {
    for (const Item& key : table_reads.keys->keys) {
      STATOR_RETURN_IF_ERROR(check_key(table_reads.table->key(), key));
    }
  }
  return reads;
}

std::vector<std::string> row_keys_of(const TableReads& reads) {
  std::vector<std::string> row_keys;
  row_keys.reserve(reads.keys->keys.size());
  for (const Item& key : reads.keys->keys) {
    row_keys.push_back(item_row_key(reads.table->secret(), reads.table->key(), key));
  }
  return row_keys;
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
      if (auto metrics = collection_metrics(action)) {
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

Result<NamedAction> parse_batched(const std::string& name, TablePtr table,
                                  const WriteRequest& request) {
  static const std::optional<std::string> no_expression;
  static const std::optional<Names> no_names;
  static const std::optional<Values> no_values;
  const bool puts = request.put.has_value();
  if (puts == request.delete_key.has_value()) {
    return fail(Code::kValidation, messages::kManyTypes);
  }
  NamedAction parsed{.name = name, .action = {}};
  STATOR_ASSIGN_OR_RETURN(
      parsed.action, parse_write(std::move(table),
                                 {.action = puts ? TransactAction::kPut : TransactAction::kDelete,
                                  .item = puts ? *request.put : *request.delete_key,
                                  .update = no_expression,
                                  .condition = no_expression,
                                  .names = no_names,
                                  .values = no_values}));
  return parsed;
}

// What identifies the item: of a put its key, or all of it if its table is absent.
Item identity_of(const WriteAction& action, const WriteRequest& request) {
  const Item& item = request.put ? *request.put : *request.delete_key;
  if (action.table == nullptr) return item;
  Item key;
  for (const auto* attributes : {&action.table->key().hash, &action.table->key().range}) {
    for (const AttributeDefinition& attribute : *attributes) {
      if (const auto found = item.find(attribute.name); found != item.end()) key.insert(*found);
    }
  }
  return key;
}

// Sizes, duplicates, absent tables, keys: in this order, each of the whole batch.
Result<std::vector<NamedAction>> prepare_writes(const CatalogSnapshot& snapshot,
                                                const BatchWriteItemRequest& request) {
  std::vector<NamedAction> actions;
  std::vector<const WriteRequest*> requests;
  std::optional<Error> missing;
  for (const auto& [name, writes] : request.items) {
    auto table = find_table(snapshot, name);
    for (const WriteRequest& write : writes) {
      STATOR_ASSIGN_OR_RETURN(NamedAction action,
                              parse_batched(name, table ? *table : nullptr, write));
      actions.push_back(std::move(action));
      requests.push_back(&write);
    }
    if (!table && !missing) missing = std::move(table).error();
  }
  Seen seen;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    STATOR_RETURN_IF_ERROR(seen.add(actions[i].name, identity_of(actions[i].action, *requests[i])));
  }
  if (missing) return Failure(std::move(*missing));
  for (std::size_t i = 0; i < actions.size(); ++i) {
    WriteAction& action = actions[i].action;
    const WriteRequest& write = *requests[i];
    if (write.put) {
      STATOR_RETURN_IF_ERROR(check_key(action.table->key(), identity_of(action, write)));
    }
    STATOR_RETURN_IF_ERROR(check_write(action, write.put ? *write.put : *write.delete_key));
  }
  return actions;
}

// A batch is not atomic: what the newest definition of one table rejects must be known before
// another table is written.
Result<void> check_newest(const EngineCore& engine, const std::vector<NamedAction>& actions) {
  if (!engine.catalog->is_shared() || actions.empty()) return {};
  std::vector<const Table*> tables;
  tables.reserve(actions.size());
  for (const NamedAction& named : actions) tables.push_back(named.action.table.get());
  if (std::ranges::count(tables, tables.front()) == std::ssize(tables)) return {};
  return read_tables(engine, tables, {},
                     [](std::size_t, std::string_view, std::string_view) { return true; });
}

Result<BatchGetItemResponse> read_batch(const EngineCore& engine, const CatalogSnapshot& snapshot,
                                        const BatchGetItemRequest& request) {
  STATOR_ASSIGN_OR_RETURN(const auto reads, prepare_reads(snapshot, request));

  BatchGetItemResponse response;
  CapacityMeter meter(request.return_capacity);
  std::size_t bytes = 0;
  for (const TableReads& table_reads : reads) {
    const KeysAndAttributes& keys = *table_reads.keys;
    EncodedItems& items = response.items[*table_reads.name];
    const std::vector<std::string> row_keys = row_keys_of(table_reads);
    std::vector<std::size_t> sizes(row_keys.size());  // 0 where absent
    std::size_t processed = bytes < kBatchBytesMax ? row_keys.size() : 0;
    const auto show = [&](std::size_t part, std::string_view, std::string_view value) {
      FoundItem found;
      show_row(value, *table_reads.table, keys.keys[part], table_reads.projection, true, found);
      if (found.item) items.append(*found.item);
      sizes[part] = found.bytes;
      bytes += found.bytes;
      if (bytes >= kBatchBytesMax) processed = part + 1;
      return bytes < kBatchBytesMax;
    };
    const Table* const of[] = {table_reads.table.get()};
    STATOR_RETURN_IF_ERROR(
        read_tables(engine, of, {.keys = std::span(row_keys).first(processed)}, show));
    for (std::size_t i = 0; i < processed; ++i) {
      meter.add(*table_reads.table, read_units(sizes[i]) * (keys.consistent_read ? 1 : 0.5));
    }
    if (processed < row_keys.size()) {
      KeysAndAttributes& rest = response.unprocessed[*table_reads.name];
      rest = keys;
      rest.keys.erase(rest.keys.begin(),
                      rest.keys.begin() + static_cast<std::ptrdiff_t>(processed));
    }
  }
  response.capacity = meter.all();
  return response;
}

}  // namespace

Result<BatchGetItemResponse> batch_get_item(const EngineCore& engine,
                                            const BatchGetItemRequest& request) {
  STATOR_RETURN_IF_ERROR(validate(request));
  return on_newest_tables(engine, [&](const CatalogSnapshot& snapshot) {
    return read_batch(engine, snapshot, request);
  });
}

void batch_write_item(ItemEngine& engine, const BatchWriteItemRequest& request,
                      Done<BatchWriteItemResult> done) {
  if (auto valid = validate(request); !valid) {
    done(failure_of(std::move(valid)));
    return;
  }
  auto actions = on_newest_tables(
      engine, [&](const CatalogSnapshot& snapshot) -> Result<std::vector<NamedAction>> {
        STATOR_ASSIGN_OR_RETURN(auto prepared, prepare_writes(snapshot, request));
        STATOR_RETURN_IF_ERROR(check_newest(engine, prepared));
        return prepared;
      });
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
    write_one(engine, std::move(named.action),
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
