// SPDX-License-Identifier: Apache-2.0
// A server whose disk is filled by puts or by another program, is killed, or not, and then gets
// free space in each possible way. In every state the directory opens, no acknowledged write is
// lost, and deletes are accepted. Puts resume without a restart.
//
// Every combination is run if STATOR_DISK_FULL_ROUNDS is set; otherwise, a few.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cli/process.h"
#include "power_loss/full_disk.h"
#include "stator/http_client.h"
#include "support/from_environment.h"
#include "support/matchers.h"
#include "support/paths.h"
#include "support/poll_until.h"
#include "support/server_process.h"

namespace stator::test {
namespace {

enum class Filled { kByPuts, kByAnother };
enum class Killed { kNot, kWhenFull, kDuringFreeing };
enum class Freed { kEnlarged, kItems, kTable, kFiller };

struct Cell {
  Filled filled;
  Killed killed;
  Freed freed;
};

constexpr std::array kFilledNames = {"ByPuts", "ByAnotherProgram"};
constexpr std::array kKilledNames = {"NotKilled", "KilledWhenFull", "KilledDuringFreeing"};
constexpr std::array kFreedNames = {"Enlarged", "ItemsDeleted", "TableDeleted", "FillerRemoved"};

std::string name_of(const testing::TestParamInfo<Cell>& cell) {
  const auto at = [](const auto& names, auto value) {
    return std::string(names[static_cast<std::size_t>(value)]);
  };
  return at(kFilledNames, cell.param.filled) + at(kKilledNames, cell.param.killed) +
         at(kFreedNames, cell.param.freed);
}

std::vector<Cell> cells() {
  if (std::getenv("STATOR_DISK_FULL_ROUNDS") == nullptr) {
    return {{Filled::kByPuts, Killed::kDuringFreeing, Freed::kItems},
            {Filled::kByAnother, Killed::kWhenFull, Freed::kEnlarged},
            {Filled::kByAnother, Killed::kDuringFreeing, Freed::kTable}};
  }
  std::vector<Cell> all;
  for (const Filled filled : {Filled::kByPuts, Filled::kByAnother}) {
    for (const Killed killed : {Killed::kNot, Killed::kWhenFull, Killed::kDuringFreeing}) {
      for (const Freed freed : {Freed::kEnlarged, Freed::kItems, Freed::kTable, Freed::kFiller}) {
        if (filled == Filled::kByPuts && freed == Freed::kFiller) continue;
        all.push_back({filled, killed, freed});
      }
    }
  }
  return all;
}

// The table that is deleted, or whose items are, and one that remains.
constexpr const char* kDeleted = "Deleted";
constexpr const char* kKept = "Kept";
constexpr std::size_t kWriters = 4;

class FullDiskOfAServer : public testing::TestWithParam<Cell> {
 protected:
  void SetUp() override { STATOR_REQUIRE_MOUNTS(); }

  void start() {
    server_.emplace(stator_binary(), std::vector<std::string>{"--data", data()});
    ASSERT_FALSE(server_->url().empty()) << disk_.free_bytes() << " bytes free";
    // One attempt: a retry would hide whether the first one was acknowledged.
    client_.emplace(HttpClient::open({.endpoint = server_->url(), .max_attempts = 1}).value());
  }
  void kill_and_start() {
    server_->kill_now();
    if (is_filled_by_another_) disk_.fill();  // the killed server can have freed space after that
    start();
  }
  std::string data() const { return disk_.path() / "data"; }

  void create(const std::string& table) {
    ASSERT_THAT(client_->create_table({.table = table,
                                       .attributes = {{"pk", ScalarType::kN}},
                                       .key_schema = {{"pk", KeyType::kHash}},
                                       .billing_mode = BillingMode::kPayPerRequest}),
                IsOk());
  }
  static Item key_of(uint64_t number) { return {{"pk", static_cast<int64_t>(number)}}; }

  // Puts the next item. Every fourth is kept.
  Result<void> put() {
    const uint64_t number = ++last_number_;
    const std::string table = number % 4 == 0 ? kKept : kDeleted;
    return put(table, number);
  }
  Result<void> put(const std::string& table, uint64_t number) {
    Item item = key_of(number);
    item["value"] = value_of(number);
    STATOR_ASSIGN_OR_RETURN(const auto done,
                            client_->put_item({.table = table, .item = std::move(item)}));
    const std::lock_guard lock(mutex_);
    items_[table].insert(number);
    return {};
  }
  void put_until_full() {
    std::atomic<bool> full = false;
    std::vector<std::jthread> writers;
    for (std::size_t writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&] {
        while (!full) {
          const auto done = put();
          if (done) continue;
          EXPECT_EQ(done.error().code, Code::kInternalServerError);  // without the reason
          full = true;
        }
      });
    }
  }

  void fill() {
    if (GetParam().filled == Filled::kByAnother) {
      // The deleted table must be larger than the reserve.
      for (int i = 0; i < 1000; ++i) ASSERT_THAT(put(), IsOk());
      disk_.fill();
      is_filled_by_another_ = true;
    }
    put_until_full();
  }

  void free() {
    is_filled_by_another_ = false;  // the other program does not take the space that is freed
    switch (GetParam().freed) {
      case Freed::kEnlarged:
        disk_.resize(kDiskMb + 60);
        break;
      case Freed::kItems:
        delete_items();
        break;
      case Freed::kTable:
        ASSERT_THAT(client_->delete_table({.table = kDeleted}), IsOk());
        items_.erase(kDeleted);
        break;
      case Freed::kFiller:
        disk_.remove_filler();
        break;
    }
  }

  // The server is killed in the middle, if it is to be killed during the freeing.
  void delete_items() {
    const std::set<uint64_t> numbers = items_[kDeleted];
    const std::size_t kill_at = numbers.size() / 2;
    std::size_t deleted = 0;
    for (const uint64_t number : numbers) {
      ASSERT_THAT(client_->delete_item({.table = kDeleted, .key = key_of(number)}), IsOk());
      items_[kDeleted].erase(number);
      deleted_.insert(number);
      if (++deleted == kill_at && GetParam().killed == Killed::kDuringFreeing) {
        ASSERT_NO_FATAL_FAILURE(kill_and_start());
      }
    }
  }

  // Compactions need some time to free space.
  void expect_puts_resume() {
    Result<void> done;
    poll_until([&] {
      done = put(kKept, ++last_number_);
      return done || done.error().code != Code::kInternalServerError;
    });
    ASSERT_THAT(done, IsOk()) << disk_.free_bytes() << " bytes free";
  }

  void check_items() {
    for (const auto& [table, numbers] : items_) {
      for (const uint64_t number : numbers) {
        const auto found = client_->get_item({.table = table, .key = key_of(number)});
        ASSERT_THAT(found, IsOk());
        ASSERT_TRUE(found->item) << "item " << number << " of " << table << " is lost";
        ASSERT_EQ(*found->item->at("value").get_if<std::string>(), value_of(number));
      }
    }
    for (const uint64_t number : deleted_) {
      const auto found = client_->get_item({.table = kDeleted, .key = key_of(number)});
      ASSERT_THAT(found, IsOk());
      ASSERT_FALSE(found->item) << "item " << number << " was deleted";
    }
  }

  SmallDisk disk_{kDiskMb};
  bool is_filled_by_another_ = false;
  std::optional<ServerProcess> server_;
  std::optional<HttpClient> client_;
  std::mutex mutex_;
  std::map<std::string, std::set<uint64_t>> items_;  // acknowledged
  std::set<uint64_t> deleted_;
  std::atomic<uint64_t> last_number_ = number_from_environment("STATOR_SEED", 1) << 32;
};

TEST_P(FullDiskOfAServer, OpensAndResumesWithAllAcknowledgedItems) {
  ASSERT_NO_FATAL_FAILURE(start());
  create(kDeleted);
  create(kKept);
  ASSERT_NO_FATAL_FAILURE(fill());
  if (GetParam().killed == Killed::kWhenFull) {
    ASSERT_NO_FATAL_FAILURE(kill_and_start());
    put_until_full();
  }
  ASSERT_NO_FATAL_FAILURE(free());
  if (GetParam().killed == Killed::kDuringFreeing && GetParam().freed != Freed::kItems) {
    ASSERT_NO_FATAL_FAILURE(kill_and_start());
  }
  ASSERT_NO_FATAL_FAILURE(expect_puts_resume());
  ASSERT_NO_FATAL_FAILURE(check_items());
  EXPECT_EQ(server_->terminate(), 0);
  Process verify({stator_binary(), "verify", data()});
  EXPECT_EQ(verify.wait(), 0) << verify.out() << verify.err();
}

INSTANTIATE_TEST_SUITE_P(Cells, FullDiskOfAServer, testing::ValuesIn(cells()), name_of);

}  // namespace
}  // namespace stator::test
