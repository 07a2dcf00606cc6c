// SPDX-License-Identifier: Apache-2.0
// A request of any operation.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "api/wire/wire.h"
#include "stator/requests.h"

namespace stator::test {

using AnyRequest =
    std::variant<BatchGetItemRequest, BatchWriteItemRequest, CreateTableRequest, DeleteItemRequest,
                 DeleteTableRequest, DescribeTableRequest, GetItemRequest, ListTablesRequest,
                 PutItemRequest, QueryRequest, ScanRequest, TransactGetItemsRequest,
                 TransactWriteItemsRequest, UpdateItemRequest>;

inline std::string_view operation_of(const AnyRequest& request) {
  constexpr std::string_view kNames[] = {
      "BatchGetItem",  "BatchWriteItem",   "CreateTable",        "DeleteItem", "DeleteTable",
      "DescribeTable", "GetItem",          "ListTables",         "PutItem",    "Query",
      "Scan",          "TransactGetItems", "TransactWriteItems", "UpdateItem"};
  static_assert(std::size(kNames) == std::variant_size_v<AnyRequest>);
  return kNames[request.index()];
}

inline std::string to_json(const AnyRequest& request) {
  return std::visit([](const auto& typed) { return wire::to_json(typed); }, request);
}

}  // namespace stator::test
