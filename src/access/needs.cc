// SPDX-License-Identifier: Apache-2.0
#include "access/needs.h"

#include <algorithm>

#include "api/model/base64.h"
#include "api/model/table_name.h"
#include "engine/query/statement_actions.h"
#include "expression/paths.h"

namespace stator::access {
namespace {

using expression::ConditionNode;
using expression::Operand;

constexpr std::string_view kTable = "table/";
constexpr std::size_t kKeyBytesMax = 2048;  // no item has a longer key; the rest is not matched

void add_operand(Need& need, const Operand& operand) {
  // The operand of a REMOVE has no path.
  if (!operand.path.empty()) add_attributes(need, operand.path);
  for (const Operand& inner : operand.operands) add_operand(need, inner);
}

}  // namespace

bool Needs::complete() {
  bool known = true;
  for (Need& need : all_) {
    std::vector<std::string>& attributes = need.context.attributes;
    std::ranges::sort(attributes);
    const auto repeated = std::ranges::unique(attributes);
    attributes.erase(repeated.begin(), repeated.end());
    if (need.table.empty()) continue;
    need.policy = view_.resource_policy(need.table, need.rest);
    known = known && (!need.policy || (need.policy->keys() & ~wanted_).none());
  }
  return known;
}

Need& Needs::on_resource(std::string_view action, std::string arn) {
  return all_.emplace_back(Need{.context = {.caller = caller_,
                                            .action = std::string("dynamodb:").append(action),
                                            .resource = std::move(arn)}});
}

Need& Needs::repeat(const Need& need) {
  return all_.emplace_back(need);
}

Need& Needs::anywhere(std::string_view action) {
  return on_resource(action, "*");
}

std::string Needs::arn(std::string_view resource) const {
  std::string text = "arn:aws:dynamodb:";
  return text.append(view_.region())
      .append(":")
      .append(view_.account())
      .append(":")
      .append(resource);
}

Need& Needs::on_table(std::string_view action, std::string_view name, std::string_view rest) {
  const std::string_view table = table_name_in(name);
  Need& need = on_resource(action, arn(std::string(kTable).append(table).append(rest)));
  need.table = table;
  if (rest.starts_with("/stream/")) need.rest = rest;
  return need;
}

Need& Needs::on_index(std::string_view action, std::string_view table,
                      const std::optional<std::string>& index) {
  return on_table(action, table, index ? "/index/" + *index : "");
}

// The resource follows the fifth colon. The parts before it do not matter: the engine rejects other
// accounts and regions, and ignores the partition.
Need& Needs::on_table_arn(std::string_view action, std::string_view text) {
  constexpr int kColons = 5;
  std::string_view resource = text;
  for (int i = 0; i < kColons; ++i) {
    const std::size_t colon = resource.find(':');
    if (colon == resource.npos) return on_resource(action, std::string(text));
    resource.remove_prefix(colon + 1);
  }
  if (!resource.starts_with(kTable)) return on_resource(action, std::string(text));
  resource.remove_prefix(kTable.size());
  const std::size_t slash = std::min(resource.find('/'), resource.size());
  return on_table(action, resource.substr(0, slash), resource.substr(slash));
}

void add_leading_key(Need& need, const AttributeValue& value) {
  if (const auto* text = value.get_if<std::string>()) {
    need.context.leading_keys.push_back(text->substr(0, kKeyBytesMax + 1));
  } else if (const auto* number = value.get_if<Number>()) {
    need.context.leading_keys.push_back(number->to_string());
  } else if (const auto* binary = value.get_if<Binary>()) {
    need.context.leading_keys.push_back(wire::to_base64(binary->bytes.substr(0, kKeyBytesMax + 1)));
  }
}

void add_leading_key(Need& need, const std::optional<std::string>& partition_key,
                     const Item& item) {
  if (!partition_key) return;
  const auto found = item.find(*partition_key);
  if (found != item.end()) add_leading_key(need, found->second);
}

void add_demanded_keys(Need& need, std::string_view partition_key, const ConditionNode& condition) {
  for (const ConditionNode* part : conjuncts(condition)) {
    if (const AttributeValue* value = equal_to(*part, partition_key)) {
      add_leading_key(need, *value);
    }
  }
}

void add_attribute(Need& need, std::string_view name) {
  need.context.attributes.emplace_back(name);
}

void add_attributes(Need& need, const Item& item) {
  for (const auto& [name, value] : item) add_attribute(need, name);
}

void add_attributes(Need& need, const expression::Path& path) {
  add_attribute(need, expression::top_level_name(path));
}

void add_attributes(Need& need, const ConditionNode& condition) {
  for (const ConditionNode& child : condition.children) add_attributes(need, child);
  for (const Operand& operand : condition.operands) add_operand(need, operand);
}

void add_attributes(Need& need, const expression::UpdateTree& update) {
  for (const auto* actions : {&update.sets, &update.removes, &update.adds, &update.deletes}) {
    for (const expression::UpdateAction& action : *actions) {
      add_attributes(need, action.path);
      add_operand(need, action.operand);
    }
  }
}

}  // namespace stator::access
