// SPDX-License-Identifier: Apache-2.0
// Batches and transactions.
#include "api/attribute_check.h"
#include "api/validate.h"
#include "api/validate_rules.h"
#include "fmt/format.h"

namespace stator {
namespace {

constexpr std::size_t kBatchGetMax = 100;
constexpr std::size_t kBatchWriteMax = 25;
constexpr std::size_t kTransactionMax = 100;
constexpr std::size_t kTokenBytesMax = 36;

// Names of tables are the keys of a batch's map, and the message quotes no more than them.
void add_table_key(const std::string& table, Constraints& constraints) {
  Constraints name;
  name.table_name(table, "tableName");
  if (name.empty()) return;
  constraints.violated(fmt::format("{{{}}}", table), "requestItems",
                       "Map keys must satisfy constraint: [Member must have length less than or "
                       "equal to 255, Member must have length greater than or equal to 3, Member "
                       "must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]");
}

std::string_view action_member(TransactAction action) {
  switch (action) {
    case TransactAction::kConditionCheck:
      return "conditionCheck";
    case TransactAction::kPut:
      return "put";
    case TransactAction::kDelete:
      return "delete";
    case TransactAction::kUpdate:
      return "update";
  }
  return "put";
}

void add_action(const TransactWriteItem& action, std::size_t place, Constraints& constraints) {
  const auto path = [&](std::string_view member) {
    return fmt::format("transactItems.{}.member.{}.{}", place, action_member(action.action),
                       member);
  };
  if (!action.table.empty()) constraints.table_name(action.table, path("tableName"));
  if (action.action == TransactAction::kUpdate && !action.update) {
    constraints.missing(path("updateExpression"));
  }
  if (action.action == TransactAction::kConditionCheck && !action.condition) {
    constraints.missing(path("conditionExpression"));
  }
}

Result<void> check_write(const WriteRequest& request) {
  if (request.put.has_value() == request.delete_key.has_value()) {
    return invalid("A WriteRequest must contain exactly one of PutRequest and DeleteRequest");
  }
  return check_attributes(request.put ? *request.put : *request.delete_key);
}

}  // namespace

void add_constraints(const BatchGetItemRequest& request, Constraints& constraints) {
  constraints.count(request.items.size(), "requestItems", 0, kBatchGetMax, "{...}");
  for (const auto& [table, keys] : request.items) {
    add_table_key(table, constraints);
    if (keys.keys.empty() || keys.keys.size() > kBatchGetMax) {
      constraints.count(keys.keys.size(), fmt::format("requestItems.{}.member.keys", table), 1,
                        kBatchGetMax, keys.keys.empty() ? "[]" : "[...]");
    }
  }
}

void add_constraints(const BatchWriteItemRequest& request, Constraints& constraints) {
  constraints.count(request.items.size(), "requestItems", 0, kBatchWriteMax, "{...}");
  for (const auto& [table, requests] : request.items) {
    add_table_key(table, constraints);
    if (requests.empty() || requests.size() > kBatchWriteMax) {
      constraints.count(requests.size(), fmt::format("requestItems.{}.member", table), 1,
                        kBatchWriteMax, requests.empty() ? "[]" : "[...]");
    }
  }
}

void add_constraints(const TransactWriteItemsRequest& request, Constraints& constraints) {
  constraints.count(request.items.size(), "transactItems", 0, kTransactionMax, "[...]");
  if (request.client_request_token) {
    constraints.length(*request.client_request_token, "clientRequestToken", 1, kTokenBytesMax);
  }
  std::size_t place = 0;
  for (const TransactWriteItem& action : request.items) {
    add_action(action, ++place, constraints);
  }
}

void add_constraints(const TransactGetItemsRequest& request, Constraints& constraints) {
  constraints.count(request.items.size(), "transactItems", 0, kTransactionMax, "[...]");
  std::size_t place = 0;
  for (const TransactGetItem& get : request.items) {
    ++place;
    if (get.table.empty()) continue;
    constraints.table_name(get.table, fmt::format("transactItems.{}.member.get.tableName", place));
  }
}

Result<void> validate(const BatchGetItemRequest& request) {
  STATOR_CHECK_OK(check_not_empty(request.items.empty(), "requestItems", "{}"));
  STATOR_CHECK_OK(check_constraints(request));
  std::size_t count = 0;
  for (const auto& [table, keys] : request.items) count += keys.keys.size();
  if (count > kBatchGetMax) {
    return fail(Code::kValidation, "Too many items requested for the BatchGetItem call");
  }
  for (const auto& [table, keys] : request.items) {
    STATOR_CHECK_OK(check_placeholders(keys.projection.has_value(), keys.names));
    for (const Item& key : keys.keys) STATOR_CHECK_OK(check_attributes(key));
  }
  return {};
}

Result<void> validate(const BatchWriteItemRequest& request) {
  STATOR_CHECK_OK(check_not_empty(request.items.empty(), "requestItems", "{}"));
  STATOR_CHECK_OK(check_constraints(request));
  std::size_t count = 0;
  for (const auto& [table, requests] : request.items) count += requests.size();
  if (count > kBatchWriteMax) {
    return fail(Code::kValidation, "Too many items requested for the BatchWriteItem call");
  }
  for (const auto& [table, requests] : request.items) {
    for (const WriteRequest& write : requests) STATOR_CHECK_OK(check_write(write));
  }
  return {};
}

Result<void> validate(const TransactWriteItemsRequest& request) {
  STATOR_CHECK_OK(check_not_empty(request.items.empty(), "transactItems", "[]"));
  STATOR_CHECK_OK(check_constraints(request));
  for (const TransactWriteItem& action : request.items) {
    STATOR_CHECK_OK(check_table_given(action.table));
    if (action.update && action.action != TransactAction::kUpdate) {
      return invalid("UpdateExpression can only be specified for an Update action");
    }
    STATOR_CHECK_OK(check_placeholders(action.condition || action.update, action.names,
                                       action.values, "ConditionExpression is null"));
    STATOR_CHECK_OK(check_attributes(action.item));
  }
  return {};
}

Result<void> validate(const TransactGetItemsRequest& request) {
  STATOR_CHECK_OK(check_not_empty(request.items.empty(), "transactItems", "[]"));
  STATOR_CHECK_OK(check_constraints(request));
  for (const TransactGetItem& get : request.items) {
    STATOR_CHECK_OK(check_table_given(get.table));
    STATOR_CHECK_OK(check_placeholders(get.projection.has_value(), get.names));
    STATOR_CHECK_OK(check_attributes(get.key));
  }
  return {};
}

}  // namespace stator
