// SPDX-License-Identifier: Apache-2.0
#include "cli/table_access.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>
#include <vector>

#include "api/model/enums.h"
#include "cli/command.h"
#include "cli/item_output.h"
#include "cli/key_arguments.h"
#include "stator/recipes/time.h"

namespace stator::cli {
namespace {

std::string projection_text(const Projection& projection) {
  if (projection.type == ProjectionType::kAll) return "all attributes";
  if (projection.type == ProjectionType::kKeysOnly) return "keys only";
  std::string text = "keys";
  for (const std::string& name : projection.non_key_attributes) text += ", " + name;
  return text;
}

std::string billing_text(const TableDescription& table) {
  if (table.billing_mode == BillingMode::kPayPerRequest) return "on demand";
  return fmt::format("provisioned: {} read units, {} write units per second", table.throughput.read,
                     table.throughput.write);
}

using Rows = std::vector<std::vector<std::string>>;

void add_indexes(const TableDescription& table, const std::vector<IndexDescription>& indexes,
                 const char* kind, Rows& rows) {
  for (const IndexDescription& index : indexes) {
    rows.push_back(
        {kind, fmt::format("{}: {}; {}; {} items, {}; {}", index.definition.name,
                           key_text(table, index.definition.key_schema),
                           projection_text(index.definition.projection), index.item_count,
                           size_text(index.size_bytes), wire::enum_name(index.status))});
  }
}

void add_vector_indexes(const TableDescription& table, Rows& rows) {
  for (const VectorIndexDescription& index : table.vector_indexes) {
    const VectorIndexDefinition& definition = index.definition;
    std::string text =
        fmt::format("{}: {} ({} dimensions, {})", definition.name, definition.vector_attribute,
                    definition.dimensions, wire::enum_name(definition.distance_function));
    for (const SearchSchemaElement& element : definition.search_schema) {
      text += fmt::format(", {} {}", element.name, wire::enum_name(element.type));
    }
    rows.push_back(
        {"vector index", fmt::format("{}; {}; {} items, {}; {}", text,
                                     projection_text(definition.projection), index.item_count,
                                     size_text(index.size_bytes), wire::enum_name(index.status))});
  }
}

}  // namespace

std::string size_text(int64_t bytes) {
  if (bytes < 1'000) return fmt::format("{} B", bytes);
  if (bytes < 1'000'000) return fmt::format("{:.1f} KB", static_cast<double>(bytes) / 1e3);
  if (bytes < 1'000'000'000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

int with_table(const EndpointFlags& where, const std::string& table,
               const std::function<int(Client&, const TableDescription&)>& action) {
  const auto client = open_client(where, Missing::kFail);
  if (!client) return report(client.error());
  const auto described = (*client)->describe_table({.table = table});
  if (!described) return report(described.error());
  return action(**client, described->table);
}

Result<void> for_each_table(Client& client, const std::function<void(const std::string&)>& visit) {
  ListTablesRequest request;
  do {
    STATOR_ASSIGN_OR_RETURN(ListTablesResult page, client.list_tables(request));
    for (const std::string& table : page.tables) visit(table);
    request.exclusive_start_table = std::move(page.last_evaluated_table);
  } while (request.exclusive_start_table);
  return {};
}

Result<KeySchema> key_schema_of(const TableDescription& table, const std::string& index) {
  if (index.empty()) return table.key_schema;
  for (const auto* indexes : {&table.global_indexes, &table.local_indexes}) {
    for (const IndexDescription& one : *indexes) {
      if (one.definition.name == index) return one.definition.key_schema;
    }
  }
  return fail(Code::kInvalidArgument,
              fmt::format("table '{}' does not have an index '{}'", table.table, index));
}

Item key_of(const KeySchema& schema, const Item& item) {
  Item key;
  for (const KeySchemaElement& element : schema) {
    if (const auto found = item.find(element.name); found != item.end()) key.insert(*found);
  }
  return key;
}

std::string table_text(const TableDescription& table) {
  const Time created =
      std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(table.created_ms));
  Rows rows = {{"table", table.table},
               {"status", std::string(wire::enum_name(table.status))},
               {"key", key_text(table, table.key_schema)},
               {"items", fmt::format("{}, {}", table.item_count, size_text(table.size_bytes))},
               {"billing", billing_text(table)}};
  add_indexes(table, table.global_indexes, "global index", rows);
  add_indexes(table, table.local_indexes, "local index", rows);
  add_vector_indexes(table, rows);
  if (table.stream && table.latest_stream_arn) rows.push_back({"stream", *table.latest_stream_arn});
  if (table.deletion_protection) rows.push_back({"protection", "cannot be deleted"});
  rows.push_back({"created", created.text()});
  rows.push_back({"ARN", table.arn});
  return aligned(rows, 400);
}

}  // namespace stator::cli
