// SPDX-License-Identifier: Apache-2.0
// RangePlan: a Query or Scan, checked and turned into a range of rows.
//
// A plan borrows its request and its table; both must outlive it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/catalog/table.h"
#include "expression/expression.h"
#include "stator/requests.h"
#include "storage/transact_store.h"

namespace stator {

struct RangePlan {
  const Table* table = nullptr;
  const Index* index = nullptr;  // null: the table itself
  KeyRange range;                // of rows still to examine, the start key already applied
  Direction direction = Direction::kForward;
  Item hash = {};  // of a query: the partition key asked for; empty for a scan
  struct Part {
    KeyRange range;
    Item hash;
  };
  std::vector<Part> more = {};  // read after the first range, in this order
  std::optional<std::size_t> limit = {};
  std::optional<Condition> filter = {};
  std::optional<ProjectionExpression> projection = {};
  bool fetches_items = false;  // from the table, for what a local index does not hold
  bool count_only = false;
  bool consistent = false;

  const KeyShape& shape() const { return index ? index->key : table->key(); }
};

// The rows of a partition, or of what `prefix` leads to in one, that a condition on the next sort
// key attribute selects.
KeyRange range_within(const std::string& prefix, const KeyCondition::Range& condition);
// The row key of a start key, which must hold the keys of the table and of the index, no more.
Result<std::string> start_row(const RangePlan& plan, const Item& start_key);

// kValidation with the service's text.
Result<RangePlan> plan_query(const Table& table, const QueryRequest& request);
Result<RangePlan> plan_scan(const Table& table, const ScanRequest& request);

// What is wrong with a request's expressions whatever the table, which the service finds before it
// looks for the table and the index.
Result<void> check_expressions(const QueryRequest& request);
Result<void> check_expressions(const ScanRequest& request);

}  // namespace stator
