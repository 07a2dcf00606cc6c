// SPDX-License-Identifier: Apache-2.0
// What opening and initializing a store check.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "storage/postgres/postgres_fixture.h"
#include "storage/postgres/schema.h"

namespace stator {
namespace {

using postgres::check_data;
using postgres::check_server;
using postgres::ServerFacts;
using test::FailsWith;
using test::IsOk;

ServerFacts suitable() {
  return {.version = 150'000, .synchronous_commit = "on", .schema_version = 1};
}

TEST(PostgresChecks, NameTheProblemAndTheRemedy) {
  EXPECT_THAT(check_server(suitable()), IsOk());
  EXPECT_THAT(check_data(suitable(), "s"), IsOk());

  ServerFacts facts = suitable();
  facts.version = 140'011;
  EXPECT_THAT(check_server(facts), FailsWith(Code::kInvalidArgument, "14 is too old; use version"));
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
    options.dsn += " options='-c " + setting + "'";
    return open(options);
  }

  test::PostgresSchema schema_;
};

TEST_F(PostgresOpen, RefusesServersThatCouldLoseData) {
  EXPECT_THAT(open(schema_.options()), IsOk());
  EXPECT_THAT(open_with("synchronous_commit=off"),
              FailsWith(Code::kInvalidArgument, "set it to on"));
  EXPECT_THAT(open_with("default_transaction_read_only=on"),
              FailsWith(Code::kUnavailable, "default_transaction_read_only=off"));
}

TEST_F(PostgresOpen, RefusesWhatIsNotThere) {
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

TEST_F(PostgresOpen, InitializesOnceHoweverManyTry) {
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

// Transaction ids begin again on another server, and commit versions must not.
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
