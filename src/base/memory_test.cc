// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "support/temp_dir.h"

namespace stator {
namespace {

class ControlGroups : public ::testing::Test {
 protected:
  void write(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories((root() / file).parent_path());
    std::ofstream(root() / file) << text << "\n";
  }
  std::filesystem::path root() const { return temporary_.path(); }

 private:
  test::TempDir temporary_;
};

TEST_F(ControlGroups, OfVersion2LimitTogetherWithThoseAboveThem) {
  write("memory.max", "max");
  write("system.slice/memory.max", "536870912");
  write("system.slice/a.service/memory.max", "max");
  EXPECT_EQ(control_group_limit(root(), "0::/system.slice/a.service\n"), 512UL << 20);
  write("system.slice/a.service/memory.max", "268435456");
  EXPECT_EQ(control_group_limit(root(), "0::/system.slice/a.service\n"), 256UL << 20);
  write("system.slice/a.service/memory.high", "134217728");
  EXPECT_EQ(control_group_limit(root(), "0::/system.slice/a.service\n"), 128UL << 20);
}

TEST_F(ControlGroups, OfVersion1Limit) {
  write("memory/memory.limit_in_bytes", "9223372036854771712");
  write("memory/docker/x/memory.limit_in_bytes", "268435456");
  write("memory.max", "1");
  EXPECT_EQ(control_group_limit(root(), "5:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n"),
            256UL << 20);
}

TEST_F(ControlGroups, WhosePathIsTheHostsAreReadAtTheRoot) {
  write("memory/memory.limit_in_bytes", "268435456");
  EXPECT_EQ(control_group_limit(root(), "4:memory:/docker/of/the/host\n"), 256UL << 20);
  EXPECT_EQ(control_group_limit(root(), "4:memory:/../..\n"), 256UL << 20);
}

TEST_F(ControlGroups, WithoutALimitDoNotLimit) {
  EXPECT_EQ(control_group_limit(root(), "0::/\n"), UINT64_MAX);
  EXPECT_EQ(control_group_limit(root(), ""), UINT64_MAX);
  EXPECT_EQ(control_group_limit(root(), "no group\n::\n:"), UINT64_MAX);
  EXPECT_GT(usable_memory_bytes(), 0U);
}

}  // namespace
}  // namespace stator
