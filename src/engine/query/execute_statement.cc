// SPDX-License-Identifier: Apache-2.0
// ExecuteStatement. A page of a SELECT goes on where the key in its token says, and the token is
// sealed with the engine's secret: it is good for the statement that it was made for alone.
#include <algorithm>
#include <utility>

#include "api/model/base64.h"
#include "api/validation/validate.h"
#include "engine/core/current_tables.h"
#include "engine/errors/messages.h"
#include "engine/query/page.h"
#include "engine/query/query_operations.h"
#include "engine/query/statement_actions.h"
#include "engine/query/statement_plan.h"
#include "engine/rows/row_layout.h"

namespace stator {
namespace {

constexpr char kTokenVersion = 1;

const std::vector<AttributeValue>& parameters_of(const ExecuteStatementRequest& request) {
  static const std::vector<AttributeValue> none;
  return request.parameters ? *request.parameters : none;
}

std::string seal(const Hash128& secret, const ExecuteStatementRequest& request,
                 std::string_view key) {
  std::string bytes = "NextToken";
  append_field(bytes, request.statement);
  append_field(bytes, encode_value(List(parameters_of(request))));
  append_field(bytes, key);
  const Hash128 hash = hash128(secret, bytes);
  return {hash.begin(), hash.end()};
}

std::string make_token(const Hash128& secret, const ExecuteStatementRequest& request,
                       const Item& last_key) {
  const std::string key = encode_item(last_key);
  return wire::to_base64(std::string(1, kTokenVersion) + seal(secret, request, key) + key);
}

Result<Item> read_token(const Hash128& secret, const ExecuteStatementRequest& request) {
  const auto bytes = wire::from_base64(*request.next_token);
  constexpr std::size_t kSealEnd = 1 + std::tuple_size_v<Hash128>;
  if (!bytes || bytes->size() < kSealEnd || bytes->front() != kTokenVersion) {
    return fail(Code::kValidation, messages::kInvalidStatementToken);
  }
  const std::string key = bytes->substr(kSealEnd);
  if (bytes->substr(1, kSealEnd - 1) != seal(secret, request, key) || !validate_item(key)) {
    return fail(Code::kValidation, messages::kInvalidStatementToken);
  }
  return decode_item(ItemView(key));
}

Result<StatementResponse> select(ItemEngine& engine, const CatalogSnapshot& snapshot,
                                 const ExecuteStatementRequest& request, partiql::Plan plan) {
  STATOR_ASSIGN_OR_RETURN(const TablePtr table, find_statement_table(snapshot, plan.table));
  const Hash128& secret = engine.catalog->secret();
  SelectOptions options{.limit = request.limit, .consistent_read = request.consistent_read};
  if (request.next_token) {
    STATOR_ASSIGN_OR_RETURN(options.start_key, read_token(secret, request));
  }
  STATOR_ASSIGN_OR_RETURN(const RangePlan ranges, plan_select(*table, std::move(plan), options));
  STATOR_ASSIGN_OR_RETURN(PageResponse page, read_page(engine, ranges, request.return_capacity));
  StatementResponse response{.items = std::move(page.items),
                             .next_token = {},
                             .last_evaluated_key = std::move(page.last_evaluated_key),
                             .capacity = std::move(page.capacity),
                             .examined = page.scanned_count};
  if (response.last_evaluated_key) {
    response.next_token = make_token(secret, request, *response.last_evaluated_key);
  }
  return response;
}

Result<WriteAction> prepare(const CatalogSnapshot& snapshot, const ExecuteStatementRequest& request,
                            partiql::Plan plan) {
  STATOR_ASSIGN_OR_RETURN(TablePtr table, find_statement_table(snapshot, plan.table));
  return statement_action(std::move(table), std::move(plan), request.on_condition_failure);
}

}  // namespace

void execute_statement(ItemEngine& engine, const ExecuteStatementRequest& request,
                       Done<StatementResponse> done) {
  if (auto valid = validate(request); !valid) {
    done(failure_of(std::move(valid)));
    return;
  }
  auto plan = partiql::plan(request.statement, parameters_of(request));
  if (!plan) {
    done(failure_of(std::move(plan)));
    return;
  }
  if (plan->kind == partiql::StatementKind::kExists) {
    done(fail(Code::kValidation, messages::kExistsPlace));
    return;
  }
  // An attempt uses the plan up.
  auto take_plan = [&, is_first = true]() mutable {
    return std::exchange(is_first, false)
               ? std::move(plan)
               : partiql::plan(request.statement, parameters_of(request));
  };
  if (plan->reads()) {
    done(
        on_newest_tables(engine, [&](const CatalogSnapshot& snapshot) -> Result<StatementResponse> {
          STATOR_ASSIGN_OR_RETURN(partiql::Plan taken, take_plan());
          return select(engine, snapshot, request, std::move(taken));
        }));
    return;
  }
  const ReturnValues returning = plan->returning.value_or(ReturnValues::kNone);
  auto action =
      on_newest_tables(engine, [&](const CatalogSnapshot& snapshot) -> Result<WriteAction> {
        STATOR_ASSIGN_OR_RETURN(partiql::Plan taken, take_plan());
        return prepare(snapshot, request, std::move(taken));
      });
  if (!action) {
    done(failure_of(std::move(action)));
    return;
  }
  write_one(engine, std::move(*action),
            [returning, wanted = request.return_capacity, done = std::move(done)](
                const WriteAction& written, Result<WriteEffect> effect) mutable {
              if (!effect) {
                done(failure_of(std::move(effect)));
                return;
              }
              StatementResponse response;
              CapacityMeter meter(wanted);
              meter_effect(meter, *written.table, *effect, false);
              response.capacity = meter.one();
              if (const auto item = returning_item(returning, written, *effect)) {
                response.items.append(*item);
              }
              done(std::move(response));
            });
}

}  // namespace stator
