// SPDX-License-Identifier: Apache-2.0
// ExecuteTransaction: TransactWriteItems or TransactGetItems as PartiQL statements.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "api/validation/validate.h"
#include "engine/core/run_read.h"
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

class ReadOfTransaction {
 public:
  using Response = ExecuteTransactionResult;

  ReadOfTransaction(const ExecuteTransactionRequest& request, std::vector<Plan> plans)
      : request_(request), plans_(std::move(plans)) {}

  Result<void> prepare(const EngineCore&, const CatalogSnapshot& snapshot) {
    STATOR_ASSIGN_OR_RETURN(const auto tables, find_tables(snapshot, plans_));
    keys_.resize(plans_.size());
    std::set<std::string> rows;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      const Table& table = *tables[i];
      auto wanted = wanted_key(table.key(), plans_[i].where);
      if (!wanted) return refused_at(i, wanted.error().message);
      if (!*wanted || !(*wanted)->nothing_else) {
        return refused_at(i, messages::select_without_key("ExecuteTransaction"));
      }
      keys_[i] = std::move((*wanted)->key);
      std::optional<ProjectionExpression> projection;
      if (!plans_[i].columns.empty()) {
        projection = ProjectionExpression::of_columns(plans_[i].columns);
      }
      std::string row_key = item_row_key(table.secret(), table.key(), keys_[i]);
      if (!rows.insert(row_key).second) {
        return fail(Code::kValidation, messages::kRepeatedTransactionItem);
      }
      reads_.add(table, keys_[i], std::move(projection), std::move(row_key));
    }
    return {};
  }

  void read(EngineCore& engine, ReadDone done) {
    reads_.read(engine, /*one_state=*/true, std::move(done));
  }

  Result<ExecuteTransactionResult> finish() {
    ExecuteTransactionResult result;
    CapacityMeter meter(request_.return_capacity, CapacityMeter::Report::kRead);
    STATOR_ASSIGN_OR_RETURN(const auto items, take_transaction(reads_, meter));
    for (const auto& found : items) {
      auto& item = result.items.emplace_back();
      if (found) item = decode_item(ItemView(*found));
    }
    result.capacity = meter.all();
    return result;
  }

 private:
  const ExecuteTransactionRequest& request_;
  const std::vector<Plan> plans_;
  std::vector<Item> keys_;  // one per statement
  ItemReads reads_;
};

// ---- Writes

Result<void> check_exists(const Table& table, const Plan& plan, std::size_t place) {
  if (plan.kind != StatementKind::kExists) return {};
  const auto wanted = wanted_key(table.key(), plan.where);
  if (wanted && *wanted && !(*wanted)->nothing_else) return {};
  return refused_at(place, messages::kExistsShape);
}

Result<std::vector<WriteAction>> prepare_writes(const CatalogSnapshot& snapshot,
                                                const ExecuteTransactionRequest& request,
                                                std::vector<Plan> plans) {
  STATOR_ASSIGN_OR_RETURN(const auto tables, find_tables(snapshot, plans));
  for (std::size_t i = 0; i < plans.size(); ++i) {
    STATOR_RETURN_IF_ERROR(check_exists(*tables[i], plans[i], i));
  }
  std::vector<Result<StatementWrite>> writes;
  writes.reserve(plans.size());
  for (std::size_t i = 0; i < plans.size(); ++i) {
    writes.push_back(statement_write(tables[i], std::move(plans[i]),
                                     request.statements[i].on_condition_failure));
  }
  for (const auto& write : writes) {
    if (write) STATOR_RETURN_IF_ERROR(check_in_transaction(write->action, write->item));
  }
  std::vector<WriteAction> actions;
  std::vector<CancellationReason> reasons(plans.size());
  std::set<std::string> rows;
  std::size_t bytes = 0;
  bool cancelled = false;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    auto action = writes[i] ? checked_action(std::move(*writes[i]))
                            : Result<WriteAction>(failure_of(std::move(writes[i])));
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

// Hashes the statements and parameters, to distinguish requests with the same token.
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

void write_transaction(ItemEngine& engine, const ExecuteTransactionRequest& request,
                       std::vector<WriteAction> actions, Done<ExecuteTransactionResult> done) {
  TransactWriteOptions options{.token = request.client_request_token,
                               .return_capacity = request.return_capacity};
  if (options.token) options.fingerprint = fingerprint_of(engine.catalog->secret(), request);
  transact_write(
      engine, std::move(actions), options,
      [done = std::move(done)](Result<TransactWriteItemsResult> result) mutable {
        if (!result) return done(failure_of(std::move(result)));
        done(ExecuteTransactionResult{.items = {}, .capacity = std::move(result->capacity)});
      });
}

}  // namespace

void execute_transaction(ItemEngine& engine, const ExecuteTransactionRequest& request,
                         Done<ExecuteTransactionResult> done) {
  if (auto valid = validate(request); !valid) return done(failure_of(std::move(valid)));
  auto plans = plan_all(request);
  if (!plans) return done(failure_of(std::move(plans)));
  if (plans->front().reads()) {
    return run_read<ReadOfTransaction>(engine, std::move(done), request, std::move(*plans));
  }
  on_newest_tables(
      engine,
      [&engine, &request, plans = std::move(*plans)](const CatalogSnapshot& snapshot) mutable {
        return prepare_writes(snapshot, request, for_one_attempt(engine, plans));
      },
      [&engine, &request,
       done = std::move(done)](Result<std::vector<WriteAction>> actions) mutable {
        if (!actions) return done(failure_of(std::move(actions)));
        write_transaction(engine, request, std::move(*actions), std::move(done));
      });
}

}  // namespace stator
