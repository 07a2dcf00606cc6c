// SPDX-License-Identifier: Apache-2.0
// ExecuteTransaction: TransactWriteItems or TransactGetItems, written as statements.
#include <algorithm>
#include <set>
#include <utility>

#include "api/validation/validate.h"
#include "engine/errors/messages.h"
#include "engine/errors/service_errors.h"
#include "engine/items/item_reads.h"
#include "engine/items/transact_write.h"
#include "engine/query/query_operations.h"
#include "engine/query/statement_actions.h"

namespace stator {
namespace {

using partiql::Plan;
using partiql::StatementKind;

Failure refused_at(std::size_t place, std::string_view text) {
  return fail(Code::kValidation, messages::in_transaction_statement(place, text));
}

Result<void> check_plan(const Plan& plan) {
  if (plan.returning) return fail(Code::kValidation, messages::kReturningInTransaction);
  const bool selects = plan.kind == StatementKind::kSelect || plan.kind == StatementKind::kExists;
  if (selects && plan.index) return fail(Code::kValidation, messages::kIndexInTransaction);
  return {};
}

Result<std::vector<Plan>> plan_all(const ExecuteTransactionRequest& request) {
  static const std::vector<AttributeValue> none;
  std::vector<Plan> plans;
  for (const ParameterizedStatement& statement : request.statements) {
    const std::size_t place = plans.size();
    auto plan =
        partiql::plan(statement.statement, statement.parameters ? *statement.parameters : none);
    if (!plan) return refused_at(place, plan.error().message);
    if (const auto checked = check_plan(*plan); !checked) {
      return refused_at(place, checked.error().message);
    }
    plans.push_back(std::move(*plan));
  }
  const auto reads = [](const Plan& plan) { return plan.reads(); };
  if (std::ranges::any_of(plans, reads) && !std::ranges::all_of(plans, reads)) {
    return fail(Code::kValidation, messages::kMixedTransaction);
  }
  return plans;
}

Result<std::vector<TablePtr>> find_tables(const CatalogSnapshot& snapshot,
                                          const std::vector<Plan>& plans) {
  std::vector<TablePtr> tables;
  for (const Plan& plan : plans) {
    STATOR_ASSIGN_OR_RETURN(TablePtr table, find_statement_table(snapshot, plan.table));
    tables.push_back(std::move(table));
  }
  return tables;
}

// ---- Reads

struct Read {
  TablePtr table;
  Item key;
  std::optional<ProjectionExpression> projection;
};

Result<std::vector<Read>> prepare_reads(const std::vector<Plan>& plans,
                                        const std::vector<TablePtr>& tables) {
  std::vector<Read> reads;
  std::set<std::string> rows;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Table& table = *tables[i];
    const auto wanted = wanted_key(table.key(), plans[i].where);
    if (!wanted) return refused_at(i, wanted.error().message);
    if (!*wanted || !(*wanted)->nothing_else) {
      return refused_at(i, messages::select_without_key("ExecuteTransaction"));
    }
    Read& read = reads.emplace_back();
    read.table = tables[i];
    read.key = (*wanted)->key;
    if (!plans[i].columns.empty()) {
      read.projection = ProjectionExpression::of_columns(plans[i].columns);
    }
    if (!rows.insert(item_row_key(table.secret(), table.key(), read.key)).second) {
      return fail(Code::kValidation, messages::kRepeatedTransactionItem);
    }
  }
  return reads;
}

Result<ExecuteTransactionResult> read_all(ItemEngine& engine,
                                          const ExecuteTransactionRequest& request,
                                          const std::vector<Read>& reads) {
  std::vector<std::string> row_keys;
  std::vector<const Table*> tables;
  for (const Read& read : reads) {
    row_keys.push_back(item_row_key(read.table->secret(), read.table->key(), read.key));
    tables.push_back(read.table.get());
  }
  STATOR_ASSIGN_OR_RETURN(const auto rows, read_together(engine, tables, row_keys));
  ExecuteTransactionResult result;
  CapacityMeter meter(request.return_capacity, CapacityMeter::Report::kRead);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const Read& read = reads[i];
    FoundItem found;
    if (const auto& row = rows[i]) {
      show_row(*row, *read.table, read.key, read.projection, true, found);
    }
    bytes += found.bytes;
    if (bytes > kTransactionBytesMax)
      return fail(Code::kValidation, messages::kTransactionTooLarge);
    meter.add(*read.table, read_units(found.bytes) * 2);
    auto& item = result.items.emplace_back();
    if (found.item) item = decode_item(ItemView(*found.item));
  }
  result.capacity = meter.all();
  return result;
}

// ---- Writes

Result<void> check_exists(const Table& table, const Plan& plan, std::size_t place) {
  if (plan.kind != StatementKind::kExists) return {};
  const auto wanted = wanted_key(table.key(), plan.where);
  if (wanted && *wanted && !(*wanted)->nothing_else) return {};
  return refused_at(place, messages::kExistsShape);
}

Result<std::vector<WriteAction>> prepare_writes(const ExecuteTransactionRequest& request,
                                                std::vector<Plan> plans,
                                                const std::vector<TablePtr>& tables) {
  for (std::size_t i = 0; i < plans.size(); ++i) {
    STATOR_RETURN_IF_ERROR(check_exists(*tables[i], plans[i], i));
  }
  std::vector<WriteAction> actions;
  std::vector<CancellationReason> reasons(plans.size());
  std::set<std::string> rows;
  std::size_t bytes = 0;
  bool cancelled = false;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    auto action = statement_action(tables[i], std::move(plans[i]),
                                   request.statements[i].on_condition_failure);
    if (!action) {
      if (!is_reason(action.error())) return failure_of(std::move(action));
      reasons[i] = reason_of(std::move(action).error());
      cancelled = true;
      continue;
    }
    if (!rows.insert(action->row_key).second) {
      return fail(Code::kValidation, messages::kRepeatedTransactionItem);
    }
    if (!action->item.empty()) bytes += item_size_bytes(ItemView(action->item));
    actions.push_back(std::move(*action));
  }
  if (bytes > kTransactionBytesMax) return fail(Code::kValidation, messages::kTransactionTooLarge);
  if (cancelled) return transaction_cancelled(std::move(reasons));
  return actions;
}

// Tells requests apart by their statements and parameters.
Hash128 fingerprint_of(const Hash128& secret, const ExecuteTransactionRequest& request) {
  std::string bytes = "ExecuteTransaction";
  for (const ParameterizedStatement& statement : request.statements) {
    append_big_endian(bytes, static_cast<uint64_t>(statement.statement.size()));
    bytes += statement.statement;
    const std::string parameters =
        statement.parameters ? encode_value(List(*statement.parameters)) : std::string();
    append_big_endian(bytes, static_cast<uint64_t>(parameters.size()));
    bytes += parameters;
  }
  return hash128(secret, bytes);
}

}  // namespace

void execute_transaction(ItemEngine& engine, const ExecuteTransactionRequest& request,
                         Done<ExecuteTransactionResult> done) {
  const auto fail_with = [&](Error error) { done(Failure(std::move(error))); };
  if (auto valid = validate(request); !valid) return fail_with(std::move(valid).error());
  auto plans = plan_all(request);
  if (!plans) return fail_with(std::move(plans).error());
  if (plans->front().reads()) {
    return done(on_newest_tables(
        engine, [&](const CatalogSnapshot& snapshot) -> Result<ExecuteTransactionResult> {
          STATOR_ASSIGN_OR_RETURN(const auto tables, find_tables(snapshot, *plans));
          STATOR_ASSIGN_OR_RETURN(const auto reads, prepare_reads(*plans, tables));
          return read_all(engine, request, reads);
        }));
  }
  auto actions = on_newest_tables(
      engine,
      [&, is_first =
              true](const CatalogSnapshot& snapshot) mutable -> Result<std::vector<WriteAction>> {
        // An attempt uses the plans up.
        if (!std::exchange(is_first, false)) plans = plan_all(request);
        if (!plans) return failure_of(std::move(plans));
        STATOR_ASSIGN_OR_RETURN(const auto tables, find_tables(snapshot, *plans));
        return prepare_writes(request, std::move(*plans), tables);
      });
  if (!actions) return fail_with(std::move(actions).error());
  TransactWriteOptions options{.token = request.client_request_token,
                               .return_capacity = request.return_capacity};
  if (options.token) options.fingerprint = fingerprint_of(engine.catalog->secret(), request);
  transact_write(
      engine, std::move(*actions), options,
      [done = std::move(done)](Result<TransactWriteItemsResult> result) mutable {
        if (!result) {
          done(failure_of(std::move(result)));
          return;
        }
        done(ExecuteTransactionResult{.items = {}, .capacity = std::move(result->capacity)});
      });
}

}  // namespace stator
