// SPDX-License-Identifier: Apache-2.0
// BatchGetItem, BatchWriteItem: independent single-item operations; each is atomic on its own.
#include <algorithm>
#include <deque>
#include <mutex>
#include <ranges>
#include <set>
#include <utility>
#include <vector>

#include "api/model/messages.h"
#include "api/validation/validate.h"
#include "base/wait_permit.h"
#include "engine/core/read_lag.h"
#include "engine/core/run_read.h"
#include "engine/errors/messages.h"
#include "engine/errors/service_errors.h"
#include "engine/items/collections.h"
#include "engine/items/item_operations.h"
#include "engine/items/item_reads.h"
#include "engine/items/key_checks.h"
#include "engine/items/request_expressions.h"
#include "engine/items/write_action.h"

namespace stator {
namespace {

constexpr std::size_t kBatchBytesMax = 16UL << 20;

// The keys of a batch, which must differ. DynamoDB compares them before it looks up tables and
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

// ---- Reads

// Keys are read in the order of the request, until 16 MB have been found.
class ReadOfBatch {
 public:
  using Response = BatchGetItemResponse;

  explicit ReadOfBatch(const BatchGetItemRequest& request)
      : request_(request), meter_(request.return_capacity) {}

  Result<void> prepare(const EngineCore&, const CatalogSnapshot& snapshot) {
    Seen seen;
    std::optional<Error> missing;
    for (const auto& [name, keys] : request_.items) {
      TableReads& reads = tables_.emplace_back(TableReads{.keys = keys});
      auto table = find_table(snapshot, name);
      STATOR_ASSIGN_OR_RETURN(reads.projection,
                              parse_projection(table ? table->get() : nullptr, keys.projection,
                                               keys.names, keys.legacy, Layer::kCurrent));
      for (const Item& key : keys.keys) STATOR_RETURN_IF_ERROR(seen.add(name, key));
      if (table) {
        reads.table = table->get();
      } else if (!missing) {
        missing = std::move(table).error();
      }
      reads.items = &response_.items[name];
    }
    if (missing) return Failure(std::move(*missing));
    for (TableReads& reads : tables_) {
      parts_.reserve(parts_.size() + reads.keys.keys.size());
      row_keys_.reserve(row_keys_.size() + reads.keys.keys.size());
      for (const Item& key : reads.keys.keys) {
        STATOR_RETURN_IF_ERROR(check_key(reads.table->key(), key));
        row_keys_.push_back(item_row_key(reads.table->secret(), reads.table->key(), key));
        parts_.push_back({.reads = &reads, .key = &key});
      }
    }
    processed_ = parts_.size();
    return {};
  }

  void read(EngineCore& engine, ReadDone done) {
    if (engine.lag != nullptr) return done(read_by_table(engine));
    read_tables(engine, tables_ | std::views::transform(&TableReads::table), {.keys = row_keys_},
                *this, std::move(done));
  }
  bool operator()(std::size_t part, std::string_view, std::string_view value) {
    Part& at = parts_[part];
    FoundItem found;
    show_row(value, *at.reads->table, *at.key, at.reads->projection, true, found);
    if (found.item) at.reads->items->append(*found.item);
    at.bytes = found.bytes;
    bytes_ += found.bytes;
    if (bytes_ < kBatchBytesMax) return true;
    processed_ = part + 1;
    return false;
  }

  Result<BatchGetItemResponse> finish() {
    std::size_t first = 0;  // of the table's parts in parts_
    auto table = tables_.begin();
    for (const auto& [name, keys] : request_.items) {
      const std::size_t count = keys.keys.size();
      const std::size_t done = std::min(count, std::max(processed_, first) - first);
      for (std::size_t i = first; i < first + done; ++i) {
        meter_.add(*table->table, read_units(parts_[i].bytes) * (keys.consistent_read ? 1 : 0.5));
      }
      if (done < count) {
        KeysAndAttributes& rest = response_.unprocessed[name];
        rest = keys;
        rest.keys.erase(rest.keys.begin(), rest.keys.begin() + static_cast<std::ptrdiff_t>(done));
      }
      first += count;
      ++table;
    }
    response_.capacity = meter_.all();
    return std::move(response_);
  }

 private:
  struct TableReads {
    const KeysAndAttributes& keys;
    const Table* table = nullptr;
    std::optional<ProjectionExpression> projection = {};
    EncodedItems* items = nullptr;  // in the response
  };
  struct Part {
    TableReads* reads = nullptr;
    const Item* key = nullptr;
    std::size_t bytes = 0;  // 0 if absent
  };

  // Reads each table with the consistency that its part of the request selects.
  Result<void> read_by_table(EngineCore& engine) {
    std::size_t first = 0;  // of the table's parts in parts_
    for (const TableReads& reads : tables_) {
      const std::size_t count = reads.keys.keys.size();
      const ReadRequest rows{.keys = std::span(row_keys_).subspan(first, count)};
      const auto visit = [&](std::size_t part, std::string_view key, std::string_view value) {
        return (*this)(first + part, key, value);
      };
      STATOR_RETURN_IF_ERROR(
          read_with_lag(engine, *reads.table, !reads.keys.consistent_read, rows, visit));
      first += count;
      if (processed_ < parts_.size()) break;
    }
    return {};
  }

  const BatchGetItemRequest& request_;
  CapacityMeter meter_;
  std::deque<TableReads> tables_;  // in the order of the request
  std::vector<Part> parts_;
  std::vector<std::string> row_keys_;  // in the order of the parts
  std::size_t bytes_ = 0;
  std::size_t processed_ = 0;  // number of parts; the other keys are returned as unprocessed
  BatchGetItemResponse response_;
};

// ---- Writes

// State that the writes of a batch share until the last one is done.
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

void respond(BatchWrite& batch) {
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
  std::string name;  // name or ARN of the table in the request
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

// Returns the attributes that identify the item: the key, or all attributes of a put if the table
// does not exist. A key can be incomplete; it then identifies nothing.
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

// Checks the whole batch for sizes, then duplicates, missing tables and invalid keys.
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
    Item identity = identity_of(actions[i].action, *requests[i]);
    const TablePtr& table = actions[i].action.table;
    if (table && identity.size() < table->key().hash.size() + table->key().range.size()) continue;
    STATOR_RETURN_IF_ERROR(seen.add(actions[i].name, identity));
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

// Plans the writes of a batch with the newest definitions of their tables. A batch is not atomic,
// so the definitions of all tables are checked before the first write. A batch for one table needs
// no read, because each commit checks the definition.
class PlanOfBatch {
 public:
  using Response = std::vector<NamedAction>;

  explicit PlanOfBatch(const BatchWriteItemRequest& request) : request_(request) {}

  Result<void> prepare(const EngineCore&, const CatalogSnapshot& snapshot) {
    STATOR_ASSIGN_OR_RETURN(actions_, prepare_writes(snapshot, request_));
    return {};
  }
  void read(EngineCore& engine, ReadDone done) {
    if (!engine.is_shared || request_.items.size() < 2) return done({});
    const auto table = [](const NamedAction& named) { return named.action.table.get(); };
    read_tables(engine, actions_ | std::views::transform(table), {}, *this, std::move(done));
  }
  bool operator()(std::size_t, std::string_view, std::string_view) { return true; }
  Result<std::vector<NamedAction>> finish() { return std::move(actions_); }

 private:
  const BatchWriteItemRequest& request_;
  std::vector<NamedAction> actions_;
};

void write_batch(ItemEngine& engine, const BatchWriteItemRequest& request,
                 std::vector<NamedAction> actions, Done<BatchWriteItemResult> done) {
  if (actions.empty()) return done(BatchWriteItemResult());
  auto batch = std::make_shared<BatchWrite>(request.return_capacity);
  batch->pending = actions.size();
  batch->return_metrics = request.return_metrics;
  batch->done = std::move(done);
  const WaitPermit permit(WaitFor::kNothing);
  for (NamedAction& named : actions) {
    write_one(engine, std::move(named.action),
              [batch, name = std::move(named.name)](const WriteAction& action,
                                                    Result<WriteEffect> effect) {
                bool last = false;
                {
                  const std::lock_guard lock(batch->mutex);
                  record(*batch, name, action, std::move(effect));
                  last = --batch->pending == 0;
                }
                if (last) respond(*batch);
              });
  }
}

}  // namespace

void batch_get_item(EngineCore& engine, const BatchGetItemRequest& request,
                    Done<BatchGetItemResponse> done) {
  if (auto valid = validate(request); !valid) return done(failure_of(std::move(valid)));
  run_read<ReadOfBatch>(engine, std::move(done), request);
}

void batch_write_item(ItemEngine& engine, const BatchWriteItemRequest& request,
                      Done<BatchWriteItemResult> done) {
  if (auto valid = validate(request); !valid) return done(failure_of(std::move(valid)));
  run_read<PlanOfBatch>(
      engine,
      [&engine, &request,
       done = std::move(done)](Result<std::vector<NamedAction>> actions) mutable {
        if (!actions) return done(failure_of(std::move(actions)));
        write_batch(engine, request, std::move(*actions), std::move(done));
      },
      request);
}

}  // namespace stator
