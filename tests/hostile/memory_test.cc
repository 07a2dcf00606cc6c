// SPDX-License-Identifier: Apache-2.0
// A server with a small memory limit, and clients that try to make it use much memory.
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "hostile/hostile_test.h"

namespace stator::test {
namespace {

using ::testing::AnyOf;

// Three eighths of 256 MB are for requests and responses. Buffers that grow exist twice for a short
// time, and socket buffers belong to the kernel.
constexpr std::size_t kHeldBytes = 96 * kMegabyte;

class SmallMemory : public HostileTest {
 protected:
  SmallMemory() : HostileTest({"--memory-limit", "256", "--request-timeout", "2"}) {}

  std::size_t resident_bytes() const { return memory_bytes("VmRSS"); }

  // The server returns freed memory when it is idle, about every second.
  void expect_memory_returned(std::size_t kept) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    constexpr std::size_t kSlack = 16 * kMegabyte;
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (resident_bytes() > start_bytes_ + kept + kSlack &&
           std::chrono::steady_clock::now() < limit) {
      expect_service();
    }
    EXPECT_LE(resident_bytes(), start_bytes_ + kept + kSlack);
#else
    (void)kept;
#endif
  }
};

TEST_F(SmallMemory, SurvivesLargeBodiesThatNeverEnd) {
  constexpr std::size_t kClients = 24;
  const std::string request = operation("PutItem", std::string(16 * kMegabyte, ' '));
  const std::string_view part = std::string_view(request).substr(0, request.size() - 1000);
  std::vector<RawConnection> connections;
  for (std::size_t i = 0; i < kClients; ++i) connections.emplace_back(port());
  std::vector<std::jthread> senders;
  for (RawConnection& connection : connections) {
    senders.emplace_back([&connection, part] { connection.send(part); });
  }
  expect_service();
  senders.clear();
  expect_service();
  connections.clear();
  expect_grown_by_at_most(kHeldBytes);
  expect_memory_returned(0);
}

TEST_F(SmallMemory, ReleasesTheMemoryOfLargeBodies) {
  const std::string request = operation("PutItem", std::string(15 * kMegabyte, ' '));
  RawConnection connection = connect();
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(connection.send(request));
    EXPECT_EQ(connection.read_answer().status, 400);
  }
  expect_grown_by_at_most(kHeldBytes);
  expect_memory_returned(0);
}

TEST_F(SmallMemory, SurvivesTheLargestResponsesUnread) {
  constexpr int kItems = 38;  // 15 MB
  constexpr std::size_t kClients = 24;
  const std::string text(400'000 - 10, 'x');
  std::string keys;
  for (int i = 0; i < kItems; ++i) {
    const std::string pk = std::to_string(i);
    ASSERT_THAT(client_->put_item({.table = "Things", .item = {{"pk", pk}, {"v", text}}}), IsOk());
    keys += (i == 0 ? R"({"pk":{"S":")" : R"(,{"pk":{"S":")") + pk + R"("}})";
  }
  constexpr std::size_t kData = kItems * 400'000UL;
  const std::string request =
      operation("BatchGetItem", R"({"RequestItems":{"Things":{"Keys":[)" + keys + "]}}}");
  std::vector<RawConnection> deaf;
  for (std::size_t i = 0; i < kClients; ++i) {
    ASSERT_TRUE(deaf.emplace_back(port()).send(request));
    expect_service();
  }
  for (RawConnection& connection : deaf) {
    // 0: the client was too slow.
    EXPECT_THAT(connection.read_answer().status, AnyOf(0, 200, 503));
  }
  deaf.clear();
  RawAnswer answer;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (answer.status != 200 && std::chrono::steady_clock::now() < limit) {
    RawConnection good = connect();
    ASSERT_TRUE(good.send(request));
    answer = good.read_answer();
  }
  EXPECT_GT(answer.body.size(), kData) << "what they held is free again";
  expect_grown_by_at_most(2 * kData + kHeldBytes);
  expect_memory_returned(2 * kData);
}

}  // namespace
}  // namespace stator::test
