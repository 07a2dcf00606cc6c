// SPDX-License-Identifier: Apache-2.0
// Cases that the contract suites do not cover: pages, partitions, locks, queues, restarts.
#include <gtest/gtest.h>
#include <signal.h>

#include <deque>
#include <future>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "storage/postgres/postgres_fixture.h"
#include "storage/postgres/row_key.h"
#include "storage/transact_fixture.h"

namespace stator {
namespace {

using test::FailsWith;
using test::IsOk;
using test::kSeed;
using test::Row;

// A transaction that holds the lock of a key, like a commit of another process.
class HeldKey {
 public:
  explicit HeldKey(const std::string& key)
      : transaction_("SELECT pg_advisory_xact_lock(" + std::to_string(postgres::lock_of(key)) +
                     ")") {}
  void release() { transaction_.commit(); }

 private:
  test::OpenTransaction transaction_;
};

class PostgresStoreTest : public testing::Test {
 protected:
  static Batch put_of_key(const std::string& key, const std::string& value) {
    Batch batch;
    batch.put(key, value);
    return batch;
  }
  void put(const std::map<std::string, std::string>& rows) {
    Batch batch;
    for (const auto& [key, value] : rows) batch.put(key, value);
    const CommitResult result = write_and_wait(*store_, batch);
    ASSERT_EQ(result.outcome, CommitOutcome::kCommitted) << result.error.message;
  }
  std::vector<Row> rows_of(const RangeRead& read, std::size_t most = SIZE_MAX) {
    std::vector<Row> rows;
    EXPECT_THAT(read_range(*store_, read,
                           [&](std::string_view key, std::string_view value) {
                             rows.push_back({std::string(key), std::string(value)});
                             return rows.size() < most;
                           }),
                IsOk());
    return rows;
  }
  // The rows of a range, read with the row of `key`, and how often the read started over.
  struct Restartable {
    std::vector<Row> rows;
    int restarts = 0;
  };
  Restartable rows_with(
      const std::string& key, const RangeRead& read,
      FunctionRef<void(const Restartable&)> seen = [](const Restartable&) {}) {
    Restartable found;
    int keys = 0;
    const auto start_over = [&] {
      found.rows.clear();
      keys = 0;
      ++found.restarts;
    };
    EXPECT_THAT(
        read_and_wait(
            *store_,
            {.keys = {&key, 1}, .ranges = {&read, 1}, .one_state = true, .start_over = start_over},
            [&](std::size_t part, std::string_view row, std::string_view value) {
              if (part == 0) {
                EXPECT_TRUE(found.rows.empty() && row == key);
                ++keys;
              } else {
                found.rows.push_back({std::string(row), std::string(value)});
                seen(found);
              }
              return true;
            }),
        IsOk());
    EXPECT_EQ(keys, 1);
    return found;
  }
  // PostgreSQL compresses other keys, so that they fit into its index.
  static std::string incompressible(std::size_t bytes) {
    std::mt19937 random(kSeed);
    std::string key(bytes, '\0');
    for (char& byte : key) byte = static_cast<char>(random());
    return key;
  }
  std::size_t count_all() { return rows_of({}).size(); }

  test::PostgresSchema schema_;
  std::unique_ptr<TransactStore> store_ = schema_.open();
  std::unique_ptr<TransactStore> other_ = schema_.open();
};

// Other statements read ranges within a partition than ranges across partitions.
TEST_F(PostgresStoreTest, ReadsRangesOfPartitionsAsAMapWould) {
  std::mt19937 random(kSeed);
  std::vector<std::string> partitions;
  for (const char last : {'a', 'b', '\xff'}) {
    partitions.push_back(std::string(kPartitionBytes - 1, 'p') + last);
  }
  partitions.emplace_back(kPartitionBytes, '\xff');
  const auto end_of = [](std::string partition) {
    while (!partition.empty() && partition.back() == '\xff') partition.pop_back();
    if (!partition.empty()) ++partition.back();
    return partition;
  };
  const auto random_sort = [&] {
    return std::string(random() % 3, static_cast<char>(random() % 2 == 0 ? 'm' : random()));
  };
  std::map<std::string, std::string> model;
  for (int i = 0; i < 300; ++i) {
    model[partitions[random() % partitions.size()] + random_sort()] = std::to_string(i);
  }
  put(model);
  for (int i = 0; i < 150; ++i) {
    SCOPED_TRACE("range " + std::to_string(i) + " of seed " + std::to_string(kSeed));
    const std::string& partition = partitions[random() % partitions.size()];
    const std::string& last = partitions[random() % partitions.size()];
    RangeRead read{.range = {partition + random_sort(), last + random_sort()},
                   .direction = random() % 2 == 0 ? Direction::kForward : Direction::kBackward,
                   .expected_rows = random() % 20};
    if (random() % 2 == 0) read.range.end = end_of(last);
    std::vector<Row> wanted;
    for (const auto& [key, value] : model) {
      const bool ends = !read.range.end.empty() && key >= read.range.end;
      if (key >= read.range.begin && !ends) wanted.push_back({key, value});
    }
    if (read.direction == Direction::kBackward) std::ranges::reverse(wanted);
    EXPECT_EQ(rows_of(read), wanted);
    EXPECT_EQ(rows_with(model.begin()->first, read).rows, wanted);
    wanted.resize(std::min<std::size_t>(wanted.size(), 3));
    EXPECT_EQ(rows_of(read, 3), wanted);
  }
}

TEST_F(PostgresStoreTest, ARangeIsOneStateOverAllItsPages) {
  std::map<std::string, std::string> rows;
  for (int i = 1000; i < 4000; ++i) rows["key-" + std::to_string(i)] = "old";
  put(rows);
  const auto change = [&] {
    Batch batch;
    for (const auto& [key, value] : rows) batch.put(key, "new");
    batch.erase("key-1999");
    batch.put("key-2999-and-more", "new");
    ASSERT_EQ(write_and_wait(*other_, batch).outcome, CommitOutcome::kCommitted);
  };
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    put(rows);
    ASSERT_THAT(other_->drop_range({"key-2999-", "key-2999."}), IsOk());
    std::size_t count = 0;
    EXPECT_THAT(read_range(*store_, {.range = {"key-", "key."}, .direction = direction},
                           [&](std::string_view key, std::string_view value) {
                             if (++count == 10) change();
                             EXPECT_EQ(value, "old") << key;
                             return value == "old";
                           }),
                IsOk());
    EXPECT_EQ(count, 3000U);
  }
  put(rows);
  std::size_t count = 0;
  EXPECT_THAT(view_and_wait(*store_,
                            [&](ReadView& view) -> Result<void> {
                              EXPECT_TRUE(*view.get("key-1000", [](auto) {}));
                              change();
                              return view.scan({.range = {"key-", "key-2999-"}},
                                               [&](std::string_view, std::string_view value) {
                                                 count += value == "old" ? 1 : 0;
                                                 return true;
                                               });
                            }),
              IsOk());
  EXPECT_EQ(count, 2000U);
}

// A page can be all that a request needs, so that it takes no transaction.
TEST_F(PostgresStoreTest, ALargerRangeThanAPageStartsOver) {
  const std::string partition(kPartitionBytes, 'p');
  std::map<std::string, std::string> rows;
  for (int i = 1000; i < 1600; ++i) rows[partition + std::to_string(i)] = "old";
  put(rows);
  put({{"key", ""}});
  for (const Direction direction : {Direction::kForward, Direction::kBackward}) {
    put(rows);
    const RangeRead all{.range = {partition, partition + "2"}, .direction = direction};
    const auto found = rows_with("key", all, [&](const Restartable& seen) {
      if (seen.rows.size() != 10) return;
      Batch batch;
      const std::string value = seen.restarts == 0 ? "new" : "newer";
      for (const auto& [key, old] : rows) batch.put(key, value);
      ASSERT_EQ(write_and_wait(*other_, batch).outcome, CommitOutcome::kCommitted);
    });
    EXPECT_EQ(found.restarts, 1);
    EXPECT_EQ(found.rows.size(), rows.size());
    for (const Row& row : found.rows) EXPECT_EQ(row.value, "new") << row.key;
    RangeRead few{.range = {partition, partition + "1003"}, .direction = direction};
    EXPECT_EQ(rows_with("key", few).restarts, 0);
  }
}

TEST_F(PostgresStoreTest, DropsLargeRangesInChunks) {
  std::map<std::string, std::string> rows{{"a", ""}, {"z", ""}};
  for (int i = 1000; i < 3500; ++i) rows["key-" + std::to_string(i)] = "";
  put(rows);
  ASSERT_THAT(store_->drop_range({"key-", "key."}), IsOk());
  EXPECT_EQ(rows_of({}), (std::vector<Row>{{"a", ""}, {"z", ""}}));
  ASSERT_THAT(store_->drop_range({"b", ""}), IsOk());
  EXPECT_EQ(rows_of({}), (std::vector<Row>{{"a", ""}}));
}

TEST_F(PostgresStoreTest, LocksItsKeysAfterTwoConflicts) {
  const std::vector<std::string> keys{"hot"};
  int decided = 0;
  std::vector<std::future<CommitOutcome>> others;
  const CommitResult result = transact_and_wait(*store_, keys, [&](GuardedRows rows) {
    ++decided;
    // The other writes commit before the first two attempts. Later ones wait for this transaction.
    auto written = std::make_shared<std::promise<CommitOutcome>>();
    others.push_back(written->get_future());
    other_->write(put_of_key("hot", "other"),
                  [written](const CommitResult& other) { written->set_value(other.outcome); });
    if (decided <= 2) others.back().wait();
    return put_of_key("hot", rows[0].value_or("none") + " seen");
  });
  EXPECT_EQ(result.outcome, CommitOutcome::kCommitted) << result.error.message;
  EXPECT_EQ(decided, 3);
  for (auto& other : others) EXPECT_EQ(other.get(), CommitOutcome::kCommitted);
  EXPECT_EQ(rows_of({})[0].value, "other") << "it waited";
}

TEST_F(PostgresStoreTest, ATransactionInProgressPinsTheSafePosition) {
  Batch batch;
  batch.put_versioned("log-", "", "x");
  HeldKey held("unrelated");
  const CommitResult result = write_and_wait(*store_, batch);
  ASSERT_EQ(result.outcome, CommitOutcome::kCommitted);
  const uint64_t version = test::commit_version_in(rows_of({})[0].key, "log-");
  EXPECT_LE(*store_->safe_position(), LogPosition{version});
  held.release();
  EXPECT_GT(*store_->safe_position(), LogPosition{version});
}

// A store with one commit connection, which is busy until it is released.
class BusyCommitter {
 public:
  explicit BusyCommitter(PostgresStoreOptions options)
      : store_([&] {
          options.commit_connections = 1;
          return test::PostgresSchema::open(options);
        }()) {
    std::promise<void> begun;
    Batch batch;
    batch.put("first", "");
    store_->write(std::move(batch), [&](const CommitResult&) {
      begun.set_value();
      released_.get_future().wait();
    });
    begun.get_future().wait();
  }
  void release() { released_.set_value(); }
  TransactStore& store() { return *store_; }
  void write(const std::string& key, const std::string& value) {
    auto promise = std::make_shared<std::promise<CommitResult>>();
    results_.push_back(promise->get_future());
    Batch batch;
    batch.put(key, value);
    store_->write(std::move(batch),
                  [promise](CommitResult result) { promise->set_value(std::move(result)); });
  }
  // Returns the result of the next write.
  CommitResult result() {
    CommitResult result = results_.front().get();
    results_.pop_front();
    return result;
  }

 private:
  std::promise<void> released_;
  std::deque<std::future<CommitResult>> results_;
  std::unique_ptr<TransactStore> store_;
};

TEST_F(PostgresStoreTest, CombinesWaitingCommits) {
  BusyCommitter busy(schema_.options());
  for (std::size_t i = 1; i <= 40; ++i) {
    busy.write("key-" + std::to_string(i % 20), std::to_string(i));
  }
  busy.release();
  for (int i = 0; i < 40; ++i) EXPECT_EQ(busy.result().outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(busy.store().stats().commits, 41U);
  EXPECT_EQ(busy.store().stats().commit_groups, 3U) << "each key is written twice, in order";
  for (const Row& row : rows_of({.range = {"key-", "key."}})) {
    EXPECT_GT(std::stoi(row.value), 20) << row.key;
  }
}

TEST_F(PostgresStoreTest, ALockedKeyDelaysNoOtherCommit) {
  HeldKey held("held");
  BusyCommitter busy(schema_.options());
  for (int i = 0; i < 10; ++i) busy.write("key-" + std::to_string(i), "1");
  busy.write("held", "1");
  busy.release();
  for (int i = 0; i < 10; ++i) {
    const CommitResult result = busy.result();
    EXPECT_EQ(result.outcome, CommitOutcome::kCommitted) << result.error.message;
  }
  held.release();
  EXPECT_EQ(busy.result().outcome, CommitOutcome::kCommitted) << "it waited";
}

TEST_F(PostgresStoreTest, ABadValueFailsNoOtherCommit) {
  BusyCommitter busy(schema_.options());
  for (int i = 0; i < 10; ++i) busy.write("key-" + std::to_string(i), "1");
  busy.write(incompressible(4000), "");
  busy.release();
  for (int i = 0; i < 10; ++i) {
    const CommitResult result = busy.result();
    EXPECT_EQ(result.outcome, CommitOutcome::kCommitted) << result.error.message;
  }
  EXPECT_EQ(busy.result().outcome, CommitOutcome::kUnavailable);
}

TEST_F(PostgresStoreTest, NoTimeoutOfTheServerEndsACommit) {
  PostgresStoreOptions options = schema_.options();
  std::string timeouts = "-c statement_timeout=1s";
  const std::string known = "SELECT count(*) FROM pg_settings WHERE name = 'transaction_timeout'";
  if (test::run_sql(known, schema_.name()) == "1") timeouts += " -c transaction_timeout=1s";
  options.dsn = test::with_parameter(options.dsn, "options", timeouts);
  const auto store = test::PostgresSchema::open(options);
  HeldKey held("held");
  std::promise<CommitResult> ended;
  auto result = ended.get_future();
  store->write(put_of_key("held", "1"), [&](const CommitResult& write) { ended.set_value(write); });
  const auto has_waited = [&] {
    return test::run_sql(
               "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory' AND "
               "clock_timestamp() - query_start > '1200ms'",
               schema_.name()) != "0";
  };
  while (result.wait_for(std::chrono::seconds(0)) == std::future_status::timeout && !has_waited()) {
  }
  held.release();
  const CommitResult written = result.get();
  EXPECT_EQ(written.outcome, CommitOutcome::kCommitted) << written.error.message;
}

TEST_F(PostgresStoreTest, RejectsCommitsThatDoNotFitInItsQueues) {
  PostgresStoreOptions options = schema_.options();
  options.queue_bytes_max = 1;
  BusyCommitter busy(options);
  busy.write("second", "1");
  const CommitResult refused = write_and_wait(busy.store(), put_of_key("third", "1"));
  EXPECT_EQ(refused.outcome, CommitOutcome::kUnavailable);
  EXPECT_EQ(refused.error.code, Code::kThrottling);
  busy.release();
  EXPECT_EQ(busy.result().outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(count_all(), 2U);

  options.queued_reads_max = 0;
  const auto closed = test::PostgresSchema::open(options);
  EXPECT_THAT(read_value(*closed, "first", [](auto) {}), FailsWith(Code::kThrottling, "try again"));
  EXPECT_THAT(closed->safe_position(), FailsWith(Code::kThrottling, "try again"));
  const std::vector<std::string> keys{"first"};
  EXPECT_EQ(transact_and_wait(*closed, keys, [](auto) { return Batch(); }).error.code,
            Code::kThrottling);
  HeldKey held("held");
  EXPECT_EQ(write_and_wait(*closed, put_of_key("held", "1")).error.code, Code::kThrottling)
      << "nobody may wait for its lock";
}

// A commit takes a lock for each of its keys, and all commits share the server's lock table.
TEST_F(PostgresStoreTest, RefusesMoreKeysThanATransactionCanLock) {
  Batch batch;
  for (int i = 0; i < 5501; ++i) batch.put("key-" + std::to_string(i), "");
  const CommitResult refused = write_and_wait(*store_, batch);
  EXPECT_EQ(refused.error.code, Code::kInvalidArgument);
  EXPECT_NE(refused.error.message.find("5501 keys, more than 5500"), std::string::npos)
      << refused.error.message;
  EXPECT_EQ(count_all(), 0U);
}

TEST_F(PostgresStoreTest, RefusesMoreChangesThanATransactionCanNumber) {
  Batch batch;
  for (int i = 0; i < 4095; ++i) batch.put_versioned("log-", "", "");
  EXPECT_EQ(write_and_wait(*store_, batch).error.code, Code::kInvalidArgument);
  EXPECT_EQ(count_all(), 0U);
}

TEST_F(PostgresStoreTest, ReportsValuesThatTheServerRefuses) {
  std::string key = incompressible(4000);
  const CommitResult result = write_and_wait(*store_, put_of_key(key, ""));
  EXPECT_EQ(result.outcome, CommitOutcome::kUnavailable);
  EXPECT_NE(result.error.message.find("index row"), std::string::npos) << result.error.message;
  key.resize(store_->capabilities().key_bytes_max);
  EXPECT_EQ(write_and_wait(*store_, put_of_key(key, "")).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(rows_of({})[0].key, key);
}

// The state after a failover. Nothing was applied, so the outcome is known.
TEST_F(PostgresStoreTest, KnowsThatAReadOnlyServerAppliedNothing) {
  if (test::own_postgres() == nullptr) GTEST_SKIP() << "the server is not the test's own";
  const auto configure = [&](const std::string& change) {
    test::run_sql(change, schema_.name());
    test::run_sql("SELECT pg_reload_conf()", schema_.name());
  };
  PostgresStoreOptions options = schema_.options();
  options.commit_connections = 1;
  const auto store = test::PostgresSchema::open(options);
  const auto outcomes_until = [&](bool committed) {
    std::vector<CommitResult> outcomes;
    do {
      outcomes.push_back(write_and_wait(*store, put_of_key("a", "1")));
    } while ((outcomes.back().outcome == CommitOutcome::kCommitted) != committed);
    return outcomes;
  };
  outcomes_until(true);
  configure("ALTER SYSTEM SET default_transaction_read_only TO on");
  const CommitResult refused = outcomes_until(false).back();
  configure("ALTER SYSTEM RESET default_transaction_read_only");
  EXPECT_EQ(refused.outcome, CommitOutcome::kUnavailable);
  EXPECT_NE(refused.error.message.find("read-only"), std::string::npos) << refused.error.message;
  for (const CommitResult& result : outcomes_until(true)) {
    EXPECT_NE(result.outcome, CommitOutcome::kUnknown) << result.error.message;
  }
}

TEST_F(PostgresStoreTest, OutlivesARestartOfTheServer) {
  if (test::own_postgres() == nullptr) GTEST_SKIP() << "the server is not the test's own";
  put({{"a", "1"}});
  ASSERT_EQ(count_all(), 1U);
  test::own_postgres()->restart();
  EXPECT_EQ(count_all(), 1U);
  EXPECT_EQ(write_and_wait(*store_, put_of_key("b", "1")).outcome, CommitOutcome::kCommitted);
  test::own_postgres()->stop();
  EXPECT_THAT(read_value(*store_, "a", [](auto) {}), FailsWith(Code::kUnavailable, "PostgreSQL"));
  EXPECT_EQ(write_and_wait(*store_, put_of_key("c", "1")).outcome, CommitOutcome::kUnavailable);
  EXPECT_FALSE(store_->health().writable);
  test::own_postgres()->start();
  while (!store_->health().writable) std::this_thread::yield();  // without a call to the store
  EXPECT_EQ(count_all(), 2U);
}

// A separate server that loses unsynced transactions in a crash.
class OwnServer : public testing::Test {
 protected:
  void SetUp() override {
    if (server_.dsn().empty()) GTEST_SKIP() << "PostgreSQL did not start";
    options_.dsn = server_.dsn();
    ASSERT_THAT(initialize_postgres_store(options_), IsOk());
  }
  // Runs transactions that use ids and are not waited for.
  void use_ids(int count) {
    const auto connection = postgres::Connection::connect({.dsn = server_.dsn()}, false);
    ASSERT_TRUE(connection) << connection.error().message;
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE((*connection)->run_script("BEGIN; SELECT pg_current_xact_id(); ROLLBACK"));
    }
  }

  test::PostgresServer server_{{"wal_writer_delay=10000", "max_locks_per_transaction=10",
                                "max_connections=20", "max_worker_processes=0"}};
  PostgresStoreOptions options_;
};

// After a crash, the server uses the ids of lost transactions again.
TEST_F(OwnServer, CommitsNothingBelowASafePosition) {
  auto store = test::PostgresSchema::open(options_);
  Batch batch;
  batch.put_versioned("log-", "", "x");
  ASSERT_EQ(write_and_wait(*store, batch).outcome, CommitOutcome::kCommitted);
  use_ids(20);
  const auto safe = store->safe_position();
  ASSERT_THAT(safe, IsOk());
  store.reset();
  server_.stop(SIGQUIT);
  server_.start();
  options_.dsn = server_.dsn();
  store = test::PostgresSchema::open(options_);
  const CommitResult later = write_and_wait(*store, batch);
  ASSERT_EQ(later.outcome, CommitOutcome::kCommitted) << later.error.message;
  EXPECT_GT(LogPosition{later.sequence}, *safe);
}

TEST_F(OwnServer, NamesTheSettingForMoreLocks) {
  const auto store = test::PostgresSchema::open(options_);
  Batch batch;
  for (int i = 0; i < 5500; ++i) batch.put("key-" + std::to_string(i), "");
  const CommitResult refused = write_and_wait(*store, batch);
  EXPECT_EQ(refused.outcome, CommitOutcome::kUnavailable);
  EXPECT_NE(refused.error.message.find("raise max_locks_per_transaction"), std::string::npos)
      << refused.error.message;
}

}  // namespace
}  // namespace stator
