// SPDX-License-Identifier: Apache-2.0
#include "testmode/partitions.h"

#include "engine/query/statement_actions.h"
#include "engine/query/statement_plan.h"
#include "partiql/planner.h"

namespace stator::testmode {

void PartitionList::add(const Table& table, std::string_view index, const KeyShape& shape,
                        const Item& key) {
  partitions_.push_back(
      {.table = table.name(),
       .index = std::string(index),
       .part = part_,
       .rows = item_row_key(table.secret(), shape, key).substr(0, kPartitionBytes)});
}

void PartitionList::add_range(const RangePlan& plan) {
  const bool is_global = plan.index != nullptr && !plan.index->local;
  const auto add_partition = [&](const Item& hash) {
    if (hash.empty()) return;
    if (is_global) {
      add(*plan.table, plan.index->definition.name, plan.index->key, hash);
    } else {
      add(*plan.table, "", plan.table->key(), hash);
    }
  };
  add_partition(plan.hash);
  for (const RangePlan::Part& part : plan.more) add_partition(part.hash);
}

void PartitionList::add_key(std::string_view table, const Item& key) {
  const TablePtr* const found = tables_.find(table);
  if (found != nullptr) add(**found, "", (*found)->key(), key);
}

void PartitionList::add_put(std::string_view table, const Item& item) {
  const TablePtr* const found = tables_.find(table);
  if (found == nullptr) return;
  const Table& to = **found;
  add(to, "", to.key(), item);
  for (const Index& index : to.indexes()) {
    if (index.local || !index_row_key(to.secret(), to.key(), index.key, item)) continue;
    add(to, index.definition.name, index.key, item);
  }
}

void PartitionList::add_query(const QueryRequest& query) {
  const TablePtr* const table = tables_.find(query.table);
  if (table == nullptr) return;
  if (const auto plan = plan_query(**table, query)) add_range(*plan);
}

void PartitionList::add_statement(std::string_view text,
                                  const std::optional<std::vector<AttributeValue>>& parameters) {
  static const std::vector<AttributeValue> none;
  auto plan = partiql::plan(text, parameters ? *parameters : none);
  if (!plan) return;
  if (plan->kind == partiql::StatementKind::kInsert) return add_put(plan->table, plan->item);
  const TablePtr* const table = tables_.find(plan->table);
  if (table == nullptr) return;
  if (plan->reads()) {
    if (const auto range = plan_select(**table, std::move(*plan), {})) add_range(*range);
  } else if (const auto wanted = wanted_key((*table)->key(), plan->where); wanted && *wanted) {
    add(**table, "", (*table)->key(), (*wanted)->key);
  }
}

}  // namespace stator::testmode
