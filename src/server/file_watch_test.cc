// SPDX-License-Identifier: Apache-2.0
#include "server/file_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>

#include "support/temp_dir.h"

namespace stator::server {
namespace {

using std::chrono::milliseconds;

class FileWatchTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::filesystem::path file = directory_.path() / name;
    std::ofstream(file) << text;
    return file;
  }

  test::TempDir directory_;
  FileWatch watch_;
  int changes_ = 0;
};

TEST_F(FileWatchTest, CallsOnceForEachChangeOfContents) {
  const auto key = write("key", "one");
  const auto certificate = write("certificate", "one");
  watch_.add([&] { return std::vector<std::filesystem::path>{key, certificate}; },
             [&] { ++changes_; });
  watch_.check();
  EXPECT_EQ(changes_, 0);
  write("certificate", "two");
  watch_.check();
  watch_.check();
  EXPECT_EQ(changes_, 1);
  write("certificate", "two");
  watch_.check();
  EXPECT_EQ(changes_, 1) << "written again with the same contents";
}

TEST_F(FileWatchTest, SeesCreatedDeletedAndReplacedFiles) {
  const auto file = directory_.path() / "file";
  watch_.add([&] { return std::vector<std::filesystem::path>{file}; }, [&] { ++changes_; });
  write("file", "one");
  watch_.check();
  EXPECT_EQ(changes_, 1);
  std::filesystem::remove(file);
  watch_.check();
  EXPECT_EQ(changes_, 2);
  std::filesystem::create_symlink(write("other", "two"), file);
  watch_.check();
  EXPECT_EQ(changes_, 3);
}

TEST_F(FileWatchTest, FollowsAListThatGrows) {
  std::vector<std::filesystem::path> files = {write("a", "1")};
  watch_.add([&] { return files; }, [&] { ++changes_; });
  files.push_back(write("b", "1"));
  watch_.check();
  EXPECT_EQ(changes_, 1);
  write("b", "2");
  watch_.check();
  EXPECT_EQ(changes_, 2);
}

TEST_F(FileWatchTest, LooksByItself) {
  const auto file = write("file", "one");
  std::atomic<bool> changed = false;
  FileWatch watch;  // declared last, so that its thread ends first
  watch.add([&] { return std::vector<std::filesystem::path>{file}; },
            [&] {
              changed = true;
              changed.notify_one();
            });
  watch.start(milliseconds(1));
  write("file", "three");
  changed.wait(false);
}

}  // namespace
}  // namespace stator::server
