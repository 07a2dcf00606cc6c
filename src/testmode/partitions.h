// SPDX-License-Identifier: Apache-2.0
// Partition: a partition key value that a request names, of a table or a global index.
//
// A key names the partition of its table, a query that of its table or index. A put item also names
// the partitions of the global indexes that contain it; updates and deletions do not. Scans and
// vector searches name none.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/query/range_plan.h"
#include "stator/client.h"

namespace stator::testmode {

struct Partition {
  std::string table;
  std::string index;     // empty: the table
  std::size_t part = 0;  // the number of the batch's item
  std::string rows;      // prefix of its rows' keys; unique among all tables
};

class PartitionList {
 public:
  explicit PartitionList(const CatalogSnapshot& tables) : tables_(tables) {}

  // Each adds nothing if the table does not exist. For an invalid request, the result is
  // unspecified.
  void add_key(std::string_view table, const Item& key);
  void add_put(std::string_view table, const Item& item);
  void add_query(const QueryRequest& query);
  void add_statement(std::string_view text,
                     const std::optional<std::vector<AttributeValue>>& parameters);
  void end_part() { ++part_; }

  std::vector<Partition> take() { return std::move(partitions_); }

 private:
  void add(const Table& table, std::string_view index, const KeyShape& shape, const Item& key);
  void add_range(const RangePlan& plan);

  const CatalogSnapshot& tables_;
  std::size_t part_ = 0;
  std::vector<Partition> partitions_;
};

template <class Request>
std::vector<Partition> partitions_of(const CatalogSnapshot& tables, const Request& request) {
  PartitionList list(tables);
  if constexpr (std::is_same_v<Request, BatchWriteItemRequest>) {
    for (const auto& [table, writes] : request.items) {
      for (const WriteRequest& write : writes) {
        if (write.put) list.add_put(table, *write.put);
        if (write.delete_key) list.add_key(table, *write.delete_key);
        list.end_part();
      }
    }
  } else if constexpr (std::is_same_v<Request, BatchGetItemRequest>) {
    for (const auto& [table, wanted] : request.items) {
      for (const Item& key : wanted.keys) {
        list.add_key(table, key);
        list.end_part();
      }
    }
  } else if constexpr (std::is_same_v<Request, TransactWriteItemsRequest>) {
    for (const TransactWriteItem& item : request.items) {
      const bool puts = item.action == TransactAction::kPut;
      puts ? list.add_put(item.table, item.item) : list.add_key(item.table, item.item);
    }
  } else if constexpr (std::is_same_v<Request, TransactGetItemsRequest>) {
    for (const TransactGetItem& item : request.items) list.add_key(item.table, item.key);
  } else if constexpr (std::is_same_v<Request, QueryRequest>) {
    list.add_query(request);
  } else if constexpr (requires { request.statements; }) {
    for (const auto& one : request.statements) list.add_statement(one.statement, one.parameters);
  } else if constexpr (requires { request.statement; }) {
    list.add_statement(request.statement, request.parameters);
  } else if constexpr (std::is_same_v<Request, PutItemRequest>) {
    list.add_put(request.table, request.item);
  } else if constexpr (requires { request.key.begin()->second; }) {
    list.add_key(request.table, request.key);
  }
  return list.take();
}

}  // namespace stator::testmode
