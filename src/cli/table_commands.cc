// SPDX-License-Identifier: Apache-2.0
// stator tables, describe: which tables there are, and what one is like.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "api/enums.h"
#include "api/wire.h"
#include "cli/commands.h"
#include "cli/endpoint.h"
#include "cli/item_output.h"
#include "cli/key_arguments.h"
#include "stator/recipes/time.h"

namespace stator::cli {
namespace {

struct TableFlags {
  EndpointFlags where;
  std::string table;
  bool json = false;
};

std::string size_text(int64_t bytes) {
  if (bytes < 1'000) return fmt::format("{} B", bytes);
  if (bytes < 1'000'000) return fmt::format("{:.1f} KB", static_cast<double>(bytes) / 1e3);
  if (bytes < 1'000'000'000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

int list_tables(const TableFlags& flags) {
  const auto client = open_client(flags.where, Missing::kFail);
  if (!client) return report(client.error());
  ListTablesRequest request;
  do {
    const auto page = (*client)->list_tables(request);
    if (!page) return report(page.error());
    for (const std::string& table : page->tables) {
      const std::string line =
          flags.json ? wire::item_to_plain_json({{"table", table}}) : one_line(table);
      std::printf("%s\n", line.c_str());
    }
    request.exclusive_start_table = page->last_evaluated_table;
  } while (request.exclusive_start_table);
  return kSuccess;
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

int describe(const TableFlags& flags) {
  const auto client = open_client(flags.where, Missing::kFail);
  if (!client) return report(client.error());
  const auto described = (*client)->describe_table({.table = flags.table});
  if (!described) return report(described.error());
  if (flags.json) {
    std::printf("%s\n", wire::to_json(*described).c_str());
    return kSuccess;
  }
  const TableDescription& table = described->table;
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
  const auto expiry = (*client)->describe_time_to_live({.table = flags.table});
  if (expiry && !expiry->attribute.empty()) rows.push_back({"time to live", expiry->attribute});
  if (table.deletion_protection) rows.push_back({"protection", "cannot be deleted"});
  rows.push_back({"created", created.text()});
  rows.push_back({"ARN", table.arn});
  std::fputs(aligned(rows, 400).c_str(), stdout);
  return kSuccess;
}

}  // namespace

void add_tables(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<TableFlags>();
  CLI::App* command = app.add_subcommand("tables", "List the tables");
  add_endpoint_flags(*command, flags->where);
  add_json_flag(*command, flags->json);
  command->callback(
      [&invocation, flags] { invocation.run = [flags] { return list_tables(*flags); }; });
}

void add_describe(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<TableFlags>();
  CLI::App* command =
      app.add_subcommand("describe", "Show a table's keys, indexes, size and settings");
  command->add_option("table", flags->table, "The table")->required();
  add_endpoint_flags(*command, flags->where);
  command
      ->add_flag_callback(
          "--json", [flags] { flags->json = true; }, "Print DescribeTable's response")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  command->callback(
      [&invocation, flags] { invocation.run = [flags] { return describe(*flags); }; });
}

}  // namespace stator::cli
