// SPDX-License-Identifier: Apache-2.0
// The log is changed after the process has ended. Opening fails or keeps every write, and recovers
// a prefix of the writes.
#include "storage/rocks_log.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <random>
#include <thread>

#include "storage/rocks_zeroed_log.h"
#include "storage/stores.h"
#include "support/from_environment.h"
#include "support/matchers.h"
#include "support/read_file.h"
#include "support/temp_dir.h"

namespace stator {
namespace {

using test::FailsWith;
using test::IsOk;
using test::number_from_environment;

constexpr int kWrites = 300;

std::string key_of(int write) {
  return "key " + std::to_string(1000 + write);
}

class RocksLog : public testing::Test {
 protected:
  // Writes kWrites acknowledged writes, some larger than a block, and copies the files as kill -9
  // leaves them.
  void write(Durability durability) {
    const auto alive = directory_.path() / "alive";
    store_ = std::move(*open_rocks_store({.path = alive, .durability = durability}));
    for (int i = 0; i < kWrites; ++i) {
      Batch batch;
      batch.put(key_of(i), std::string(i % 50 == 7 ? 70'000 : 100 + i, 'v'));
      EXPECT_EQ(write_and_wait(*store_, std::move(batch)).outcome, CommitOutcome::kCommitted);
    }
    std::filesystem::copy(alive, killed_, std::filesystem::copy_options::recursive);
    std::filesystem::remove(killed_ / "ballast");
  }

  static void put_versioned(TransactStore& store, int rows) {
    Batch batch;
    for (int i = 0; i < rows; ++i) batch.put_versioned("log-", "", "x");
    EXPECT_EQ(write_and_wait(store, std::move(batch)).outcome, CommitOutcome::kCommitted);
  }

  std::filesystem::path copy_killed() {
    const auto path = directory_.path() / ("copy " + std::to_string(copies_++));
    std::filesystem::copy(killed_, path, std::filesystem::copy_options::recursive);
    return path;
  }

  static std::filesystem::path log_of(const std::filesystem::path& path) {
    for (const auto& entry : std::filesystem::directory_iterator(path / "rocksdb")) {
      if (entry.path().extension() == ".log" && entry.file_size() > 0) return entry.path();
    }
    return {};
  }

  // Returns the number of writes if they are a prefix of all writes, otherwise -1.
  static int prefix_of(TransactStore& store) {
    int count = 0;
    bool is_prefix = true;
    for (int i = 0; i < kWrites; ++i) {
      const bool found = *read_value(store, key_of(i), [](std::string_view) {});
      is_prefix = is_prefix && (!found || count == i);
      if (found) count = i + 1;
    }
    return is_prefix ? count : -1;
  }

  static Result<int> open_and_count(const RocksStoreOptions& options) {
    STATOR_ASSIGN_OR_RETURN(const auto store, open_rocks_store(options));
    return prefix_of(*store);
  }

  test::TempDir directory_;
  const std::filesystem::path killed_ = directory_.path() / "killed";
  std::unique_ptr<TransactStore> store_;  // stays open: a clean shutdown would leave no log
  int copies_ = 0;
};

// STATOR_FLIPS sets how many bits are flipped (25 unless set).
TEST_F(RocksLog, WithAFlippedBitIsRefusedOrKeepsEveryWrite) {
  write(Durability::kSync);
  const uint64_t seed = number_from_environment("STATOR_SEED", std::random_device{}());
  const uint64_t flips = number_from_environment("STATOR_FLIPS", 25);
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  int refused = 0;
  for (uint64_t flip = 0; flip < flips; ++flip) {
    const auto path = copy_killed();
    const auto log = log_of(path);
    std::string bytes = test::read_file(log);
    const std::size_t records = test::read_without_zeros(log).size();
    // Flips some of the bits in the last write, which no other write follows, and some in the
    // zeros after it.
    const std::size_t end = flip % 5 == 1 ? bytes.size() : records;
    const std::size_t range = flip % 5 == 0 ? 400 : end;
    const std::size_t at = end - 1 - random() % range;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    std::ofstream(log, std::ios::binary) << bytes;
    SCOPED_TRACE("byte " + std::to_string(at) + " of " + std::to_string(bytes.size()));
    const auto count = open_and_count({.path = path});
    if (count) {
      EXPECT_EQ(*count, kWrites);
    } else {
      ++refused;
      EXPECT_THAT(count, FailsWith(Code::kCorruption, "stator recover"));
      EXPECT_EQ(test::read_file(log), bytes) << "the damaged log was changed";
      const auto recovered = recover_rocks_store(path);
      ASSERT_THAT(recovered, IsOk());
      EXPECT_EQ(test::read_file(recovered->set_aside / log.filename()), bytes);
      const auto left = open_and_count({.path = path});
      ASSERT_THAT(left, IsOk());
      EXPECT_GE(*left, 0) << "not a prefix";
      EXPECT_EQ(*left == kWrites, at >= records);
    }
    std::filesystem::remove_all(path);
  }
  EXPECT_GT(refused, 0);
  std::cout << flips << " flips, " << refused << " refused, the others without effect\n";
}

TEST_F(RocksLog, ThatLostItsEndIsRefused) {
  write(Durability::kSync);
  const auto whole = test::read_without_zeros(log_of(killed_)).size();
  for (const uint64_t lost : {uint64_t{1}, uint64_t{200}, uint64_t{100'000}, whole}) {
    const auto path = copy_killed();
    std::filesystem::resize_file(log_of(path), whole - lost);
    EXPECT_THAT(open_and_count({.path = path, .boot = "the next"}),
                FailsWith(Code::kCorruption, "acknowledged"))
        << lost << " bytes";
  }
}

TEST_F(RocksLog, ThatIsMissingIsRefused) {
  write(Durability::kOs);
  const auto path = copy_killed();
  std::filesystem::remove(log_of(path));
  EXPECT_THAT(open_and_count({.path = path}), FailsWith(Code::kCorruption, "acknowledged"));
  EXPECT_THAT(open_and_count({.path = path}), FailsWith(Code::kCorruption, "acknowledged"));
  ASSERT_THAT(recover_rocks_store(path), IsOk());
  EXPECT_THAT(open_and_count({.path = path}), IsOk());
}

// A truncated last write was not acknowledged.
TEST_F(RocksLog, WithAnIncompleteLastWriteIsOpened) {
  write(Durability::kOs);
  const auto path = copy_killed();
  const std::string bytes = test::read_file(log_of(path));
  std::ofstream(log_of(path), std::ios::binary | std::ios::app) << bytes.substr(0, 90);
  EXPECT_EQ(open_and_count({.path = path}).value_or(-2), kWrites);
}

TEST_F(RocksLog, WithAnIncompleteWriteBeforeZerosIsOpened) {
  write(Durability::kSync);
  const std::string whole = test::read_file(log_of(killed_));
  const std::string records = test::read_without_zeros(log_of(killed_));
  ASSERT_EQ(whole.size() > records.size() + 1000, gains_from_zeros(directory_.path()));
  for (const std::size_t written : {1U, 3U, 5U, 7U, 8U, 90U, 116U}) {
    const auto path = copy_killed();
    std::string bytes = whole;
    bytes.replace(records.size(), written, records.substr(0, written));
    std::ofstream(log_of(path), std::ios::binary) << bytes;
    EXPECT_EQ(open_and_count({.path = path}).value_or(-2), kWrites) << written << " bytes";
    EXPECT_EQ(open_and_count({.path = path}).value_or(-2), kWrites) << "opened again";
  }
}

// After a loss of power, the unsynced end of the log can have any contents.
TEST_F(RocksLog, WithAGarbledUnacknowledgedEndIsOpenedAfterALossOfPower) {
  write(Durability::kOs);
  const auto path = copy_killed();
  std::ofstream(log_of(path), std::ios::binary | std::ios::app) << std::string(500, '\x11');
  EXPECT_THAT(open_and_count({.path = path}), FailsWith(Code::kCorruption, "is damaged"));
  EXPECT_EQ(open_and_count({.path = path, .boot = "the next"}).value_or(-2), kWrites);
}

TEST_F(RocksLog, ThatLostPowerWithDurabilityOsIsTruncatedAndReported) {
  write(Durability::kOs);
  const auto path = copy_killed();
  std::string bytes = test::read_file(log_of(path));
  bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
  std::ofstream(log_of(path), std::ios::binary) << bytes;
  const auto name = log_of(path).filename();
  std::vector<std::string> reports;
  const auto count =
      open_and_count({.path = path, .boot = "the next", .report = [&](const std::string& text) {
                        reports.push_back(text);
                      }});
  ASSERT_THAT(count, IsOk());
  EXPECT_GE(*count, 0) << "not a prefix";
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_NE(reports[0].find("damaged-log-1"), std::string::npos) << reports[0];
  EXPECT_EQ(test::read_file(path / "damaged-log-1" / name), bytes);
}

// The reservation of commit versions was synced, but not what the file says since.
TEST_F(RocksLog, ThatLostPowerWithDurabilityOsRepeatsNoCommitVersion) {
  const auto alive = directory_.path() / "alive";
  store_ = std::move(*open_rocks_store({.path = alive, .durability = Durability::kOs}));
  put_versioned(*store_, 1);
  put_versioned(*store_, 70'000);  // more than were reserved
  const std::string synced = test::read_file(alive / "progress");
  for (int i = 0; i < 100; ++i) put_versioned(*store_, 1);
  const LogPosition shown = *store_->safe_position();
  std::filesystem::copy(alive, killed_, std::filesystem::copy_options::recursive);
  std::filesystem::remove(killed_ / "ballast");
  const std::string written = test::read_file(killed_ / "progress");
  const auto whole = std::filesystem::file_size(log_of(killed_));
  for (const auto& [progress, kept] : {std::pair(synced, whole / 2), std::pair(written, whole / 2),
                                       std::pair(synced, uintmax_t{0})}) {
    const auto path = copy_killed();
    std::filesystem::resize_file(log_of(path), kept);
    std::ofstream(path / "progress", std::ios::binary) << progress;
    LogPosition last = shown;
    for (int start = 0; start < 2; ++start) {
      const RocksStoreOptions options{
          .path = path, .durability = Durability::kOs, .boot = "the next"};
      const auto store = open_rocks_store(options);
      ASSERT_THAT(store, IsOk());
      EXPECT_GE(*(*store)->safe_position(), last);
      put_versioned(**store, 1);
      EXPECT_GT(*(*store)->safe_position(), last);
      last = *(*store)->safe_position();
    }
    std::filesystem::remove_all(path);
  }
}

TEST_F(RocksLog, ThatIsRecoveredRepeatsNoCommitVersion) {
  const auto alive = directory_.path() / "alive";
  store_ = std::move(*open_rocks_store({.path = alive}));
  put_versioned(*store_, 1);
  std::filesystem::copy(alive, killed_, std::filesystem::copy_options::recursive);
  put_versioned(*store_, 10);
  const LogPosition shown = *store_->safe_position();
  std::filesystem::copy_file(alive / "progress", killed_ / "progress",
                             std::filesystem::copy_options::overwrite_existing);
  ASSERT_THAT(recover_rocks_store(killed_), IsOk());
  const auto store = open_rocks_store({.path = killed_});
  ASSERT_THAT(store, IsOk());
  EXPECT_GE(*(*store)->safe_position(), shown);
}

TEST_F(RocksLog, InACopyMadeDuringWritesEndsWithARecord) {
  store_ = std::move(*open_rocks_store({.path = directory_.path() / "alive"}));
  std::jthread writer([this](const std::stop_token& stop) {
    for (int i = 0; !stop.stop_requested(); ++i) {
      Batch batch;
      batch.put(key_of(i), "value");
      EXPECT_EQ(write_and_wait(*store_, std::move(batch)).outcome, CommitOutcome::kCommitted);
    }
  });
  bool has_log = false;
  for (int i = 0; i < 100 && !has_log; ++i) {
    const auto copy = directory_.path() / ("checkpoint " + std::to_string(i));
    ASSERT_THAT(store_->files()->checkpoint(copy), IsOk());
    const auto log = log_of(copy);
    has_log = !log.empty();
    if (has_log) {
      EXPECT_EQ(std::filesystem::file_size(log), test::read_without_zeros(log).size());
    }
  }
  EXPECT_TRUE(has_log);
}

TEST_F(RocksLog, WithoutReadableProgressIsRefusedAndRecovered) {
  write(Durability::kSync);
  const auto path = copy_killed();
  const auto progress = path / "progress";
  std::ofstream(progress, std::ios::binary) << std::string(1024, 'x');
  EXPECT_THAT(open_and_count({.path = path}), FailsWith(Code::kCorruption, "progress"));
  EXPECT_THAT(open_and_count({.path = path}), FailsWith(Code::kCorruption, "stator recover"));
  const auto recovered = recover_rocks_store(path);
  ASSERT_THAT(recovered, IsOk());
  EXPECT_NE(recovered->damage.find("progress"), std::string::npos) << recovered->damage;
  EXPECT_EQ(open_and_count({.path = path}).value_or(-2), kWrites);
  std::filesystem::remove(progress);
  std::filesystem::create_directory(progress);
  EXPECT_THAT(open_and_count({.path = path}), FailsWith(Code::kIo, "progress"));
}

// As left by a process that was killed just after it created the file.
TEST_F(RocksLog, WithoutProgressIsOpened) {
  write(Durability::kSync);
  for (const auto& bytes : {std::string(), std::string(1024, '\0')}) {
    const auto path = copy_killed();
    std::ofstream(path / "progress", std::ios::binary) << bytes;
    EXPECT_EQ(open_and_count({.path = path}).value_or(-2), kWrites);
  }
}

TEST_F(RocksLog, ThatIsSoundIsNotChangedByRecovery) {
  write(Durability::kOs);
  const auto path = copy_killed();
  const auto recovered = recover_rocks_store(path);
  ASSERT_THAT(recovered, IsOk());
  EXPECT_EQ(recovered->damage, "");
  EXPECT_FALSE(std::filesystem::exists(path / "damaged-log-1"));
  EXPECT_EQ(open_and_count({.path = path}).value_or(-2), kWrites);
}

}  // namespace
}  // namespace stator
