// SPDX-License-Identifier: Apache-2.0
// RangePlan: a validated Query or Scan as ranges of rows.
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
  KeyRange range;                // the rows to examine, after the start key
  Direction direction = Direction::kForward;
  Item hash = {};  // of a query: the requested partition key; empty for a scan
  struct Part {
    KeyRange range;
    Item hash;
  };
  std::vector<Part> more = {};  // read after the first range, in this order
  std::optional<std::size_t> limit = {};
  std::optional<Condition> filter = {};
  std::optional<ProjectionExpression> projection = {};
  bool fetches_items = false;  // reads items of the table for attributes that a local index lacks
  bool count_only = false;
  bool consistent = false;

  const KeyShape& shape() const { return index ? index->key : table->key(); }
};

// The rows with the prefix `prefix` (a partition, or a part of one) that a condition on the next
// sort key attribute selects.
KeyRange range_within(const std::string& prefix, const KeyCondition::Range& condition);
// The row key of a start key, which must contain exactly the keys of the table and of the index.
Result<std::string> start_row(const RangePlan& plan, const Item& start_key);

// Errors: kValidation with DynamoDB's message.
Result<RangePlan> plan_query(const Table& table, const QueryRequest& request);
Result<RangePlan> plan_scan(const Table& table, const ScanRequest& request);

// Checks the parts of a request's expressions that do not depend on the table. DynamoDB reports
// these errors before it looks for the table and the index.
Result<void> check_expressions(const QueryRequest& request);
Result<void> check_expressions(const ScanRequest& request);

}  // namespace stator
