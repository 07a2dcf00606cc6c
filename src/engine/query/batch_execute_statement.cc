// SPDX-License-Identifier: Apache-2.0
// BatchExecuteStatement: independent single-item statements, each with its own outcome. SELECT
// statements share one read of the store, so a failure of the store is the outcome of all of them.
#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "api/validation/validate.h"
#include "base/wait_permit.h"
#include "engine/core/run_read.h"
#include "engine/errors/messages.h"
#include "engine/errors/service_errors.h"
#include "engine/items/item_reads.h"
#include "engine/items/key_checks.h"
#include "engine/query/query_operations.h"
#include "engine/query/statement_actions.h"
#include "engine/query/statement_plan.h"
#include "partiql/messages.h"

namespace stator {
namespace {

// Statement error codes are exception names without "Exception".
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

// A statement before it runs: a read of one key, or a write.
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
    return fail(Code::kValidation, partiql::message::kExistsPlace);
  }
  Prepared prepared;
  STATOR_ASSIGN_OR_RETURN(prepared.table, find_statement_table(snapshot, plan.table));
  if (plan.reads()) return prepare_select(std::move(prepared), plan);
  prepared.returning = plan.returning.value_or(ReturnValues::kNone);
  STATOR_ASSIGN_OR_RETURN(prepared.action, statement_action(prepared.table, std::move(plan),
                                                            statement.on_condition_failure));
  return prepared;
}

using Plans = std::vector<Result<partiql::Plan>>;
using Statements = std::vector<Result<Prepared>>;

// State that the statements of a batch share until the last one is done.
struct StatementBatch {
  std::mutex mutex;
  std::size_t pending = 1;  // 1 for starting the statements
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

void write_statement(ItemEngine& engine, const std::shared_ptr<StatementBatch>& batch,
                     Prepared prepared, std::size_t place) {
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

Plans plan_all(const BatchExecuteStatementRequest& request) {
  static const std::vector<AttributeValue> none;
  Plans plans;
  for (const BatchStatement& statement : request.statements) {
    if (!statement.parameters_fault.empty()) {
      plans.push_back(fail(Code::kValidation, statement.parameters_fault));
      continue;
    }
    plans.push_back(
        partiql::plan(statement.statement, statement.parameters ? *statement.parameters : none));
  }
  return plans;
}

Result<void> check_kinds(const Plans& plans) {
  const auto any = [&](bool reads) {
    return std::ranges::any_of(plans, [&](const auto& p) { return p && p->reads() == reads; });
  };
  if (any(true) && any(false)) return fail(Code::kValidation, messages::kMixedBatch);
  return {};
}

Result<void> check_distinct(const Statements& statements) {
  std::set<std::string> rows;
  for (const Result<Prepared>& prepared : statements) {
    if (prepared && !rows.insert(prepared->row_key()).second) {
      return fail(Code::kValidation, messages::kDuplicateKeys);
    }
  }
  return {};
}

Result<Statements> prepare_all(const CatalogSnapshot& snapshot,
                               const BatchExecuteStatementRequest& request, Plans plans) {
  Statements statements;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    statements.push_back(plans[i] ? prepare(snapshot, request.statements[i], std::move(*plans[i]))
                                  : Result<Prepared>(failure_of(std::move(plans[i]))));
  }
  STATOR_RETURN_IF_ERROR(check_distinct(statements));
  return statements;
}

class ReadOfStatements {
 public:
  using Response = BatchExecuteStatementResult;

  ReadOfStatements(const BatchExecuteStatementRequest& request, Plans plans)
      : request_(request), plans_(std::move(plans)) {}

  Result<void> prepare(const EngineCore&, const CatalogSnapshot& snapshot) {
    STATOR_ASSIGN_OR_RETURN(statements_, prepare_all(snapshot, request_, std::move(plans_)));
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      if (!statements_[i]) continue;
      Prepared& prepared = *statements_[i];
      reads_.add(*prepared.table, prepared.key, std::move(prepared.projection), prepared.row_key(),
                 /*may_lag=*/!request_.statements[i].consistent_read);
    }
    return {};
  }

  void read(EngineCore& engine, ReadDone done) {
    reads_.read(engine, /*one_state=*/false,
                [this, done = std::move(done)](Result<void> outcome) mutable {
                  if (outcome || outcome.error().code == kBehind) return done(std::move(outcome));
                  failed_ = statement_error(service_error(std::move(outcome).error()));
                  done({});
                });
  }

  Result<BatchExecuteStatementResult> finish() {
    BatchExecuteStatementResult result;
    CapacityMeter meter(request_.return_capacity);
    auto part = reads_.parts().begin();
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      BatchStatementResult& response = result.responses.emplace_back();
      if (!statements_[i]) {
        response.error = statement_error(std::move(statements_[i]).error());
        continue;
      }
      const FoundItem& found = part->found;
      response.table = part->table.name();
      if (failed_) {
        response.error = failed_;
      } else {
        meter.add(part->table,
                  read_units(found.bytes) * (request_.statements[i].consistent_read ? 1 : 0.5));
        if (found.item) response.item = decode_item(ItemView(*found.item));
      }
      ++part;
    }
    result.capacity = meter.all();
    return result;
  }
  static bool has_failed(const BatchExecuteStatementResult& result) {
    return std::ranges::any_of(result.responses, [](const BatchStatementResult& response) {
      return response.error.has_value();
    });
  }

 private:
  const BatchExecuteStatementRequest& request_;
  Plans plans_;
  Statements statements_;
  ItemReads reads_;  // of the valid statements, in their order
  std::optional<StatementError> failed_;
};

void write_statements(ItemEngine& engine, const BatchExecuteStatementRequest& request,
                      Statements statements, Done<BatchExecuteStatementResult> done) {
  auto batch = std::make_shared<StatementBatch>(request.return_capacity);
  batch->result.responses.resize(statements.size());
  batch->done = std::move(done);
  for (const Result<Prepared>& prepared : statements) {
    if (prepared) ++batch->pending;
  }
  const WaitPermit permit(WaitFor::kNothing);
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (statements[i]) {
      write_statement(engine, batch, std::move(*statements[i]), i);
    } else {
      batch->result.responses[i].error = statement_error(std::move(statements[i]).error());
    }
  }
  batch->finish_one();
}

}  // namespace

void batch_execute_statement(ItemEngine& engine, const BatchExecuteStatementRequest& request,
                             Done<BatchExecuteStatementResult> done) {
  if (auto valid = validate(request); !valid) return done(failure_of(std::move(valid)));
  Plans plans = plan_all(request);
  if (auto checked = check_kinds(plans); !checked) return done(failure_of(std::move(checked)));
  if (std::ranges::any_of(plans, [](const auto& plan) { return plan && plan->reads(); })) {
    return run_read<ReadOfStatements>(engine, std::move(done), request, std::move(plans));
  }
  on_newest_tables(
      engine,
      [&engine, &request, plans = std::move(plans)](const CatalogSnapshot& snapshot) mutable {
        return prepare_all(snapshot, request, for_one_attempt(engine, plans));
      },
      [&engine, &request, done = std::move(done)](Result<Statements> statements) mutable {
        if (!statements) return done(failure_of(std::move(statements)));
        write_statements(engine, request, std::move(*statements), std::move(done));
      });
}

}  // namespace stator
