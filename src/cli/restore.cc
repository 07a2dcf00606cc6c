// SPDX-License-Identifier: Apache-2.0
// stator restore: creates a data directory from a backup, or nothing if the backup is damaged.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "api/json/item_json.h"
#include "api/wire/wire.h"
#include "base/random.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/verify.h"
#include "storage/copy_directory.h"

namespace stator::cli {
namespace {

struct RestoreFlags {
  std::string backup;
  std::string directory;
  bool json = false;
};

// A temporary directory next to the target, deleted with this object.
class Workshop {
 public:
  explicit Workshop(const std::filesystem::path& directory)
      : path_(directory.string() + ".restoring-" + random_uuid()) {}
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;
  ~Workshop() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

Result<void> copy_backup(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::optional<Progress> progress;
  return copy_data_directory(from, to, [&](uint64_t done, uint64_t total) {
    if (!progress) progress.emplace("restore", ProgressUnit::kBytes, static_cast<int64_t>(total));
    progress->advance_to(static_cast<int64_t>(done));
  });
}

int restored(const RestoreFlags& flags, const VerifyReport& report) {
  const auto items = static_cast<int64_t>(report.items);
  const std::string line =
      flags.json ? wire::item_to_plain_json({{"directory", flags.directory},
                                             {"tables", static_cast<int64_t>(report.tables)},
                                             {"items", items}})
                 : "restored " + std::to_string(items) + " items to '" + flags.directory + "'";
  std::printf("%s\n", line.c_str());
  return kSuccess;
}

int run_restore(const RestoreFlags& flags) {
  std::filesystem::path directory = std::filesystem::path(flags.directory).lexically_normal();
  if (!directory.has_filename()) directory = directory.parent_path();
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(directory, error))) {
    return report({.code = Code::kAlreadyExists,
                   .message = "'" + flags.directory +
                              "' exists already; a backup is restored to a new directory only"});
  }
  const Workshop workshop(directory);
  if (const auto copied = copy_backup(flags.backup, workshop.path()); !copied) {
    return report(copied.error());
  }
  const auto checked = verify_directory(workshop.path());
  if (!checked) return report(checked.error());
  if (!checked->is_sound()) {
    print_findings(*checked);
    std::fflush(stdout);
    return report({.code = Code::kCorruption,
                   .message = "the backup '" + flags.backup +
                              "' is damaged, so nothing was restored; use another one"});
  }
  if (const auto placed = rename_directory(workshop.path(), directory); !placed) {
    return report(placed.error());
  }
  return restored(flags, *checked);
}

}  // namespace

void add_restore(CLI::App& app, Invocation& invocation) {
  auto flags = std::make_shared<RestoreFlags>();
  CLI::App* command =
      app.add_subcommand("restore", "Create a data directory from a backup, and verify it");
  command->add_option("backup", flags->backup, "The backup, as `stator backup` created it")
      ->type_name("BACKUP")
      ->required();
  command->add_option("directory", flags->directory, "The data directory, which must not exist")
      ->type_name("DIR")
      ->required();
  add_json_flag(*command, flags->json);
  command->callback(
      [&invocation, flags] { invocation.run = [flags] { return run_restore(*flags); }; });
}

}  // namespace stator::cli
