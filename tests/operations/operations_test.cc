// SPDX-License-Identifier: Apache-2.0
// verify, backup and restore with real processes, under load, and with directories that are
// damaged, in use or already existing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cli/stator_program.h"
#include "stator/database.h"
#include "stator/http_client.h"
#include "support/from_environment.h"
#include "support/ledger.h"
#include "support/matchers.h"
#include "support/paths.h"
#include "support/server_process.h"
#include "support/temp_dir.h"

namespace stator::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

void expect_success(std::vector<std::string> arguments) {
  const Ran ended = run_stator(std::move(arguments));
  EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.err, IsEmpty());
}

int64_t items_in(Client& client) {
  int64_t items = 0;
  const auto tables = client.list_tables({});
  if (!tables) return 0;
  for (const std::string& table : tables->tables) {
    if (const auto found = client.describe_table({.table = table}))
      items += found->table.item_count;
  }
  return items;
}

class Operations : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return (directory_.path() / name).string(); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }

  // Creates and closes a data directory with a table of a hundred items.
  void make_data(const std::string& name) const {
    auto database = Database::open({.path = at(name), .durability = Durability::kOs});
    ASSERT_THAT(database, IsOk());
    ASSERT_THAT(database->create_table({.table = "Things",
                                        .attributes = {{"pk", ScalarType::kS}},
                                        .key_schema = {{"pk", KeyType::kHash}},
                                        .billing_mode = BillingMode::kPayPerRequest}),
                IsOk());
    for (int i = 0; i < 100; ++i) {
      ASSERT_THAT(database->put_item({.table = "Things", .item = {{"pk", std::to_string(i)}}}),
                  IsOk());
    }
  }
  void damage_tables(const std::string& name) const {
    int damaged = 0;
    for (const auto& entry : std::filesystem::directory_iterator(at(name) + "/rocksdb")) {
      if (entry.path().extension() != ".sst") continue;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(60);
      file << "damage";
      ++damaged;
    }
    ASSERT_GT(damaged, 0);
  }

  const TempDir directory_;
};

// Writers use a server while it is backed up. Each backup must be the state at one point in time: a
// prefix of each writer's writes, and no partial transaction.
TEST_F(Operations, ABackupUnderLoadIsOnePointInTime) {
  constexpr std::size_t kWriters = 6;
  const uint64_t seed = number_from_environment("STATOR_SEED", std::random_device{}());
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  Ledger ledger(kWriters, seed);
  ServerProcess server(stator_binary(), {"--data", at("data")});
  ASSERT_FALSE(server.url().empty());
  auto client = HttpClient::open({.endpoint = server.url(), .max_attempts = 1}).value();
  ASSERT_THAT(Ledger::create(client), IsOk());
  ledger.settle(client, Kept::kAcknowledged);
  const int64_t items_at_first = items_in(client);

  std::vector<std::thread> threads;
  const std::atomic<bool> until_killed = false;
  threads.reserve(kWriters);
  for (std::size_t writer = 0; writer < kWriters; ++writer) {
    threads.emplace_back([&, writer] { (void)ledger.write(client, writer, until_killed); });
  }
  while (items_in(client) < items_at_first + 20) std::this_thread::yield();
  const std::vector<std::string> backups = {"first", "second", "third"};
  for (const std::string& backup : backups) {
    expect_success({"backup", "--data", at("data"), at(backup)});
  }
  server.kill_now();
  for (std::thread& thread : threads) thread.join();

  for (const std::string& backup : backups) {
    SCOPED_TRACE(backup);
    expect_success({"verify", at(backup)});
    expect_success({"restore", at(backup), at(backup + " restored")});
    auto restored = Database::open({.path = at(backup + " restored"), .create_if_missing = false});
    ASSERT_THAT(restored, IsOk());
    ledger.check(*restored, Kept::kPrefix);
    while (items_in(*restored) < items_at_first + 20) std::this_thread::yield();
  }
  expect_success({"verify", at("data")});
  auto data = Database::open({.path = at("data")});
  ASSERT_THAT(data, IsOk());
  ledger.check(*data, Kept::kAcknowledged);
}

TEST_F(Operations, ARestartedServerCreatesBackupsAfterACrash) {
  ServerProcess crashing(stator_binary(), {"--data", at("data")});
  ASSERT_FALSE(crashing.url().empty());
  crashing.kill_now();
  expect_success({"backup", "--data", at("data"), at("without server")});
  ServerProcess server(stator_binary(), {"--data", at("data")});
  struct stat control{};
  ASSERT_EQ(stat((at("data") + "/control").c_str(), &control), 0);
  EXPECT_EQ(control.st_mode & 0777, 0600U) << "others may ask for backups";
  expect_success({"backup", "--data", at("data"), at("with server")});
  expect_refusal({"backup", "--data", at("data"), at("with server")}, 1, "exists already");
  expect_refusal({"backup", "--data", at("data"), at("data/inside")}, 1, "within the data");
  expect_refusal({"backup", "--data", at("data"), at("no/where")}, 1, "No such file");
  expect_refusal({"verify", at("data")}, 1, "in use by another process");
  expect_refusal({"restore", at("data"), at("copy")}, 1, "in use by another process");
  EXPECT_EQ(server.terminate(), 0);
  EXPECT_FALSE(std::filesystem::exists(at("data") + "/control"));
  EXPECT_THAT(names(), ElementsAre("data", "with server", "without server"));
}

TEST_F(Operations, ABackupOfAClosedDirectoryContainsAllOfIt) {
  make_data("data");
  const Ran backup = run_stator({"backup", "--json", "--data", at("data"), at("backup")});
  EXPECT_EQ(backup.status, 0);
  EXPECT_THAT(backup.out, HasSubstr("{\"backup\":\"" + at("backup") + "\",\"bytes\":"));
  const Ran restore = run_stator({"restore", "--json", at("backup"), at("restored")});
  EXPECT_EQ(restore.out, "{\"directory\":\"" + at("restored") + "\",\"items\":100,\"tables\":1}\n");
  auto restored = Database::open({.path = at("restored"), .create_if_missing = false});
  ASSERT_THAT(restored, IsOk());
  EXPECT_EQ(items_in(*restored), 100);
}

TEST_F(Operations, ADatabaseBacksItselfUpInItsProcess) {
  make_data("data");
  auto database = Database::open({.path = at("data")});
  ASSERT_THAT(database, IsOk());
  expect_refusal({"backup", "--data", at("data"), at("backup")}, 1,
                 "takes no requests for backups");
  ASSERT_THAT(database->backup(at("backup")), IsOk());
  expect_success({"verify", at("backup")});
  EXPECT_THAT(database->backup(at("backup")), FailsWith(Code::kIo, "exists already"));
  EXPECT_THAT(Database::open()->backup(at("memory")),
              FailsWith(Code::kInvalidArgument, "not in a directory"));
}

TEST_F(Operations, RestoreTouchesNothingThatIsThere) {
  make_data("data");
  expect_success({"backup", "--data", at("data"), at("backup")});
  make_data("mine");
  expect_refusal({"restore", at("backup"), at("mine")}, 1, "exists already");
  expect_refusal({"restore", at("backup"), at("mine/")}, 1, "exists already");
  std::filesystem::create_directory(at("empty"));
  expect_refusal({"restore", at("backup"), at("empty")}, 1, "exists already");
  expect_refusal({"restore", at("none"), at("restored")}, 1, "' does not exist");
  expect_refusal({"restore", at("empty"), at("restored")}, 1, "contains no data");
  expect_refusal({"restore", at("backup"), at("no/where")}, 1, "No such file");
  expect_refusal({"restore", at("backup")}, 2, "directory");
  EXPECT_THAT(names(), ElementsAre("backup", "data", "empty", "mine"));
}

TEST_F(Operations, RestoreRefusesADamagedBackup) {
  make_data("data");
  expect_success({"backup", "--data", at("data"), at("backup")});
  damage_tables("backup");
  const Ran ended = run_stator({"restore", at("backup"), at("restored")});
  EXPECT_EQ(ended.status, 1);
  EXPECT_THAT(ended.out, HasSubstr("file: "));
  EXPECT_THAT(ended.err, HasSubstr("nothing was restored"));
  EXPECT_THAT(names(), ElementsAre("backup", "data"));
}

TEST_F(Operations, VerifyReportsForPeopleAndScripts) {
  make_data("data");
  const Ran sound = run_stator({"verify", at("data")});
  EXPECT_EQ(sound.status, 0);
  EXPECT_EQ(sound.out, "checked 1 tables, 100 items, 0 index entries, 0 changes, 0 tokens\n");
  EXPECT_THAT(run_stator({"verify", "--json", at("data")}).out, HasSubstr("\"sound\":true"));
  expect_success({"backup", "--data", at("data"), at("backup")});
  damage_tables("backup");
  const Ran damaged = run_stator({"verify", at("backup")});
  EXPECT_EQ(damaged.status, 1);
  EXPECT_THAT(damaged.out, HasSubstr(".sst: Corruption"));
  EXPECT_THAT(damaged.err, AllOf(MatchesRegex("stator: [^\n]*\n"), HasSubstr("is damaged")));
  const Ran json = run_stator({"verify", "--json", at("backup")});
  EXPECT_EQ(json.status, 1);
  EXPECT_THAT(json.out, AllOf(HasSubstr("\"sound\":false"), HasSubstr("\"kind\":\"file\"")));
  expect_refusal({"verify", at("none")}, 1, "' does not exist");
  expect_refusal({"verify"}, 2, "directory");
}

TEST_F(Operations, VerifyNamesTablesThatACrashLeftUncounted) {
  ServerProcess server(stator_binary(), {"--data", at("data")});
  auto client = HttpClient::open({.endpoint = server.url()}).value();
  ASSERT_THAT(Ledger::create(client), IsOk());
  server.kill_now();
  const Ran ended = run_stator({"verify", at("data")});
  EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("was not closed cleanly"));
}

// The server is killed before the damage, because a clean shutdown leaves almost no log.
TEST_F(Operations, RecoverContinuesWithTheWritesBeforeADamagedPartOfTheLog) {
  {
    ServerProcess server(stator_binary(), {"--data", at("data"), "--durability", "os"});
    ASSERT_FALSE(server.url().empty());
    HttpClient client = HttpClient::open({.endpoint = server.url()}).value();
    ASSERT_THAT(client.create_table({.table = "Things",
                                     .attributes = {{"pk", ScalarType::kS}},
                                     .key_schema = {{"pk", KeyType::kHash}},
                                     .billing_mode = BillingMode::kPayPerRequest}),
                IsOk());
    for (int i = 0; i < 100; ++i) {
      ASSERT_THAT(client.put_item({.table = "Things", .item = {{"pk", std::to_string(i)}}}),
                  IsOk());
    }
    server.kill_now();
  }
  expect_success({"recover", at("data")});
  EXPECT_FALSE(std::filesystem::exists(at("data/damaged-log-1"))) << "the log was sound";
  for (const auto& entry : std::filesystem::directory_iterator(at("data/rocksdb"))) {
    if (entry.path().extension() != ".log" || entry.file_size() == 0) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
    file << "damage";
  }
  expect_refusal({"serve", "--data", at("data")}, 1, "stator recover");
  EXPECT_EQ(run_stator({"verify", at("data")}).status, 1);
  expect_success({"recover", at("data")});
  EXPECT_TRUE(std::filesystem::exists(at("data/damaged-log-1")));
  expect_success({"verify", at("data")});
}

}  // namespace
}  // namespace stator::test
