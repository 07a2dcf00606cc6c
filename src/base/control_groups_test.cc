// SPDX-License-Identifier: Apache-2.0
#include "base/control_groups.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cmath>
#include <fstream>
#include <string>
#include <thread>

#include "base/memory.h"
#include "base/processors.h"
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
  EXPECT_EQ(control_group_limits(root(), "0::/system.slice/a.service\n").memory_bytes, 512UL << 20);
  write("system.slice/a.service/memory.max", "268435456");
  EXPECT_EQ(control_group_limits(root(), "0::/system.slice/a.service\n").memory_bytes, 256UL << 20);
  write("system.slice/a.service/memory.high", "134217728");
  EXPECT_EQ(control_group_limits(root(), "0::/system.slice/a.service\n").memory_bytes, 128UL << 20);
}

TEST_F(ControlGroups, OfVersion1Limit) {
  write("memory/memory.limit_in_bytes", "9223372036854771712");
  write("memory/docker/x/memory.limit_in_bytes", "268435456");
  write("memory.max", "1");
  EXPECT_EQ(
      control_group_limits(root(), "5:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n").memory_bytes,
      256UL << 20);
}

TEST_F(ControlGroups, OfVersion2LimitProcessors) {
  write("cpu.max", "400000 100000");
  write("a/cpu.max", "max 100000");
  EXPECT_EQ(control_group_limits(root(), "0::/a\n").processors, 4);
  write("a/cpu.max", "75000 50000");
  EXPECT_EQ(control_group_limits(root(), "0::/a\n").processors, 1.5);
}

TEST_F(ControlGroups, OfVersion1LimitProcessors) {
  write("cpu/cpu.cfs_quota_us", "-1");
  write("cpu/cpu.cfs_period_us", "100000");
  write("cpu/docker/x/cpu.cfs_quota_us", "250000");
  write("cpu/docker/x/cpu.cfs_period_us", "100000");
  EXPECT_TRUE(std::isinf(control_group_limits(root(), "5:cpu,cpuacct:/\n").processors));
  EXPECT_EQ(control_group_limits(root(), "5:cpu,cpuacct:/docker/x\n").processors, 2.5);
  EXPECT_EQ(control_group_limits(root(), "5:cpuacct,cpu:/docker/x\n").processors, 2.5);
  EXPECT_TRUE(std::isinf(control_group_limits(root(), "5:cpuset:/docker/x\n").processors));
}

TEST(Processors, ThatTheThreadMayNotRunOnDoNotCount) {
  EXPECT_GE(usable_processors(), 1);
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(usable_processors(), 1);
  }).join();
}

TEST_F(ControlGroups, WhosePathIsTheHostsAreReadAtTheRoot) {
  write("memory/memory.limit_in_bytes", "268435456");
  EXPECT_EQ(control_group_limits(root(), "4:memory:/docker/of/the/host\n").memory_bytes,
            256UL << 20);
  EXPECT_EQ(control_group_limits(root(), "4:memory:/../..\n").memory_bytes, 256UL << 20);
}

TEST_F(ControlGroups, WithoutALimitDoNotLimit) {
  EXPECT_EQ(control_group_limits(root(), "0::/\n").memory_bytes, UINT64_MAX);
  EXPECT_EQ(control_group_limits(root(), "").memory_bytes, UINT64_MAX);
  EXPECT_EQ(control_group_limits(root(), "no group\n::\n:").memory_bytes, UINT64_MAX);
  EXPECT_TRUE(std::isinf(control_group_limits(root(), "0::/\n").processors));
  EXPECT_GT(usable_memory_bytes(), 0U);
}

}  // namespace
}  // namespace stator
