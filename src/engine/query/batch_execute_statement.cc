// SPDX-License-Identifier: Apache-2.0
// BatchExecuteStatement: statements of single items side by side, each with an outcome of its own.
#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "api/validation/validate.h"
#include "engine/errors/messages.h"
#include "engine/items/item_reads.h"
#include "engine/items/item_rules.h"
#include "engine/query/query_operations.h"
#include "engine/query/statement_actions.h"
#include "engine/query/statement_plan.h"

namespace stator {
namespace {

// The codes of statements, which are those of exceptions without their endings.
std::string statement_code(Code code) {
  switch (code) {
    case Code::kValidation:
      return "ValidationError";
    case Code::kThrottling:
      return "ThrottlingError";
    case Code::kInternalServerError:
      return "InternalServerError";
    default: {
      std::string name = code_name(code);
      constexpr std::string_view kEnding = "Exception";
      if (name.ends_with(kEnding)) name.resize(name.size() - kEnding.size());
      return name;
    }
  }
}

StatementError statement_error(Error error) {
  StatementError result{.code = statement_code(error.code), .message = std::move(error.message)};
  if (error.detail) result.item = error.detail->item;
  return result;
}

// A statement until it runs: the read of one key, or a write.
struct Prepared {
  TablePtr table;
  Item key;
  std::optional<ProjectionExpression> projection;
  std::optional<WriteAction> action;
  ReturnValues returning = ReturnValues::kNone;

  std::string row_key() const {
    return action ? action->row_key : item_row_key(table->secret(), table->key(), key);
  }
};

Result<partiql::Plan> plan_of(const BatchStatement& statement) {
  static const std::vector<AttributeValue> none;
  if (!statement.parameters_fault.empty()) {
    return fail(Code::kValidation, statement.parameters_fault);
  }
  return partiql::plan(statement.statement, statement.parameters ? *statement.parameters : none);
}

Result<Prepared> prepare_select(Prepared prepared, const partiql::Plan& plan) {
  const Failure refusal =
      fail(Code::kValidation, messages::select_without_key("BatchExecuteStatement"));
  if (plan.index) {
    STATOR_RETURN_IF_ERROR(check_statement_index(prepared.table->index(*plan.index)));
    return refusal;
  }
  STATOR_ASSIGN_OR_RETURN(const auto wanted, wanted_key(prepared.table->key(), plan.where));
  if (!wanted || !wanted->nothing_else) return refusal;
  prepared.key = wanted->key;
  if (!plan.columns.empty()) prepared.projection = ProjectionExpression::of_columns(plan.columns);
  return prepared;
}

Result<Prepared> prepare(const CatalogSnapshot& snapshot, const BatchStatement& statement,
                         partiql::Plan plan) {
  if (plan.kind == partiql::StatementKind::kExists) {
    return fail(Code::kValidation, messages::kExistsPlace);
  }
  Prepared prepared;
  STATOR_ASSIGN_OR_RETURN(prepared.table, find_statement_table(snapshot, plan.table));
  if (plan.reads()) return prepare_select(std::move(prepared), plan);
  prepared.returning = plan.returning.value_or(ReturnValues::kNone);
  STATOR_ASSIGN_OR_RETURN(prepared.action, statement_action(prepared.table, std::move(plan),
                                                            statement.on_condition_failure));
  return prepared;
}

// What the statements of one batch share until the last of them is done.
struct StatementBatch {
  std::mutex mutex;
  std::size_t pending = 1;  // the starting itself counts
  CapacityMeter meter;
  BatchExecuteStatementResult result;
  Done<BatchExecuteStatementResult> done;

  explicit StatementBatch(ReturnConsumedCapacity wanted) : meter(wanted) {}

  void finish_one() {
    {
      const std::lock_guard lock(mutex);
      if (--pending > 0) return;
    }
    result.capacity = meter.all();
    done(std::move(result));
  }
};

void read(ItemEngine& engine, StatementBatch& batch, const BatchStatement& statement,
          Prepared prepared, BatchStatementResult& result) {
  result.table = prepared.table->name();
  const auto found = on_newest_tables(
      engine, [&, is_first = true](const CatalogSnapshot& snapshot) mutable -> Result<FoundItem> {
        if (!std::exchange(is_first, false)) {
          STATOR_ASSIGN_OR_RETURN(auto plan, plan_of(statement));
          STATOR_ASSIGN_OR_RETURN(prepared, prepare(snapshot, statement, std::move(plan)));
        }
        return read_item(engine, *prepared.table, prepared.key, prepared.projection,
                         batch.meter.wanted());
      });
  if (!found) {
    result.error = statement_error(found.error());
    return;
  }
  batch.meter.add(*prepared.table,
                  read_units(found->bytes) * (statement.consistent_read ? 1 : 0.5));
  if (found->item) result.item = decode_item(ItemView(*found->item));
}

void write(ItemEngine& engine, const std::shared_ptr<StatementBatch>& batch, Prepared prepared,
           std::size_t place) {
  batch->result.responses[place].table = prepared.table->name();
  write_one(engine, std::move(*prepared.action),
            [batch, place, returning = prepared.returning](const WriteAction& action,
                                                           Result<WriteEffect> effect) {
              {
                const std::lock_guard lock(batch->mutex);
                BatchStatementResult& result = batch->result.responses[place];
                if (effect) {
                  meter_effect(batch->meter, *action.table, *effect, false);
                  const auto item = returning_item(returning, action, *effect);
                  if (item) result.item = decode_item(ItemView(*item));
                } else {
                  result.error = statement_error(std::move(effect).error());
                }
              }
              batch->finish_one();
            });
}

using Plans = std::vector<Result<partiql::Plan>>;

Plans plan_all(const BatchExecuteStatementRequest& request) {
  Plans plans;
  for (const BatchStatement& statement : request.statements) plans.push_back(plan_of(statement));
  return plans;
}

Result<void> check_kinds(const Plans& plans) {
  const auto any = [&](bool reads) {
    return std::ranges::any_of(plans, [&](const auto& p) { return p && p->reads() == reads; });
  };
  if (any(true) && any(false)) return fail(Code::kValidation, messages::kMixedBatch);
  return {};
}

// Uses the plan up.
Result<Prepared> prepare_newest(const ItemEngine& engine, const BatchStatement& statement,
                                Result<partiql::Plan>& plan) {
  return on_newest_tables(
      engine, [&, is_first = true](const CatalogSnapshot& snapshot) mutable -> Result<Prepared> {
        if (!std::exchange(is_first, false)) plan = plan_of(statement);
        STATOR_ASSIGN_OR_RETURN(partiql::Plan taken, std::move(plan));
        return prepare(snapshot, statement, std::move(taken));
      });
}

Result<void> check_distinct(const std::vector<Result<Prepared>>& statements) {
  std::set<std::string> rows;
  for (const Result<Prepared>& prepared : statements) {
    if (prepared && !rows.insert(prepared->row_key()).second) {
      return fail(Code::kValidation, messages::kDuplicateKeys);
    }
  }
  return {};
}

}  // namespace

void batch_execute_statement(ItemEngine& engine, const BatchExecuteStatementRequest& request,
                             Done<BatchExecuteStatementResult> done) {
  if (auto valid = validate(request); !valid) {
    done(failure_of(std::move(valid)));
    return;
  }
  Plans plans = plan_all(request);
  std::vector<Result<Prepared>> statements;
  Result<void> checked = check_kinds(plans);
  for (std::size_t i = 0; i < plans.size() && checked; ++i) {
    statements.push_back(prepare_newest(engine, request.statements[i], plans[i]));
  }
  if (checked) checked = check_distinct(statements);
  if (!checked) {
    done(failure_of(std::move(checked)));
    return;
  }
  auto batch = std::make_shared<StatementBatch>(request.return_capacity);
  batch->result.responses.resize(statements.size());
  batch->done = std::move(done);
  for (const Result<Prepared>& prepared : statements) {
    if (prepared && prepared->action) ++batch->pending;
  }
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (!statements[i]) {
      batch->result.responses[i].error = statement_error(std::move(statements[i]).error());
    } else if (statements[i]->action) {
      write(engine, batch, std::move(*statements[i]), i);
    } else {
      read(engine, *batch, request.statements[i], std::move(*statements[i]),
           batch->result.responses[i]);
    }
  }
  batch->finish_one();
}

}  // namespace stator
