// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/commit_call.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "storage/postgres/postgres_fixture.h"
#include "storage/postgres/schema.h"

namespace stator::postgres {
namespace {

using test::IsOk;

Commit commit_of(const Batch& batch, std::vector<Guard> guards = {},
                 std::vector<SchemaVersion> expected = {}) {
  Commit commit{.guards = std::move(guards), .expected = std::move(expected), .batch = batch};
  commit.lock_keys();
  return commit;
}

Batch put_in_batch(const std::string& key) {
  Batch batch;
  batch.put(key, "x");
  return batch;
}

TEST(CommitCall, CombinesOnlyCommitsWithoutACommonLock) {
  const SchemaRow row("schema");
  const auto adds = [](CommitCall& call, Commit commit) { return call.add(commit); };
  CommitCall call;
  EXPECT_TRUE(adds(call, commit_of(put_in_batch("a"), {{.key = "g"}}, {{&row, 1}})));
  EXPECT_FALSE(adds(call, commit_of(put_in_batch("a"))));
  EXPECT_FALSE(adds(call, commit_of(put_in_batch("g")))) << "a key that another one read";
  EXPECT_FALSE(adds(call, commit_of(put_in_batch("b"), {{.key = "a"}})));
  EXPECT_FALSE(adds(call, commit_of(put_in_batch("schema"))))
      << "a schema that another one expects";
  EXPECT_TRUE(adds(call, commit_of(put_in_batch("b"), {}, {{&row, 2}})));
  Batch versioned;
  versioned.put_versioned("log-", "", "x");
  EXPECT_TRUE(adds(call, commit_of(versioned)));
  EXPECT_TRUE(adds(call, commit_of(versioned))) << "versioned rows are never the same";
}

TEST(CommitCall, IsBounded) {
  CommitCall call;
  for (std::size_t i = 0; i < CommitCall::kCommitsMax; ++i) {
    Commit commit = commit_of(put_in_batch(std::to_string(i)));
    ASSERT_TRUE(call.add(commit));
  }
  Commit one_more = commit_of(put_in_batch("more"));
  EXPECT_FALSE(call.add(one_more));
  EXPECT_EQ(one_more.batch.writes().size(), 1U) << "a commit that does not fit is left as it is";

  CommitCall large;
  Batch batch;
  batch.put("a", std::string(CommitCall::kBytesMax, 'x'));
  Commit first = commit_of(batch);
  EXPECT_TRUE(large.add(first)) << "alone, it may have any size";
  EXPECT_FALSE(large.add(one_more));

  CommitCall locks;
  Batch keys;
  for (std::size_t i = 0; i < CommitCall::kLocksMax; ++i) keys.put(std::to_string(i), "");
  Commit all_locks = commit_of(keys);
  EXPECT_TRUE(locks.add(all_locks));
  EXPECT_FALSE(locks.add(one_more));

  CommitCall versions;
  Batch many;
  for (int i = 0; i < CommitCall::kOrdinalsMax - 1; ++i) many.put_versioned("log-", "", "");
  Commit all_ordinals = commit_of(many);
  EXPECT_TRUE(versions.add(all_ordinals));
  EXPECT_FALSE(versions.add(one_more)) << "it would take commit versions of the next transaction";

  CommitCall single;
  Commit alone = commit_of(put_in_batch("a"));
  alone.is_alone = true;
  EXPECT_TRUE(single.add(alone));
  EXPECT_FALSE(single.add(one_more));
  CommitCall group;
  EXPECT_TRUE(group.add(one_more));
  Commit another = commit_of(put_in_batch("b"));
  another.is_alone = true;
  EXPECT_FALSE(group.add(another));
}

class CommitCalls : public testing::Test {
 protected:
  void SetUp() override {
    auto opened =
        open_connection({.dsn = test::postgres_dsn(), .schema = schema_.name()}, Target::kAny);
    ASSERT_THAT(opened, IsOk());
    connection_ = std::move(*opened);
  }
  template <class... Commits>
  std::vector<CommitResult> run(Commits... commits) {
    CommitCall call;
    EXPECT_TRUE((call.add(commits) && ...));
    call.send(*connection_);
    connection_->end();
    const auto rows = connection_->results();
    EXPECT_TRUE(rows) << rows.error().message;
    return call.outcomes(CommitCall::result_in(*rows));
  }
  // Adds a commit, which commit_alone() executes, or two, for commit_together().
  void fill(CommitCall& call, bool alone) {
    Commit commit = commit_of(put_in_batch("a"), {}, {{&schema_row_, 1}});
    EXPECT_TRUE(call.add(commit));
    if (alone) return;
    Commit other = commit_of(put_in_batch("b"));
    EXPECT_TRUE(call.add(other));
  }
  void put_schema(uint64_t version) {
    std::string value;
    append_big_endian(value, version);
    Batch batch;
    batch.put("schema", value);
    run(commit_of(batch));
    test::run_sql("DELETE FROM request", schema_.name());
  }
  std::string rows() const {
    return test::run_sql(
        "SELECT string_agg(convert_from(p || s, 'UTF8'), ' ' ORDER BY p, s) FROM kv",
        schema_.name());
  }
  std::string requests() const {
    return test::run_sql("SELECT count(*) FROM request", schema_.name());
  }

  static constexpr std::chrono::milliseconds kLong{60'000};

  const SchemaRow schema_row_{"schema"};
  test::PostgresSchema schema_;
  std::unique_ptr<Connection> connection_;
};

TEST_F(CommitCalls, ReturnAnOutcomePerCommit) {
  const SchemaRow schema("schema");
  Batch three;
  three.put("k", "1");
  three.erase("never");
  three.put_versioned("log-", "", "x");
  const auto outcomes = run(
      commit_of(put_in_batch("a"), {{.key = "a", .version = 0}}),
      commit_of(put_in_batch("b"), {{.key = "b", .version = 7}}),
      commit_of(put_in_batch("c"), {}, {{&schema, 1}}),
      commit_of(put_in_batch("d"), {{.key = "d", .version = 7}}, {{&schema, 1}}), commit_of(three));
  ASSERT_EQ(outcomes.size(), 5U);
  EXPECT_EQ(outcomes[0].outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(outcomes[1].outcome, CommitOutcome::kConflict);
  EXPECT_EQ(outcomes[2].outcome, CommitOutcome::kSchemaChanged);
  EXPECT_EQ(outcomes[3].outcome, CommitOutcome::kSchemaChanged);
  EXPECT_EQ(outcomes[4].outcome, CommitOutcome::kCommitted);
  EXPECT_LT(outcomes[0].sequence, outcomes[4].sequence);
  EXPECT_EQ(test::run_sql("SELECT count(*) FROM kv", schema_.name()), "3");
  EXPECT_EQ(test::run_sql("SELECT ver FROM kv WHERE p = 'a'", schema_.name()),
            std::to_string(outcomes[0].sequence))
      << "guards compare the version that the commit reported";
}

TEST_F(CommitCalls, LeaveNothingIfNoCommitSucceeds) {
  const auto outcomes = run(commit_of(put_in_batch("a"), {{.key = "a", .version = 7}}),
                            commit_of(put_in_batch("b"), {{.key = "b", .version = 7}}));
  EXPECT_EQ(outcomes[0].outcome, CommitOutcome::kConflict);
  EXPECT_EQ(outcomes[1].outcome, CommitOutcome::kConflict);
  EXPECT_EQ(rows(), "");
  EXPECT_EQ(requests(), "0");
}

// Calls of one commit, most of which commit_alone() executes, and the others commit_together().
TEST_F(CommitCalls, OfOneCommitAreAppliedAsAWholeOrNotAtAll) {
  put_schema(1);
  constexpr std::array<const char*, 5> kRead = {"r0", "r1", "r2", "r3", "r4"};
  for (const char* const key : kRead) run(commit_of(put_in_batch(key)));
  const auto version_of = [&](const char* key) {
    return std::stoll(
        test::run_sql("SELECT ver FROM kv WHERE p = '" + std::string(key) + "'", schema_.name()));
  };
  for (std::size_t guards = 0; guards <= kRead.size(); ++guards) {
    for (int kind = 0; kind < 6; ++kind) {
      const int erases = kind / 2;
      std::vector<const char*> puts = {"new", "old"};
      if (kind % 2 != 0) puts.pop_back();
      SCOPED_TRACE(fmt::format("{} guards, {} puts, {} erases", guards, puts.size(), erases));
      Batch batch;
      batch.erase("new");
      for (const char* const key : puts) batch.put(key, "x");
      for (int i = 0; i < erases; ++i) batch.erase("erased" + std::to_string(i));
      const auto reset = [&] {
        test::run_sql("DELETE FROM kv WHERE p IN ('new', 'old'); DELETE FROM request",
                      schema_.name());
        run(commit_of(put_in_batch("old")), commit_of(put_in_batch("erased0")),
            commit_of(put_in_batch("erased1")));
      };
      std::vector<Guard> correct;
      correct.reserve(guards);
      for (std::size_t i = 0; i < guards; ++i) {
        correct.push_back({.key = kRead[i], .version = version_of(kRead[i])});
      }
      const std::string before = "erased0 erased1 old r0 r1 r2 r3 r4 schema";
      for (std::size_t wrong = 0; wrong < guards; ++wrong) {
        reset();
        std::vector<Guard> stale = correct;
        ++stale[wrong].version;
        EXPECT_EQ(run(commit_of(batch, stale, {{&schema_row_, 1}}))[0].outcome,
                  CommitOutcome::kConflict);
        EXPECT_EQ(rows(), before);
      }
      reset();
      EXPECT_EQ(run(commit_of(batch, correct, {{&schema_row_, 2}}))[0].outcome,
                CommitOutcome::kSchemaChanged);
      EXPECT_EQ(rows(), before);
      EXPECT_EQ(requests(), "1") << "that of reset()";

      const auto done = run(commit_of(batch, correct, {{&schema_row_, 1}}));
      EXPECT_EQ(done[0].outcome, CommitOutcome::kCommitted);
      EXPECT_EQ(requests(), "2");
      std::string after = "new old r0 r1 r2 r3 r4 schema";
      if (erases < 2) after.insert(0, "erased1 ");
      if (erases < 1) after.insert(0, "erased0 ");
      EXPECT_EQ(rows(), after);
      for (const char* const key : puts) {
        EXPECT_EQ(version_of(key), static_cast<int64_t>(done[0].sequence));
      }
    }
  }
}

// A tombstone and its request have the same key, so a late request fails.
TEST_F(CommitCalls, AreNotAppliedAfterTheirTombstone) {
  put_schema(1);
  for (const bool alone : {false, true}) {
    CommitCall call;
    fill(call, alone);
    const auto settled = call.settle(*connection_, kLong);
    ASSERT_TRUE(settled) << settled.error().message;
    EXPECT_EQ(call.outcomes(*settled)[0].outcome, CommitOutcome::kConflict);
    call.send(*connection_);
    connection_->end();
    const auto late = connection_->results();
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().state, "23505");
    EXPECT_EQ(rows(), "schema");
  }
}

// Their requests would be in a table that is emptied.
TEST_F(CommitCalls, AreRejectedIfTheClocksDifferByMoreThanADay) {
  put_schema(1);
  for (const int days : {-2, 2}) {
    for (const bool alone : {false, true}) {
      CommitCall call(request_day() + days);
      fill(call, alone);
      call.send(*connection_);
      connection_->end();
      const auto results = connection_->results();
      ASSERT_TRUE(results) << results.error().message;
      for (const CommitResult& result : call.outcomes(CommitCall::result_in(*results))) {
        EXPECT_EQ(result.outcome, CommitOutcome::kUnavailable);
        EXPECT_THAT(result.error.message,
                    testing::HasSubstr("the clocks of Stator and PostgreSQL differ"));
      }
      EXPECT_EQ(rows(), "schema");
      EXPECT_EQ(requests(), "0");
    }
  }
}

TEST_F(CommitCalls, ReportTheSameOutcomesWhenTheyAreSettled) {
  CommitCall call;
  std::vector<Commit> commits;
  commits.push_back(commit_of(put_in_batch("a"), {{.key = "a", .version = 7}}));
  commits.push_back(commit_of(put_in_batch("b")));
  for (Commit& commit : commits) ASSERT_TRUE(call.add(commit));
  call.send(*connection_);
  connection_->end();
  const auto done = connection_->results();
  ASSERT_TRUE(done) << done.error().message;
  const auto outcomes = call.outcomes(CommitCall::result_in(*done));
  for (int i = 0; i < 2; ++i) {
    const auto settled = call.settle(*connection_, kLong);
    ASSERT_TRUE(settled) << settled.error().message;
    const auto again = call.outcomes(*settled);
    ASSERT_EQ(again.size(), 2U);
    EXPECT_EQ(again[0].outcome, CommitOutcome::kConflict);
    EXPECT_EQ(again[1].outcome, CommitOutcome::kCommitted);
    EXPECT_EQ(again[1].sequence, outcomes[1].sequence);
  }
}

TEST_F(CommitCalls, EmptyTheRequestsOfTwoDaysAgoOnly) {
  const auto fill = [&](int days) {
    test::run_sql("INSERT INTO request (slot, id) SELECT ((this_day() + " + std::to_string(days) +
                      ") % 4)::int2, gen_random_uuid()",
                  schema_.name());
  };
  for (const int days : {-1, 0, 1, 2}) fill(days);
  ASSERT_TRUE(connection_->execute(Statement::kSweepRequests));
  EXPECT_EQ(requests(), "3");
  EXPECT_EQ(test::run_sql("SELECT count(*) FROM request WHERE slot = (this_day() + 2) % 4",
                          schema_.name()),
            "0");
}

// Two sweeps that wait for the lock of the same table would block each other.
TEST_F(CommitCalls, AreSweptByOneAtATime) {
  test::run_sql("INSERT INTO request (slot, id) SELECT (this_day() + 2) % 4, gen_random_uuid()",
                schema_.name());
  const auto other = Connection::connect({.dsn = test::postgres_dsn()}, false);
  ASSERT_TRUE(other) << other.error().message;
  ASSERT_TRUE((*other)->run_script("SELECT pg_advisory_lock(hashtext('stator'), hashtext('" +
                                   schema_.name() + "'))"));
  ASSERT_TRUE(connection_->execute(Statement::kSweepRequests));
  EXPECT_EQ(requests(), "1");
  ASSERT_TRUE((*other)->run_script("SELECT pg_advisory_unlock_all()"));
  ASSERT_TRUE(connection_->execute(Statement::kSweepRequests));
  EXPECT_EQ(requests(), "0");
}

}  // namespace
}  // namespace stator::postgres
