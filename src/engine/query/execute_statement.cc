// SPDX-License-Identifier: Apache-2.0
// ExecuteStatement. A page of a SELECT begins after the key in its token. The token is signed with
// the engine's secret and is valid only for the statement that it was made for.
#include <algorithm>
#include <optional>
#include <utility>

#include "api/model/base64.h"
#include "api/validation/validate.h"
#include "engine/core/run_read.h"
#include "engine/errors/messages.h"
#include "engine/query/page.h"
#include "engine/query/query_operations.h"
#include "engine/query/statement_actions.h"
#include "engine/query/statement_plan.h"
#include "engine/rows/row_layout.h"
#include "partiql/messages.h"

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
    return fail(Code::kValidation, messages::kInvalidNextToken);
  }
  const std::string key = bytes->substr(kSealEnd);
  if (bytes->substr(1, kSealEnd - 1) != seal(secret, request, key) || !validate_item(key)) {
    return fail(Code::kValidation, messages::kInvalidNextToken);
  }
  return decode_item(ItemView(key));
}

class ReadOfSelect {
 public:
  using Response = StatementResponse;

  ReadOfSelect(const ExecuteStatementRequest& request, partiql::Plan plan)
      : request_(request), plan_(std::move(plan)) {}

  Result<void> prepare(const EngineCore& engine, const CatalogSnapshot& snapshot) {
    STATOR_ASSIGN_OR_RETURN(const TablePtr table, find_statement_table(snapshot, plan_.table));
    secret_ = engine.catalog->secret();
    SelectOptions options{.limit = request_.limit, .consistent_read = request_.consistent_read};
    if (request_.next_token) {
      STATOR_ASSIGN_OR_RETURN(options.start_key, read_token(secret_, request_));
    }
    auto ranges = plan_select(*table, std::move(plan_), options);
    if (!ranges) return failure_of(std::move(ranges));
    page_.emplace(std::move(*ranges));
    return {};
  }

  void read(EngineCore& engine, ReadDone done) { page_->read(engine, std::move(done)); }

  Result<StatementResponse> finish() {
    PageResponse page = page_->finish(request_.return_capacity);
    StatementResponse response{.items = std::move(page.items),
                               .next_token = {},
                               .last_evaluated_key = std::move(page.last_evaluated_key),
                               .capacity = std::move(page.capacity),
                               .examined = page.scanned_count};
    if (response.last_evaluated_key) {
      response.next_token = make_token(secret_, request_, *response.last_evaluated_key);
    }
    return response;
  }

 private:
  const ExecuteStatementRequest& request_;
  partiql::Plan plan_;  // moved from by prepare()
  Hash128 secret_ = {};
  std::optional<PageRead<PageResponse>> page_;
};

Result<WriteAction> prepare(const CatalogSnapshot& snapshot, const ExecuteStatementRequest& request,
                            partiql::Plan plan) {
  STATOR_ASSIGN_OR_RETURN(TablePtr table, find_statement_table(snapshot, plan.table));
  return statement_action(std::move(table), std::move(plan), request.on_condition_failure);
}

void write(ItemEngine& engine, WriteAction action, ReturnValues returning,
           ReturnConsumedCapacity wanted, Done<StatementResponse> done) {
  write_one(engine, std::move(action),
            [returning, wanted, done = std::move(done)](const WriteAction& written,
                                                        Result<WriteEffect> effect) mutable {
              if (!effect) return done(failure_of(std::move(effect)));
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

}  // namespace

void execute_statement(ItemEngine& engine, const ExecuteStatementRequest& request,
                       Done<StatementResponse> done) {
  if (auto valid = validate(request); !valid) return done(failure_of(std::move(valid)));
  auto plan = partiql::plan(request.statement, parameters_of(request));
  if (!plan) return done(failure_of(std::move(plan)));
  if (plan->kind == partiql::StatementKind::kExists) {
    return done(fail(Code::kValidation, partiql::message::kExistsPlace));
  }
  if (plan->reads()) {
    return run_read<ReadOfSelect>(engine, std::move(done), request, std::move(*plan));
  }
  const ReturnValues returning = plan->returning.value_or(ReturnValues::kNone);
  on_newest_tables(
      engine,
      [&engine, &request, plan = std::move(*plan)](const CatalogSnapshot& snapshot) mutable {
        return prepare(snapshot, request, for_one_attempt(engine, plan));
      },
      [&engine, &request, returning, done = std::move(done)](Result<WriteAction> action) mutable {
        if (!action) return done(failure_of(std::move(action)));
        write(engine, std::move(*action), returning, request.return_capacity, std::move(done));
      });
}

}  // namespace stator
