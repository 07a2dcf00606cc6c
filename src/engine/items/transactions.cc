// SPDX-License-Identifier: Apache-2.0
// TransactWriteItems. One call locks all keys, including the token's row. So the second of two
// requests with the same token sees the effects of the first.
#include <set>
#include <utility>

#include "api/validation/validate.h"
#include "engine/core/current_tables.h"
#include "engine/errors/messages.h"
#include "engine/errors/service_errors.h"
#include "engine/items/collections.h"
#include "engine/items/item_operations.h"
#include "engine/items/key_checks.h"
#include "engine/items/tokens.h"
#include "engine/items/transact_write.h"
#include "engine/items/write_action.h"

namespace stator {
namespace {

struct TransactWrite {
  ItemEngine& engine;
  InFlightOperations::Pass pass;
  std::vector<WriteAction> actions;
  std::optional<std::string> token_key;  // of the token's row
  Hash128 fingerprint = {};
  ReturnConsumedCapacity return_capacity = ReturnConsumedCapacity::kNone;
  ReturnItemCollectionMetrics return_metrics = ReturnItemCollectionMetrics::kNone;
  Done<TransactWriteItemsResult> done;
  std::vector<std::string> keys = {};       // rows of the items, then of the token
  std::vector<SchemaVersion> schemas = {};  // of the items' tables
  int rebinds = 0;
  // Results of the last attempt:
  std::vector<WriteEffect> effects = {};
  Result<TransactWriteItemsResult> result = {};
};

using Effects = std::vector<WriteEffect>;

Result<std::vector<WriteAction>> prepare(const CatalogSnapshot& snapshot,
                                         const TransactWriteItemsRequest& request) {
  std::vector<WriteAction> actions;
  std::optional<Error> missing;
  for (const TransactWriteItem& item : request.items) {
    auto table = find_table(snapshot, item.table);
    STATOR_ASSIGN_OR_RETURN(
        WriteAction action,
        parse_write(table ? *table : nullptr, {.action = item.action,
                                               .item = item.item,
                                               .update = item.update,
                                               .condition = item.condition,
                                               .names = item.names,
                                               .values = item.values,
                                               .on_condition_failure = item.on_condition_failure}));
    if (!table && !missing) missing = std::move(table).error();
    actions.push_back(std::move(action));
  }
  if (missing) return Failure(std::move(*missing));
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    STATOR_RETURN_IF_ERROR(check_in_transaction(actions[i], request.items[i].item));
  }

  std::vector<CancellationReason> reasons(request.items.size());
  bool cancelled = false;
  std::set<std::string_view> keys;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    WriteAction& action = actions[i];
    if (auto checked = check_write(action, request.items[i].item); !checked) {
      reasons[i] = reason_of(std::move(checked).error());
      cancelled = true;
      continue;
    }
    if (!keys.insert(action.row_key).second) {
      return fail(Code::kValidation, messages::kRepeatedTransactionItem);
    }
    if (!action.item.empty()) bytes += item_size_bytes(ItemView(action.item));
  }
  if (bytes > kTransactionBytesMax) return fail(Code::kValidation, messages::kTransactionTooLarge);
  if (cancelled) return transaction_cancelled(std::move(reasons));
  return actions;
}

// ---- One attempt

// Returns all effects. Errors: the cancellation reasons.
Result<Effects> evaluate_all(const TransactWrite& write, GuardedRows rows) {
  Effects effects;
  std::vector<CancellationReason> reasons(write.actions.size());
  bool cancelled = false;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < write.actions.size(); ++i) {
    Result<WriteEffect> effect =
        evaluate_within_limit(write.engine, write.actions[i], std::move(rows[i]));
    if (effect) {
      if (write.actions[i].action == TransactAction::kPut ||
          write.actions[i].action == TransactAction::kUpdate) {
        bytes += effect->after_bytes;
      }
      effects.push_back(std::move(*effect));
      continue;
    }
    if (!is_reason(effect.error())) return failure_of(std::move(effect));
    reasons[i] = reason_of(std::move(effect).error());
    cancelled = true;
  }
  if (cancelled) return transaction_cancelled(std::move(reasons));
  if (bytes > kTransactionBytesMax) return fail(Code::kValidation, messages::kTransactionTooLarge);
  return effects;
}

TransactWriteItemsResult make_result(const TransactWrite& write, const Effects& effects) {
  TransactWriteItemsResult result;
  CapacityMeter meter(write.return_capacity, CapacityMeter::Report::kWrite);
  for (std::size_t i = 0; i < effects.size(); ++i) {
    const WriteAction& action = write.actions[i];
    meter_effect(meter, *action.table, effects[i], true);
    if (write.return_metrics == ReturnItemCollectionMetrics::kSize &&
        action.action != TransactAction::kConditionCheck) {
      if (auto metrics = collection_metrics(action)) {
        result.metrics[action.table->name()].push_back(std::move(*metrics));
      }
    }
  }
  result.capacity = meter.all();
  return result;
}

// A repeated request consumes the capacity of reading its items.
TransactWriteItemsResult make_repeated_result(const TransactWrite& write, GuardedRows rows) {
  TransactWriteItemsResult result;
  CapacityMeter meter(write.return_capacity, CapacityMeter::Report::kRead);
  if (meter.wanted()) {
    for (std::size_t i = 0; i < write.actions.size(); ++i) {
      const std::size_t bytes = rows[i] ? item_size_bytes(ItemView(*rows[i])) : 0;
      meter.add(*write.actions[i].table, read_units(bytes) * 2);
    }
  }
  result.capacity = meter.all();
  return result;
}

// Returns the result of a repeated request, or nothing if the token is new or has expired.
std::optional<Result<TransactWriteItemsResult>> result_of_token(
    const TransactWrite& write, GuardedRows rows, const std::optional<std::string>& bytes) {
  const auto row = bytes ? decode_token_row(*bytes) : std::nullopt;
  if (!row || row->expires_ms <= write.engine.now_ms()) return std::nullopt;
  if (row->fingerprint != write.fingerprint) {
    return fail(Code::kIdempotentParameterMismatch, messages::kIdempotentMismatch);
  }
  return make_repeated_result(write, rows);
}

std::vector<std::string> guarded_keys(const TransactWrite& write) {
  std::vector<std::string> keys;
  keys.reserve(write.actions.size() + 1);
  for (const WriteAction& action : write.actions) keys.push_back(action.row_key);
  if (write.token_key) keys.push_back(*write.token_key);
  return keys;
}

void keep_token(const TransactWrite& write, Batch& batch) {
  const int64_t expires_ms = write.engine.now_ms() + kTokenLifetimeMs;
  batch.put(*write.token_key,
            encode_token_row({.expires_ms = expires_ms, .fingerprint = write.fingerprint}));
  batch.put(token_expiry_key(expires_ms, *write.token_key), "");
}

Batch decide_all(TransactWrite& write, GuardedRows rows) {
  Batch batch;
  const std::size_t count = write.actions.size();
  write.effects.clear();
  if (write.token_key) {
    if (auto known = result_of_token(write, rows, rows[count])) {
      write.result = std::move(*known);
      return batch;
    }
  }
  auto effects = evaluate_all(write, rows);
  if (!effects) {
    write.result = failure_of(std::move(effects));
    return batch;
  }
  write.effects = std::move(*effects);
  const int64_t time_ms = write.engine.now_ms();
  for (std::size_t i = 0; i < count; ++i) {
    apply_effect(write.actions[i], write.effects[i], time_ms, batch);
  }
  if (write.token_key) keep_token(write, batch);
  write.result = make_result(write, write.effects);
  return batch;
}

// The store does not report which item another request was writing.
Failure conflicted(const TransactWrite& write) {
  std::vector<CancellationReason> reasons(write.actions.size());
  for (CancellationReason& reason : reasons) {
    reason.code = "TransactionConflict";
    reason.message = messages::kTransactionConflict;
  }
  return transaction_cancelled(std::move(reasons));
}

void rebind_all(std::unique_ptr<TransactWrite> write);

void finish_all(std::unique_ptr<TransactWrite> under_way, CommitResult committed) {
  TransactWrite& write = *under_way;
  if (committed.outcome == CommitOutcome::kSchemaChanged && ++write.rebinds <= kRebindsMax) {
    write.engine.blocking.post(
        [under_way = std::move(under_way)]() mutable { rebind_all(std::move(under_way)); });
    return;
  }
  if (committed.outcome == CommitOutcome::kConflict) {
    write.done(conflicted(write));
    return;
  }
  if (committed.outcome != CommitOutcome::kCommitted) {
    write.done(Failure(service_error(std::move(committed))));
    return;
  }
  for (std::size_t i = 0; i < write.effects.size(); ++i) {
    if (write.actions[i].action != TransactAction::kConditionCheck) {
      count_effect(write.actions[i], write.effects[i], committed.sequence);
    }
  }
  write.done(std::move(write.result));
}

std::vector<SchemaVersion> schemas_of(const TransactWrite& write) {
  std::vector<SchemaVersion> schemas;
  std::set<const Table*> seen;
  for (const WriteAction& action : write.actions) {
    if (!seen.insert(action.table.get()).second) continue;
    const SchemaVersions of_table = action.table->schema();
    schemas.insert(schemas.end(), of_table.begin(), of_table.end());
  }
  return schemas;
}

void run_all(std::unique_ptr<TransactWrite> write) {
  TransactWrite& under_way = *write;
  under_way.schemas = schemas_of(under_way);
  const auto decide = [&under_way](GuardedRows rows) { return decide_all(under_way, rows); };
  auto done = [write = std::move(write)](CommitResult result) mutable {
    finish_all(std::move(write), std::move(result));
  };
  commit_actions(*under_way.engine.store, under_way.actions, under_way.keys, decide,
                 std::move(done), under_way.schemas);
}

Result<void> rebind_actions(TransactWrite& write) {
  if (auto refreshed = write.engine.catalog->refresh(); !refreshed) {
    return Failure(service_error(std::move(refreshed).error()));
  }
  const auto snapshot = write.engine.catalog->snapshot();
  std::vector<Result<Item>> items;
  items.reserve(write.actions.size());
  for (WriteAction& action : write.actions) {
    items.push_back(rebind_table(*snapshot, action));
    if (items.back()) STATOR_RETURN_IF_ERROR(check_in_transaction(action, *items.back()));
  }
  std::vector<CancellationReason> reasons(write.actions.size());
  bool cancelled = false;
  std::set<std::string_view> keys;
  for (std::size_t i = 0; i < write.actions.size(); ++i) {
    Result<void> bound = items[i] ? check_write(write.actions[i], *items[i])
                                  : Result<void>(failure_of(std::move(items[i])));
    if (bound && !keys.insert(write.actions[i].row_key).second) {
      return fail(Code::kValidation, messages::kRepeatedTransactionItem);
    }
    if (bound) continue;
    if (!is_reason(bound.error())) return bound;
    reasons[i] = reason_of(std::move(bound).error());
    cancelled = true;
  }
  if (cancelled) return transaction_cancelled(std::move(reasons));
  write.keys = guarded_keys(write);
  return {};
}

void rebind_all(std::unique_ptr<TransactWrite> write) {
  if (auto bound = rebind_actions(*write); !bound) {
    write->done(failure_of(std::move(bound)));
  } else {
    run_all(std::move(write));
  }
}

}  // namespace

bool is_reason(const Error& error) {
  return error.code == Code::kConditionalCheckFailed || error.code == Code::kDuplicateItem ||
         error.code == Code::kItemCollectionSizeLimitExceeded || error.code == Code::kValidation;
}

CancellationReason reason_of(Error error) {
  CancellationReason reason;
  reason.code = "ValidationError";
  if (error.code == Code::kConditionalCheckFailed) reason.code = "ConditionalCheckFailed";
  if (error.code == Code::kDuplicateItem) reason.code = "DuplicateItem";
  if (error.code == Code::kItemCollectionSizeLimitExceeded) {
    reason.code = "ItemCollectionSizeLimitExceeded";
  }
  reason.message = std::move(error.message);
  if (error.detail) reason.item = error.detail->item;
  return reason;
}

void transact_write(ItemEngine& engine, std::vector<WriteAction> actions,
                    const TransactWriteOptions& options, Done<TransactWriteItemsResult> done) {
  auto write = std::make_unique<TransactWrite>(
      TransactWrite{.engine = engine,
                    .pass = InFlightOperations::Pass(engine.in_flight),
                    .actions = std::move(actions),
                    .token_key = {},
                    .fingerprint = options.fingerprint,
                    .return_capacity = options.return_capacity,
                    .return_metrics = options.return_metrics,
                    .done = std::move(done)});
  if (options.token) write->token_key = token_row_key(engine.catalog->secret(), *options.token);
  write->keys = guarded_keys(*write);
  run_all(std::move(write));
}

void transact_write_items(ItemEngine& engine, const TransactWriteItemsRequest& request,
                          Done<TransactWriteItemsResult> done) {
  if (auto valid = validate(request); !valid) return done(failure_of(std::move(valid)));
  on_newest_tables(
      engine, [&request](const CatalogSnapshot& snapshot) { return prepare(snapshot, request); },
      [&engine, &request,
       done = std::move(done)](Result<std::vector<WriteAction>> actions) mutable {
        if (!actions) return done(failure_of(std::move(actions)));
        TransactWriteOptions options{.token = request.client_request_token,
                                     .fingerprint = {},
                                     .return_capacity = request.return_capacity,
                                     .return_metrics = request.return_metrics};
        if (options.token) {
          options.fingerprint = request_fingerprint(engine.catalog->secret(), request);
        }
        transact_write(engine, std::move(*actions), options, std::move(done));
      });
}

}  // namespace stator
