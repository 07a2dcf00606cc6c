// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "cli/examples.h"

namespace stator::cli {

namespace {

struct Command {
  std::string_view name;
  void (*add)(CLI::App& app, Invocation& invocation);
};

constexpr Command kCommands[] = {
    {"serve", add_serve},
    {"health", add_health},
    {"test-mode", add_test_mode},
    {"tables", add_tables},
    {"describe", add_describe},
    {"get", add_get},
    {"put", add_put},
    {"delete", add_delete},
    {"query", add_query},
    {"scan", add_scan},
    {"search", add_search},
    {"sql", add_sql},
    {"shell", add_shell},
    {"bench", add_bench},
    {"apply", add_apply},
    {"toggle", add_toggle},
    {"lock", add_lock},
    {"feed", add_feed},
    {"sensor", add_sensor},
    {"export", add_export},
    {"import", add_import},
    {"copy", add_copy},
    {"backup", add_backup},
    {"restore", add_restore},
    {"verify", add_verify},
    {"recover", add_recover},
    {"cluster", add_cluster},
    {"policy", add_policy},
    {"completion", add_completion},
};

}  // namespace

void add_commands(CLI::App& app, Invocation& invocation, std::string_view typed) {
  const bool is_known = std::ranges::find(kCommands, typed, &Command::name) != std::end(kCommands);
  for (const Command& command : kCommands) {
    if (!is_known || command.name == typed) command.add(app, invocation);
  }
  add_examples(app);
}

}  // namespace stator::cli
