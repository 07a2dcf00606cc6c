// SPDX-License-Identifier: Apache-2.0
// stator export: what it makes durable.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>

#include "cli/commands.h"
#include "stator/database.h"
#include "support/must.h"
#include "support/temp_dir.h"

namespace {

std::mutex synced_mutex;
std::set<std::filesystem::path> synced_paths;

}  // namespace

// Replaces the system's fsync().
extern "C" int fsync(int descriptor) {
  std::error_code unknown;
  const auto path =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), unknown);
  {
    const std::lock_guard lock(synced_mutex);
    synced_paths.insert(path);
  }
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

namespace stator::cli {
namespace {

TEST(Export, SyncsEachNewParentDirectory) {
  const test::TempDir directory;
  const std::filesystem::path data = directory.path() / "data";
  {
    auto database = test::must(Database::open({.path = data}));
    test::must(database.create_table({.table = "Tab",
                                      .attributes = {{"pk", ScalarType::kS}},
                                      .key_schema = {{"pk", KeyType::kHash}},
                                      .billing_mode = BillingMode::kPayPerRequest}));
  }
  synced_paths.clear();
  CLI::App app;
  Invocation invocation;
  add_export(app, invocation);
  app.parse("export Tab " + (directory.path() / "new" / "a" / "b").string() + " --data " +
            data.string());
  ASSERT_EQ(invocation.run(), 0);
  for (const auto& parent : {directory.path(), directory.path() / "new", directory.path() / "new/a",
                             directory.path() / "new/a/b"}) {
    EXPECT_TRUE(synced_paths.contains(parent)) << parent;
  }
}

}  // namespace
}  // namespace stator::cli
