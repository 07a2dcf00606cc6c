// SPDX-License-Identifier: Apache-2.0
// stator backup: a consistent copy of a data directory, whether or not a server uses it.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <system_error>

#include "api/json/item_json.h"
#include "api/wire/wire.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "server/control_socket.h"
#include "storage/stores.h"

namespace stator::cli {
namespace {

struct BackupFlags {
  std::string data = "./stator-data";
  std::string target;
  bool json = false;
};

// Ignores files that are created or deleted concurrently.
int64_t bytes_in(const std::filesystem::path& directory) {
  int64_t bytes = 0;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(directory, error);
  while (!error && entry != std::filesystem::recursive_directory_iterator()) {
    std::error_code ignored;
    const auto size = entry->is_regular_file(ignored) ? entry->file_size(ignored) : 0;
    if (!ignored) bytes += static_cast<int64_t>(size);
    entry.increment(error);
  }
  return bytes;
}

// If another process has the directory open, it makes the copy; otherwise this process does.
Result<void> make_backup(const std::filesystem::path& data, const std::filesystem::path& target) {
  const auto store = open_rocks_store({.path = data, .create_if_missing = false});
  if (store) return copy_files(**store, target);
  if (store.error().code == Code::kLocked) return server::request_backup(data, target);
  return Failure(store.error());
}

int run_backup(const BackupFlags& flags) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::absolute(flags.target, error);
  if (error || flags.target.empty()) return report_usage("the backup needs a path");
  auto made = std::async(std::launch::async, [&] { return make_backup(flags.data, target); });
  {
    Progress progress("backup", ProgressUnit::kBytes, bytes_in(flags.data));
    while (made.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) {
      progress.advance_to(bytes_in(target));
    }
  }
  if (const auto done = made.get(); !done) return report(done.error());
  const int64_t bytes = bytes_in(target);
  const std::string line =
      flags.json ? wire::item_to_plain_json({{"backup", target.string()}, {"bytes", bytes}})
                 : "backed up to '" + target.string() + "'";
  std::printf("%s\n", line.c_str());
  return kSuccess;
}

}  // namespace

void add_backup(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<BackupFlags>();
  CLI::App* command =
      app.add_subcommand("backup", "Copy a data directory, even while a server uses it");
  command->add_option("--data", flags->data, "The data directory")
      ->type_name("DIR")
      ->capture_default_str();
  command
      ->add_option("target", flags->target,
                   "The copy, which must not exist. On the same file system it shares the table "
                   "files with the original: copy it elsewhere to survive the loss of the disk")
      ->type_name("BACKUP")
      ->required();
  add_json_flag(*command, flags->json);
  command->callback(
      [&invocation, flags] { invocation.run = [flags] { return run_backup(*flags); }; });
}

}  // namespace stator::cli
