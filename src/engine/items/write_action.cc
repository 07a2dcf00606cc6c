// SPDX-License-Identifier: Apache-2.0
#include "engine/items/write_action.h"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/change_log/change_log.h"
#include "engine/errors/messages.h"
#include "engine/errors/service_errors.h"
#include "engine/items/collections.h"
#include "engine/items/item_engine.h"
#include "engine/items/item_limits.h"
#include "engine/items/key_checks.h"
#include "engine/items/request_expressions.h"

namespace stator {
namespace {

Failure condition_failed(const WriteAction& action, const std::optional<ItemView>& before) {
  Error error{.code = Code::kConditionalCheckFailed, .message = messages::kConditionFailed};
  if (action.return_old_on_failure && before) {
    error.detail = std::make_shared<const ErrorDetail>(
        ErrorDetail{.item = decode_item(*before), .reasons = {}});
  }
  return Failure(std::move(error));
}

std::optional<ItemView> view_of(const std::optional<EncodedItem>& item) {
  return item ? std::optional(ItemView(*item)) : std::nullopt;
}

bool has_expired(const WriteAction& action, ItemView item) {
  const ExpiryQueue* queue = action.table->expiry();
  const auto seconds = queue != nullptr ? expiry_seconds(*queue, item) : std::nullopt;
  return seconds && is_expired(*seconds, *action.expired_at_ms);
}

// Reports whether the action puts the item regardless of the previous one, which is only counted,
// and writes nothing else.
bool is_foreseen(const WriteAction& action) {
  const Table& table = *action.table;
  return action.action == TransactAction::kPut && !action.inserts && !action.condition &&
         !action.returns_old && table.indexes().empty() && table.vector_indexes().empty() &&
         table.expiry() == nullptr && table.log_space() == 0;
}

// A write in progress; destroyed after its callback has run.
struct SingleWrite {
  ItemEngine& engine;
  InFlightOperations::Pass pass;
  WriteAction action;
  WriteDone done;
  Result<WriteEffect> effect = {};  // of the last attempt
  int rebinds = 0;
};

Batch decide_item(SingleWrite& write, GuardedRows rows) {
  Batch batch;
  write.effect = evaluate_within_limit(write.engine, write.action, std::move(rows[0]));
  if (!write.effect) return batch;
  const int64_t time_ms = write.action.table->log_space() != 0 ? write.engine.now_ms() : 0;
  apply_effect(write.action, *write.effect, time_ms, batch);
  return batch;
}

void rebind_item(std::unique_ptr<SingleWrite> write);

void finish_item(std::unique_ptr<SingleWrite> write, CommitResult result) {
  if (result.outcome == CommitOutcome::kSchemaChanged && ++write->rebinds <= kRebindsMax) {
    Worker& worker = write->engine.blocking;
    worker.post([write = std::move(write)]() mutable { rebind_item(std::move(write)); });
    return;
  }
  if (result.outcome != CommitOutcome::kCommitted) {
    write->effect = Failure(service_error(std::move(result)));
  } else if (write->effect) {
    count_effect(write->action, *write->effect, result.sequence);
  }
  write->done(write->action, std::move(write->effect));
}

void run_item(std::unique_ptr<SingleWrite> write) {
  SingleWrite& under_way = *write;
  const std::span keys(&under_way.action.row_key, 1);
  const auto decide = [&under_way](GuardedRows rows) { return decide_item(under_way, rows); };
  auto done = [write = std::move(write)](CommitResult result) mutable {
    finish_item(std::move(write), std::move(result));
  };
  commit_actions(*under_way.engine.store, {&under_way.action, 1}, keys, decide, std::move(done),
                 under_way.action.table->schema());
}

void rebind_item(std::unique_ptr<SingleWrite> write) {
  Catalog& catalog = *write->engine.catalog;
  if (auto refreshed = catalog.refresh(); !refreshed) {
    write->done(write->action, Failure(service_error(std::move(refreshed).error())));
  } else if (auto bound = rebind_write(*catalog.snapshot(), write->action); !bound) {
    write->done(write->action, failure_of(std::move(bound)));
  } else {
    run_item(std::move(write));
  }
}

Result<void> parse_expressions(WriteAction& action, const WriteParameters& parameters) {
  STATOR_ASSIGN_OR_RETURN(
      Placeholders placeholders,
      checked_placeholders(parameters.names, parameters.values, parameters.layer));
  const ExpressionLimits limits = limits_of(parameters.legacy, parameters.layer);
  if (parameters.update) {
    STATOR_ASSIGN_OR_RETURN(action.update, Update::parse(*parameters.update, placeholders, limits));
  }
  if (parameters.condition) {
    STATOR_ASSIGN_OR_RETURN(
        action.condition,
        Condition::parse(*parameters.condition, ConditionRole::kCondition, placeholders, limits));
  }
  return placeholders.check_all_used();
}

}  // namespace

double WriteEffect::table_units() const {
  return write_units(std::max(before_bytes, after_bytes));
}

Result<WriteAction> parse_write(TablePtr table, const WriteParameters& parameters) {
  WriteAction action{.action = parameters.action, .table = std::move(table)};
  action.return_old_on_failure =
      parameters.on_condition_failure == ReturnValuesOnConditionCheckFailure::kAllOld;
  if (parameters.action == TransactAction::kPut) {
    action.item = encode_item(parameters.item);
    if (item_size_bytes(ItemView(action.item)) > kItemBytesMax) {
      return fail(Code::kValidation, messages::kItemTooLarge);
    }
  }
  if (!parameters.update && !parameters.condition) return action;
  STATOR_RETURN_IF_ERROR(worded(parameters.layer, parse_expressions(action, parameters)));
  if (action.table) STATOR_RETURN_IF_ERROR(check_condition(action));
  return action;
}

namespace {

Result<void> check_update(const Table& table, const Update& update) {
  for (const std::string& attribute : update.attributes()) {
    if (table.is_key(attribute)) return fail(Code::kValidation, messages::key_update(attribute));
  }
  STATOR_RETURN_IF_ERROR(check_assigned_index_keys(table, update));
  return check_keys_unopened(table, update.opened_attributes());
}

}  // namespace

Result<void> check_condition(const WriteAction& action) {
  if (!action.condition) return {};
  return check_keys_unopened(*action.table, action.condition->opened_attributes());
}

Result<void> check_in_transaction(const WriteAction& action, const Item& item) {
  STATOR_RETURN_IF_ERROR(check_no_empty_key(action.table->key(), item));
  if (action.update) {
    STATOR_RETURN_IF_ERROR(check_no_empty_index_key(*action.table, *action.update));
    return check_keys_unopened(*action.table, action.update->opened_attributes());
  }
  if (action.action != TransactAction::kPut) return {};
  return check_no_empty_index_key(*action.table, item);
}

Result<void> check_write(WriteAction& action, const Item& item) {
  const KeyShape& shape = action.table->key();
  if (action.action == TransactAction::kPut) {
    STATOR_RETURN_IF_ERROR(check_item(*action.table, item));
    for (const auto* attributes : {&shape.hash, &shape.range}) {
      for (const AttributeDefinition& attribute : *attributes) {
        action.key.emplace(attribute.name, item.find(attribute.name)->second);
      }
    }
  } else {
    STATOR_RETURN_IF_ERROR(check_key(shape, item));
    if (action.update) STATOR_RETURN_IF_ERROR(check_update(*action.table, *action.update));
    action.key = item;
  }
  action.row_key = item_row_key(action.table->secret(), shape, action.key);
  return {};
}

Result<Item> rebind_table(const CatalogSnapshot& snapshot, WriteAction& action) {
  STATOR_ASSIGN_OR_RETURN(action.table, find_table(snapshot, action.table->name()));
  STATOR_RETURN_IF_ERROR(check_condition(action));
  const bool puts = action.action == TransactAction::kPut;
  Item item = puts ? decode_item(ItemView(action.item)) : std::move(action.key);
  action.key.clear();
  return item;
}

Result<void> rebind_write(const CatalogSnapshot& snapshot, WriteAction& action) {
  STATOR_ASSIGN_OR_RETURN(const Item item, rebind_table(snapshot, action));
  return check_write(action, item);
}

Result<WriteEffect> evaluate_write(const WriteAction& action, std::optional<std::string> before) {
  WriteEffect effect{.before = std::move(before)};
  const std::optional<ItemView> old_item = view_of(effect.before);
  if (old_item && !has_partition(*old_item, action.table->key(), action.key)) {
    return fail(Code::kInternalServerError, "two partition keys have one hash");
  }
  if (old_item) effect.before_bytes = item_size_bytes(*old_item);
  if (action.inserts && old_item) return fail(Code::kDuplicateItem, messages::kDuplicateItem);
  if (action.condition && !action.condition->matches(old_item)) {
    return condition_failed(action, old_item);
  }
  switch (action.action) {
    case TransactAction::kConditionCheck:
      effect.leaves_item = true;
      break;
    case TransactAction::kPut:
      break;
    case TransactAction::kDelete:
      effect.leaves_item = action.expired_at_ms && old_item && !has_expired(action, *old_item);
      break;
    case TransactAction::kUpdate:
      if (action.update) {
        STATOR_ASSIGN_OR_RETURN(effect.updated, action.update->apply(old_item, action.key));
      } else {
        effect.updated = effect.before ? *effect.before : encode_item(action.key);
      }
      break;
  }
  if (effect.leaves_item) {
    effect.after_bytes = effect.before_bytes;
    return effect;
  }
  const std::optional<ItemView> new_item = image_after(action, effect);
  if (new_item) effect.after_bytes = item_size_bytes(*new_item);
  if (action.action == TransactAction::kUpdate && new_item) {
    STATOR_RETURN_IF_ERROR(check_updated_limits(*new_item, effect.after_bytes));
    STATOR_RETURN_IF_ERROR(check_updated_index_keys(*action.table, old_item, *new_item));
  }
  if (!action.table->indexes().empty() || !action.table->vector_indexes().empty()) {
    effect.index_changes = index_changes(*action.table, old_item, new_item);
  }
  return effect;
}

std::optional<ItemView> image_after(const WriteAction& action, const WriteEffect& effect) {
  if (effect.leaves_item) return view_of(effect.before);
  if (action.action == TransactAction::kPut) return ItemView(action.item);
  return view_of(effect.updated);
}

void apply_effect(const WriteAction& action, WriteEffect& effect, int64_t time_ms, Batch& batch) {
  if (effect.leaves_item) return;
  const std::optional<ItemView> before = view_of(effect.before);
  const std::optional<ItemView> after = image_after(action, effect);
  if (before ? after && before->bytes() == after->bytes() : !after) return;
  if (after) {
    batch.put(action.row_key, std::string(after->bytes()));
  } else {
    batch.erase(action.row_key);
  }
  apply_index_changes(effect.index_changes, batch);
  if (const ExpiryQueue* queue = action.table->expiry()) {
    apply_expiry(*queue, action.row_key, before, after, batch);
  }
  if (const SpaceId log = action.table->log_space(); log != 0) {
    put_change(
        batch, log, action.row_key,
        {.time_ms = time_ms, .before = before, .after = after, .by_service = action.by_service});
  }
}

void commit_actions(TransactStore& store, std::span<const WriteAction> actions,
                    std::span<const std::string> keys, Decide decide, CommitDone done,
                    SchemaVersions schemas) {
  const bool foreseen = keys.size() == actions.size() && std::ranges::all_of(actions, is_foreseen);
  const auto transact = foreseen ? &TransactStore::transact_foreseen : &TransactStore::transact;
  (store.*transact)(keys, std::move(decide), std::move(done), schemas);
}

void count_effect(const WriteAction& action, const WriteEffect& effect, uint64_t sequence) {
  const Table& table = *action.table;
  const std::optional<ItemView> after = image_after(action, effect);
  table.counters(0).add(sequence, {.items = (after ? 1 : 0) - (effect.before ? 1 : 0),
                                   .bytes = static_cast<int64_t>(effect.after_bytes) -
                                            static_cast<int64_t>(effect.before_bytes)});
  for (const IndexChange& change : effect.index_changes) {
    table.counters(1 + change.index)
        .add(sequence, {.items = change.items_delta, .bytes = change.bytes_delta});
  }
  count_collection(action, effect, sequence);
  if (table.expiry() == nullptr || !after) return;
  const auto seconds = expiry_seconds(*table.expiry(), *after);
  if (seconds) table.sweep_cursor().lower(*seconds);
}

void meter_effect(CapacityMeter& meter, const Table& table, const WriteEffect& effect,
                  bool transactional) {
  if (!meter.wanted()) return;
  meter.add(table, effect.table_units() * (transactional ? 2 : 1));
  for (const IndexChange& change : effect.index_changes) {
    if (change.index < table.indexes().size()) {
      meter.add(table, table.indexes()[change.index], change.write_units);
    } else {
      meter.add(table, table.vector_indexes()[change.index - table.indexes().size()],
                change.vector_bytes);
    }
  }
}

void write_one(ItemEngine& engine, WriteAction action, WriteDone done) {
  auto write =
      std::make_unique<SingleWrite>(SingleWrite{.engine = engine,
                                                .pass = InFlightOperations::Pass(engine.in_flight),
                                                .action = std::move(action),
                                                .done = std::move(done)});
  run_item(std::move(write));
}

}  // namespace stator
