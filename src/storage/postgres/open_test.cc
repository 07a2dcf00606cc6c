// SPDX-License-Identifier: Apache-2.0
// Checks when a store is opened or initialized.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "storage/postgres/postgres_fixture.h"
#include "storage/postgres/schema.h"
#include "storage/postgres/server.h"

namespace stator {
namespace {

using postgres::check_data;
using postgres::check_server;
using postgres::DataFacts;
using postgres::risk_of;
using postgres::ServerFacts;
using test::FailsWith;
using test::IsOk;

ServerFacts suitable() {
  return {.name = "PostgreSQL 15.0 on x86_64-pc-linux-gnu",
          .version = 150'000,
          .synchronous_commit = "on"};
}

TEST(PostgresChecks, NameTheProblemAndTheRemedy) {
  EXPECT_THAT(check_server(suitable()), IsOk());

  ServerFacts facts = suitable();
  facts.version = 140'011;
  EXPECT_THAT(check_server(facts), FailsWith(Code::kInvalidArgument, "14 is too old; use version"));
  for (const char* name : {"CockroachDB CCL v23.1.2 (x86_64-pc-linux-gnu)",
                           "PostgreSQL 15.2-YB-2025.1.0.0-b0 on x86_64-pc-linux-gnu"}) {
    facts = suitable();
    facts.name = name;
    EXPECT_THAT(check_server(facts),
                FailsWith(Code::kInvalidArgument, std::string("the server is ") + name));
  }
  facts = suitable();
  facts.is_standby = true;
  EXPECT_THAT(check_server(facts), FailsWith(Code::kUnavailable, "target_session_attrs"));
  facts = suitable();
  facts.max_prepared_transactions = 5;
  EXPECT_THAT(check_server(facts), FailsWith(Code::kInvalidArgument, "is 5: a prepared"));
  for (const char* setting : {"local", "remote_write", "on", "remote_apply"}) {
    facts = suitable();
    facts.synchronous_commit = setting;
    EXPECT_THAT(check_server(facts), IsOk()) << setting;
  }
  facts.has_synchronous_standbys = true;
  EXPECT_THAT(check_server(facts), IsOk());
  facts.synchronous_commit = "local";
  EXPECT_THAT(check_server(facts),
              FailsWith(Code::kInvalidArgument, "synchronous_commit is local although"));

  const DataFacts data{.version = 1, .next = LogPosition{4096}};
  EXPECT_THAT(check_data(data, "s", LogPosition{4096}), IsOk());
  EXPECT_THAT(check_data(data, "s", LogPosition{4097}),
              FailsWith(Code::kUnavailable, "has lost acknowledged commits; make the server"));
}

TEST(PostgresChecks, AcceptSettingsThatRiskTheDataAndNameThem) {
  EXPECT_EQ(risk_of(suitable()), "");
  ServerFacts facts = suitable();
  facts.fsync = false;
  EXPECT_THAT(check_server(facts), IsOk());
  EXPECT_EQ(risk_of(facts),
            "fsync of PostgreSQL is off, so a power failure can lose or damage data; set it to on");
  facts.full_page_writes = false;
  EXPECT_THAT(risk_of(facts), testing::MatchesRegex(
                                  "fsync and full_page_writes of PostgreSQL are off, .* them .*"));
  facts.fsync = true;
  EXPECT_THAT(risk_of(facts), testing::StartsWith("full_page_writes of PostgreSQL is off, "));
}

class PostgresOpen : public testing::Test {
 protected:
  Result<void> open(const PostgresStoreOptions& options) const {
    const auto opened = open_postgres_store(options);
    if (opened) return {};
    EXPECT_EQ(opened.error().message.find('\n'), std::string::npos) << opened.error().message;
    return Failure(opened.error());
  }
  Result<void> open_with(const std::string& setting) const {
    PostgresStoreOptions options = schema_.options();
    options.dsn = test::with_parameter(options.dsn, "options", "-c " + setting);
    return open(options);
  }

  // After `change`, new connections of an open store must fail with `message`, until `back`.
  void expect_refusal(const std::string& change, const std::string& back,
                      const std::string& message) {
    test::PostgresProxy proxy(test::own_postgres()->socket(),
                              [](auto) { return test::PostgresProxy::Fate::kPass; });
    PostgresStoreOptions options = schema_.options(proxy);
    options.settle_timeout = std::chrono::milliseconds(100);
    const auto store = test::PostgresSchema::open(options);
    ASSERT_TRUE(store);
    const auto write = [&] {
      Batch batch;
      batch.put("a", "1");
      return write_and_wait(*store, batch);
    };
    ASSERT_EQ(write().outcome, CommitOutcome::kCommitted);
    run(change);
    proxy.drop_all();
    // A connection that has not noticed the change yet can still commit. One that was being opened
    // during the change can fail for another reason.
    const auto names_it = [&](const std::string& text) {
      return text.find(message) != std::string::npos;
    };
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    CommitResult refused;
    do {
      refused = write();
    } while (!names_it(refused.error.message) && std::chrono::steady_clock::now() < deadline);
    EXPECT_EQ(refused.outcome, CommitOutcome::kUnavailable) << refused.error.message;
    EXPECT_EQ(refused.error.code, Code::kUnavailable) << "the caller did nothing wrong";
    EXPECT_TRUE(names_it(refused.error.message)) << refused.error.message;
    while (!names_it(store->health().reason) && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    EXPECT_TRUE(names_it(store->health().reason)) << store->health().reason;
    run(back);
    while (!store->health().writable) std::this_thread::yield();
    EXPECT_EQ(write().outcome, CommitOutcome::kCommitted);
  }
  void run(const std::string& sql) const { test::run_sql(sql, schema_.name()); }

  test::PostgresSchema schema_;
};

// An address can lead to another server than before, or to the same server with other settings.
TEST_F(PostgresOpen, ChecksEachNewConnectionOfAStore) {
  if (test::own_postgres() == nullptr) GTEST_SKIP() << "the proxy needs the server's socket";
  expect_refusal("UPDATE meta SET system_identifier = system_identifier - 1",
                 "UPDATE meta SET system_identifier = system_identifier + 1",
                 "restored from another");
  expect_refusal("UPDATE meta SET version = 2", "UPDATE meta SET version = 1", "upgrade Stator");
  expect_refusal("ALTER ROLE postgres SET synchronous_commit TO off",
                 "ALTER ROLE postgres RESET synchronous_commit", "synchronous_commit is off");
  expect_refusal(
      "ALTER ROLE postgres SET default_transaction_read_only TO on",
      "BEGIN READ WRITE; ALTER ROLE postgres RESET default_transaction_read_only; COMMIT",
      "read-only");
  // The server's transactions are older than the acknowledged ones.
  expect_refusal("UPDATE meta SET stamp_base = stamp_base - 40960",
                 "UPDATE meta SET stamp_base = stamp_base + 40960", "lost acknowledged commits");
}

// The connection's checks pass before the server changes.
TEST_F(PostgresOpen, RemembersAProblemFoundWhileAConnectionWasOpened) {
  const postgres::ConnectionOptions options{.dsn = test::postgres_dsn(), .schema = schema_.name()};
  const auto blocker = postgres::Connection::connect(options, true);
  ASSERT_TRUE(blocker);
  postgres::Server server(options, {});
  // After the checks, statements that read this table cannot be prepared.
  ASSERT_TRUE((*blocker)->run_script("BEGIN; LOCK TABLE " + schema_.name() +
                                     ".kv IN ACCESS EXCLUSIVE MODE"));
  auto early = std::async(std::launch::async, [&] { return server.connect(options); });
  while (test::run_sql("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = "
                       "'kv'::regclass",
                       schema_.name()) == "0") {
    std::this_thread::yield();
  }
  run("UPDATE meta SET version = 2");
  EXPECT_THAT(server.connect(options), FailsWith(Code::kUnavailable, "upgrade Stator"));
  ASSERT_TRUE((*blocker)->run_script("ROLLBACK"));
  EXPECT_THAT(early.get(), IsOk());
  EXPECT_NE(server.problem().find("upgrade Stator"), std::string::npos) << server.problem();
}

TEST_F(PostgresOpen, RefusesSessionsOfAPooler) {
  if (test::own_postgres() == nullptr) GTEST_SKIP() << "the proxy needs the server's socket";
  test::PostgresProxy proxy(test::own_postgres()->socket(),
                            [](auto) { return test::PostgresProxy::Fate::kPass; });
  proxy.greet(test::PostgresProxy::Greeting::kPooler);
  EXPECT_THAT(open(schema_.options(proxy)),
              FailsWith(Code::kInvalidArgument, "connect to PostgreSQL itself"));
  EXPECT_THAT(initialize_postgres_store(schema_.options(proxy)),
              FailsWith(Code::kInvalidArgument, "connect to PostgreSQL itself"));
}

TEST_F(PostgresOpen, RefusesServersThatCouldLoseData) {
  EXPECT_THAT(open(schema_.options()), IsOk());
  EXPECT_THAT(open_with("synchronous_commit=off"),
              FailsWith(Code::kInvalidArgument, "set it to on"));
  EXPECT_THAT(open_with("default_transaction_read_only=on"),
              FailsWith(Code::kUnavailable, "default_transaction_read_only=off"));
}

TEST_F(PostgresOpen, RejectsMissingSchemasAndServers) {
  PostgresStoreOptions options = schema_.options();
  options.schema = "stator_test_none";
  EXPECT_THAT(open(options), FailsWith(Code::kNotFound, "run `stator cluster init`"));
  options.schema = "Quoted\"";
  EXPECT_THAT(open(options), FailsWith(Code::kInvalidArgument, "lower-case letters"));
  EXPECT_THAT(initialize_postgres_store(options),
              FailsWith(Code::kInvalidArgument, "lower-case letters"));
  options = {.dsn = "host=/nowhere dbname=none"};
  EXPECT_THAT(open(options), FailsWith(Code::kUnavailable, "could not connect to PostgreSQL"));
  EXPECT_THAT(initialize_postgres_store(options),
              FailsWith(Code::kUnavailable, "could not connect to PostgreSQL"));
}

TEST_F(PostgresOpen, RefusesANewerVersionAndLeavesIt) {
  test::run_sql("UPDATE meta SET version = 2", schema_.name());
  EXPECT_THAT(open(schema_.options()), FailsWith(Code::kInvalidArgument, "upgrade Stator"));
  EXPECT_THAT(initialize_postgres_store(schema_.options()),
              FailsWith(Code::kInvalidArgument, "upgrade Stator"));
  EXPECT_EQ(test::run_sql("SELECT version FROM meta", schema_.name()), "2");
}

TEST_F(PostgresOpen, InitializesOnceForConcurrentAttempts) {
  test::run_sql("DROP SCHEMA " + schema_.name() + " CASCADE", schema_.name());
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back(
          [&] { EXPECT_THAT(initialize_postgres_store(schema_.options()), IsOk()); });
    }
  }
  Batch batch;
  batch.put("a", "1");
  ASSERT_EQ(write_and_wait(*schema_.open(), batch).outcome, CommitOutcome::kCommitted);
  EXPECT_THAT(initialize_postgres_store(schema_.options()), IsOk());
  EXPECT_EQ(test::run_sql("SELECT count(*) FROM kv", schema_.name()), "1") << "data is kept";
  EXPECT_EQ(test::run_sql("SELECT count(*) FROM meta", schema_.name()), "1");
}

// On another server, transaction ids begin again, but commit versions must not.
TEST_F(PostgresOpen, ContinuesCommitVersionsInARestoredCopy) {
  Batch batch;
  batch.put("a", "1");
  ASSERT_EQ(write_and_wait(*schema_.open(), batch).outcome, CommitOutcome::kCommitted);
  constexpr uint64_t kFormer = uint64_t{1} << 50;
  test::run_sql("UPDATE meta SET system_identifier = 1", schema_.name());
  test::run_sql("UPDATE kv SET ver = " + std::to_string(kFormer), schema_.name());
  EXPECT_THAT(open(schema_.options()), FailsWith(Code::kInvalidArgument, "restored from another"));
  ASSERT_THAT(initialize_postgres_store(schema_.options()), IsOk());
  const auto store = schema_.open();
  EXPECT_GT(write_and_wait(*store, batch).sequence, kFormer);
  EXPECT_GT(*store->safe_position(), LogPosition{kFormer});
}

}  // namespace
}  // namespace stator
