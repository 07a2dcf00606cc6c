// SPDX-License-Identifier: Apache-2.0
// The directory itself: what is synced when it is created, and which process has its lock after a
// fork.
#include "storage/data_directory.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "storage/stores.h"
#include "support/matchers.h"
#include "support/temp_dir.h"

namespace {

std::mutex synced_mutex;
std::vector<std::string> synced_paths;

}  // namespace

// Replaces the system's fsync().
extern "C" int fsync(int descriptor) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  if (readlink(link.c_str(), path.data(), path.size() - 1) > 0) {
    const std::lock_guard lock(synced_mutex);
    synced_paths.emplace_back(path.data());
  }
  return static_cast<int>(syscall(SYS_fsync, descriptor));
}

namespace stator {
namespace {

using test::FailsWith;
using test::IsOk;

// A child process that runs `body` and exits with its result. SIGALRM ends it if it hangs.
class Child {
 public:
  explicit Child(const std::function<bool()>& body) : pid_(fork()) {
    if (pid_ != 0) return;
    alarm(60);
    _exit(body() ? 0 : 1);
  }
  bool succeeds() const {
    int status = 0;
    waitpid(pid_, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  pid_t pid_;
};

TEST(DataDirectory, SyncsEachNewParentDirectory) {
  const test::TempDir directory;
  ASSERT_THAT(open_rocks_store({.path = directory.path() / "new" / "a" / "b"}), IsOk());
  for (const auto& parent : {directory.path(), directory.path() / "new", directory.path() / "new/a",
                             directory.path() / "new/a/b"}) {
    const std::lock_guard lock(synced_mutex);
    EXPECT_NE(std::ranges::find(synced_paths, parent.string()), synced_paths.end()) << parent;
  }
}

TEST(DataDirectory, IsNotKeptLockedByAForkedChild) {
  const test::TempDir directory;
  auto store = open_rocks_store({.path = directory.path() / "data"});
  ASSERT_THAT(store, IsOk());
  std::array<int, 2> hold{};
  ASSERT_EQ(pipe(hold.data()), 0);
  const Child child([&] {
    close(hold[1]);
    char none = 0;
    return read(hold[0], &none, 1) == 0;  // until the parent closes its end
  });
  store->reset();
  EXPECT_THAT(open_rocks_store({.path = directory.path() / "data"}), IsOk());
  close(hold[1]);
  EXPECT_TRUE(child.succeeds());
  close(hold[0]);
}

TEST(DataDirectory, RefusesReadsAndWritesInAForkedChild) {
  const test::TempDir directory;
  const auto store = open_rocks_store({.path = directory.path() / "data"});
  ASSERT_THAT(store, IsOk());
  const auto is_refused = [](const auto& result) {
    return !result && result.error().code == Code::kIo &&
           result.error().message.find("fork") != std::string::npos;
  };
  const Child child([&] {
    return write_and_wait(**store, Batch()).outcome == CommitOutcome::kUnavailable &&
           is_refused((*store)->local_views()->view()) &&
           is_refused(read_value(**store, "a", [](std::string_view) {}));
  });
  EXPECT_TRUE(child.succeeds());
  Batch batch;
  batch.put("a", "1");
  EXPECT_EQ(write_and_wait(**store, std::move(batch)).outcome, CommitOutcome::kCommitted)
      << "in the parent";
}

}  // namespace
}  // namespace stator
