// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>

#include "api/wire.h"
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
  return fail(Code::kResourceNotFound, "there is no table '" + table +
                                           "'; give its name with --table, or leave out "
                                           "--no-create-table to have it made");
}

}  // namespace

void add_recipe_flags(CLI::App& command, RecipeFlags& flags, const std::string& default_table) {
  add_endpoint_flags(command, flags.where);
  flags.table = default_table;
  command.add_option("--table", flags.table, "The table")->type_name("NAME")->capture_default_str();
  command.add_flag_callback(
      "--no-create-table", [&flags] { flags.create_table = false; },
      "Fail where the table is missing");
  command.add_flag("--json", flags.json, "One JSON object a line, for scripts");
}

int with_tables(const RecipeFlags& flags, const std::vector<RecipeTable>& tables,
                const std::function<int(Client&)>& action) {
  auto client = open_client(flags.where);
  if (!client) return report(client.error());
  for (const RecipeTable& table : tables) {
    const auto there = flags.create_table ? create_table_if_missing(**client, table)
                                          : find_recipe_table(**client, table);
    if (!there) return report(there.error());
  }
  return action(**client);
}

void answer(const RecipeFlags& flags, const std::string& text, const Item& item) {
  const std::string line = flags.json ? wire::item_to_plain_json(item) : one_line(text);
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
}

void answer_next(const RecipeFlags& flags, const std::string& next) {
  if (!next.empty()) answer(flags, "next\t" + next, {{"next", next}});
}

CLI::App* add_action(CLI::App& parent, const std::string& name, const std::string& description,
                     Invocation& invocation, std::function<int()> run) {
  CLI::App* action = parent.add_subcommand(name, description);
  action->callback([&invocation, run = std::move(run)] { invocation.run = run; });
  return action;
}

}  // namespace stator::cli
