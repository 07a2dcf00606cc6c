// SPDX-License-Identifier: Apache-2.0
// Batches and transactions.
#include "api/attribute_check.h"
#include "api/messages.h"
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
  name.table_name(table, "key");
  if (!name.empty() || table.empty()) {
    constraints.violated(fmt::format("{{{}}}", table), "requestItems", messages::kTableKeys);
  }
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
  if (action.table.empty()) {
    constraints.missing(path("tableName"));
  } else {
    constraints.table_name(action.table, path("tableName"));
  }
  if (action.action == TransactAction::kUpdate && !action.update) {
    constraints.missing(path("updateExpression"));
  }
  if (action.action == TransactAction::kConditionCheck && !action.condition) {
    constraints.missing(path("conditionExpression"));
  }
}

Result<void> check_write(const WriteRequest& request) {
  if (request.put.has_value() == request.delete_key.has_value()) {
    return fail(Code::kValidation, messages::kManyTypes);
  }
  return check_attributes(request.put ? *request.put : *request.delete_key);
}

Result<void> check_request_items(bool empty, std::string_view operation) {
  if (!empty) return {};
  return fail(Code::kValidation, fmt::format(messages::kRequestItemsRequired, operation));
}

}  // namespace

// BatchGetItem's keys are counted by another layer than BatchWriteItem's requests.
void add_constraints(const BatchGetItemRequest& request, Constraints& constraints) {
  for (const auto& [table, keys] : request.items) {
    add_table_key(table, constraints);
    const std::size_t count = keys.keys.size();
    if (count > 0 && count <= kBatchGetMax) continue;
    constraints.violated_unquoted(fmt::format("RequestItems.{}.member.Keys", table),
                                  count == 0 ? fmt::format(messages::kLengthAtLeast, 1)
                                             : fmt::format(messages::kLengthAtMost, kBatchGetMax));
  }
}

void add_constraints(const BatchWriteItemRequest& request, Constraints& constraints) {
  for (const auto& [table, requests] : request.items) {
    add_table_key(table, constraints);
    if (!requests.empty() && requests.size() <= kBatchWriteMax) continue;
    constraints.violated(fmt::format("{{{}=[{}]}}", table, requests.empty() ? "" : "..."),
                         "requestItems", fmt::format(messages::kBatchedWrites, kBatchWriteMax));
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
    const std::string path = fmt::format("transactItems.{}.member.get.tableName", ++place);
    if (get.table.empty()) {
      constraints.missing(path);
    } else {
      constraints.table_name(get.table, path);
    }
  }
}

Result<void> check_parameters(const BatchGetItemRequest& request) {
  for (const auto& [table, keys] : request.items) {
    if (keys.legacy) continue;
    STATOR_CHECK_OK(check_placeholders(keys.projection.has_value(), keys.names));
  }
  return {};
}

Result<void> validate(const BatchGetItemRequest& request) {
  STATOR_CHECK_OK(check_request_items(request.items.empty(), "BatchGetItem"));
  STATOR_CHECK_OK(check_constraints(request));
  std::size_t count = 0;
  for (const auto& [table, keys] : request.items) count += keys.keys.size();
  if (count > kBatchGetMax) return fail(Code::kValidation, messages::kTooManyGets);
  STATOR_CHECK_OK(check_parameters(request));
  for (const auto& [table, keys] : request.items) {
    for (const Item& key : keys.keys) STATOR_CHECK_OK(check_attributes(key));
  }
  return {};
}

Result<void> validate(const BatchWriteItemRequest& request) {
  STATOR_CHECK_OK(check_request_items(request.items.empty(), "BatchWriteItem"));
  STATOR_CHECK_OK(check_constraints(request));
  std::size_t count = 0;
  for (const auto& [table, requests] : request.items) count += requests.size();
  if (count > kBatchWriteMax) return fail(Code::kValidation, messages::kTooManyWrites);
  for (const auto& [table, requests] : request.items) {
    for (const WriteRequest& write : requests) STATOR_CHECK_OK(check_write(write));
  }
  return {};
}

Result<void> validate(const TransactWriteItemsRequest& request) {
  STATOR_CHECK_OK(check_not_empty(request.items.empty(), "transactItems", "[]"));
  STATOR_CHECK_OK(check_constraints(request));
  for (const TransactWriteItem& action : request.items) {
    if (action.update && action.action != TransactAction::kUpdate) {
      return invalid(messages::kUpdateOfOtherAction);
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
    STATOR_CHECK_OK(check_placeholders(get.projection.has_value(), get.names));
    STATOR_CHECK_OK(check_attributes(get.key));
  }
  return {};
}

}  // namespace stator
