// SPDX-License-Identifier: Apache-2.0
// stator tables, describe: lists tables and describes one.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "api/json/item_json.h"
#include "api/wire/wire.h"
#include "cli/commands.h"
#include "cli/endpoint.h"
#include "cli/table_access.h"

namespace stator::cli {
namespace {

struct TableFlags {
  EndpointFlags where;
  std::string table;
  bool json = false;
};

int list_tables(const TableFlags& flags) {
  const auto client = open_client(flags.where, Missing::kFail);
  if (!client) return report(client.error());
  const auto listed = for_each_table(**client, [&](const std::string& table) {
    const std::string line =
        flags.json ? wire::item_to_plain_json({{"table", table}}) : one_line(table);
    std::printf("%s\n", line.c_str());
  });
  if (!listed) return report(listed.error());
  return kSuccess;
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
  std::string text = table_text(described->table);
  const auto expiry = (*client)->describe_time_to_live({.table = flags.table});
  if (expiry && !expiry->attribute.empty())
    text += "time to live  " + one_line(expiry->attribute) + "\n";
  std::fputs(text.c_str(), stdout);
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
