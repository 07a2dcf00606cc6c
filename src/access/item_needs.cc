// SPDX-License-Identifier: Apache-2.0
// Single items, ranges, batches and transactions.
#include "access/gather.h"
#include "api/model/enums.h"
#include "api/model/layer.h"
#include "engine/items/request_expressions.h"
#include "expression/binder.h"
#include "expression/parser.h"

namespace stator::access {
namespace {

using policy::Key;
using PartitionKey = std::optional<std::string>;

// The expressions of a request: their trees name attributes, a key condition names leading keys.
class Expressions {
 public:
  // `of` contains the names, and the values if it can have any.
  template <class Request>
  Expressions(const Needs& needs, Need& need, const Request& of, Layer layer = kLayerOf<Request>)
      : wanted_(needs.wants(Key::kAttributes)), need_(need), names_(of.names), layer_(layer) {
    if constexpr (requires { of.values; }) values_ = &of.values;
    if constexpr (requires { of.legacy; }) legacy_ = of.legacy;
  }

  Result<void> add_condition(std::string_view parameter, const std::optional<std::string>& text) {
    return add(parameter, text, [&](const std::string& given) {
      return expression::parse_condition(given, limits());
    });
  }
  Result<void> add_update(const std::optional<std::string>& text) {
    return add("UpdateExpression", text,
               [&](const std::string& given) { return expression::parse_update(given, limits()); });
  }
  Result<void> add_projection(const std::optional<std::string>& text) {
    return add("ProjectionExpression", text, [&](const std::string& given) {
      return expression::parse_projection(given, limits());
    });
  }
  Result<void> add_key_condition(const std::optional<std::string>& text,
                                 const PartitionKey& partition_key) {
    if (!text || !partition_key) return {};
    constexpr std::string_view kParameter = "KeyConditionExpression";
    STATOR_ASSIGN_OR_RETURN(Placeholders placeholders, checked());
    auto tree = expression::parse_condition(*text, limits());
    if (!tree) return expression::invalid(kParameter, std::move(tree).error());
    if (auto bound = expression::bind(*tree, placeholders); !bound) {
      return expression::invalid(kParameter, std::move(bound).error());
    }
    add_demanded_keys(need_, *partition_key, *tree);
    if (wanted_) add_attributes(need_, *tree);
    return {};
  }

 private:
  // The engine's limits and errors.
  ExpressionLimits limits() const { return limits_of(legacy_, layer_); }
  Result<Placeholders> checked() const {
    static const std::optional<Values> none;
    return checked_placeholders(names_, values_ == nullptr ? none : *values_, layer_);
  }

  template <class Parse>
  Result<void> add(std::string_view parameter, const std::optional<std::string>& text,
                   Parse parse) {
    if (!wanted_ || !text) return {};
    STATOR_ASSIGN_OR_RETURN(Placeholders placeholders, checked());
    auto tree = parse(*text);
    if (!tree) return expression::invalid(parameter, std::move(tree).error());
    if (auto bound = expression::bind(*tree, placeholders); !bound) {
      return expression::invalid(parameter, std::move(bound).error());
    }
    if constexpr (requires { tree->front().front(); }) {
      for (const expression::Path& path : *tree) add_attributes(need_, path);
    } else {
      add_attributes(need_, *tree);
    }
    return {};
  }

  const bool wanted_;
  Need& need_;
  const std::optional<Names>& names_;
  const std::optional<Values>* values_ = nullptr;  // null: the request cannot have any
  Layer layer_;
  bool legacy_ = false;
};

PartitionKey partition_key(const Needs& needs, std::string_view table,
                           const std::optional<std::string>& index = {}) {
  if (!needs.wants(Key::kLeadingKeys)) return std::nullopt;
  return needs.view().partition_key(table, index);
}

// An item, or a key.
void add_item(const Needs& needs, Need& need, const PartitionKey& partition_key, const Item& item) {
  add_leading_key(need, partition_key, item);
  if (needs.wants(Key::kAttributes)) add_attributes(need, item);
}

void add_capacity(Need& need, ReturnConsumedCapacity wanted) {
  need.context.return_consumed_capacity = wire::enum_name(wanted);
}

// An old item returned with a failed condition also counts as a return value.
void add_return_values(Need& need, ReturnValues wanted,
                       ReturnValuesOnConditionCheckFailure on_failure) {
  const bool returns_old = on_failure == ReturnValuesOnConditionCheckFailure::kAllOld;
  need.context.return_values = wire::enum_name(returns_old ? ReturnValues::kAllOld : wanted);
}

void add_select(Need& need, const std::optional<std::string>& projection,
                const std::optional<std::string>& index = {},
                const std::optional<Select>& wanted = {}) {
  const Select otherwise = projection ? Select::kSpecificAttributes
                           : index    ? Select::kAllProjectedAttributes
                                      : Select::kAllAttributes;
  need.context.select = wire::enum_name(wanted.value_or(otherwise));
}

template <class Request>
Result<void> gather_write(Needs& needs, std::string_view action, const Request& request,
                          const Item& item) {
  Need& need = needs.on_table(action, request.table);
  add_item(needs, need, partition_key(needs, request.table), item);
  add_capacity(need, request.return_capacity);
  add_return_values(need, request.return_values, request.on_condition_failure);
  Expressions expressions(needs, need, request);
  if constexpr (requires { request.update; }) {
    STATOR_RETURN_IF_ERROR(expressions.add_update(request.update));
  }
  STATOR_RETURN_IF_ERROR(expressions.add_condition("ConditionExpression", request.condition));
  // The values returned by a successful write; a failed condition can also return the old item.
  const bool returns_both =
      request.on_condition_failure == ReturnValuesOnConditionCheckFailure::kAllOld &&
      request.return_values != ReturnValues::kNone;
  if (returns_both) {
    needs.repeat(need).context.return_values = wire::enum_name(request.return_values);
  }
  return {};
}

template <class Request>
Result<void> gather_range(Needs& needs, Need& need, const Request& request,
                          Expressions& expressions) {
  add_capacity(need, request.return_capacity);
  add_select(need, request.projection, request.index, request.select);
  if (request.exclusive_start_key && needs.wants(Key::kAttributes)) {
    add_attributes(need, *request.exclusive_start_key);
  }
  STATOR_RETURN_IF_ERROR(expressions.add_condition("FilterExpression", request.filter));
  return expressions.add_projection(request.projection);
}

std::string_view action_of(TransactAction action) {
  switch (action) {
    case TransactAction::kConditionCheck:
      return "ConditionCheckItem";
    case TransactAction::kPut:
      return "PutItem";
    case TransactAction::kDelete:
      return "DeleteItem";
    case TransactAction::kUpdate:
      return "UpdateItem";
  }
  return "";
}

}  // namespace

Result<void> gather(Needs& needs, const GetItemRequest& request) {
  Need& need = needs.on_table("GetItem", request.table);
  add_item(needs, need, partition_key(needs, request.table), request.key);
  add_capacity(need, request.return_capacity);
  add_select(need, request.projection);
  return Expressions(needs, need, request).add_projection(request.projection);
}

Result<void> gather(Needs& needs, const PutItemRequest& request) {
  return gather_write(needs, "PutItem", request, request.item);
}

Result<void> gather(Needs& needs, const UpdateItemRequest& request) {
  return gather_write(needs, "UpdateItem", request, request.key);
}

Result<void> gather(Needs& needs, const DeleteItemRequest& request) {
  return gather_write(needs, "DeleteItem", request, request.key);
}

Result<void> gather(Needs& needs, const QueryRequest& request) {
  Need& need = needs.on_index("Query", request.table, request.index);
  Expressions expressions(needs, need, request);
  const PartitionKey key = partition_key(needs, request.table, request.index);
  STATOR_RETURN_IF_ERROR(expressions.add_key_condition(request.key_condition, key));
  if (!key) {
    STATOR_RETURN_IF_ERROR(
        expressions.add_condition("KeyConditionExpression", request.key_condition));
  }
  return gather_range(needs, need, request, expressions);
}

Result<void> gather(Needs& needs, const ScanRequest& request) {
  Need& need = needs.on_index("Scan", request.table, request.index);
  Expressions expressions(needs, need, request);
  return gather_range(needs, need, request, expressions);
}

// This operation has no values of DynamoDB's condition keys. A statement that requires one does not
// allow it.
Result<void> gather(Needs& needs, const SearchVectorsRequest& request) {
  needs.on_index("SearchVectors", request.table, request.index);
  return {};
}

Result<void> gather(Needs& needs, const BatchGetItemRequest& request) {
  for (const auto& [table, wanted] : request.items) {
    Need& need = needs.on_table("BatchGetItem", table);
    const PartitionKey key_name = partition_key(needs, table);
    for (const Item& key : wanted.keys) add_item(needs, need, key_name, key);
    add_capacity(need, request.return_capacity);
    add_select(need, wanted.projection);
    STATOR_RETURN_IF_ERROR(
        Expressions(needs, need, wanted, Layer::kCurrent).add_projection(wanted.projection));
  }
  return {};
}

Result<void> gather(Needs& needs, const BatchWriteItemRequest& request) {
  for (const auto& [table, writes] : request.items) {
    Need& need = needs.on_table("BatchWriteItem", table);
    const PartitionKey key_name = partition_key(needs, table);
    for (const WriteRequest& write : writes) {
      if (write.put) add_item(needs, need, key_name, *write.put);
      if (write.delete_key) add_item(needs, need, key_name, *write.delete_key);
    }
    add_capacity(need, request.return_capacity);
  }
  return {};
}

Result<void> gather(Needs& needs, const TransactGetItemsRequest& request) {
  for (const TransactGetItem& item : request.items) {
    Need& need = needs.on_table("GetItem", item.table);
    need.context.enclosing_operation = "TransactGetItems";
    add_item(needs, need, partition_key(needs, item.table), item.key);
    add_capacity(need, request.return_capacity);
    add_select(need, item.projection);
    STATOR_RETURN_IF_ERROR(Expressions(needs, need, item).add_projection(item.projection));
  }
  return {};
}

Result<void> gather(Needs& needs, const TransactWriteItemsRequest& request) {
  for (const TransactWriteItem& item : request.items) {
    Need& need = needs.on_table(action_of(item.action), item.table);
    need.context.enclosing_operation = "TransactWriteItems";
    add_item(needs, need, partition_key(needs, item.table), item.item);
    add_capacity(need, request.return_capacity);
    add_return_values(need, ReturnValues::kNone, item.on_condition_failure);
    Expressions expressions(needs, need, item);
    STATOR_RETURN_IF_ERROR(expressions.add_update(item.update));
    STATOR_RETURN_IF_ERROR(expressions.add_condition("ConditionExpression", item.condition));
  }
  return {};
}

}  // namespace stator::access
