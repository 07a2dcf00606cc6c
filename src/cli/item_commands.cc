// SPDX-License-Identifier: Apache-2.0
// stator get, put, delete: one item.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "api/json/item_json.h"
#include "api/wire/wire.h"
#include "cli/commands.h"
#include "cli/expression_flags.h"
#include "cli/item_output.h"
#include "cli/key_arguments.h"
#include "cli/table_access.h"

namespace stator::cli {
namespace {

struct ItemFlags {
  EndpointFlags where;
  std::string table;
  std::vector<std::string> key;
  std::string item;
  std::string condition;
  ExpressionFlags expressions;
  std::string output;
  bool dynamodb_json = false;
  bool consistent = false;
  bool json = false;
};

constexpr std::size_t kItemTextMaxMb = 16;

// Returns 1 if the item does not exist, like grep.
int get(const ItemFlags& flags) {
  return with_table(flags.where, flags.table, [&](Client& client, const TableDescription& table) {
    auto key = primary_key(table, flags.key);
    if (!key) return report(key.error());
    auto got = client.get_item({.table = flags.table,
                                .key = std::move(*key),
                                .consistent_read = flags.consistent,
                                .projection = optional_text(flags.expressions.projection),
                                .names = flags.expressions.names()});
    if (!got) return report(got.error());
    if (!got->item) {
      return report({.code = Code::kNotFound, .message = "the item does not exist"});
    }
    ItemOutput(stdout, flags.output.empty() ? "lines" : flags.output).add(std::move(*got->item));
    return kSuccess;
  });
}

Result<Item> item_of(const ItemFlags& flags) {
  std::string text = flags.item;
  if (text == "-") {
    STATOR_ASSIGN_OR_RETURN(text, read_standard_input(kItemTextMaxMb));
  }
  return flags.dynamodb_json ? wire::item_from_json(text) : wire::item_from_plain_json(text);
}

int put(const ItemFlags& flags) {
  auto item = item_of(flags);
  if (!item) return report(item.error());
  const auto values = flags.expressions.values();
  if (!values) return report(values.error());
  const auto client = open_client(flags.where, Missing::kFail);
  if (!client) return report(client.error());
  const auto stored = (*client)->put_item({.table = flags.table,
                                           .item = std::move(*item),
                                           .condition = optional_text(flags.condition),
                                           .names = flags.expressions.names(),
                                           .values = *values});
  return stored ? kSuccess : report(stored.error());
}

int remove(const ItemFlags& flags) {
  const auto values = flags.expressions.values();
  if (!values) return report(values.error());
  return with_table(flags.where, flags.table, [&](Client& client, const TableDescription& table) {
    auto key = primary_key(table, flags.key);
    if (!key) return report(key.error());
    const auto deleted = client.delete_item({.table = flags.table,
                                             .key = std::move(*key),
                                             .condition = optional_text(flags.condition),
                                             .names = flags.expressions.names(),
                                             .values = *values});
    return deleted ? kSuccess : report(deleted.error());
  });
}

CLI::App* add_command(CLI::App& app, Invocation& invocation, const char* name,
                      const char* description, const std::shared_ptr<ItemFlags>& flags,
                      int (*action)(const ItemFlags&)) {
  CLI::App* command = app.add_subcommand(name, description);
  command->add_option("table", flags->table, "The table")->required();
  add_endpoint_flags(*command, flags->where);
  command->callback([&invocation, flags, action] {
    invocation.run = [flags, action] { return action(*flags); };
  });
  return command;
}

void add_key(CLI::App& command, ItemFlags& flags) {
  command.add_option("key", flags.key, "The partition key's value, then the sort key's")
      ->type_name("VALUE")
      ->required()
      ->expected(1, 2);
}

void add_condition(CLI::App& command, ItemFlags& flags) {
  command.add_option("--if", flags.condition, "Only if this condition expression holds")
      ->type_name("EXPRESSION");
}

}  // namespace

void add_get(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<ItemFlags>();
  CLI::App* command = add_command(app, invocation, "get",
                                  "Print an item; exit status 1 if it does not exist", flags, get);
  add_key(*command, *flags);
  command->add_flag("--consistent", flags->consistent, "Read the latest version");
  add_projection_flag(*command, flags->expressions);
  add_names_flag(*command, flags->expressions);
  add_output_flag(*command, flags->output);
  add_json_flag(*command, flags->json);
}

void add_put(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<ItemFlags>();
  CLI::App* command =
      add_command(app, invocation, "put", "Store an item in place of one with its key", flags, put);
  command->add_option("item", flags->item, "The item as a JSON object; - is standard input")
      ->type_name("JSON")
      ->required();
  command->add_flag("--dynamodb-json", flags->dynamodb_json,
                    R"(Values name their types, as in {"id":{"S":"a"}})");
  add_condition(*command, *flags);
  add_names_flag(*command, flags->expressions);
  add_values_flag(*command, flags->expressions);
  add_json_flag(*command, flags->json);
}

void add_delete(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<ItemFlags>();
  CLI::App* command = add_command(app, invocation, "delete", "Delete an item", flags, remove);
  add_key(*command, *flags);
  add_condition(*command, *flags);
  add_names_flag(*command, flags->expressions);
  add_values_flag(*command, flags->expressions);
  add_json_flag(*command, flags->json);
}

}  // namespace stator::cli
