// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe_command.h"
#include "api/json/item_json.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>

#include "api/wire/wire.h"
#include "stator/recipes/common.h"

namespace stator::cli {
namespace {

Result<TableDescription> find_recipe_table(Client& client, const RecipeTable& wanted) {
  const std::string& table = wanted.table;
  auto found = client.describe_table({.table = table});
  if (found && found->table.key_schema != wanted.key_schema) {
    return fail(Code::kConflict, "the table " + table + " has another key schema");
  }
  if (found) return std::move(found->table);
  if (found.error().code != Code::kResourceNotFound) return failure_of(std::move(found));
  return fail(Code::kResourceNotFound,
              "table '" + table + "' does not exist; commands that write create it");
}

}  // namespace

void add_recipe_flags(CLI::App& command, RecipeFlags& flags, const std::string& default_table) {
  add_endpoint_flags(command, flags.where);
  flags.table = default_table;
  command.add_option("--table", flags.table, "The table")->type_name("NAME")->capture_default_str();
  command.add_flag_callback(
      "--no-create-table", [&flags] { flags.create_table = false; },
      "Fail if the table does not exist");
  add_json_flag(command, flags.json);
}

int with_tables(const RecipeFlags& flags, Access access, const std::vector<RecipeTable>& tables,
                const std::function<int(Client&)>& action) {
  const bool creates = access == Access::kWrite && flags.create_table;
  auto client = open_client(flags.where, creates ? Missing::kCreate : Missing::kFail);
  if (!client) return report(client.error());
  for (const RecipeTable& table : tables) {
    const auto found =
        creates ? create_table_if_missing(**client, table) : find_recipe_table(**client, table);
    if (!found) return report(found.error());
  }
  return action(**client);
}

void print_result(const RecipeFlags& flags, const std::string& text, const Item& item) {
  const std::string line = flags.json ? wire::item_to_plain_json(item) : one_line(text);
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
}

void print_next(const RecipeFlags& flags, const std::string& next) {
  if (next.empty()) return;
  if (flags.json) return print_result(flags, "", {{"next", next}});
  std::fprintf(stderr, "stator: more entries follow; continue with --cursor %s\n",
               one_line(next).c_str());
}

CLI::App* add_action(CLI::App& parent, const std::string& name, const std::string& description,
                     Invocation& invocation, std::function<int()> run) {
  CLI::App* action = parent.add_subcommand(name, description);
  action->callback([&invocation, run = std::move(run)] { invocation.run = run; });
  return action;
}

}  // namespace stator::cli
