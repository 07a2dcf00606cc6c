// SPDX-License-Identifier: Apache-2.0
// stator recover: recovers a data directory whose log is damaged, without the writes after the
// damage.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "api/json/item_json.h"
#include "api/wire/wire.h"
#include "cli/commands.h"
#include "storage/stores.h"

namespace stator::cli {
namespace {

struct RecoverFlags {
  std::string directory;
  bool json = false;
};

int run_recover(const RecoverFlags& flags) {
  const auto recovered = recover_rocks_store(flags.directory);
  if (!recovered) return report(recovered.error());
  const std::string set_aside = recovered->set_aside.string();
  if (flags.json) {
    const Item item{
        {"directory", flags.directory}, {"damage", recovered->damage}, {"set_aside", set_aside}};
    std::printf("%s\n", wire::item_to_plain_json(item).c_str());
  } else if (recovered->damage.empty()) {
    std::printf("the log of '%s' is sound; nothing was changed\n", flags.directory.c_str());
  } else {
    std::printf("%s\n", recovered->damage.c_str());
    std::printf("recovered '%s' with the writes before the damage\n", flags.directory.c_str());
    if (!set_aside.empty()) std::printf("the previous log is in '%s'\n", set_aside.c_str());
  }
  return kSuccess;
}

}  // namespace

void add_recover(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<RecoverFlags>();
  CLI::App* command = app.add_subcommand(
      "recover", "Continue with a data directory whose log is damaged, without the later writes");
  command
      ->add_option("directory", flags->directory,
                   "The directory; no process may have it open. The damaged log is kept in it, in "
                   "a directory of its own")
      ->type_name("DIR")
      ->required();
  add_json_flag(*command, flags->json);
  command->footer(
      "Writes after the damage are lost: prefer a backup if one is recent enough. Run `stator "
      "verify` afterward.");
  command->callback(
      [&invocation, flags] { invocation.run = [flags] { return run_recover(*flags); }; });
}

}  // namespace stator::cli
