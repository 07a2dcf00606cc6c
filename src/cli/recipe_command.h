// SPDX-License-Identifier: Apache-2.0
// Shared parts of the recipe commands: flags, opening tables, text and JSON output.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/endpoint.h"
#include "stator/recipes/common.h"

namespace stator::cli {

struct RecipeFlags {
  EndpointFlags where;
  std::string table;
  bool create_table = true;
  bool json = false;
};

// Adds the endpoint flags, --table, --no-create-table and --json.
void add_recipe_flags(CLI::App& command, RecipeFlags& flags, const std::string& default_table);

enum class Access { kRead, kWrite };

// Opens the client, checks the tables, and runs `action`, whose result is the exit status. Only
// kWrite creates missing tables and directories, unless --no-create-table forbids it.
int with_tables(const RecipeFlags& flags, Access access, const std::vector<RecipeTable>& tables,
                const std::function<int(Client&)>& action);

// Prints one line on standard output: `item` as plain JSON with --json, otherwise `text`.
void print_result(const RecipeFlags& flags, const std::string& text, const Item& item);

// Prints the cursor of the next page, if there is one.
void print_next(const RecipeFlags& flags, const std::string& next);

// Adds a subcommand that selects `run`.
CLI::App* add_action(CLI::App& parent, const std::string& name, const std::string& description,
                     Invocation& invocation, std::function<int()> run);

}  // namespace stator::cli
