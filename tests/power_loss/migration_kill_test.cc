// SPDX-License-Identifier: Apache-2.0
// A process that opens a directory of an older format is killed before each of its changes to the
// files, from the first one until the migration is complete. The next process completes the
// migration, with the same rows as without the kill.
//
// STATOR_MIGRATION_FORMATS=all repeats it for each of the directories in tests/formats.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/call_and_wait.h"
#include "engine/engine.h"
#include "engine/verify/verify.h"
#include "power_loss/lossy_file_system.h"
#include "storage/rocks_store.h"
#include "support/comes_true.h"
#include "support/matchers.h"
#include "support/paths.h"
#include "support/read_file.h"
#include "support/temp_dir.h"

namespace stator::test {
namespace {

namespace fs = std::filesystem;

class KilledMigration : public testing::TestWithParam<const char*> {
 protected:
  fs::path data() const { return directory_.path() / "data"; }
  fs::path rows_file() const { return directory_.path() / "rows"; }

  void copy_directory() const {
    fs::remove_all(data());
    fs::remove_all(attic());
    fs::create_directory(attic());
    fs::copy(source_path(std::string("tests/formats/") + GetParam()), data(),
             fs::copy_options::recursive);
  }

  // Opens the directory in a child process, because RocksDB's threads do not survive a fork.
  // Returns whether the child was killed before it had finished. If `kill_after` is absent, the
  // child writes all rows to rows_file().
  bool is_killed(std::optional<uint64_t> kill_after) {
    const pid_t child = fork();
    if (child == 0) {
      migrate(kill_after);
      _exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    EXPECT_TRUE(killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) << "see above";
    return killed;
  }

  std::string migrated_rows() {
    EXPECT_FALSE(is_killed(std::nullopt));
    return read_file(rows_file());
  }

 private:
  fs::path attic() const { return directory_.path() / "attic"; }

  void migrate(std::optional<uint64_t> kill_after) const {
    const auto files = std::make_shared<LossyFileSystem>(attic());
    if (kill_after) files->kill_process_after(*kill_after);
    const auto env = make_env_on(files);
    auto store = open_rocks_store_in(env.get(), {.path = data()});
    ASSERT_THAT(store, IsOk());
    auto engine =
        Engine::open(std::move(*store), {.sweep_interval = {}, .maintenance_interval = {}});
    ASSERT_THAT(engine, IsOk());
    if (kill_after) _exit(0);
    ASSERT_TRUE(comes_true([&] { return (*engine)->stats().jobs == 0; }));
    write_rows((*engine)->store());
    const VerifyReport report =
        verify((*engine)->store(), [](std::string_view, uint64_t, uint64_t) {});
    for (const Finding& finding : report.findings) ADD_FAILURE() << finding.message;
  }

  void write_rows(TransactStore& store) const {
    std::ofstream out(rows_file(), std::ios::binary);
    ASSERT_THAT(read_range(store, {.range = {}},
                           [&](std::string_view key, std::string_view value) {
                             out << testing::PrintToString(key) << ' '
                                 << testing::PrintToString(value) << '\n';
                             return true;
                           }),
                IsOk());
  }

  TempDir directory_;
};

TEST_P(KilledMigration, ContinuesWithTheNextStart) {
  copy_directory();
  const std::string expected = migrated_rows();
  ASSERT_FALSE(expected.empty());
  uint64_t changes = 0;
  for (;; ++changes) {
    SCOPED_TRACE(changes);
    copy_directory();
    const bool killed = is_killed(changes);
    ASSERT_EQ(migrated_rows(), expected);
    if (!killed) break;
  }
  EXPECT_GT(changes, 20U) << "each commit is written and synced";
}

std::vector<const char*> directories() {
  if (std::getenv("STATOR_MIGRATION_FORMATS") == nullptr) return {"1"};
  return {"1", "2", "3", "4", "5"};
}

INSTANTIATE_TEST_SUITE_P(Formats, KilledMigration, testing::ValuesIn(directories()),
                         [](const auto& format) { return std::string("Of") + format.param; });

}  // namespace
}  // namespace stator::test
