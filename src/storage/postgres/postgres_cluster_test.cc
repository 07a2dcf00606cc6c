// SPDX-License-Identifier: Apache-2.0
// The status of a database, privileges of roles, and schemas of other programs.
#include "storage/postgres/postgres_cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "storage/postgres/postgres_fixture.h"
#include "support/comes_true.h"

namespace stator {
namespace {

using test::FailsWith;
using test::IsOk;
using test::OpenTransaction;
using test::run_sql;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A role without privileges, as which a test connects.
class Role {
 public:
  explicit Role(const std::string& schema) : name_(schema + "_role"), schema_(schema) {
    run_sql("CREATE ROLE " + name_ + " LOGIN", schema);
  }
  Role(const Role&) = delete;
  Role& operator=(const Role&) = delete;
  ~Role() { run_sql("DROP OWNED BY " + name_ + " CASCADE; DROP ROLE " + name_, schema_); }

  const std::string& name() const { return name_; }
  PostgresStoreOptions options() const {
    return {.dsn = test::with_parameter(test::postgres_dsn(), "user", name_), .schema = schema_};
  }

 private:
  const std::string name_;
  const std::string schema_;
};

class Reports {
 public:
  StoreReport sink() {
    return [this](LogLevel, const std::string& line) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(line);
    };
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

class PostgresClusterTest : public testing::Test {
 protected:
  void SetUp() override {
    // A later parameter of a connection string replaces an earlier one; one of a URL does not.
    if (test::own_postgres() == nullptr) GTEST_SKIP() << "the server is not the test's own";
  }
  static Result<void> open(const PostgresStoreOptions& options) {
    const auto opened = open_postgres_store(options);
    if (opened) return {};
    EXPECT_THAT(opened.error().message, Not(HasSubstr("\n")));
    return Failure(opened.error());
  }
  std::string sql(const std::string& text) { return run_sql(text, schema_.name()); }
  void drop_schema() { sql("DROP SCHEMA " + schema_.name() + " CASCADE"); }

  test::PostgresSchema schema_;
};

TEST_F(PostgresClusterTest, ARoleNeedsOnlyTheDocumentedPrivileges) {
  const Role role(schema_.name());
  const auto grant = [&](const std::string& privileges, const std::string& what) {
    sql("GRANT " + privileges + " ON " + what + " TO " + role.name());
  };
  EXPECT_THAT(open(role.options()),
              FailsWith(Code::kAccessDenied, "lacks privileges in schema '" + schema_.name() +
                                                 "': USAGE, DELETE on kv, INSERT on kv"));
  grant("USAGE", "SCHEMA " + schema_.name());
  grant("SELECT", "meta");
  grant("SELECT, INSERT, UPDATE, DELETE", "kv");
  grant("SELECT, INSERT, UPDATE", "request");
  EXPECT_THAT(open(role.options()),
              FailsWith(Code::kAccessDenied,
                        "': SELECT on request_0, TRUNCATE on request_0, SELECT on request_1, "));
  grant("SELECT, TRUNCATE", "request_0, request_1, request_2, request_3");
  const auto store = test::PostgresSchema::open(role.options());
  ASSERT_TRUE(store);
  Batch batch;
  batch.put(std::string(30, 'k'), "v");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(write_and_wait(*store, batch).outcome, CommitOutcome::kCommitted);
  }
  EXPECT_THAT(store->drop_range({}), IsOk());
  EXPECT_THAT(store->safe_position(), IsOk());
  // The first commit of a day does the same.
  sql("INSERT INTO request (slot, id) VALUES ((this_day() + 2) % 4, gen_random_uuid())");
  sql("SET ROLE " + role.name() + "; SELECT sweep_requests()");
  EXPECT_EQ(sql("SELECT count(*) FROM request WHERE slot = (this_day() + 2) % 4"), "0");
}

TEST_F(PostgresClusterTest, CreatesTablesOnlyIfTheRoleMay) {
  drop_schema();
  const Role role(schema_.name());
  EXPECT_THAT(initialize_postgres_store(role.options()),
              FailsWith(Code::kAccessDenied, "run: CREATE SCHEMA \"" + schema_.name() +
                                                 "\" AUTHORIZATION \"" + role.name() + "\""));
  sql("CREATE SCHEMA " + schema_.name() + " AUTHORIZATION " + role.name());
  EXPECT_THAT(open(role.options()), FailsWith(Code::kNotFound, "run `stator cluster init`"));
  EXPECT_THAT(initialize_postgres_store(role.options()), IsOk());
  EXPECT_THAT(initialize_postgres_store(role.options()), IsOk());
  EXPECT_THAT(open(role.options()), IsOk());
}

TEST_F(PostgresClusterTest, DoesNotChangeSchemasOfOtherPrograms) {
  drop_schema();
  for (const char* table : {"accounts (id int)", "meta (version int)"}) {
    sql("CREATE SCHEMA " + schema_.name() + " CREATE TABLE " + table);
    EXPECT_THAT(open(schema_.options()),
                FailsWith(Code::kInvalidArgument, "contains tables that are not Stator's"));
    EXPECT_THAT(initialize_postgres_store(schema_.options()),
                FailsWith(Code::kInvalidArgument, "choose another one with --schema"));
    EXPECT_EQ(sql("SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relnamespace = '" +
                  schema_.name() + "'::regnamespace"),
              "1");
    drop_schema();
  }
}

TEST_F(PostgresClusterTest, StatusDescribesTheServerAndTheData) {
  const auto store = schema_.open();
  Batch batch;
  for (int i = 0; i < 100; ++i) batch.put(std::string(20, 'k') + std::to_string(i), "v");
  ASSERT_EQ(write_and_wait(*store, batch).outcome, CommitOutcome::kCommitted);
  auto status = read_postgres_status(schema_.options());
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(status->problem, "");
  EXPECT_EQ(status->server_version, sql("SHOW server_version"));
  EXPECT_EQ(status->address, "socket:5432");
  EXPECT_EQ(status->database, "postgres");
  EXPECT_EQ(status->role, "postgres");
  EXPECT_EQ(status->synchronous_commit, "on");
  EXPECT_EQ(status->synchronous_standbys, "");
  EXPECT_EQ(status->schema_version, 1);
  EXPECT_EQ(status->rows, std::nullopt);
  EXPECT_GT(status->bytes, 8192 * 8);
  EXPECT_GE(status->own_connections, 1);
  EXPECT_GE(status->connections, status->own_connections);
  EXPECT_EQ(status->connections_max, 200);
  sql("ANALYZE kv");
  EXPECT_EQ(read_postgres_status(schema_.options())->rows, 100);
}

// Otherwise a run for another version could test the default one.
TEST_F(PostgresClusterTest, APauseOfWritesEndsWithItsConnection) {
  const auto writes = [&] {
    auto other = postgres::Connection::connect(
        {.dsn = test::postgres_dsn(), .schema = schema_.name()}, true);
    EXPECT_TRUE(other);
    const auto deleted =
        (*other)->run_script("SET lock_timeout = '200ms'; DELETE FROM " + schema_.name() + ".kv");
    EXPECT_TRUE(deleted || deleted.error().state == "55P03") << deleted.error().message;
    return deleted.has_value();
  };
  auto pause = pause_postgres_writes(schema_.options());
  ASSERT_THAT(pause, IsOk());
  EXPECT_FALSE(writes());
  EXPECT_TRUE((*pause)->holds());
  pause->reset();
  EXPECT_TRUE(test::comes_true(writes));

  pause = pause_postgres_writes(schema_.options());
  ASSERT_THAT(pause, IsOk());
  sql("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE mode = 'ShareLock' AND relation = "
      "'kv'::regclass");
  EXPECT_TRUE(test::comes_true([&] { return !(*pause)->holds(); }));
}

TEST_F(PostgresClusterTest, TheServerIsTheOneOfTheEnvironment) {
  const char* const chosen = std::getenv("STATOR_POSTGRES_BIN");
  if (chosen == nullptr) GTEST_SKIP() << "STATOR_POSTGRES_BIN is not set";
  EXPECT_EQ(sql("SELECT setting FROM pg_config WHERE name = 'BINDIR'"), chosen);
}

TEST_F(PostgresClusterTest, StatusNamesTheTransactionThatHoldsTheStreamsBack) {
  EXPECT_EQ(read_postgres_status(schema_.options())->horizon_process, 0);
  const OpenTransaction open;
  const auto status = read_postgres_status(schema_.options());
  EXPECT_EQ(std::to_string(status->horizon_process),
            sql("SELECT pid FROM pg_stat_activity WHERE backend_xid IS NOT NULL"));
  EXPECT_GT(status->horizon_lag_s, 0.0);
  const Role role(schema_.name());
  const auto hidden = read_postgres_status(role.options());
  ASSERT_THAT(hidden, IsOk());
  EXPECT_THAT(hidden->problem, HasSubstr("lacks privileges"));
  EXPECT_EQ(hidden->horizon_process, status->horizon_process);
  EXPECT_EQ(hidden->horizon_lag_s, std::nullopt);
}

TEST_F(PostgresClusterTest, StatusReportsWhyAServerCannotUseTheDatabase) {
  PostgresStoreOptions options = schema_.options();
  options.dsn = test::with_parameter(options.dsn, "options", "-c synchronous_commit=off");
  auto status = read_postgres_status(options);
  ASSERT_THAT(status, IsOk());
  EXPECT_THAT(status->problem, HasSubstr("synchronous_commit is off"));
  EXPECT_EQ(status->synchronous_commit, "off");
  options = schema_.options();
  options.schema += "_none";
  status = read_postgres_status(options);
  ASSERT_THAT(status, IsOk());
  EXPECT_THAT(status->problem, HasSubstr("has no data of Stator"));
  EXPECT_EQ(status->schema_version, std::nullopt);
  sql("UPDATE meta SET version = 7");
  status = read_postgres_status(schema_.options());
  EXPECT_THAT(status->problem, HasSubstr("upgrade Stator"));
  EXPECT_EQ(status->schema_version, 7);
  options.schema = "No";
  EXPECT_THAT(read_postgres_status(options), FailsWith(Code::kInvalidArgument, "lower-case"));
  EXPECT_THAT(read_postgres_status({.dsn = "host=/nowhere"}),
              FailsWith(Code::kUnavailable, "could not connect"));
}

TEST_F(PostgresClusterTest, UpgradeLeavesTheNewestVersionAndRefusesNewerOnes) {
  EXPECT_EQ(upgrade_postgres_store(schema_.options()).value_or(0), 1);
  sql("UPDATE meta SET version = 2");
  EXPECT_THAT(upgrade_postgres_store(schema_.options()),
              FailsWith(Code::kInvalidArgument, "upgrade Stator"));
  EXPECT_EQ(sql("SELECT version FROM meta"), "2");
}

template <class Condition>
void wait_until(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

TEST_F(PostgresClusterTest, TheStoreMeasuresHowLongStreamsAreHeldBack) {
  Reports reports;
  PostgresStoreOptions options = schema_.options();
  options.report = reports.sink();
  options.lag_reported = std::chrono::milliseconds(1);
  const auto store = test::PostgresSchema::open(options);
  const auto lag = [&] { return store->stats().shared->horizon_lag; };
  EXPECT_EQ(lag().count(), 0);
  {
    const OpenTransaction open;
    // Without the open transaction, streams could return this change.
    Batch batch;
    batch.put("k", "v");
    ASSERT_EQ(write_and_wait(*store, batch).outcome, CommitOutcome::kCommitted);
    wait_until([&] { return lag().count() > 0; });
  }
  wait_until([&] { return lag().count() == 0; });
  EXPECT_THAT(reports.lines(),
              testing::ElementsAre(testing::StartsWith("the database is at "),
                                   testing::StartsWith("fsync and full_page_writes of PostgreSQL"),
                                   HasSubstr("a transaction of the database has held back")));
}

TEST_F(PostgresClusterTest, TheStoreCountsCallsOfItsPools) {
  PostgresStoreOptions options = schema_.options();
  options.read_connections = 1;
  const auto store = test::PostgresSchema::open(options);
  const auto reads = [&] { return store->stats().shared->pools.at(0); };
  EXPECT_EQ(reads().name, "reads");
  EXPECT_EQ(reads().connections, 1U);
  EXPECT_EQ(store->stats().shared->pools.at(1).connections, options.commit_connections);
  std::promise<void> go;
  std::promise<void> began;
  std::promise<void> ended;
  const auto body = [&](ReadView&) -> Result<void> {
    began.set_value();
    go.get_future().wait();
    return {};
  };
  store->with_view(body, [](const Result<void>&) {});
  began.get_future().wait();
  const std::string key = "k";
  const auto visit = [](std::size_t, std::string_view, std::string_view) { return true; };
  store->read({.keys = {&key, 1}}, visit, [&](const Result<void>&) { ended.set_value(); });
  EXPECT_EQ(reads().busy, 1U);
  EXPECT_EQ(reads().queued_calls, 1U);
  go.set_value();
  ended.get_future().wait();
  wait_until([&] { return reads().busy == 0; });
  EXPECT_EQ(reads().queued_calls, 0U);
}

// The others can be to a primary that was stopped, and would return old data when it continues.
TEST_F(PostgresClusterTest, NoConnectionFromBeforeOneBrokeIsUsedAfterwards) {
  PostgresStoreOptions options = schema_.options();
  options.read_connections = 2;
  const auto store = test::PostgresSchema::open(options);
  const auto processes = [&](const std::string& condition) {
    return sql(
        "SELECT coalesce(string_agg(pid::text, ',' ORDER BY pid), '') FROM pg_stat_activity "
        "WHERE application_name = 'stator' AND pid <> pg_backend_pid() AND " +
        condition);
  };
  // Both connections are used at the same time.
  const auto use_reads = [&] {
    std::latch used(2);
    std::latch ended(2);
    const auto body = [&](ReadView& view) -> Result<void> {
      used.arrive_and_wait();
      STATOR_RETURN_IF_ERROR(view.get("key", [](std::string_view) {}));
      return {};
    };
    for (int i = 0; i < 2; ++i) {
      store->with_view(body, [&](const Result<void>&) { ended.count_down(); });
    }
    ended.wait();
  };
  use_reads();
  std::string before;  // both and the monitor's, when those of other stores have ended
  wait_until([&] { return std::ranges::count(before = processes("true"), ',') == 2; });
  sql("SELECT pg_terminate_backend(" + before.substr(0, before.find(',')) + ")");
  wait_until([&] {
    use_reads();
    return processes("pid IN (" + before + ")").empty();
  });
}

TEST_F(PostgresClusterTest, TheStoreReportsSettingsThatRiskTheData) {
  const test::PostgresServer other({"fsync=on"});
  ASSERT_FALSE(other.dsn().empty());
  Reports reports;
  const PostgresStoreOptions options{.dsn = other.dsn(), .report = reports.sink()};
  ASSERT_THAT(initialize_postgres_store(options), IsOk());
  const auto store = test::PostgresSchema::open(options);
  wait_until([&] { return reports.lines().size() == 2; });
  const char* const risk = "full_page_writes of PostgreSQL is off, ";
  EXPECT_THAT(reports.lines(),
              testing::ElementsAre("the database is at socket:5432", testing::StartsWith(risk)));
  const auto status = read_postgres_status(options);
  ASSERT_THAT(status, IsOk());
  EXPECT_THAT(status->risk, testing::StartsWith(risk));
  EXPECT_EQ(status->problem, "");
}

// No request triggers the check.
TEST_F(PostgresClusterTest, HealthFollowsTheServer) {
  Reports reports;
  PostgresStoreOptions options = schema_.options();
  options.report = reports.sink();
  const auto store = test::PostgresSchema::open(options);
  EXPECT_TRUE(store->health().writable);
  wait_until([&] { return store->stats().shared->address == "socket:5432"; });
  test::own_postgres()->stop();
  wait_until([&] { return !store->health().writable; });
  EXPECT_NE(store->health().reason, "");
  test::own_postgres()->start();
  wait_until([&] { return reports.lines().size() == 4; });
  EXPECT_TRUE(store->health().writable);
  EXPECT_THAT(reports.lines(),
              testing::ElementsAre("the database is at socket:5432",
                                   testing::StartsWith("fsync and full_page_writes of PostgreSQL"),
                                   testing::StartsWith("the database is unreachable: "),
                                   "the database is reachable, at socket:5432"));
}

}  // namespace
}  // namespace stator
