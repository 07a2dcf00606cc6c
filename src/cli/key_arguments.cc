// SPDX-License-Identifier: Apache-2.0
#include "cli/key_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/base64.h"
#include "api/enums.h"
#include "cli/item_output.h"
#include "stator/recipes/time.h"

namespace stator::cli {
namespace {

ScalarType type_of(const TableDescription& table, const std::string& attribute) {
  const auto found = std::ranges::find(table.attributes, attribute, &AttributeDefinition::name);
  return found == table.attributes.end() ? ScalarType::kS : found->type;
}

std::string size_text(int64_t bytes) {
  if (bytes < 1'000) return fmt::format("{} B", bytes);
  if (bytes < 1'000'000) return fmt::format("{:.1f} KB", static_cast<double>(bytes) / 1e3);
  if (bytes < 1'000'000'000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

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

}  // namespace

Result<AttributeValue> key_value(const TableDescription& table, const std::string& attribute,
                                 const std::string& text) {
  switch (type_of(table, attribute)) {
    case ScalarType::kN: {
      const auto number = Number::parse(text);
      if (number) return AttributeValue(*number);
      return fail(Code::kInvalidArgument,
                  "'" + text + "' is not a number, as the key attribute " + attribute + " is");
    }
    case ScalarType::kB: {
      auto bytes = wire::from_base64(text);
      if (bytes) return AttributeValue(Binary{std::move(*bytes)});
      return fail(Code::kInvalidArgument,
                  "'" + text + "' is not base64, as the key attribute " + attribute + " needs");
    }
    case ScalarType::kS:
      break;
  }
  return AttributeValue(text);
}

Result<Item> primary_key(const TableDescription& table, const std::vector<std::string>& values) {
  if (values.size() != table.key_schema.size()) {
    return fail(Code::kInvalidArgument, "the key of table '" + table.table + "' is " +
                                            key_text(table, table.key_schema) + "; give " +
                                            std::to_string(table.key_schema.size()) +
                                            (table.key_schema.size() == 1 ? " value" : " values"));
  }
  Item key;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string& name = table.key_schema[i].name;
    STATOR_TRY(AttributeValue value, key_value(table, name, values[i]));
    key.emplace(name, std::move(value));
  }
  return key;
}

std::string key_text(const TableDescription& table, const KeySchema& schema) {
  std::string text;
  for (const KeySchemaElement& element : schema) {
    text += (text.empty() ? "" : ", ") + element.name + " (" +
            std::string(wire::enum_name(type_of(table, element.name))) + ")";
  }
  return text;
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
  if (table.stream && table.latest_stream_arn) rows.push_back({"stream", *table.latest_stream_arn});
  if (table.deletion_protection) rows.push_back({"protection", "cannot be deleted"});
  rows.push_back({"created", created.text()});
  rows.push_back({"ARN", table.arn});
  return aligned(rows, 400);
}

}  // namespace stator::cli
