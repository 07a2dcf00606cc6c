// SPDX-License-Identifier: Apache-2.0
// RangePlan: a Query or Scan, checked and turned into a range of rows.
//
// A plan borrows its request and its table; both must outlive it.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "engine/table.h"
#include "expression/expression.h"
#include "stator/requests.h"
#include "storage/store.h"

namespace stator {

struct RangePlan {
  const Table* table = nullptr;
  const Index* index = nullptr;  // null: the table itself
  KeyRange range;                // of rows still to examine, the start key already applied
  Direction direction = Direction::kForward;
  Item hash = {};  // of a query: the partition key asked for; empty for a scan
  std::optional<std::size_t> limit = {};
  std::optional<Condition> filter = {};
  std::optional<ProjectionExpression> projection = {};
  bool fetches_items = false;  // from the table, for what a local index does not hold
  bool count_only = false;
  bool consistent = false;

  const KeyShape& shape() const { return index ? index->key : table->key(); }
  bool empty() const { return !range.end.empty() && range.begin >= range.end; }
};

// kValidation with the service's text.
Result<RangePlan> plan_query(const Table& table, const QueryRequest& request);
Result<RangePlan> plan_scan(const Table& table, const ScanRequest& request);

// What is wrong with a request's expressions whatever the table, which the service finds before it
// looks for the table and the index.
Result<void> check_expressions(const QueryRequest& request);
Result<void> check_expressions(const ScanRequest& request);

}  // namespace stator
