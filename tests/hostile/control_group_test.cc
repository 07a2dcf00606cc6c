// SPDX-License-Identifier: Apache-2.0
// Servers in memory control groups, attacked by many clients that try to make them use too much
// memory, while a well-behaved client measures its latencies. Prints one row for each attack.
//
// STATOR_HOSTILE_CLIENTS sets the number of attackers and selects the whole matrix.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "hostile/attackers.h"
#include "hostile/control_group.h"
#include "hostile/echo.h"
#include "hostile/processors.h"
#include "server/gzip.h"
#include "stator/http_client.h"
#include "support/from_environment.h"
#include "support/matchers.h"
#include "support/paths.h"
#include "support/process_memory.h"
#include "support/server_process.h"
#include "support/signed_request.h"
#include "support/temp_dir.h"

namespace stator::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMegabyte = 1UL << 20;
constexpr int kItems = 40;  // 16 MB

bool is_whole_matrix() {
  return std::getenv("STATOR_HOSTILE_CLIENTS") != nullptr;
}
std::size_t attacker_count() {
  return number_from_environment("STATOR_HOSTILE_CLIENTS", 30);
}
std::chrono::milliseconds phase() {
  return std::chrono::milliseconds(is_whole_matrix() ? 3000 : 200);
}

const RawKey& known_key() {
  static const RawKey key{.id = "AKIAIOSFODNN7EXAMPLE", .secret = "known"};
  return key;
}
const RawKey& unknown_key() {
  static const RawKey key{.id = "AKIAUNKNOWNEXAMPLE00", .secret = "unknown"};
  return key;
}

enum class Keys { kNotChecked, kUnknown, kValid };  // of the attackers

struct Setting {
  std::size_t megabytes = 0;
  bool on_disk = false;
  Keys keys = Keys::kNotChecked;
};

std::string name_of(const ::testing::TestParamInfo<Setting>& info) {
  const Setting& setting = info.param;
  const char* keys = setting.keys == Keys::kNotChecked ? "WithoutCredentials"
                     : setting.keys == Keys::kUnknown  ? "WithUnknownKeys"
                                                       : "WithValidKeys";
  return std::to_string(setting.megabytes) + "Mb" + (setting.on_disk ? "OnDisk" : "InMemory") +
         keys;
}

std::vector<Setting> settings() {
  if (!is_whole_matrix()) return {{256, true, Keys::kNotChecked}, {256, false, Keys::kValid}};
  std::vector<Setting> all;
  for (const std::size_t megabytes : {256, 512}) {
    for (const bool on_disk : {false, true}) {
      for (const Keys keys : {Keys::kNotChecked, Keys::kUnknown, Keys::kValid}) {
        all.push_back({megabytes, on_disk, keys});
      }
    }
  }
  return all;
}

std::vector<Attack> attacks_with(const RawKey& key) {
  std::string keys;
  for (int i = 0; i < kItems; ++i) {
    keys += (i == 0 ? R"({"pk":{"S":"wide"},"sk":{"N":")" : R"(,{"pk":{"S":"wide"},"sk":{"N":")") +
            std::to_string(i) + R"("}})";
  }
  const std::string batch = R"({"RequestItems":{"Things":{"Keys":[)" + keys + "]}}}";
  const std::string query = R"({"TableName":"Things","KeyConditionExpression":"pk = :p",)"
                            R"("ExpressionAttributeValues":{":p":{"S":"wide"}}})";
  const std::string large = R"({"TableName":"Things","Item":{"pk":{"S":")" +
                            std::string(8 * kMegabyte, 'x') + R"("},"sk":{"N":"0"}}})";
  return {
      {.name = "bodies of 16 MB, 15.9 sent",
       .request = signed_operation(key, "PutItem", std::string(16 * kMegabyte, ' ')),
       .unsent_bytes = 100'000},
      {.name = "slow BatchGetItem, 16 MB",
       .request = signed_operation(key, "BatchGetItem", batch),
       .reads_slowly = true},
      {.name = "slow Query, 1 MB",
       .request = signed_operation(key, "Query", query),
       .reads_slowly = true},
      {.name = "slow Scan, 1 MB",
       .request = signed_operation(key, "Scan", R"({"TableName":"Things"})"),
       .reads_slowly = true},
      {.name = "BatchGetItem, 16 MB", .request = signed_operation(key, "BatchGetItem", batch)},
      {.name = "BatchGetItem, gzip",
       .request = signed_operation(key, "BatchGetItem", batch, "Accept-Encoding: gzip\r\n")},
      {.name = "gzip bodies of 8 MB",
       .request = signed_operation(key, "PutItem", server::gzip(large).value_or(""),
                                   "Content-Encoding: gzip\r\n")},
  };
}

struct Latencies {
  std::vector<double> ms;

  double at(double part) {
    if (ms.empty()) return 0;
    const auto n = static_cast<std::ptrdiff_t>(part * static_cast<double>(ms.size() - 1));
    std::ranges::nth_element(ms, ms.begin() + n);
    return ms[static_cast<std::size_t>(n)];
  }
};

// Of this thread. On another machine, a client would not wait until servers leave it a processor.
class Priority {
 public:
  Priority() { set(SCHED_RR, 1); }
  Priority(const Priority&) = delete;
  Priority& operator=(const Priority&) = delete;
  ~Priority() { set(SCHED_OTHER, 0); }

 private:
  static void set(int policy, int priority) {
    const sched_param parameter{.sched_priority = priority};
    sched_setscheduler(0, policy, &parameter);
  }
};

class ControlledMemory : public ::testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    use_processors_of(Part::kOthers);
    group_ = ControlGroup::make(GetParam().megabytes * kMegabyte);
    if (!group_) GTEST_SKIP() << "a memory control group cannot be made here: run it as root";
    const auto starter = directory_.path() / "stator";
    group_->write_starter(starter, stator_binary());
    std::vector<std::string> flags;
    if (GetParam().on_disk) {
      flags = {"--data", (directory_.path() / "data").string()};
    } else {
      flags = {"--memory"};
    }
    if (GetParam().keys != Keys::kNotChecked) {
      const auto file = directory_.path() / "credentials";
      std::ofstream(file) << "[known]\naws_access_key_id = " << known_key().id
                          << "\naws_secret_access_key = " << known_key().secret << '\n';
      flags.insert(flags.end(), {"--credentials", file.string()});
    }
    server_ = std::make_unique<ServerProcess>(starter.string(), flags);
    ASSERT_FALSE(server_->url().empty());
    auto client = HttpClient::open(
        {.endpoint = server_->url(),
         .credentials = {.access_key_id = known_key().id, .secret_access_key = known_key().secret},
         .max_attempts = 1});
    ASSERT_THAT(client, IsOk());
    client_ = std::make_unique<HttpClient>(std::move(*client));
    ASSERT_THAT(
        client_->create_table({.table = "Things",
                               .attributes = {{"pk", ScalarType::kS}, {"sk", ScalarType::kN}},
                               .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}},
                               .billing_mode = BillingMode::kPayPerRequest}),
        IsOk());
    echo_ = std::make_unique<Echo>(GetParam().on_disk ? directory_.path() / "echo" : "");
    const std::string text(400'000, 'x');
    for (int i = 0; i < kItems; ++i) {
      const Item item{{"pk", "wide"}, {"sk", i}, {"v", text}};
      ASSERT_THAT(client_->put_item({.table = "Things", .item = item}), IsOk());
    }
  }
  void TearDown() override {
    if (server_ && group_) {
      EXPECT_EQ(server_->terminate(), 0);
      EXPECT_EQ(group_->kills(), 0U);
    }
  }

  // Puts an item and reads it, as a client that does nothing wrong. Rotates, because the first call
  // after a pause takes longest.
  void exchange(Latencies& puts, Latencies& gets) {
    ++served_;
    for (int i = 0; i < 3; ++i) {
      const int turn = (served_ + i) % 3;
      Latencies& latencies = turn == 0 ? puts : turn == 1 ? gets : echoes_;
      const auto start = Clock::now();
      ASSERT_TRUE(turn == 0 ? put() : turn == 1 ? get() : echo_->call());
      latencies.ms.push_back(
          std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
  }
  bool put() {
    written_ = {{"pk", "good"}, {"sk", 1}, {"n", served_}};
    const auto put = client_->put_item({.table = "Things", .item = written_});
    EXPECT_THAT(put, IsOk());
    return put.has_value();
  }
  bool get() {
    const auto got = client_->get_item({.table = "Things", .key = {{"pk", "good"}, {"sk", 1}}});
    EXPECT_THAT(got, IsOk());
    return got && got->item.value_or(Item{}) == written_;
  }
  void exchange_for(std::chrono::milliseconds time, Latencies& puts, Latencies& gets) {
    const Priority priority;
    const auto end = Clock::now() + time;
    while (Clock::now() < end && !HasFatalFailure()) {
      exchange(puts, gets);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // leaves time to attackers
    }
  }

  std::size_t megabytes_of(std::string_view field) const {
    const std::size_t bytes = process_memory(server_->pid(), field);
    EXPECT_GT(bytes, 0U) << "the server has gone";
    return bytes >> 20;
  }
  void forget_peak() const {
    std::ofstream("/proc/" + std::to_string(server_->pid()) + "/clear_refs") << 5;
  }

  // The caches of a data directory can fill up. The server returns the rest about a second after
  // the attack.
  void await_memory(std::size_t allowed_megabytes) {
    Latencies ignored;
    const auto limit = Clock::now() + std::chrono::seconds(60);
    while (megabytes_of("VmRSS") > allowed_megabytes && Clock::now() < limit &&
           !HasFatalFailure()) {
      exchange(ignored, ignored);
    }
  }

  TempDir directory_;
  std::unique_ptr<ControlGroup> group_;
  std::unique_ptr<ServerProcess> server_;
  std::unique_ptr<HttpClient> client_;
  std::unique_ptr<Echo> echo_;
  Latencies echoes_;
  int served_ = 0;
  Item written_;
};

TEST_P(ControlledMemory, SurvivesAttacksAndServesOthers) {
  const Setting& setting = GetParam();
  const std::string& url = server_->url();
  const auto port = static_cast<uint16_t>(std::atoi(url.substr(url.rfind(':') + 1).c_str()));
  const std::size_t kept = 16 + (setting.on_disk ? setting.megabytes / 8 : 0);
  std::printf("%zu attackers; times in ms, memory in MB\n", attacker_count());
  std::printf("%-27s %-14s %-14s %-14s %-14s %-14s %5s %5s %5s %6s %11s %9s\n", "attack",
              "put p50 idle", "put p99 idle", "get p50 idle", "get p99 idle", "echo p99 idle",
              "RSS", "peak", "after", "group", "connections", "received");
  for (const Attack& attack :
       attacks_with(setting.keys == Keys::kUnknown ? unknown_key() : known_key())) {
    SCOPED_TRACE(attack.name);
    Latencies idle_puts;
    Latencies idle_gets;
    echoes_ = {};
    exchange_for(phase() / 2, idle_puts, idle_gets);
    Latencies idle_echoes = std::exchange(echoes_, {});
    Latencies echoes;
    const std::size_t before = megabytes_of("VmRSS");
    forget_peak();
    Latencies puts;
    Latencies gets;
    std::size_t connections = 0;
    std::size_t received = 0;
    {
      const Attackers attackers(port, attack, attacker_count());
      exchange_for(phase(), puts, gets);
      echoes = std::exchange(echoes_, {});
      connections = attackers.connections();
      received = attackers.received_bytes() / kMegabyte;
    }
    const std::size_t peak = megabytes_of("VmHWM");
    await_memory(before + kept);
    const std::size_t after = megabytes_of("VmRSS");
    const auto pair = [](Latencies& under_attack, Latencies& idle, double part) {
      char text[32];
      std::snprintf(text, sizeof text, "%.2f (%.2f)", under_attack.at(part), idle.at(part));
      return std::string(text);
    };
    std::printf("%-27s %-14s %-14s %-14s %-14s %-14s %5zu %5zu %5zu %6zu %11zu %9zu\n",
                attack.name.c_str(), pair(puts, idle_puts, 0.5).c_str(),
                pair(puts, idle_puts, 0.99).c_str(), pair(gets, idle_gets, 0.5).c_str(),
                pair(gets, idle_gets, 0.99).c_str(), pair(echoes, idle_echoes, 0.99).c_str(),
                before, peak, after, group_->peak_bytes() / kMegabyte, connections, received);
    std::fflush(stdout);
    EXPECT_LE(after, before + kept);
    EXPECT_EQ(group_->kills(), 0U);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(, ControlledMemory, ::testing::ValuesIn(settings()), name_of);

}  // namespace
}  // namespace stator::test
