// SPDX-License-Identifier: Apache-2.0
// In each round, sixteen processes race to create one item, and exactly one of them wins.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "stator/http_client.h"
#include "support/paths.h"
#include "support/server_process.h"
#include "support/temp_dir.h"

namespace stator {
namespace {

constexpr int kProcesses = 16;
constexpr int kRounds = 50;

// Memory that the processes share.
struct Shared {
  pthread_barrier_t barrier;
  std::array<std::atomic<int>, kRounds> winners;
  std::array<std::atomic<int>, kRounds> winner;  // the number of the winning process
  std::atomic<int> errors;
};

Shared& share() {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* shared = new (memory) Shared{};
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &attributes, kProcesses);
  return *shared;
}

pid_t in_a_process(const std::function<bool()>& work) {
  const pid_t pid = fork();
  if (pid == 0) _exit(work() ? 0 : 1);
  return pid;
}

bool succeeded(pid_t pid) {
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool create_table(const std::string& url) {
  auto client = HttpClient::open({.endpoint = url});
  return client && client->create_table({.table = "Race",
                                         .attributes = {{"pk", ScalarType::kN}},
                                         .key_schema = {{"pk", KeyType::kHash}},
                                         .billing_mode = BillingMode::kPayPerRequest});
}

bool race(const std::string& url, int process, Shared& shared) {
  auto client = HttpClient::open({.endpoint = url});
  for (int round = 0; round < kRounds; ++round) {
    pthread_barrier_wait(&shared.barrier);
    const auto put = client->put_item({.table = "Race",
                                       .item = {{"pk", round}, {"winner", process}},
                                       .condition = "attribute_not_exists(pk)"});
    const auto index = static_cast<std::size_t>(round);
    if (put) {
      ++shared.winners[index];
      shared.winner[index] = process;
    } else if (put.error().code != Code::kConditionalCheckFailed) {
      ++shared.errors;
    }
  }
  return true;
}

// Runs in a separate process. The stored items must be those of the winners.
bool winners_are_stored(const std::string& url, const Shared& shared) {
  auto client = HttpClient::open({.endpoint = url});
  for (int round = 0; round < kRounds; ++round) {
    const auto got =
        client->get_item({.table = "Race", .key = {{"pk", round}}, .consistent_read = true});
    const int winner = shared.winner[static_cast<std::size_t>(round)];
    if (!got || !got->item || got->item->at("winner") != AttributeValue(winner)) return false;
  }
  return true;
}

TEST(Contention, HasOneWinnerInEachRoundAmongSixteenProcesses) {
  const test::TempDir directory;
  test::ServerProcess server(test::stator_binary(),
                             {"--data", (directory.path() / "data").string()});
  ASSERT_FALSE(server.url().empty());
  ASSERT_TRUE(succeeded(in_a_process([&] { return create_table(server.url()); })));
  Shared& shared = share();
  std::vector<pid_t> processes;
  for (int process = 0; process < kProcesses; ++process) {
    processes.push_back(in_a_process([&, process] { return race(server.url(), process, shared); }));
  }
  for (const pid_t process : processes) EXPECT_TRUE(succeeded(process));
  for (const auto& winners : shared.winners) EXPECT_EQ(winners, 1);
  EXPECT_EQ(shared.errors, 0);
  EXPECT_TRUE(succeeded(in_a_process([&] { return winners_are_stored(server.url(), shared); })));
}

}  // namespace
}  // namespace stator
