// SPDX-License-Identifier: Apache-2.0
// The disk is filled with items or with another program's files. No acknowledged write is lost, the
// directory opens in every state after kill -9, and deletes are accepted. Writes resume by
// themselves once there is free space, no matter how it was freed.
//
// STATOR_DISK_FULL_ROUNDS sets how often the process is killed (default: 3), and STATOR_SEED the
// items.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "power_loss/full_disk.h"
#include "stator/database.h"
#include "support/from_environment.h"
#include "support/matchers.h"
#include "support/poll_until.h"

namespace stator::test {
namespace {

constexpr std::size_t kWriters = 4;
constexpr uint64_t kDone = 0;
constexpr uint64_t kFailed = UINT64_MAX;
constexpr const char* kTable = "Items";
constexpr const char* kOther = "Others";

class DiskFull : public testing::Test {
 protected:
  using Numbers = std::vector<uint64_t>;

  void SetUp() override { STATOR_REQUIRE_MOUNTS(); }

  void open() {
    auto opened = Database::open({.path = disk_.path() / "data"});
    ASSERT_THAT(opened, IsOk()) << disk_.free_bytes() << " bytes free";
    database_.emplace(std::move(*opened));
  }

  void create(const std::string& table) {
    ASSERT_THAT(database_->create_table({.table = table,
                                         .attributes = {{"pk", ScalarType::kN}},
                                         .key_schema = {{"pk", KeyType::kHash}},
                                         .billing_mode = BillingMode::kPayPerRequest}),
                IsOk());
  }

  static Item key_of(uint64_t number) { return {{"pk", static_cast<int64_t>(number)}}; }

  Result<void> put(const std::string& table, uint64_t number) {
    Item item = key_of(number);
    item["value"] = value_of(number);
    STATOR_ASSIGN_OR_RETURN(const auto done,
                            database_->put_item({.table = table, .item = std::move(item)}));
    acknowledge(table, number);
    return {};
  }

  void acknowledge(const std::string& table, uint64_t number) {
    const std::lock_guard lock(mutex_);
    items_[table].push_back(number);
    if (pipe_ < 0) return;
    EXPECT_EQ(write(pipe_, &number, sizeof(number)), ssize_t{sizeof(number)});
  }

  // Puts items until one is rejected.
  void fill_with_items(const std::string& table) {
    std::atomic<bool> full = false;
    std::vector<std::jthread> writers;
    for (std::size_t writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back([&] {
        while (!full) {
          const auto done = put(table, ++last_number_);
          if (done) continue;
          EXPECT_THAT(done, FailsWith(Code::kInternalServerError, kFull));
          full = true;
        }
      });
    }
  }

  Result<void> erase_one(const std::string& table) {
    STATOR_ASSIGN_OR_RETURN(
        const auto done,
        database_->delete_item({.table = table, .key = key_of(items_[table].back())}));
    items_[table].pop_back();
    return {};
  }

  // Compactions need some time to free space.
  void expect_puts_resume(const std::string& table) {
    Result<void> done;
    const bool resumed = poll_until([&] {
      done = put(table, ++last_number_);
      return done || !done.error().message.contains(kFull);
    });
    ASSERT_THAT(done, IsOk()) << (resumed ? "" : "puts did not resume; ") << disk_.free_bytes()
                              << " bytes free";
  }

  void check_items() {
    for (const auto& [table, numbers] : items_) {
      for (const uint64_t number : numbers) {
        const auto found = database_->get_item({.table = table, .key = key_of(number)});
        ASSERT_THAT(found, IsOk());
        ASSERT_TRUE(found->item) << "item " << number << " of " << table << " is lost";
        ASSERT_EQ(*found->item->at("value").get_if<std::string>(), value_of(number));
      }
    }
  }

  // Runs `body` with the database in a separate process. RocksDB's threads do not survive a fork,
  // so this process must not have any.
  void run(const std::function<void()>& body) {
    const pid_t child = fork();
    if (child == 0) {
      open();
      if (database_) body();
      database_.reset();
      _exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "see above";
  }

  // Like run(), but kills the process when it has finished or has acknowledged `puts_max` puts.
  // Afterward, this process knows them.
  void run_and_kill(std::size_t puts_max, const std::function<void()>& body) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
      pipe_ = ends[1];
      open();
      if (database_) body();
      const uint64_t end = HasFailure() ? kFailed : kDone;
      EXPECT_EQ(write(pipe_, &end, sizeof(end)), ssize_t{sizeof(end)});
      pause();
    }
    close(ends[1]);
    std::size_t puts = 0;
    uint64_t number = 0;
    while (read(ends[0], &number, sizeof(number)) == ssize_t{sizeof(number)}) {
      EXPECT_NE(number, kFailed) << "see above";
      const bool is_end = number == kDone || number == kFailed;
      if (!is_end) items_[kTable].push_back(number);
      if (is_end || ++puts == puts_max) kill(child, SIGKILL);
    }
    waitpid(child, nullptr, 0);
    close(ends[0]);
    last_number_ += 1'000'000;
  }

  const uint64_t seed_ = number_from_environment("STATOR_SEED", 1);
  SmallDisk disk_{kDiskMb};
  std::optional<Database> database_;
  std::mutex mutex_;
  int pipe_ = -1;
  std::map<std::string, Numbers> items_;  // acknowledged
  std::atomic<uint64_t> last_number_ = seed_ << 32;
};

TEST_F(DiskFull, OfItemsOpensAfterAKillAndResumesWhenItIsEnlarged) {
  run_and_kill(SIZE_MAX, [&] {
    create(kTable);
    fill_with_items(kTable);
  });
  run([&] {
    check_items();
    EXPECT_THAT(erase_one(kTable), IsOk());
    disk_.resize(kDiskMb + 60);
    expect_puts_resume(kTable);
    check_items();
  });
}

TEST_F(DiskFull, OfItemsResumesWhenItemsAreDeleted) {
  run([&] {
    create(kTable);
    fill_with_items(kTable);
    for (std::size_t left = items_[kTable].size() / 2; items_[kTable].size() > left;) {
      ASSERT_THAT(erase_one(kTable), IsOk());
    }
    expect_puts_resume(kTable);
    check_items();
  });
}

TEST_F(DiskFull, OfItemsResumesWhenATableIsDeleted) {
  run([&] {
    create(kTable);
    create(kOther);
    for (int i = 0; i < 100; ++i) ASSERT_THAT(put(kTable, ++last_number_), IsOk());
    fill_with_items(kOther);
    ASSERT_THAT(database_->delete_table({.table = kOther}), IsOk());
    items_.erase(kOther);
    expect_puts_resume(kTable);
    check_items();
  });
}

TEST_F(DiskFull, OfAnotherProgramsFilesOpensWithoutAByteFree) {
  run_and_kill(SIZE_MAX, [&] {
    create(kTable);
    for (int i = 0; i < 300; ++i) EXPECT_THAT(put(kTable, ++last_number_), IsOk());
    disk_.fill();
  });
  disk_.fill();  // again, because the killed process can have deleted a file after that
  ASSERT_EQ(disk_.free_bytes(), 0U);
  run([&] {
    check_items();
    disk_.fill();
    fill_with_items(kTable);
    for (int i = 0; i < 50; ++i) ASSERT_THAT(erase_one(kTable), IsOk());
    disk_.remove_filler();
    expect_puts_resume(kTable);
    check_items();
  });
}

// The deleted table must be larger than the reserve.
TEST_F(DiskFull, OfAnotherProgramsFilesResumesWhenATableIsDeleted) {
  run([&] {
    create(kTable);
    create(kOther);
    for (int i = 0; i < 1000; ++i) {
      ASSERT_THAT(put(i % 4 == 0 ? kTable : kOther, ++last_number_), IsOk());
    }
    disk_.fill();
    fill_with_items(kTable);
    ASSERT_THAT(database_->delete_table({.table = kOther}), IsOk());
    items_.erase(kOther);
    expect_puts_resume(kTable);
    check_items();
  });
}

// The deleted items must be larger than the reserve. As many remain between them, so a compaction
// writes much.
TEST_F(DiskFull, OfAnotherProgramsFilesResumesWhenItemsAreDeleted) {
  run([&] {
    create(kTable);
    create(kOther);
    for (int i = 0; i < 1600; ++i) {
      ASSERT_THAT(put(i % 2 == 0 ? kTable : kOther, ++last_number_), IsOk());
    }
    const auto ballast_bytes = [&] {
      return std::filesystem::file_size(disk_.path() / "data" / "ballast");
    };
    ASSERT_TRUE(poll_until([&] { return ballast_bytes() >= 26UL << 20; })) << ballast_bytes();
    disk_.fill();
    fill_with_items(kTable);
    while (!items_[kOther].empty()) ASSERT_THAT(erase_one(kOther), IsOk());
    expect_puts_resume(kTable);
    check_items();
  });
}

TEST_F(DiskFull, InTheMiddleOfWritesLosesNothingAcknowledged) {
  constexpr std::size_t kKept = 800;  // items of a round, so that later ones have space for others
  const uint64_t rounds = number_from_environment("STATOR_DISK_FULL_ROUNDS", 3);
  std::mt19937_64 random(seed_);
  run([&] { create(kTable); });
  for (uint64_t round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    // In every other round, kills it during the writes.
    run_and_kill(round % 2 == 0 ? SIZE_MAX : 1 + random() % 500, [&] {
      const std::jthread other([&] { disk_.fill(); });
      fill_with_items(kTable);
    });
    disk_.fill();
    run([&] {
      check_items();
      while (items_[kTable].size() > kKept) ASSERT_THAT(erase_one(kTable), IsOk());
      disk_.remove_filler();
      expect_puts_resume(kTable);
      check_items();
    });
    items_[kTable].resize(std::min(items_[kTable].size(), kKept));
  }
}

TEST_F(DiskFull, RefusesANewDirectoryWithoutAborting) {
  disk_.fill();
  EXPECT_THAT(Database::open({.path = disk_.path() / "data"}), FailsWith(Code::kIo, "space left"));
}

}  // namespace
}  // namespace stator::test
