// SPDX-License-Identifier: Apache-2.0
// A read-only store: the damage that it finds in the files, and that it does not change them.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <random>
#include <utility>

#include "storage/stores.h"
#include "support/matchers.h"
#include "support/read_file.h"
#include "support/temp_dir.h"

namespace stator {
namespace {

using test::FailsWith;
using test::IsOk;
using test::read_file;

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::string random_bytes(std::mt19937_64& random, std::size_t size) {
  std::string bytes(size, ' ');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

void put(TransactStore& store, int key, const std::string& value) {
  Batch batch;
  batch.put("key " + std::to_string(key), value);
  EXPECT_EQ(write_and_wait(store, std::move(batch)).outcome, CommitOutcome::kCommitted);
}

class RocksFiles : public testing::Test {
 protected:
  RocksFiles() {
    const auto alive = directory_.path() / "alive";
    auto store = open_rocks_store({.path = alive});
    EXPECT_THAT(store, IsOk());
    std::mt19937_64 random(1);
    for (int i = 0; i < 40; ++i) put(**store, i, random_bytes(random, 1000));
    std::filesystem::copy(alive, path_, std::filesystem::copy_options::recursive);
  }
  // Startup writes the log to a table file.
  void reopen() const { EXPECT_THAT(open_rocks_store({.path = path_}), IsOk()); }

  Result<std::vector<std::string>> look() const {
    STATOR_ASSIGN_OR_RETURN(const auto store, open_rocks_store({.path = path_, .read_only = true}));
    std::vector<std::string> found;
    store->files()->verify_files([&](std::string_view damage) { found.emplace_back(damage); },
                                 [&](uint64_t done, uint64_t total) { EXPECT_LE(done, total); });
    return found;
  }
  std::filesystem::path only_file(const std::string& extension) const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_ / "rocksdb")) {
      if (entry.path().extension() == extension && entry.file_size() > 0) {
        found.push_back(entry.path());
      }
    }
    EXPECT_EQ(found.size(), 1U) << extension;
    return found.empty() ? path_ : found.front();
  }

  test::TempDir directory_;
  // The files after a crash.
  const std::filesystem::path path_ = directory_.path() / "data";
};

TEST_F(RocksFiles, ThatAreSoundHaveNoFindings) {
  EXPECT_EQ(look().value(), std::vector<std::string>());
  reopen();
  EXPECT_EQ(look().value(), std::vector<std::string>());
}

TEST_F(RocksFiles, AreCheckedInTheMiddleOfCompactions) {
  auto store = open_rocks_store(
      {.path = path_, .durability = Durability::kOs, .write_buffer_bytes = 64UL << 10});
  ASSERT_THAT(store, IsOk());
  std::mt19937_64 random(2);
  // More than can stay uncompacted.
  const auto write = [&] {
    for (int i = 0; i < 300; ++i) put(**store, i % 40, random_bytes(random, 16UL << 10));
  };
  write();
  std::vector<std::string> found;
  bool written_meanwhile = false;
  (*store)->files()->verify_files([&](std::string_view damage) { found.emplace_back(damage); },
                                  [&](uint64_t, uint64_t) {
                                    if (!std::exchange(written_meanwhile, true)) write();
                                  });
  EXPECT_TRUE(written_meanwhile);
  EXPECT_EQ(found, std::vector<std::string>());
}

TEST_F(RocksFiles, AreNotChangedByAnInspection) {
  const auto contents = [&] {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      files[entry.path()] = entry.is_regular_file() ? read_file(entry.path()) : "";
    }
    return files;
  };
  const auto before = contents();
  auto store = open_rocks_store({.path = path_, .read_only = true});
  ASSERT_THAT(store, IsOk());
  Batch batch;
  batch.put("key 1", "changed");
  EXPECT_NE(write_and_wait(**store, std::move(batch)).outcome, CommitOutcome::kCommitted);
  store->reset();
  EXPECT_EQ(contents(), before);
}

TEST_F(RocksFiles, AreNotCreatedByAnInspection) {
  const auto empty = directory_.path() / "empty";
  std::filesystem::create_directory(empty);
  EXPECT_THAT(open_rocks_store({.path = empty, .read_only = true}),
              FailsWith(Code::kIo, "contains no data"));
  EXPECT_TRUE(std::filesystem::is_empty(empty));
  EXPECT_THAT(open_rocks_store({.path = directory_.path() / "none", .read_only = true}),
              FailsWith(Code::kIo, "' does not exist"));
}

// The store fails to open, or reports which file is damaged.
TEST_F(RocksFiles, AreFoundDamagedWhereverAByteOfATableChanges) {
  reopen();
  const auto path = only_file(".sst");
  const std::string whole = read_file(path);
  ASSERT_GT(whole.size(), 30'000U);
  for (std::size_t at = 0; at < whole.size(); at += at + 1200 < whole.size() ? 997 : 7) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    write_file(path, damaged);
    const auto found = look();
    if (!found) {
      EXPECT_EQ(found.error().code, Code::kCorruption) << found.error().message;
      continue;
    }
    ASSERT_EQ(found->size(), 1U) << "byte " << at << " of " << whole.size();
    EXPECT_NE(found->front().find(path.filename().string()), std::string::npos) << found->front();
  }
  write_file(path, whole);
  EXPECT_EQ(look().value(), std::vector<std::string>());
}

TEST_F(RocksFiles, AreFoundDamagedInTheMiddleOfTheLog) {
  const auto path = only_file(".log");
  std::string bytes = read_file(path);
  const std::size_t middle = test::read_without_zeros(path).size() / 2;
  bytes[middle] = static_cast<char>(bytes[middle] ^ 0x10);
  write_file(path, bytes);
  const auto found = look();
  ASSERT_THAT(found, IsOk());
  ASSERT_EQ(found->size(), 1U);
  EXPECT_NE(found->front().find("the log"), std::string::npos) << found->front();
}

TEST_F(RocksFiles, AreSoundWithAWriteThatACrashTruncated) {
  const auto path = only_file(".log");
  const std::string bytes = test::read_without_zeros(path);
  write_file(path, bytes + bytes.substr(0, 500));
  EXPECT_EQ(look().value(), std::vector<std::string>());
}

}  // namespace
}  // namespace stator
