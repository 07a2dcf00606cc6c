// SPDX-License-Identifier: Apache-2.0
// The condition of a write is the whole WHERE clause, including the key. It is false if the item
// does not exist, so UPDATE never creates an item. A DELETE of an absent item succeeds.
#include "engine/query/statement_actions.h"

#include <utility>

#include "engine/errors/messages.h"
#include "engine/items/item_engine.h"
#include "engine/items/item_limits.h"
#include "engine/items/key_checks.h"
#include "engine/query/statement_plan.h"

namespace stator {
namespace {

using expression::Comparator;
using expression::ConditionKind;
using expression::ConditionNode;
using expression::Operand;
using expression::OperandKind;

void gather(const ConditionNode& node, std::vector<const ConditionNode*>& parts) {
  if (node.kind != ConditionKind::kAnd) {
    parts.push_back(&node);
    return;
  }
  for (const ConditionNode& child : node.children) gather(child, parts);
}

Result<void> check_item_keys(const KeyShape& shape, const Item& item) {
  for (const auto* attributes : {&shape.hash, &shape.range}) {
    for (const AttributeDefinition& attribute : *attributes) {
      const auto found = item.find(attribute.name);
      if (found == item.end()) {
        return fail(Code::kValidation, messages::statement_key_missing(attribute.name));
      }
      if (found->second.type() != attribute_type(attribute.type)) {
        return fail(Code::kValidation, messages::statement_key_type(attribute.name));
      }
    }
  }
  return {};
}

// True if the condition is true or the item does not exist.
ConditionNode or_absent(ConditionNode where, const std::string& key_attribute) {
  ConditionNode absent{.kind = ConditionKind::kAttributeNotExists};
  absent.operands.push_back(
      {.kind = OperandKind::kPath, .path = {expression::PathName{key_attribute}}});
  ConditionNode either{.kind = ConditionKind::kOr};
  either.children.push_back(std::move(where));
  either.children.push_back(std::move(absent));
  return either;
}

Result<StatementWrite> insertion(WriteAction action, Item item) {
  action.action = TransactAction::kPut;
  action.inserts = true;
  action.item = encode_item(item);
  STATOR_RETURN_IF_ERROR(check_item_keys(action.table->key(), item));
  if (item_size_bytes(ItemView(action.item)) > kItemBytesMax) {
    return fail(Code::kValidation, messages::kItemTooLarge);
  }
  return StatementWrite{.action = std::move(action), .item = std::move(item)};
}

bool is_table_name(std::string_view name) {
  return name.size() >= 3 && name.size() <= 255 &&
         name.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
             std::string_view::npos;
}

}  // namespace

Result<TablePtr> find_statement_table(const CatalogSnapshot& snapshot, std::string_view name) {
  constexpr std::string_view kTable = ":table/";
  if (name.starts_with("arn:")) {
    const std::size_t at = name.find(kTable);
    if (at != std::string_view::npos) name.remove_prefix(at + kTable.size());
  }
  if (!is_table_name(name)) return fail(Code::kValidation, messages::kTableName);
  return find_table(snapshot, name);
}

std::vector<const ConditionNode*> conjuncts(const ConditionNode& node) {
  std::vector<const ConditionNode*> parts;
  gather(node, parts);
  return parts;
}

const AttributeValue* equal_to(const ConditionNode& node, std::string_view attribute) {
  if (node.kind != ConditionKind::kCompare || node.comparator != Comparator::kEqual) return nullptr;
  const Operand& left = node.operands[0];
  const Operand& right = node.operands[1];
  if (is_attribute(left, attribute) && right.kind == OperandKind::kValue) return &right.value;
  if (is_attribute(right, attribute) && left.kind == OperandKind::kValue) return &left.value;
  return nullptr;
}

namespace {

// Like wanted_key(), without the checks of the key's size.
Result<std::optional<WantedKey>> named_key(const KeyShape& shape,
                                           const std::optional<ConditionNode>& where) {
  if (!where) return std::nullopt;
  WantedKey wanted;
  const auto parts = conjuncts(*where);
  std::size_t used = 0;
  for (const auto* attributes : {&shape.hash, &shape.range}) {
    for (const AttributeDefinition& attribute : *attributes) {
      const AttributeValue* value = nullptr;
      for (const ConditionNode* part : parts) {
        const AttributeValue* equal = equal_to(*part, attribute.name);
        if (equal == nullptr) continue;
        ++used;
        if (value != nullptr && !(*value == *equal)) {
          return fail(Code::kValidation, messages::statement_key_twice(attribute.name));
        }
        value = equal;
      }
      if (value == nullptr) return std::nullopt;
      if (value->type() != attribute_type(attribute.type)) {
        return fail(Code::kValidation, messages::statement_key_type(attribute.name));
      }
      wanted.key.emplace(attribute.name, *value);
    }
  }
  wanted.nothing_else = used == parts.size();
  return wanted;
}

}  // namespace

Result<std::optional<WantedKey>> wanted_key(const KeyShape& shape,
                                            const std::optional<ConditionNode>& where) {
  auto named = named_key(shape, where);
  if (named && *named) STATOR_RETURN_IF_ERROR(check_key(shape, (*named)->key));
  return named;
}

Result<StatementWrite> statement_write(TablePtr table, partiql::Plan plan,
                                       ReturnValuesOnConditionCheckFailure on_condition_failure) {
  WriteAction action{.table = std::move(table)};
  action.return_old_on_failure =
      on_condition_failure == ReturnValuesOnConditionCheckFailure::kAllOld;
  if (plan.kind == partiql::StatementKind::kInsert) {
    return insertion(std::move(action), std::move(plan.item));
  }
  STATOR_ASSIGN_OR_RETURN(auto wanted, named_key(action.table->key(), plan.where));
  if (!wanted) return fail(Code::kValidation, messages::kWhereLacksKey);
  switch (plan.kind) {
    case partiql::StatementKind::kUpdate:
      action.action = TransactAction::kUpdate;
      action.update = Update::of(std::move(plan.update));
      break;
    case partiql::StatementKind::kDelete:
      action.action = TransactAction::kDelete;
      plan.where = or_absent(std::move(*plan.where), action.table->key().hash[0].name);
      break;
    default:
      action.action = TransactAction::kConditionCheck;
      break;
  }
  action.condition = Condition::of(std::move(*plan.where));
  return StatementWrite{.action = std::move(action), .item = std::move(wanted->key)};
}

Result<WriteAction> checked_action(StatementWrite write) {
  WriteAction& action = write.action;
  if (action.condition) {
    STATOR_RETURN_IF_ERROR(check_key(action.table->key(), write.item));
    STATOR_RETURN_IF_ERROR(check_condition(action));
  }
  STATOR_RETURN_IF_ERROR(check_write(action, write.item));
  return std::move(action);
}

Result<WriteAction> statement_action(TablePtr table, partiql::Plan plan,
                                     ReturnValuesOnConditionCheckFailure on_condition_failure) {
  STATOR_ASSIGN_OR_RETURN(StatementWrite write,
                          statement_write(std::move(table), std::move(plan), on_condition_failure));
  return checked_action(std::move(write));
}

std::optional<EncodedItem> returning_item(ReturnValues wanted, const WriteAction& action,
                                          const WriteEffect& effect) {
  const bool fresh = wanted == ReturnValues::kAllNew || wanted == ReturnValues::kUpdatedNew;
  const std::optional<EncodedItem>& image = fresh ? effect.updated : effect.before;
  if (wanted == ReturnValues::kNone || !image) return std::nullopt;
  if (wanted == ReturnValues::kAllOld || wanted == ReturnValues::kAllNew) return image;
  if (!action.update) return std::nullopt;
  EncodedItem part = action.update->updated_part(ItemView(*image));
  if (ItemView(part).attribute_count() == 0) return std::nullopt;
  return part;
}

}  // namespace stator
