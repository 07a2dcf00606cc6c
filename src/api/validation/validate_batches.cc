// SPDX-License-Identifier: Apache-2.0
// Batches and transactions.
#include <algorithm>

#include "api/model/messages.h"
#include "api/validation/attribute_check.h"
#include "api/validation/validate.h"
#include "api/validation/validate_rules.h"
#include "expression/expression.h"
#include "fmt/format.h"

namespace stator {
namespace {

constexpr std::size_t kBatchGetMax = 100;
constexpr std::size_t kBatchWriteMax = 25;
constexpr std::size_t kTransactionMax = 100;
constexpr std::size_t kTokenCharactersMax = 36;

// Table names are the keys of a batch's map. The message quotes only the key.
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

Result<void> check_action(const TransactWriteItem& action) {
  if (action.update && action.action != TransactAction::kUpdate) {
    return invalid(messages::kUpdateOfOtherAction);
  }
  STATOR_RETURN_IF_ERROR(check_placeholders(action.condition || action.update, action.names,
                                            action.values, "ConditionExpression is null"));
  return check_attributes(action.item);
}

Result<void> check_expressions_of(const TransactWriteItem& action) {
  STATOR_RETURN_IF_ERROR(check_action(action));
  if (!action.update && !action.condition) return {};
  constexpr ExpressionLimits kLimits = ExpressionLimits::kEnforcedWithSize;
  Placeholders placeholders(action.names ? &*action.names : nullptr,
                            action.values ? &*action.values : nullptr);
  STATOR_RETURN_IF_ERROR(placeholders.validate());
  if (action.update) STATOR_RETURN_IF_ERROR(Update::parse(*action.update, placeholders, kLimits));
  if (action.condition) {
    STATOR_RETURN_IF_ERROR(
        Condition::parse(*action.condition, ConditionRole::kCondition, placeholders, kLimits));
  }
  return placeholders.check_all_used();
}

}  // namespace

Result<void> check_expressions(const TransactWriteItemsRequest& request, std::size_t actions) {
  for (std::size_t i = 0; i < actions; ++i) {
    STATOR_RETURN_IF_ERROR(check_expressions_of(request.items[i]));
  }
  return {};
}

// Another layer than for BatchWriteItem's requests counts the keys, with other messages.
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

// Table names are checked only if no other constraint is violated.
void add_constraints(const BatchWriteItemRequest& request, Constraints& constraints) {
  const bool judges_names = constraints.empty();
  for (const auto& [table, requests] : request.items) {
    if (judges_names) add_table_key(table, constraints);
    if (!requests.empty() && requests.size() <= kBatchWriteMax) continue;
    constraints.violated(fmt::format("{{{}=[{}]}}", table, requests.empty() ? "" : "..."),
                         "requestItems", fmt::format(messages::kBatchedWrites, kBatchWriteMax));
  }
}

void add_constraints(const TransactWriteItemsRequest& request, Constraints& constraints) {
  if (request.client_request_token) {
    constraints.length(*request.client_request_token, "clientRequestToken", 1, kTokenCharactersMax);
  }
  constraints.count(request.items.size(), "transactItems", 1, kTransactionMax,
                    request.items.empty() ? "[]" : "[...]");
  std::size_t place = 0;
  for (const TransactWriteItem& action : request.items) {
    add_action(action, ++place, constraints);
  }
}

void add_constraints(const TransactGetItemsRequest& request, Constraints& constraints) {
  constraints.count(request.items.size(), "transactItems", 1, kTransactionMax,
                    request.items.empty() ? "[]" : "[...]");
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
  const auto uses_legacy = [](const auto& entry) { return entry.second.legacy; };
  const auto uses_expression = [](const auto& entry) {
    return !entry.second.legacy && entry.second.projection;
  };
  if (std::ranges::any_of(request.items, uses_legacy) &&
      std::ranges::any_of(request.items, uses_expression)) {
    return fail(Code::kValidation,
                fmt::format(messages::kMixedParameters, "AttributesToGet", "ProjectionExpression"));
  }
  for (const auto& [table, keys] : request.items) {
    if (keys.legacy) continue;
    STATOR_RETURN_IF_ERROR(check_placeholders(keys.projection.has_value(), keys.names));
  }
  return {};
}

Result<void> validate(const BatchGetItemRequest& request) {
  if (request.items.empty()) {
    Constraints constraints;
    constraints.violated_unquoted("RequestItems", fmt::format(messages::kLengthAtLeast, 1));
    return constraints.result();
  }
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  std::size_t count = 0;
  for (const auto& [table, keys] : request.items) count += keys.keys.size();
  if (count > kBatchGetMax) return fail(Code::kValidation, messages::kTooManyGets);
  STATOR_RETURN_IF_ERROR(check_parameters(request));
  for (const auto& [table, keys] : request.items) {
    for (const Item& key : keys.keys)
      STATOR_RETURN_IF_ERROR(check_attributes(key, Layer::kCurrent));
  }
  return {};
}

Result<void> validate(const BatchWriteItemRequest& request) {
  if (request.items.empty()) return fail(Code::kValidation, messages::kRequestItemsRequired);
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  std::size_t count = 0;
  for (const auto& [table, requests] : request.items) count += requests.size();
  if (count > kBatchWriteMax) return fail(Code::kValidation, messages::kTooManyWrites);
  for (const auto& [table, requests] : request.items) {
    for (const WriteRequest& write : requests) STATOR_RETURN_IF_ERROR(check_write(write));
  }
  return {};
}

Result<void> validate(const TransactWriteItemsRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  for (std::size_t i = 0; i < request.items.size(); ++i) {
    if (auto checked = check_action(request.items[i]); !checked) {
      STATOR_RETURN_IF_ERROR(check_expressions(request, i));
      return checked;
    }
  }
  return {};
}

Result<void> validate(const TransactGetItemsRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  for (const TransactGetItem& get : request.items) {
    STATOR_RETURN_IF_ERROR(check_placeholders(get.projection.has_value(), get.names));
    STATOR_RETURN_IF_ERROR(check_attributes(get.key));
  }
  return {};
}

}  // namespace stator
