// SPDX-License-Identifier: Apache-2.0
// Cases that only the store on disk has: restarts, syncs that wait or fail, damaged directories.
#include "storage/rocks_store.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <rocksdb/env.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/random.h"
#include "base/wait_permit.h"
#include "support/comes_true.h"
#include "support/matchers.h"
#include "support/temp_dir.h"

namespace {
std::atomic<int> progress_syncs = 0;
std::atomic<bool> progress_sync_fails = false;
std::atomic<std::chrono::steady_clock::time_point> progress_sync_failed;
std::atomic<std::chrono::nanoseconds> between_failed_syncs;
std::atomic<int> failed_syncs = 0;
}  // namespace

// In place of the C library's.
extern "C" int fdatasync(int descriptor) {
  std::error_code error;
  const auto path =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error);
  if (path.filename() == "progress") {
    ++progress_syncs;
    if (progress_sync_fails) {
      const auto now = std::chrono::steady_clock::now();
      between_failed_syncs = now - progress_sync_failed.exchange(now);
      ++failed_syncs;
      errno = EIO;
      return -1;
    }
  }
  return static_cast<int>(syscall(SYS_fdatasync, descriptor));
}

namespace stator {
namespace {

using test::FailsWith;
using test::IsOk;

// Syncs of the log wait while the gate is shut, and fail while `failing` is set.
class Gate {
 public:
  void shut() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  void open() {
    {
      const std::lock_guard lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
    --waiting_;
    ++passed_;
  }
  void await_someone() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ > 0; });
  }
  int passed() {
    const std::lock_guard lock(mutex_);
    return passed_;
  }
  std::atomic<bool> failing = false;
  std::atomic<bool> full = false;
  std::atomic<uint64_t> free_bytes = 1UL << 40;
  std::atomic<bool> full_for_compactions = false;
  std::atomic<int> compactions_without_space = 0;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  int waiting_ = 0;
  int passed_ = 0;
};

class GatedLog final : public rocksdb::WritableFileWrapper {
 public:
  GatedLog(std::unique_ptr<rocksdb::WritableFile> file, Gate& gate)
      : WritableFileWrapper(file.get()), file_(std::move(file)), gate_(gate) {}
  rocksdb::Status Sync() override {
    gate_.pass();
    if (gate_.failing) return rocksdb::Status::IOError("a broken disk, says the test");
    return file_->Sync();
  }

 private:
  std::unique_ptr<rocksdb::WritableFile> file_;
  Gate& gate_;
};

class GatedEnv final : public rocksdb::EnvWrapper {
 public:
  explicit GatedEnv(Gate& gate) : EnvWrapper(rocksdb::Env::Default()), gate_(gate) {}
  rocksdb::Status NewWritableFile(const std::string& name,
                                  std::unique_ptr<rocksdb::WritableFile>* file,
                                  const rocksdb::EnvOptions& options) override {
    if (gate_.full_for_compactions && is_compaction()) {
      ++gate_.compactions_without_space;
      return rocksdb::Status::NoSpace("the test says so");
    }
    const rocksdb::Status status = EnvWrapper::NewWritableFile(name, file, options);
    if (status.ok() && name.ends_with(".log")) {
      *file = std::make_unique<GatedLog>(std::move(*file), gate_);
    }
    return status;
  }
  rocksdb::Status GetFreeSpace(const std::string&, uint64_t* free) override {
    *free = gate_.full ? 1000 : gate_.free_bytes.load();
    return rocksdb::Status::OK();
  }
  const char* Name() const override { return "GatedEnv"; }

 private:
  // Of RocksDB's threads, those with low priority run compactions.
  static bool is_compaction() {
    std::array<char, 16> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    return std::string_view(name.data()) == "rocksdb:low";
  }

  Gate& gate_;
};

class RocksStore : public testing::Test {
 protected:
  std::unique_ptr<TransactStore> open(RocksStoreOptions options = {}) {
    options.path = directory.path() / "data";
    auto opened = open_rocks_store_in(&env, options);
    EXPECT_THAT(opened, IsOk());
    return opened ? std::move(*opened) : nullptr;
  }

  static std::future<CommitResult> put(TransactStore& store, const std::string& key,
                                       const std::string& value) {
    Batch batch;
    batch.put(key, value);
    return write(store, std::move(batch));
  }

  static std::future<CommitResult> write(TransactStore& store, Batch batch) {
    auto promise = std::make_shared<std::promise<CommitResult>>();
    auto future = promise->get_future();
    store.write(std::move(batch),
                [promise](CommitResult result) { promise->set_value(std::move(result)); });
    return future;
  }

  // `key` must live until the future is ready.
  static std::future<CommitResult> transact(TransactStore& store, const std::string& key,
                                            Decide decide) {
    auto promise = std::make_shared<std::promise<CommitResult>>();
    auto future = promise->get_future();
    store.transact(std::span(&key, 1), std::move(decide),
                   [promise](CommitResult result) { promise->set_value(std::move(result)); });
    return future;
  }

  static bool done(const std::future<CommitResult>& future) {
    return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  static std::string get(TransactStore& store, const std::string& key) {
    std::string found = "nothing";
    EXPECT_THAT(read_value(store, key, [&](std::string_view value) { found = value; }), IsOk());
    return found;
  }

  test::TempDir directory;
  Gate gate;
  GatedEnv env{gate};
};

// A filter takes 10 bits for each row. All files are opened with the store.
TEST_F(RocksStore, CountsFiltersAndIndexesOfAllFilesAsCache) {
  constexpr uint64_t kRows = 20'000;
  auto store = open();
  Batch batch;
  for (uint64_t i = 0; i < kRows; ++i) batch.put("row " + std::to_string(i), "x");
  EXPECT_EQ(write(*store, std::move(batch)).get().outcome, CommitOutcome::kCommitted);
  store = nullptr;
  store = open();  // writes the log's rows to a file
  store = nullptr;
  store = open();
  EXPECT_GE(store->stats().cache_bytes, kRows * 10 / 8);
}

TEST_F(RocksStore, ShowsAndAcknowledgesNothingBeforeItIsSynced) {
  auto store = open();
  gate.shut();
  auto first = put(*store, "a", "1");
  gate.await_someone();
  // Another writer can read the queued version immediately, but a reader does not see it.
  const std::string key = "a";
  auto second = transact(*store, key, [](GuardedRows rows) {
    EXPECT_EQ(rows[0], "1");
    Batch batch;
    batch.put("a", "2");
    return batch;
  });
  EXPECT_EQ(get(*store, "a"), "nothing");
  EXPECT_FALSE(done(first));
  gate.open();
  // Two threads acknowledge, so either can be first.
  EXPECT_EQ(second.get().outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(first.get().outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(get(*store, "a"), "2");
}

TEST_F(RocksStore, CachesNoRowThatIsBeingWritten) {
  auto store = open();
  put(*store, "a", "1").get();
  const uint64_t empty = store->stats().cache_bytes;
  const auto expect_often = [&](const char* value) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(get(*store, "a"), value);
  };
  expect_often("1");
  EXPECT_GT(store->stats().cache_bytes, empty);
  gate.shut();
  auto second = put(*store, "a", "2");
  gate.await_someone();
  expect_often("1");
  EXPECT_EQ(store->stats().cache_bytes, empty);
  gate.open();
  EXPECT_EQ(second.get().outcome, CommitOutcome::kCommitted);
  expect_often("2");
  EXPECT_THAT(store->drop_range({"a", "b"}), IsOk());
  expect_often("nothing");
}

// Each reader sees the values of a key ascend, and at least those acknowledged before its read.
TEST_F(RocksStore, ReturnsNoOlderRowFromItsCache) {
  constexpr int kKeys = 4;
  constexpr int kWrites = 2'000;
  auto store = open({.durability = Durability::kOs});
  const auto key_of = [](int i) { return "key " + std::to_string(i); };
  std::array<std::atomic<int>, kKeys> acknowledged{};
  for (int i = 0; i < kKeys; ++i) put(*store, key_of(i), "0").get();
  const uint64_t empty = store->stats().cache_bytes;
  std::atomic<bool> written = false;
  std::atomic<int> cached = 0;
  const auto read = [&] {
    std::array<int, kKeys> seen{};
    while (!written) {
      for (int i = 0; i < kKeys; ++i) {
        seen[i] = std::max<int>(seen[i], acknowledged[i]);
        const int value = std::stoi(get(*store, key_of(i)));
        ASSERT_GE(value, seen[i]);
        seen[i] = value;
      }
      if (store->stats().cache_bytes > empty) ++cached;
    }
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) readers.emplace_back(read);
  for (int n = 1; n <= kWrites; ++n) {
    const int i = n % kKeys;
    EXPECT_EQ(put(*store, key_of(i), std::to_string(n)).get().outcome, CommitOutcome::kCommitted);
    acknowledged[i] = n;
  }
  written = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_GT(cached, 0);
}

TEST_F(RocksStore, ReturnsAQueuedVersionOnlyOnceItIsSynced) {
  auto store = open();
  gate.shut();
  const auto write = put(*store, "a", "1");
  gate.await_someone();
  const std::string key = "a";
  const std::string other = "b";
  std::optional<std::string> seen;
  auto answer = transact(*store, key, [&](GuardedRows rows) {
    seen = rows[0];
    return Batch();
  });
  EXPECT_EQ(seen, "1");
  EXPECT_FALSE(done(answer));
  auto stranger = transact(*store, other, [](GuardedRows) { return Batch(); });
  EXPECT_EQ(stranger.get().outcome, CommitOutcome::kCommitted) << "it read nothing queued";
  gate.open();
  EXPECT_EQ(answer.get().outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(get(*store, "a"), "1");
  write.wait();
}

TEST_F(RocksStore, SyncsWaitingWritesTogether) {
  auto store = open();
  gate.shut();
  std::vector<std::future<CommitResult>> writes;
  writes.push_back(put(*store, "hot", "0"));
  gate.await_someone();
  const int before = gate.passed();
  for (int i = 1; i <= 200; ++i) writes.push_back(put(*store, "hot", std::to_string(i)));
  gate.open();
  for (auto& write : writes) EXPECT_EQ(write.get().outcome, CommitOutcome::kCommitted);
  EXPECT_LE(gate.passed() - before, 2);
  EXPECT_EQ(get(*store, "hot"), "200");
}

TEST_F(RocksStore, WritesOnAThreadThatMayWaitForTheDisk) {
  auto store = open();
  const auto acknowledging_thread = [&](WaitFor what) {
    std::promise<std::thread::id> thread;
    Batch batch;
    batch.put("a", "1");
    const WaitPermit permit(what);
    store->write(std::move(batch),
                 [&](const CommitResult&) { thread.set_value(std::this_thread::get_id()); });
    return thread.get_future().get();
  };
  EXPECT_NE(acknowledging_thread(WaitFor::kNothing), std::this_thread::get_id());
  EXPECT_EQ(acknowledging_thread(WaitFor::kDisk), std::this_thread::get_id());
  EXPECT_EQ(acknowledging_thread(WaitFor::kServer), std::this_thread::get_id());
}

// Before a pause, the log does not prove that its last write was acknowledged.
TEST_F(RocksStore, SyncsItsProgressAfterWritesOnAnyThread) {
  auto store = open();
  const WaitPermit permit(WaitFor::kDisk);
  for (int round = 0; round < 3; ++round) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1'100);
    while (std::chrono::steady_clock::now() < end) {
      EXPECT_EQ(put(*store, "a", "1").get().outcome, CommitOutcome::kCommitted);
    }
    const int before = progress_syncs;
    EXPECT_TRUE(test::comes_true([&] { return progress_syncs > before; }));
  }
}

TEST_F(RocksStore, PausesBetweenFailedSyncsOfItsProgress) {
  auto store = open();
  const int before = failed_syncs;
  progress_sync_fails = true;
  ASSERT_EQ(put(*store, "a", "x").get().outcome, CommitOutcome::kCommitted);
  const bool repeated = test::comes_true([&] { return failed_syncs >= before + 2; });
  progress_sync_fails = false;
  ASSERT_TRUE(repeated);
  EXPECT_GE(between_failed_syncs.load(), std::chrono::milliseconds(900));
}

TEST_F(RocksStore, WritesNoCommitVersionThatAPowerFailureCouldRepeat) {
  auto store = open({.durability = Durability::kOs});
  const auto put_versioned = [&] {
    Batch batch;
    batch.put_versioned("log-", "", "x");
    return write(*store, std::move(batch)).get();
  };
  progress_sync_fails = true;
  EXPECT_EQ(put(*store, "a", "1").get().outcome, CommitOutcome::kCommitted);
  const CommitResult refused = put_versioned();
  EXPECT_EQ(refused.outcome, CommitOutcome::kUnavailable);
  EXPECT_NE(refused.error.message.find("could not sync"), std::string::npos)
      << refused.error.message;
  progress_sync_fails = false;
  const int before = progress_syncs;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(put_versioned().outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(progress_syncs, before + 1);
}

TEST_F(RocksStore, QueuesBehindAWriteInProgressOnAnyThread) {
  auto store = open();
  gate.shut();
  auto first = put(*store, "a", "1");
  gate.await_someone();
  const WaitPermit permit(WaitFor::kDisk);
  auto second = put(*store, "a", "2");
  EXPECT_FALSE(done(second));
  gate.open();
  EXPECT_EQ(first.get().outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(second.get().outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(get(*store, "a"), "2");
}

TEST_F(RocksStore, RejectsWritesAfterAFailedSyncAndKeepsReading) {
  auto store = open();
  EXPECT_EQ(put(*store, "a", "kept").get().outcome, CommitOutcome::kCommitted);
  gate.shut();
  auto doomed = put(*store, "a", "lost");
  gate.await_someone();
  auto behind = put(*store, "b", "lost too");
  gate.failing = true;
  gate.open();
  EXPECT_EQ(doomed.get().outcome, CommitOutcome::kUnknown) << "the log may hold it";
  EXPECT_EQ(behind.get().outcome, CommitOutcome::kUnavailable);
  EXPECT_EQ(get(*store, "a"), "kept");
  EXPECT_EQ(get(*store, "b"), "nothing");
  const auto later = put(*store, "c", "x").get();
  EXPECT_EQ(later.outcome, CommitOutcome::kUnavailable);
  EXPECT_EQ(later.error.code, Code::kIo);
  EXPECT_FALSE(store->health().writable);
  EXPECT_NE(store->health().reason.find("a broken disk"), std::string::npos);
  gate.failing = false;
  store.reset();
  store = open();
  EXPECT_TRUE(store->health().writable);
  EXPECT_EQ(get(*store, "b"), "nothing");
  EXPECT_EQ(put(*store, "a", "again").get().outcome, CommitOutcome::kCommitted);
}

TEST_F(RocksStore, RejectsWritesOnceItsDirectoryWasDeleted) {
  auto store = open();
  EXPECT_EQ(put(*store, "a", "kept").get().outcome, CommitOutcome::kCommitted);
  std::filesystem::remove_all(directory.path() / "data");
  // Smaller writes are accepted for a moment.
  const auto refused = put(*store, "b", std::string(2UL << 20, 'x')).get();
  EXPECT_EQ(refused.outcome, CommitOutcome::kUnavailable);
  EXPECT_EQ(refused.error.code, Code::kIo);
  EXPECT_NE(refused.error.message.find("was deleted"), std::string::npos);
  EXPECT_EQ(put(*store, "c", "x").get().outcome, CommitOutcome::kUnavailable);
  EXPECT_NE(store->health().reason.find("was deleted"), std::string::npos);
  EXPECT_EQ(get(*store, "a"), "kept");
}

TEST_F(RocksStore, RejectsWritesWhileTheDiskIsFullAndResumesByItself) {
  auto store = open();
  gate.full = true;
  const auto refused = put(*store, "a", "x").get();
  EXPECT_EQ(refused.outcome, CommitOutcome::kUnavailable) << "nothing of it was written";
  EXPECT_EQ(refused.error.code, Code::kIo);
  EXPECT_NE(refused.error.message.find("the disk is full"), std::string::npos);
  EXPECT_NE(store->health().reason.find("the disk is full"), std::string::npos);
  EXPECT_EQ(get(*store, "a"), "nothing");
  gate.full = false;
  EXPECT_TRUE(store->health().writable);
  EXPECT_EQ(put(*store, "a", "y").get().outcome, CommitOutcome::kCommitted);
  store.reset();
  store = open();
  EXPECT_EQ(get(*store, "a"), "y");
}

TEST_F(RocksStore, AcceptsDeletesWhileTheDiskIsFull) {
  auto store = open();
  EXPECT_EQ(put(*store, "a", "x").get().outcome, CommitOutcome::kCommitted);
  store.reset();
  store = open();  // which has not checked the disk before a write yet
  gate.full = true;
  EXPECT_EQ(put(*store, "b", "x").get().outcome, CommitOutcome::kUnavailable);
  Batch batch;
  batch.erase("a");
  EXPECT_EQ(write(*store, std::move(batch)).get().outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(get(*store, "a"), "nothing");
  EXPECT_EQ(put(*store, "b", "x").get().outcome, CommitOutcome::kUnavailable);
}

// Their tables are too many for RocksDB, which would let writes wait for a compaction.
TEST_F(RocksStore, AcceptsWritesWhileCompactionsLackSpace) {
  constexpr int kWrites = 100;  // each fills a table
  auto store = open({.write_buffer_bytes = 64UL << 10});
  gate.full_for_compactions = true;
  const std::string value(64UL << 10, 'x');
  for (int i = 0; i < kWrites; ++i) {
    ASSERT_EQ(put(*store, "a" + std::to_string(i), value).get().outcome, CommitOutcome::kCommitted);
  }
  gate.full_for_compactions = false;
  for (int i = 0; i < kWrites; ++i) {
    ASSERT_EQ(put(*store, "b" + std::to_string(i), value).get().outcome, CommitOutcome::kCommitted);
  }
  for (int i = 0; i < kWrites; ++i) {
    ASSERT_EQ(get(*store, "a" + std::to_string(i)), value);
    ASSERT_EQ(get(*store, "b" + std::to_string(i)), value);
  }
}

TEST_F(RocksStore, RepeatsACompactionThatLackedSpace) {
  const auto table_bytes = [&] {
    uintmax_t bytes = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(directory.path())) {
      std::error_code deleted;
      const uintmax_t size = file.path().extension() == ".sst" ? file.file_size(deleted) : 0;
      if (!deleted) bytes += size;
    }
    return bytes;
  };
  constexpr std::size_t kBytes = 1UL << 20;
  auto store = open();
  for (const char* key : {"a", "b", "c"}) {
    ASSERT_EQ(put(*store, key, random_bytes(kBytes)).get().outcome, CommitOutcome::kCommitted);
  }
  store.reset();
  store = open();  // which has not checked the disk before a write yet
  ASSERT_GE(table_bytes(), 3 * kBytes);
  gate.full = gate.full_for_compactions = true;
  Batch batch;
  batch.erase("b");
  ASSERT_EQ(write(*store, std::move(batch)).get().outcome, CommitOutcome::kCommitted);
  ASSERT_TRUE(test::comes_true([&] { return gate.compactions_without_space > 0; }));
  gate.full_for_compactions = false;
  EXPECT_TRUE(test::comes_true([&] { return table_bytes() < 3 * kBytes; }));
}

TEST_F(RocksStore, HoldsSpaceForACompactionWhileTheDiskIsShortOfIt) {
  const uint64_t plenty = gate.free_bytes;
  auto store = open({.write_buffer_bytes = 64UL << 10});
  for (int i = 0; i < 40; ++i) {
    put(*store, std::to_string(i), random_bytes(64UL << 10)).get();
  }
  const auto ballast_bytes = [&] {
    return std::filesystem::file_size(directory.path() / "data" / "ballast");
  };
  constexpr uintmax_t kMb = 1UL << 20;
  EXPECT_LT(ballast_bytes(), 17 * kMb);
  gate.free_bytes = 60 * kMb;
  EXPECT_TRUE(test::comes_true([&] { return ballast_bytes() >= 17 * kMb; })) << ballast_bytes();
  gate.free_bytes = plenty;
  EXPECT_TRUE(test::comes_true([&] { return ballast_bytes() < 17 * kMb; })) << ballast_bytes();
}

TEST_F(RocksStore, IsNotOpenedWithoutTheSpaceThatRecoveryNeeds) {
  gate.full = true;
  EXPECT_THAT(open_rocks_store_in(&env, {.path = directory.path() / "data"}),
              FailsWith(Code::kIo, "is full: opening it needs"));
  gate.full = false;
  EXPECT_THAT(open_rocks_store_in(&env, {.path = directory.path() / "data"}), IsOk());
}

// At startup, commit versions begin from the number of rows ever written. Rows that were never
// written must not count.
TEST_F(RocksStore, CommitVersionsAscendAfterAFullDiskAndARestart) {
  const auto append = [](TransactStore& store) {
    Batch batch;
    batch.put_versioned("log-", "", "x");
    return write(store, std::move(batch)).get().outcome;
  };
  const auto rows = [](TransactStore& store) {
    std::vector<std::string> keys;
    EXPECT_THAT(read_range(store, {.range = {.begin = "log-", .end = "log."}},
                           [&](std::string_view key, std::string_view) {
                             keys.emplace_back(key);
                             return true;
                           }),
                IsOk());
    return keys;
  };
  auto store = open();
  gate.full = true;
  for (int i = 0; i < 50; ++i) EXPECT_EQ(append(*store), CommitOutcome::kUnavailable);
  gate.full = false;
  EXPECT_EQ(append(*store), CommitOutcome::kCommitted);
  const auto first = rows(*store);
  ASSERT_EQ(first.size(), 1U);
  store.reset();
  store = open();
  EXPECT_EQ(append(*store), CommitOutcome::kCommitted);
  const auto both = rows(*store);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both.front(), first.front())
      << "the later row has a lower version than the earlier one";
}

TEST_F(RocksStore, ReturnsNothingOfAQueuedVersionThatWasLost) {
  auto store = open();
  gate.shut();
  auto doomed = put(*store, "a", "lost");
  gate.await_someone();
  const std::string key = "a";
  auto answer = transact(*store, key, [&](GuardedRows rows) {
    EXPECT_EQ(rows[0], "lost");
    gate.failing = true;
    gate.open();
    EXPECT_EQ(doomed.get().outcome, CommitOutcome::kUnknown);
    return Batch();
  });
  EXPECT_EQ(answer.get().outcome, CommitOutcome::kUnavailable);
}

TEST_F(RocksStore, DecidesAgainIfARowThatItReadWasLost) {
  auto store = open();
  gate.shut();
  auto first = put(*store, "a", "1");
  gate.await_someone();
  auto doomed = put(*store, "b", std::string(2UL << 20, 'x'));
  const std::vector<std::string> keys{"b"};
  std::vector<std::size_t> sizes;
  const CommitResult result = transact_and_wait(*store, keys, [&](GuardedRows rows) {
    sizes.push_back(rows[0] ? rows[0]->size() : 0);
    if (sizes.size() == 1) {
      gate.full = true;
      gate.open();
      EXPECT_EQ(doomed.get().outcome, CommitOutcome::kUnavailable);
      gate.full = false;
    }
    Batch batch;
    batch.put("b", std::to_string(sizes.back()));
    return batch;
  });
  EXPECT_EQ(result.outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{2UL << 20, 0}));
  EXPECT_EQ(get(*store, "b"), "0");
  EXPECT_EQ(first.get().outcome, CommitOutcome::kCommitted);
}

TEST_F(RocksStore, ExpectsNoSchemaVersionThatWasLost) {
  auto store = open();
  const auto row = store->schema_row("schema").value();
  const auto set_version = [&](uint64_t version) {
    Batch batch;
    batch.put_schema_version("schema", version);
    batch.put("big", std::string(2UL << 20, 'x'));
    return write(*store, std::move(batch));
  };
  EXPECT_EQ(set_version(7).get().outcome, CommitOutcome::kCommitted);
  gate.shut();
  auto first = put(*store, "a", "1");
  gate.await_someone();
  auto doomed = set_version(8);
  EXPECT_EQ(store->schema_version(*row), 8U) << "of a queued version";
  gate.full = true;
  gate.open();
  EXPECT_EQ(doomed.get().outcome, CommitOutcome::kUnavailable);
  gate.full = false;
  EXPECT_EQ(store->schema_version(*row), 7U);
  EXPECT_EQ(first.get().outcome, CommitOutcome::kCommitted);
}

TEST_F(RocksStore, LendsAQueuedSchemaVersion) {
  auto store = open();
  gate.shut();
  Batch batch;
  batch.put_schema_version("schema", 7);
  auto queued = write(*store, std::move(batch));
  gate.await_someone();
  EXPECT_EQ(store->schema_row("schema").value()->newest(), 7U);
  gate.open();
  EXPECT_EQ(queued.get().outcome, CommitOutcome::kCommitted);
  store.reset();
  store = open();
  EXPECT_EQ(store->schema_row("schema").value()->newest(), 7U);
}

TEST_F(RocksStore, ThrottlesWhenItsQueueIsFull) {
  auto store = open({.queue_bytes_max = 10'000});
  gate.shut();
  auto first = put(*store, "a", "1");
  gate.await_someone();
  auto fits = put(*store, "b", std::string(5000, 'x'));
  const auto refused = put(*store, "c", std::string(9000, 'x')).get();
  EXPECT_EQ(refused.outcome, CommitOutcome::kUnavailable);
  EXPECT_EQ(refused.error.code, Code::kThrottling);
  gate.open();
  EXPECT_EQ(fits.get().outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(put(*store, "c", std::string(9000, 'x')).get().outcome, CommitOutcome::kCommitted);
}

TEST_F(RocksStore, KeepsEverythingAcrossARestart) {
  auto store = open();
  for (int i = 0; i < 100; ++i) put(*store, std::to_string(i), "x").wait();
  ASSERT_THAT(store->drop_range({"5", "6"}), IsOk());
  store.reset();
  store = open();
  EXPECT_EQ(get(*store, "42"), "x");
  EXPECT_EQ(get(*store, "57"), "nothing");
}

TEST_F(RocksStore, CopiesItselfWhileItIsOpen) {
  auto store = open();
  put(*store, "a", "1").wait();
  const auto copy = directory.path() / "copy";
  ASSERT_THAT(store->files()->checkpoint(copy), IsOk());
  EXPECT_THAT(store->files()->checkpoint(copy), FailsWith(Code::kIo, "it exists already"));
  put(*store, "a", "2").wait();
  auto copied = open_rocks_store({.path = copy, .create_if_missing = false});
  ASSERT_THAT(copied, IsOk());
  EXPECT_EQ(get(**copied, "a"), "1");
}

TEST_F(RocksStore, ReportsADirectoryInUse) {
  auto store = open();
  EXPECT_THAT(open_rocks_store({.path = directory.path() / "data"}),
              FailsWith(Code::kLocked, "in use by another process"));
}

TEST_F(RocksStore, RefusesDirectoriesThatAreNotItsOwn) {
  const auto path = directory.path() / "data";
  EXPECT_THAT(open_rocks_store({.path = path, .create_if_missing = false}),
              FailsWith(Code::kIo, "' does not exist"));
  std::filesystem::create_directory(path);
  std::ofstream(path / "thesis.txt") << "precious";
  EXPECT_THAT(open_rocks_store({.path = path}),
              FailsWith(Code::kCorruption, "not a Stator data directory"));
  EXPECT_THAT(open_rocks_store({.path = path / "thesis.txt"}),
              FailsWith(Code::kIo, "not a directory"));
  std::ofstream(path / "STATOR") << "stator data directory, format 9\n";
  EXPECT_THAT(open_rocks_store({.path = path}),
              FailsWith(Code::kCorruption, "has directory format 9"));
  std::ofstream(path / "STATOR") << "\x01\x02";
  EXPECT_THAT(open_rocks_store({.path = path}), FailsWith(Code::kCorruption, "damaged"));
}

TEST_F(RocksStore, ReportsAMissingDatabase) {
  open().reset();
  std::filesystem::remove_all(directory.path() / "data" / "rocksdb");
  EXPECT_THAT(open_rocks_store({.path = directory.path() / "data"}),
              FailsWith(Code::kCorruption, "is damaged"));
}

TEST_F(RocksStore, FinishesAPartlyCreatedDirectory) {
  const auto path = directory.path() / "lock";
  std::filesystem::create_directory(path);
  std::ofstream(path / "STATOR.new") << "stator";
  EXPECT_THAT(open_rocks_store({.path = path}), IsOk());
  EXPECT_TRUE(std::filesystem::exists(path / "STATOR"));
}

TEST_F(RocksStore, OpensForOneOfManyThatCreateIt) {
  for (int round = 0; round < 10; ++round) {
    const auto path = directory.path() / std::to_string(round);
    std::atomic<int> opened = 0;
    std::vector<std::jthread> threads;
    std::vector<Result<std::unique_ptr<TransactStore>>> stores(4);
    for (auto& store : stores) {
      threads.emplace_back([&] {
        store = open_rocks_store({.path = path});
        if (store) {
          ++opened;
        } else {
          EXPECT_EQ(store.error().code, Code::kLocked) << store.error().message;
        }
      });
    }
    threads.clear();
    EXPECT_EQ(opened, 1);
  }
}

TEST_F(RocksStore, ReportsDamagedData) {
  open().reset();
  const auto rocks = directory.path() / "data" / "rocksdb";
  for (const auto& entry : std::filesystem::directory_iterator(rocks)) {
    if (entry.path().filename().string().starts_with("MANIFEST")) {
      std::ofstream(entry.path(), std::ios::trunc) << std::string(100, 'x');
    }
  }
  EXPECT_THAT(open_rocks_store({.path = directory.path() / "data"}),
              FailsWith(Code::kCorruption, "is damaged"));
}

}  // namespace
}  // namespace stator
