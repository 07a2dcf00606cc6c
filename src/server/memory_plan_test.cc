// SPDX-License-Identifier: Apache-2.0
#include "server/memory_plan.h"

#include <gtest/gtest.h>

#include "server/dynamodb_service.h"

namespace stator::server {
namespace {

constexpr std::size_t kMegabyte = 1UL << 20;

TEST(MemoryPlan, LeavesAnEighthOfASmallMachineToTheRest) {
  for (const std::size_t memory : {256 * kMegabyte, 512 * kMegabyte, 1024 * kMegabyte}) {
    const MemoryPlan plan = plan_memory(memory);
    EXPECT_LE(plan.cache_bytes + plan.vector_cache_bytes + 2 * plan.write_buffer_bytes +
                  plan.queue_bytes_max + plan.held_bytes_max + plan.connections_max * 8192,
              memory / 8 * 7);
  }
}

TEST(MemoryPlan, HasSpaceForTheLargestRequestOfStringsIn256Megabytes) {
  const MemoryPlan plan = plan_memory(256 * kMegabyte);
  EXPECT_LE(kBodyBytesMax, plan.held_bytes_max / 2);
  EXPECT_LE(4 * kBodyBytesMax, plan.held_bytes_max);
}

TEST(MemoryPlan, LimitsNothingOnALargeMachine) {
  const MemoryPlan plan = plan_memory(64UL << 30);
  EXPECT_EQ(plan.cache_bytes, 8UL << 30);
  EXPECT_EQ(plan.vector_cache_bytes, 8UL << 30);
  EXPECT_EQ(plan.write_buffer_bytes, 64 * kMegabyte);
  EXPECT_EQ(plan.queue_bytes_max, 64 * kMegabyte);
  EXPECT_EQ(plan.held_bytes_max, 1024 * kMegabyte);
  EXPECT_EQ(plan.connections_max, 20'000U);
}

TEST(MemoryPlan, HasSomeOfEverythingOnTheSmallestMachine) {
  const MemoryPlan plan = plan_memory(0);
  EXPECT_GE(plan.held_bytes_max, 16 * kMegabyte);
  EXPECT_GE(plan.connections_max, 64U);
}

}  // namespace
}  // namespace stator::server
