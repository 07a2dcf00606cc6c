// SPDX-License-Identifier: Apache-2.0
#include "cli/recipe_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "api/wire.h"
#include "stator/recipes/common.h"

namespace stator::cli {

void add_recipe_flags(CLI::App& command, RecipeFlags& flags, const std::string& default_table) {
  add_endpoint_flags(command, flags.where);
  flags.table = default_table;
  command.add_option("--table", flags.table, "The table")->type_name("NAME")->capture_default_str();
  command.add_flag("!--no-create-table", flags.create_table, "Fail where the table is missing");
  command.add_flag("--json", flags.json, "One JSON object a line, for scripts");
}

int with_tables(const RecipeFlags& flags, const std::vector<CreateTableRequest>& tables,
                const std::function<int(Client&)>& action) {
  auto client = open_client(flags.where);
  if (!client) return report(client.error());
  if (flags.create_table) {
    for (const CreateTableRequest& table : tables) {
      if (auto made = create_table_if_missing(**client, table); !made) return report(made.error());
    }
  }
  return action(**client);
}

void answer(const RecipeFlags& flags, const std::string& text, const Item& item) {
  const std::string line = flags.json ? wire::item_to_plain_json(item) : text;
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
}

CLI::App* add_action(CLI::App& parent, const std::string& name, const std::string& description,
                     Invocation& invocation, std::function<int()> run) {
  CLI::App* action = parent.add_subcommand(name, description);
  action->callback([&invocation, run = std::move(run)] { invocation.run = run; });
  return action;
}

}  // namespace stator::cli
