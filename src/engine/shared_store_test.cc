// SPDX-License-Identifier: Apache-2.0
// The engine on a store that several processes can share. Calls complete on other threads, commits
// become visible out of order, and no snapshot can be held.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/admin/administration.h"
#include "engine/jobs/job_engine.h"
#include "engine/streams/point_in_time.h"
#include "engine/streams/streams_harness.h"
#include "support/forwarding_store.h"
#include "support/must.h"
#include "support/shared_store.h"

namespace stator::test {
namespace {

constexpr uint32_t kSharedSeed = 26;
constexpr int kOtherWriters = 3;

class SharedStoreEngine : public StreamsTest, public testing::WithParamInterface<std::string> {
 protected:
  SharedStoreEngine() {
    if (GetParam() == "shared") open(std::make_unique<SharedStore>(backend_, kSharedSeed));
  }
  ~SharedStoreEngine() override { engine_.reset(); }

  // Writes random items of a small table until `stop` is set or `most` writes are done.
  void write_at_random(unsigned seed, const std::atomic<bool>& stop, int most) {
    std::mt19937 random(seed);
    for (int n = 0; n < most && !stop; ++n) {
      const Item key{{"pk", "a" + std::to_string(random() % 60)},
                     {"sk", static_cast<int64_t>(random() % 12)}};
      if (random() % 3 == 0) {
        EXPECT_THAT(erase({.table = "Things", .key = key}), IsOk());
      } else {
        Item item = key;
        item["n"] = n;
        EXPECT_THAT(put("Things", std::move(item)), IsOk());
      }
    }
  }
  void create_logged_table() {
    CreateTableRequest request = range_table();
    request.attributes.push_back({"n", ScalarType::kN});
    request.global_indexes = {index_on("byN", {{"n", KeyType::kHash}})};
    create(with_stream(std::move(request)));
  }
  void fill(int items = 600) {
    for (int i = 0; i < items; ++i) {
      ASSERT_THAT(put("Things", {{"pk", "a" + std::to_string(i % 60)}, {"sk", i / 60}, {"n", i}}),
                  IsOk());
    }
  }
  Contents contents_of(const std::string& table, std::optional<std::string> index = {}) {
    Contents contents;
    for (Item& item : all_pages(ScanRequest{.table = table, .index = std::move(index)})) {
      contents.emplace(key_text(item), std::move(item));
    }
    return contents;
  }
  Contents contents_before(uint64_t commit_version, std::size_t bytes_max) {
    const auto snapshot = engine_->parts().catalog->snapshot();
    const Table& table = **snapshot->find("Things");
    PastItems past(engine_->store(),
                   {.key = table.key(), .log = table.log_space(), .secret = table.secret()},
                   commit_version, {}, bytes_max);
    Contents contents;
    while (true) {
      const auto batch = must(past.next());
      if (!batch) return contents;
      for (const PastItem& item : *batch) {
        Item decoded = decode_item(ItemView(item.item));
        EXPECT_TRUE(contents.emplace(key_text(decoded), decoded).second) << "twice";
      }
    }
  }
  Item administer(const admin::Operation& operation, const Item& request) {
    auto answer = engine_->administer(operation, request);
    EXPECT_THAT(answer, IsOk());
    return answer ? std::move(*answer) : Item();
  }

  SharedBackend backend_{kSharedSeed, {.slow = 200}};
};

TEST_P(SharedStoreEngine, StreamsHaveEveryRecordOnceAndInOrderWhileOthersWrite) {
  create_logged_table();
  const std::string stream = stream_of("Things");
  EngineStreams source{*engine_};
  StreamConsumer consumer;
  StreamReplay replay;
  const std::atomic<bool> stop = false;
  std::atomic<int> left = kOtherWriters;
  std::vector<std::jthread> writers;
  writers.reserve(kOtherWriters);
  for (unsigned i = 0; i < kOtherWriters; ++i) {
    writers.emplace_back([&, i] {
      write_at_random(kSharedSeed + i, stop, 150);
      --left;
    });
  }
  for (bool last = false; !last;) {
    last = left == 0;
    for (const StreamRecord& record : consumer.read(source, stream)) replay.apply(record);
  }
  EXPECT_EQ(replay.items(), contents_of("Things"));
}

// An iterator of type LATEST returns all records that are written after its creation.
TEST_P(SharedStoreEngine, TheLatestRecordsBeginBeforeEveryLaterWrite) {
  create_logged_table();
  const std::string stream = stream_of("Things");
  std::atomic<bool> stop = false;
  std::vector<std::jthread> writers;
  writers.reserve(kOtherWriters);
  for (unsigned i = 0; i < kOtherWriters; ++i) {
    writers.emplace_back([&, i] { write_at_random(kSharedSeed + i, stop, 100'000); });
  }
  for (int n = 0; n < 30; ++n) {
    std::vector<std::string> iterators;
    for (const Shard& shard : shards(stream)) {
      iterators.push_back(iterator(stream, shard.id, ShardIteratorType::kLatest));
    }
    ASSERT_THAT(put("Things", {{"pk", "mark"}, {"sk", n}}), IsOk());
    ASSERT_TRUE(comes_true([&] {
      for (std::string& position : iterators) {
        const auto page = must(read_from(position));
        position = page.next_iterator.value_or(position);
        for (const StreamRecord& record : page.records) {
          if (record.keys == Item{{"pk", "mark"}, {"sk", n}}) return true;
        }
      }
      return false;
    })) << "mark "
        << n;
  }
  stop = true;
}

TEST_P(SharedStoreEngine, ATableIsReadAsItWasWhileOthersWrite) {
  create_logged_table();
  fill();
  const Contents expected = contents_of("Things");
  const uint64_t commit_version = must(log_end(engine_->store()));
  std::atomic<bool> stop = false;
  std::vector<std::jthread> writers;
  writers.reserve(kOtherWriters);
  for (unsigned i = 0; i < kOtherWriters; ++i) {
    writers.emplace_back([&, i] { write_at_random(kSharedSeed + i, stop, 700); });
  }
  for (int n = 0; n < 6; ++n) {
    const std::size_t bytes_max = n % 3 == 0   ? 9000
                                  : n % 3 == 1 ? 30'000
                                               : ChangedRows::default_bytes();
    ASSERT_EQ(contents_before(commit_version, bytes_max), expected) << "round " << n;
  }
  stop = true;
}

TEST_P(SharedStoreEngine, JobsFinishWithoutAStateOfTheirOwn) {
  create(range_table());
  for (int i = 0; i < 600; ++i) {
    ASSERT_THAT(put("Things", {{"pk", "a" + std::to_string(i % 60)}, {"sk", i / 60}, {"n", i}}),
                IsOk());
  }
  const Contents expected = contents_of("Things");
  ASSERT_EQ(expected.size(), 600U);

  UpdateTableRequest added{.table = "Things"};
  added.attributes = {{"n", ScalarType::kN}};
  added.global_indexes = {{{.create = index_on("byN", {{"n", KeyType::kHash}})}}};
  ASSERT_THAT(engine_->update_table(added), IsOk());
  EXPECT_TRUE(comes_true([&] {
    const auto described = engine_->describe_table({.table = "Things"});
    return described && described->table.status == TableStatus::kActive &&
           contents_of("Things", "byN").size() == 600;
  }));

  const std::string arn = text_of(
      map_of(administer(admin::kCreateBackup, {{"TableName", "Things"}, {"BackupName", "Copy"}}),
             "BackupDetails"),
      "BackupArn");
  EXPECT_TRUE(comes_true([&] {
    const Item described = administer(admin::kDescribeBackup, {{"BackupArn", arn}});
    return text_of(map_of(map_of(described, "BackupDescription"), "BackupDetails"),
                   "BackupStatus") == "AVAILABLE";
  }));
  administer(admin::kRestoreTableFromBackup,
             {{"BackupArn", arn}, {"TargetTableName", "FromBackup"}});
  wait_for_table("FromBackup");
  EXPECT_EQ(contents_of("FromBackup"), expected);

  administer(admin::kUpdateContinuousBackups,
             {{"TableName", "Things"},
              {"PointInTimeRecoverySpecification", Item{{"PointInTimeRecoveryEnabled", true}}}});
  const int64_t moment_ms = clock_.unix_ms();
  clock_.advance(std::chrono::seconds(2));
  for (int i = 0; i < 300; ++i) {
    ASSERT_THAT(
        erase({.table = "Things", .key = {{"pk", "a" + std::to_string(i % 60)}, {"sk", i / 60}}}),
        IsOk());
  }
  administer(admin::kRestoreTableToPointInTime, {{"SourceTableName", "Things"},
                                                 {"TargetTableName", "AsItWas"},
                                                 {"RestoreDateTime", moment_ms}});
  wait_for_table("AsItWas");
  EXPECT_EQ(contents_of("AsItWas"), expected);
  EXPECT_EQ(contents_of("AsItWas", "byN"), expected);
}

// Actions that interrupt the reads of an InterruptedStore.
//
// Thread safety: any thread. An action that has been replaced can still run on another thread, so
// it must own what it uses there.
class Interruption {
 public:
  using Action = std::function<void()>;

  void before_views(Action action) { replace(std::make_shared<const Action>(std::move(action))); }
  // Sets the safe position that the store reports. Absent: its own.
  void report_safe_position(std::optional<LogPosition> safe) {
    const std::lock_guard lock(mutex_);
    safe_ = safe;
  }
  void end() {
    replace(nullptr);
    report_safe_position({});
  }

  void run_action() const {
    const auto action = action_now();
    if (action) (*action)();
  }
  std::optional<LogPosition> safe_position() const {
    const std::lock_guard lock(mutex_);
    return safe_;
  }

 private:
  void replace(std::shared_ptr<const Action> action) {
    const std::lock_guard lock(mutex_);
    action_.swap(action);
  }
  std::shared_ptr<const Action> action_now() const {
    const std::lock_guard lock(mutex_);
    return action_;
  }

  mutable std::mutex mutex_;
  std::shared_ptr<const Action> action_;  // null: no action
  std::optional<LogPosition> safe_;
};

class InterruptedStore final : public ForwardingStore {
 public:
  InterruptedStore(std::shared_ptr<TransactStore> inner, const Interruption& interruption)
      : ForwardingStore(std::move(inner)), interruption_(interruption) {}
  void with_view(ViewBody body, ReadDone done) override {
    interruption_.run_action();
    inner_->with_view(body, std::move(done));
  }
  Result<LogPosition> safe_position() override {
    const auto safe = interruption_.safe_position();
    return safe ? *safe : inner_->safe_position();
  }

 private:
  const Interruption& interruption_;
};

class InterruptedEngine : public SharedStoreEngine {
 protected:
  InterruptedEngine() {
    engine_.reset();
    std::shared_ptr<TransactStore> inner = make_memory_store();
    if (GetParam() == "shared") inner = std::make_shared<SharedStore>(backend_, kSharedSeed);
    open(std::make_unique<InterruptedStore>(inner, interruption_));
    create_logged_table();
  }
  ~InterruptedEngine() override { engine_.reset(); }

  Interruption interruption_;
};

TEST_P(InterruptedEngine, ReadsATableAsItWasDespiteConcurrentWrites) {
  fill();
  unsigned seed = kSharedSeed;
  const std::atomic<bool> stop = false;
  // With little memory, writes after the pass over the log make the loaded part smaller.
  for (const std::size_t bytes_max :
       {std::size_t{2500}, std::size_t{6000}, ChangedRows::default_bytes()}) {
    const Contents expected = contents_of("Things");
    const uint64_t commit_version = must(log_end(engine_->store()));
    int views = 0;  // of this thread only: maintenance reads on another thread
    interruption_.before_views([&, reader = std::this_thread::get_id()] {
      if (std::this_thread::get_id() != reader) return;
      if (++views <= 12) write_at_random(seed++, stop, 60);
    });
    EXPECT_EQ(contents_before(commit_version, bytes_max), expected);
    interruption_.end();
  }
}

// A commit gets its commit version before others, and becomes visible after them. This happens
// between the pass over the log and the chunk that contains its write.
TEST_P(InterruptedEngine, FindsAChangeThatAppearsBelowOthers) {
  fill(200);  // however they are spread, one chunk holds the items of a log partition
  const Contents expected = contents_of("Things");
  const uint64_t commit_version = must(log_end(engine_->store()));
  Batch late;
  late.put_versioned("unused", "", "");
  ASSERT_EQ(write_and_wait(engine_->store(), std::move(late)).outcome, CommitOutcome::kCommitted);
  interruption_.report_safe_position(LogPosition{commit_version});
  Item item = expected.begin()->second;
  for (const auto& [key, other] : expected) {
    if (other == item) continue;
    Item changed = other;
    changed["n"] = -1;
    ASSERT_THAT(put("Things", std::move(changed)), IsOk());
  }

  const TablePtr table = *engine_->parts().catalog->snapshot()->find("Things");
  const std::string row_key = item_row_key(table->secret(), table->key(), item);
  const EncodedItem before = encode_item(item);
  item["n"] = -2;
  const EncodedItem after = encode_item(item);
  Batch numbered;
  put_change(numbered, table->log_space(), row_key,
             {.time_ms = clock_.unix_ms(), .before = ItemView(before), .after = ItemView(after)});
  uint64_t number = commit_version - 1;
  numbered.assign_commit_versions(number);
  // For each log partition, the log is read first, then the items and the new log records.
  const unsigned late_view = 2 * log_partition_of(row_key) + 2;
  unsigned views = 0;  // of this thread only: maintenance reads on another thread
  interruption_.before_views([&, reader = std::this_thread::get_id()] {
    if (std::this_thread::get_id() != reader || ++views != late_view) return;
    Batch batch;
    batch.put(numbered.writes()[0].key, *numbered.writes()[0].value);
    batch.put(row_key, after);
    EXPECT_EQ(write_and_wait(engine_->store(), std::move(batch)).outcome,
              CommitOutcome::kCommitted);
    interruption_.report_safe_position({});
  });
  EXPECT_EQ(contents_before(commit_version, ChangedRows::default_bytes()), expected);
  EXPECT_EQ(views, 2 * kLogPartitions);
  interruption_.end();
}

// Records can still appear before the end of a shard until the safe position has passed it.
TEST_P(InterruptedEngine, EndsShardsWhenTheirEndsAreSafe) {
  CreateTableRequest request = hash_table("Streamed");
  request.stream = {.enabled = true, .view = StreamViewType::kKeysOnly};
  create(request);
  const std::string stream = must(engine_->list_streams({.table = "Streamed"})).streams.at(0).arn;
  const auto shards = [&] {
    return must(engine_->describe_stream({.stream = stream})).stream.shards;
  };
  const auto has_ended = [&](const Shard& shard) {
    const auto start =
        must(engine_->get_shard_iterator({.stream = stream, .shard = shard.id})).iterator;
    return !must(call_and_wait(*engine_, &Engine::get_records, {.iterator = start})).next_iterator;
  };
  const std::vector<Shard> first = shards();
  ASSERT_EQ(first.size(), kLogPartitions);
  interruption_.report_safe_position(LogPosition{must(log_end(engine_->store()))});
  clock_.advance(std::chrono::hours(5));
  engine_->run_maintenance();
  EXPECT_EQ(shards(), first);
  EXPECT_TRUE(std::ranges::none_of(first, has_ended));
  interruption_.report_safe_position({});
  EXPECT_EQ(shards().size(), 2 * first.size());
  EXPECT_TRUE(std::ranges::all_of(first, has_ended));
}

// Another server trims logs and erases dropped tables while a job of this one reads them.
class TwoEngines : public InterruptedEngine {
 protected:
  TwoEngines() {
    fill();
    other_ = must(Engine::open(std::make_unique<SharedStore>(backend_, kSharedSeed + 1),
                               {.clock = &clock_, .sweep_interval = {}}));
    administer(admin::kUpdateContinuousBackups,
               {{"TableName", "Things"},
                {"PointInTimeRecoverySpecification", Item{{"PointInTimeRecoveryEnabled", true}}}});
  }
  ~TwoEngines() override { other_.reset(); }

  std::unique_ptr<Engine> other_;
};

TEST_P(TwoEngines, KeepHistoryThatAJobOfTheOtherReads) {
  const Contents expected = contents_of("Things");
  const int64_t moment_ms = clock_.unix_ms();
  clock_.advance(std::chrono::seconds(2));
  write_at_random(kSharedSeed, false, 200);
  ASSERT_NE(contents_of("Things"), expected);
  const auto views = std::make_shared<std::atomic<int>>(0);
  interruption_.before_views([this, views] {
    if (++*views != 1) return;
    EXPECT_THAT(other_->delete_table({.table = "Things"}), IsOk());
    for (int day = 0; day < 3; ++day) {
      clock_.advance(std::chrono::hours(24 * 36));
      engine_->run_maintenance();  // keeps the lease of the job
      other_->run_maintenance();
    }
    EXPECT_TRUE(comes_true([&] { return other_->stats().jobs == 0; }));
  });
  administer(admin::kRestoreTableToPointInTime, {{"SourceTableName", "Things"},
                                                 {"TargetTableName", "AsItWas"},
                                                 {"RestoreDateTime", moment_ms}});
  wait_for_table("AsItWas");
  interruption_.end();
  EXPECT_GE(*views, 1);
  EXPECT_EQ(contents_of("AsItWas"), expected);
}

TEST_P(TwoEngines, SaveCountsAtShutdownAfterTheOtherChangedTheTable) {
  const auto added =
      call_and_wait(*other_, &Engine::put_item,
                    {.table = "Things", .item = {{"pk", "added"}, {"sk", 1}, {"n", 1}}});
  EXPECT_THAT(added, IsOk());
  ASSERT_THAT(engine_->update_table({.table = "Things", .deletion_protection = true}), IsOk());
  other_.reset();
  engine_->run_maintenance();
  EXPECT_EQ(must(engine_->describe_table({.table = "Things"})).table.item_count, 601);
}

INSTANTIATE_TEST_SUITE_P(Stores, TwoEngines, testing::Values("shared"),
                         [](const auto& instance) { return instance.param; });
INSTANTIATE_TEST_SUITE_P(Stores, InterruptedEngine, testing::Values("memory", "shared"),
                         [](const auto& instance) { return instance.param; });
INSTANTIATE_TEST_SUITE_P(Stores, SharedStoreEngine, testing::Values("memory", "shared"),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace stator::test
