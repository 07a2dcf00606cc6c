// SPDX-License-Identifier: Apache-2.0
// A bit of the log flips after kill -9. The server does not start and prints the remedy, and the
// damaged log remains. `stator recover` continues with the writes before the damage.
//
// STATOR_FLIPS sets the number of bits, one at a time (default: 20), and STATOR_SEED their
// positions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <string>

#include "cli/stator_program.h"
#include "stator/database.h"
#include "stator/http_client.h"
#include "support/from_environment.h"
#include "support/matchers.h"
#include "support/paths.h"
#include "support/read_file.h"
#include "support/server_process.h"
#include "support/temp_dir.h"

namespace stator::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kItems = 300;
constexpr const char* kTable = "Items";

Item key_of(int number) {
  return {{"pk", number}};
}

class DamagedLog : public testing::Test {
 protected:
  // Makes writes that are acknowledged one after the other, some larger than a block of the log.
  void write_and_kill() {
    ServerProcess server(stator_binary(), {"--data", killed_.string()});
    ASSERT_FALSE(server.url().empty());
    HttpClient client = HttpClient::open({.endpoint = server.url(), .max_attempts = 1}).value();
    ASSERT_THAT(client.create_table({.table = kTable,
                                     .attributes = {{"pk", ScalarType::kN}},
                                     .key_schema = {{"pk", KeyType::kHash}},
                                     .billing_mode = BillingMode::kPayPerRequest}),
                IsOk());
    for (int i = 0; i < kItems; ++i) {
      Item item = key_of(i);
      item["value"] = std::string(i % 50 == 7 ? 70'000 : 100 + i, 'v');
      ASSERT_THAT(client.put_item({.table = kTable, .item = std::move(item)}), IsOk());
    }
    server.kill_now();
  }

  // Copies the rows, their log and the files about both, but not the server's socket or the
  // ballast.
  std::filesystem::path copy_killed() {
    auto path = directory_.path() / ("copy " + std::to_string(copies_++));
    std::filesystem::create_directory(path);
    for (const char* part : {"STATOR", "progress", "rocksdb"}) {
      std::filesystem::copy(killed_ / part, path / part);
    }
    return path;
  }

  // Returns the largest log, which contains the items.
  static std::filesystem::path log_of(const std::filesystem::path& data) {
    std::filesystem::path largest;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
      if (entry.path().extension() != ".log") continue;
      if (largest.empty() || entry.file_size() > std::filesystem::file_size(largest)) {
        largest = entry.path();
      }
    }
    return largest;
  }

  // Returns the number of items, which must be the first ones written. None is left if the damage
  // is in the first commit, which creates the table.
  static int count_items(const std::filesystem::path& data) {
    auto database = Database::open({.path = data});
    EXPECT_THAT(database, IsOk());
    int count = 0;
    for (int i = 0; database && i < kItems; ++i) {
      const auto found = database->get_item({.table = kTable, .key = key_of(i)});
      if (!found && i == 0 && found.error().code == Code::kResourceNotFound) return 0;
      EXPECT_THAT(found, IsOk());
      if (!found || !found->item) continue;
      EXPECT_EQ(count, i) << "an item before it is missing";
      count = i + 1;
    }
    return count;
  }

  TempDir directory_;
  const std::filesystem::path killed_ = directory_.path() / "killed";
  int copies_ = 0;
};

TEST_F(DamagedLog, AfterAKillIsRefusedAndRecoveredOnRequest) {
  const uint64_t seed = number_from_environment("STATOR_SEED", std::random_device{}());
  const uint64_t flips = number_from_environment("STATOR_FLIPS", 20);
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  ASSERT_NO_FATAL_FAILURE(write_and_kill());
  EXPECT_EQ(count_items(copy_killed()), kItems) << "the log as the kill left it";
  for (uint64_t flip = 0; flip < flips && !HasFailure(); ++flip) {
    const auto data = copy_killed();
    const auto log = log_of(data);
    std::string bytes = read_file(log);
    const std::size_t at = random() % read_without_zeros(log).size();
    SCOPED_TRACE("byte " + std::to_string(at) + " of " + std::to_string(bytes.size()));
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    std::ofstream(log, std::ios::binary) << bytes;

    const std::string path = data.string();
    expect_refusal({"serve", "--data", path, "--listen", "127.0.0.1:0"}, 1, "run `stator recover`");
    EXPECT_EQ(read_file(log), bytes) << "the refusal changed the log";
    EXPECT_NE(run_stator({"verify", path}).status, 0);

    const Ran recovered = run_stator({"recover", path});
    EXPECT_EQ(recovered.status, 0) << recovered.err;
    EXPECT_THAT(recovered.out, AllOf(HasSubstr("recovered '" + path + "'"),
                                     HasSubstr("the previous log is in '" + path)));
    EXPECT_EQ(read_file(log_of(data / "damaged-log-1")), bytes);
    EXPECT_LT(count_items(data), kItems);
    EXPECT_EQ(run_stator({"verify", path}).status, 0);
    std::filesystem::remove_all(data);
  }
  std::cout << flips << " flips, STATOR_SEED=" << seed << '\n';
}

}  // namespace
}  // namespace stator::test
