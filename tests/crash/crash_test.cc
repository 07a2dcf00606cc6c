// SPDX-License-Identifier: Apache-2.0
// kill -9 during writes: no acknowledged write is lost, and no write is partial.
//
// Each round writes from several clients, kills the server at a random time, runs `stator verify`,
// and starts the server again. Then it checks the content against the clients' knowledge
// (support/ledger.h). It repeats the last transactions with their tokens, and checks the outcome of
// jobs that were in progress (upkeep.h).
// STATOR_CRASH_ROUNDS sets the number of rounds (default: 10), and STATOR_SEED their writes.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cli/process.h"
#include "crash/shifted_clock.h"
#include "crash/upkeep.h"
#include "stator/http_client.h"
#include "support/from_environment.h"
#include "support/ledger.h"
#include "support/paths.h"
#include "support/server_process.h"
#include "support/temp_dir.h"

namespace stator::test {
namespace {

constexpr std::size_t kWriters = 8;

HttpClient connect(const std::string& url) {
  // One attempt: a retry would hide whether the first one was acknowledged.
  return HttpClient::open({.endpoint = url, .max_attempts = 1}).value();
}

void write_until_killed(Client& client, Ledger& ledger, Upkeep& upkeep, ServerProcess& server,
                        std::mt19937_64& random) {
  std::vector<std::thread> threads;
  std::vector<Result<void>> ends(kWriters + 1);
  const std::atomic<bool> never = false;
  threads.reserve(kWriters + 1);
  for (std::size_t writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] { ends[writer] = ledger.write(client, writer, never); });
  }
  threads.emplace_back([&] { ends[kWriters] = upkeep.run(client); });
  // Only the time of the crash is not reproducible.
  std::this_thread::sleep_for(std::chrono::milliseconds(5 + random() % 150));
  server.kill_now();
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const auto& end = ends[i];
    const Code code = end.error().code;
    // Jobs can find a table of a moment ago.
    EXPECT_TRUE(code == Code::kOutcomeUnknown || code == Code::kUnavailable ||
                (code == Code::kThrottling && i == kWriters))
        << code_name(code) << ": " << end.error().message;
  }
}

void expect_sound(const std::string& data) {
  Process verify({stator_binary(), "verify", data});
  EXPECT_EQ(verify.wait(), 0) << verify.out() << verify.err();
}

void create_tables(Upkeep& upkeep, const std::vector<std::string>& arguments) {
  ServerProcess server(build_path("tests/crash/shifted_stator"), arguments);
  ASSERT_FALSE(server.url().empty()) << "the server did not start";
  HttpClient client = connect(server.url());
  const auto created = Ledger::create(client);
  ASSERT_TRUE(created) << created.error().message;
  const auto filled = upkeep.create(client);
  ASSERT_TRUE(filled) << filled.error().message;
  upkeep.settle(client);
  EXPECT_EQ(server.terminate(), 0);
}

// Sets an environment variable for the servers that are started.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(Crash, LosesNothingAcknowledgedAndHalvesNothing) {
  const uint64_t seed = number_from_environment("STATOR_SEED", std::random_device{}());
  const uint64_t rounds = number_from_environment("STATOR_CRASH_ROUNDS", 10);
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const TempDir directory;
  const std::string data = (directory.path() / "data").string();
  const std::string buckets = (directory.path() / "buckets").string();
  const std::vector<std::string> arguments = {"--data",         data, "--buckets", buckets,
                                              "--expire-every", "0.1"};
  Ledger ledger(kWriters, random());
  Upkeep upkeep(buckets, random());
  ASSERT_NO_FATAL_FAILURE(create_tables(upkeep, arguments));
  // From here on, the clock is ahead, so that earlier writes are old enough to export.
  const Environment ahead(kClockAhead, "1200");
  uint64_t last = rounds;
  for (uint64_t round = 0; round <= last && !HasFailure(); ++round) {
    SCOPED_TRACE("after " + std::to_string(round) + " kills");
    ServerProcess server(build_path("tests/crash/shifted_stator"), arguments);
    ASSERT_FALSE(server.url().empty()) << "the server did not start after a crash";
    HttpClient client = connect(server.url());
    ledger.settle(client, Kept::kAcknowledged);
    ledger.repeat_transactions(client);
    upkeep.settle(client);
    // On a slow machine, many servers are killed before they can start jobs.
    const bool is_enough = rounds < 10 || (upkeep.restored() > 0 && upkeep.transferred() > 0);
    if (round == last && !is_enough && last < 10 * rounds) ++last;
    if (round < last) {
      write_until_killed(client, ledger, upkeep, server, random);
      expect_sound(data);
    } else {
      EXPECT_EQ(server.terminate(), 0);
    }
  }
  EXPECT_GT(ledger.acknowledged(), 0U) << "no round wrote anything";
  EXPECT_TRUE(rounds < 10 || upkeep.restored() > 0) << "nothing was restored";
  EXPECT_TRUE(rounds < 10 || upkeep.transferred() > 0) << "nothing was exported or imported";
  std::cout << last << " kills, " << ledger.acknowledged() << " writes, " << upkeep.restored()
            << " tables restored, " << upkeep.transferred() << " transfers, STATOR_SEED=" << seed
            << '\n';
}

}  // namespace
}  // namespace stator::test
