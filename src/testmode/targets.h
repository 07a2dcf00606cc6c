// SPDX-License-Identifier: Apache-2.0
// Target: the parts of a request that rules match.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "api/model/table_name.h"
#include "partiql/planner.h"
#include "stator/client.h"
#include "testmode/partitions.h"

namespace stator::testmode {

// The name in a table's ARN, or the text itself.
inline std::string table_name(std::string_view text) {
  const std::string_view name = table_name_in(text);
  return std::string(name.substr(0, name.find('/')));
}

struct Target {
  std::string_view operation;
  // In the order of the request; empty for streams. For an administrative request, only TableName.
  std::vector<std::string> tables = {};
  std::string index = {};  // of a Query, Scan, SearchVectors or SELECT; empty: none
  std::size_t parts = 0;   // items of a batch, actions or statements of a transaction
  bool reads = false;      // reads data and writes none
  struct OfTable {
    std::size_t parts = 0;
    double part_units = 1;  // minimum for each part
  };
  std::vector<OfTable> batch = {};         // a batch's part of each of `tables`; empty: not a batch
  std::vector<Partition> partitions = {};  // if the rules count units
};

inline void add_statement(std::string_view statement, const std::vector<AttributeValue>* parameters,
                          Target& target) {
  static const std::vector<AttributeValue> none;
  const auto plan = partiql::plan(statement, parameters == nullptr ? none : *parameters);
  if (!plan) return;
  target.tables.push_back(table_name(plan->table));
  target.reads = plan->reads();
  target.index = plan->index.value_or("");
}

template <class Request>
Target target_of(std::string_view operation, const Request& request) {
  Target target{.operation = operation};
  const auto add = [&](std::string_view table) { target.tables.push_back(table_name(table)); };
  const auto add_part = [&](const auto& part) {
    add_statement(part.statement, part.parameters ? &*part.parameters : nullptr, target);
  };
  if constexpr (std::is_same_v<Request, Item>) {
    const auto name = request.find("TableName");
    const auto* text =
        name == request.end() ? nullptr : name->second.template get_if<std::string>();
    if (text != nullptr) add(*text);
  } else if constexpr (requires { request.items.begin()->first; }) {  // a batch
    for (const auto& [table, part] : request.items) {
      add(table);
      if constexpr (requires { part.keys; }) {
        target.batch.push_back({part.keys.size(), part.consistent_read ? 1 : 0.5});
      } else {
        target.batch.push_back({part.size()});
      }
      target.parts += target.batch.back().parts;
    }
  } else if constexpr (requires { request.items.front().table; }) {  // a transaction
    for (const auto& item : request.items) add(item.table);
    target.parts = request.items.size();
  } else if constexpr (requires { request.statements.front(); }) {
    for (const auto& statement : request.statements) add_part(statement);
    target.parts = request.statements.size();
  } else if constexpr (requires { request.statement; }) {
    add_part(request);
  } else if constexpr (requires { std::string_view(request.table); }) {
    add(request.table);
  }
  if constexpr (requires { std::string_view(request.index); }) {
    target.index = request.index;
  } else if constexpr (requires { std::string_view(*request.index); }) {
    target.index = request.index.value_or("");
  }
  target.reads = target.reads || operation.starts_with("Get") || operation == "BatchGetItem" ||
                 operation == "Query" || operation == "Scan" || operation == "SearchVectors" ||
                 operation == "TransactGetItems";
  return target;
}

}  // namespace stator::testmode
