// SPDX-License-Identifier: Apache-2.0
// Commits whose connection breaks, and the number of round trips if none does.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "storage/postgres/postgres_fixture.h"
#include "storage/postgres/statements.h"
#include "storage/transact_fixture.h"
#include "support/comes_true.h"

namespace stator {
namespace {

using test::IsOk;
using test::PostgresProxy;
using Fate = PostgresProxy::Fate;

// Each commit gets the next fate of a list, and passes after the last one.
class UnknownOutcome : public testing::Test {
 protected:
  void SetUp() override {
    test::postgres_dsn();
    if (test::own_postgres() == nullptr) GTEST_SKIP() << "the proxy needs the server's socket";
    schema_.emplace();
    proxy_.emplace(test::own_postgres()->socket(),
                   [this](PostgresProxy::CommitPipeline commit) { return next_fate(commit); });
  }
  void TearDown() override { store_.reset(); }

  void open(std::vector<Fate> fates, std::chrono::milliseconds settle_timeout = kLong) {
    fates_ = std::move(fates);
    restart_fates();
    PostgresStoreOptions options = schema_->options(*proxy_);
    options.settle_timeout = settle_timeout;
    store_ = test::PostgresSchema::open(options);
  }
  CommitResult increment() {
    return transact_and_wait(*store_, counter_, [this](GuardedRows rows) {
      ++decided_;
      Batch batch;
      batch.put("counter", std::to_string(std::stoi(rows[0].value_or("0")) + 1));
      return batch;
    });
  }
  CommitOutcome put(const std::string& key, const std::string& value) {
    Batch batch;
    batch.put(key, value);
    return write_and_wait(*store_, std::move(batch)).outcome;
  }
  std::string get(const std::string& key) {
    std::string value = "none";
    EXPECT_THAT(read_value(*store_, key, [&](std::string_view row) { value = row; }), IsOk());
    return value;
  }

  // The next commit gets the first fate.
  void restart_fates() { met_ = 0; }

  static constexpr std::chrono::milliseconds kLong{60'000};

  std::optional<test::PostgresSchema> schema_;
  std::optional<PostgresProxy> proxy_;
  std::unique_ptr<TransactStore> store_;
  const std::vector<std::string> counter_{"counter"};
  std::atomic<int> decided_ = 0;
  std::function<void()> at_fate_ = [] {};
  std::atomic<int> locked_commits_ = 0;

 private:
  Fate next_fate(PostgresProxy::CommitPipeline commit) {
    locked_commits_ += commit.is_locked ? 1 : 0;
    const std::size_t index = met_++;
    if (index >= fates_.size()) return Fate::kPass;
    at_fate_();
    return fates_[index];
  }

  std::vector<Fate> fates_;
  std::atomic<std::size_t> met_ = 0;
};

TEST_F(UnknownOutcome, OfALostRequestIsAConflictAndTheTransactionIsRepeated) {
  open({Fate::kLoseRequest});
  EXPECT_EQ(increment().outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(decided_, 2);
  EXPECT_EQ(get("counter"), "1");
}

TEST_F(UnknownOutcome, OfALostReplyIsFoundAndNothingIsRepeated) {
  open({Fate::kLoseReply});
  const CommitResult result = increment();
  EXPECT_EQ(result.outcome, CommitOutcome::kCommitted);
  EXPECT_GT(result.sequence, 0U);
  EXPECT_EQ(decided_, 1);
  EXPECT_EQ(get("counter"), "1");
  EXPECT_GT(increment().sequence, result.sequence);
}

TEST_F(UnknownOutcome, ALateRequestIsNotAppliedOnceItsOutcomeIsDecided) {
  open({Fate::kDeliverLate, Fate::kPass, Fate::kDeliverLate});
  EXPECT_EQ(increment().outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(put("a", "1"), CommitOutcome::kCommitted) << "a blind write is repeated too";
  EXPECT_EQ(put("a", "2"), CommitOutcome::kCommitted);
  proxy_->deliver_late();
  EXPECT_EQ(get("counter"), "1");
  EXPECT_EQ(get("a"), "2");
}

TEST_F(UnknownOutcome, OfALockedTransactionIsFoundToo) {
  // The first two attempts do not arrive, so the third one locks its keys.
  open({Fate::kLoseRequest, Fate::kLoseRequest, Fate::kLoseReply});
  EXPECT_EQ(increment().outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(locked_commits_, 1);
  EXPECT_EQ(decided_, 3);
  EXPECT_EQ(get("counter"), "1");
}

// No statement that changes data was sent, so it is not a failure.
TEST_F(UnknownOutcome, DoesNotExistForALockedReadWhichIsRepeated) {
  open({Fate::kLoseRequest, Fate::kLoseRequest});
  proxy_->cut_next({.statement = postgres::Statement::kLock});
  const CommitResult result = increment();
  EXPECT_EQ(result.outcome, CommitOutcome::kCommitted) << result.error.message;
  EXPECT_EQ(locked_commits_, 1);
  EXPECT_EQ(decided_, 3);
}

TEST_F(UnknownOutcome, IsReportedIfTheServerCannotBeReached) {
  open({Fate::kLoseReply}, std::chrono::milliseconds(1));
  at_fate_ = [&] { proxy_->greet(PostgresProxy::Greeting::kRefuse); };
  Batch batch;
  batch.put("a", "2");
  const CommitResult result = write_and_wait(*store_, batch);
  EXPECT_EQ(result.outcome, CommitOutcome::kUnknown);
  EXPECT_EQ(result.error.code, Code::kOutcomeUnknown);
  EXPECT_FALSE(store_->health().writable);
  proxy_->greet(PostgresProxy::Greeting::kPass);
  while (!store_->health().writable) std::this_thread::yield();
  EXPECT_EQ(put("b", "1"), CommitOutcome::kCommitted) << "the store recovers";
}

// A reply without its end can precede a crash that loses the transaction.
TEST_F(UnknownOutcome, OfAReplyWithoutItsEndIsFound) {
  open({Fate::kLoseEnd});
  EXPECT_EQ(increment().outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(decided_, 2) << "the first transaction was not committed";
  EXPECT_EQ(get("counter"), "1");

  decided_ = 0;
  open({Fate::kLoseRequest, Fate::kLoseRequest, Fate::kLoseEnd});
  EXPECT_EQ(increment().outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(decided_, 3) << "a locked transaction ends with a statement of its own";
  EXPECT_EQ(get("counter"), "2");
}

// Either the commit or the request for its outcome can arrive first; the other one finds it.
TEST_F(UnknownOutcome, OfACommitUnderWayIsOneOfTheTwo) {
  open(std::vector<Fate>(20, Fate::kRace));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(increment().outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(get("counter"), "10");
}

// While the address does not respond, one thread tries it, and no other calls wait.
TEST_F(UnknownOutcome, ASilentAddressIsTriedByOneThread) {
  open({});
  EXPECT_EQ(put("a", "1"), CommitOutcome::kCommitted);
  const auto read_all = [&] {
    std::vector<std::future<Result<void>>> reads;
    reads.reserve(16);
    for (int i = 0; i < 16; ++i) {
      reads.push_back(std::async(std::launch::async, [&]() -> Result<void> {
        STATOR_ASSIGN_OR_RETURN([[maybe_unused]] const bool found,
                                read_value(*store_, "a", [](auto) {}));
        return {};
      }));
    }
    int failed = 0;
    for (auto& read : reads) failed += read.get() ? 0 : 1;
    return failed;
  };
  while (read_all() > 0) {
  }
  proxy_->greet(PostgresProxy::Greeting::kSilence);
  proxy_->drop_all();
  while (read_all() < 16) {
  }
  EXPECT_FALSE(store_->health().writable);
  EXPECT_EQ(read_all(), 16);
  EXPECT_LE(proxy_->silent_max(), 2) << "the proxy can be late to see the end of one";
  proxy_->greet(PostgresProxy::Greeting::kPass);
  while (!store_->health().writable) std::this_thread::yield();
  EXPECT_EQ(read_all(), 0);
}

// A pipeline of a commit.
struct CutPipeline {
  std::string name;
  postgres::Statement statement;   // that is in no other pipeline
  std::vector<Fate> fates_before;  // of the commits before it
  bool expects_schema = false;
};

// Connections that break before and inside each message of a pipeline and of its reply.
class CutMessages : public UnknownOutcome, public testing::WithParamInterface<CutPipeline> {
 protected:
  void SetUp() override {
    UnknownOutcome::SetUp();
    if (IsSkipped()) return;
    open(GetParam().fates_before);
    Batch batch;
    batch.put_schema_version(schema_row_.key(), 1);
    ASSERT_EQ(write_and_wait(*store_, batch).outcome, CommitOutcome::kCommitted);
    test::run_sql("TRUNCATE request", schema_->name());
  }
  // Increments a counter, and adds a change record if no schema is expected.
  CommitResult increment_or_record() {
    restart_fates();
    std::vector<SchemaVersion> expected;
    if (GetParam().expects_schema) expected.push_back({&schema_row_, 1});
    return transact_and_wait(
        *store_, counter_,
        [&](GuardedRows rows) {
          ++decided_;
          Batch batch;
          batch.put("counter", std::to_string(std::stoi(rows[0].value_or("0")) + 1));
          if (expected.empty()) batch.put_versioned("log-", "", "record");
          return batch;
        },
        expected);
  }
  // The numbers of applied attempts, of attempts that can no longer be applied, and of records.
  std::string stored() {
    return test::run_sql(
        "SELECT concat_ws(' ', count(stamp), count(*) - count(stamp), "
        "(SELECT count(*) FROM kv WHERE v = 'record')) FROM request",
        schema_->name());
  }

  const SchemaRow schema_row_{"schema"};
};

TEST_P(CutMessages, LeaveEachCommitAppliedOnce) {
  int commits = 0;
  for (const bool of_reply : {false, true}) {
    for (int half_messages = 0;; ++half_messages) {
      SCOPED_TRACE((of_reply ? "reply, " : "pipeline, ") + std::to_string(half_messages));
      const int cuts = proxy_->cuts();
      proxy_->cut_next({GetParam().statement, of_reply, half_messages});
      const CommitResult result = increment_or_record();
      ASSERT_EQ(result.outcome, CommitOutcome::kCommitted) << result.error.message;
      ++commits;
      const int failed = decided_ - commits;
      ASSERT_EQ(get("counter"), std::to_string(commits));
      ASSERT_EQ(stored(), std::to_string(commits) + " " + std::to_string(failed) + " " +
                              std::to_string(GetParam().expects_schema ? 0 : commits));
      if (proxy_->cuts() == cuts) break;
    }
  }
  EXPECT_GT(commits, 10);
}

INSTANTIATE_TEST_SUITE_P(
    Pipelines, CutMessages,
    testing::Values(CutPipeline{"Together", postgres::commit_together(false, true), {}},
                    CutPipeline{"Alone", postgres::commit_alone(1, true, false), {}, true},
                    CutPipeline{"Locked",
                                postgres::Statement::kCommit,
                                {Fate::kLoseRequest, Fate::kLoseRequest}},
                    CutPipeline{"FoundOutcome", postgres::Statement::kSettle, {Fate::kLoseReply}},
                    CutPipeline{"Tombstone", postgres::Statement::kSettle, {Fate::kLoseRequest}}),
    [](const auto& instance) { return instance.param.name; });

// Commits that wait for a replica.
class UnreplicatedCommits : public UnknownOutcome {
 protected:
  void TearDown() override {
    if (schema_) require_standby(false);
    UnknownOutcome::TearDown();
  }
  void require_standby(bool required) {
    run_sql(required ? "ALTER SYSTEM SET synchronous_standby_names TO 'nobody'"
                     : "ALTER SYSTEM RESET synchronous_standby_names");
    run_sql("SELECT pg_reload_conf()");
  }
  // Opens a store with one commit connection and short timeouts.
  void open_impatient() {
    PostgresStoreOptions options = schema_->options();
    options.commit_connections = 1;
    options.response_timeout = std::chrono::milliseconds(2'000);
    options.settle_timeout = std::chrono::milliseconds(1);
    store_ = test::PostgresSchema::open(options);
    ASSERT_TRUE(store_);
  }
  std::string run_sql(const std::string& sql) { return test::run_sql(sql, schema_->name()); }
};

// A cancelled commit remains, but a failover could lose it.
TEST_F(UnreplicatedCommits, StayUnknownWhenTheyAreCancelled) {
  open({}, std::chrono::milliseconds(1));
  EXPECT_EQ(put("a", "1"), CommitOutcome::kCommitted);
  require_standby(true);
  std::atomic<bool> ended = false;
  std::atomic<int> cancelled = 0;
  CommitResult result;
  std::jthread writer([&] {
    Batch batch;
    batch.put("a", "2");
    // Until the server has applied the new setting and a waiting commit was cancelled.
    do {
      result = write_and_wait(*store_, batch);
    } while (result.outcome == CommitOutcome::kCommitted && cancelled == 0);
    ended = true;
  });
  while (!ended) {
    cancelled += std::stoi(run_sql(
        "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"));
  }
  writer.join();
  EXPECT_EQ(result.outcome, CommitOutcome::kUnknown) << result.error.message;
  EXPECT_EQ(result.error.code, Code::kOutcomeUnknown);
}

// The server processes would outlive their connections, so each new connection would add one.
TEST_F(UnreplicatedCommits, KeepTheirConnectionsAndLeaveNoProcesses) {
  open_impatient();
  EXPECT_EQ(put("first", "1"), CommitOutcome::kCommitted);
  require_standby(true);
  std::string last;
  int unknown = 0;
  const auto outcomes_until = [&](CommitOutcome wanted) {
    CommitOutcome outcome{};
    do {
      last += "x";
      outcome = put("key", last);
      unknown += outcome == CommitOutcome::kUnknown ? 1 : 0;
    } while (outcome != wanted && unknown < 3);
  };
  outcomes_until(CommitOutcome::kUnavailable);
  EXPECT_EQ(unknown, 1) << "for each connection";
  EXPECT_FALSE(store_->health().writable);
  EXPECT_EQ(put("b", "1"), CommitOutcome::kUnavailable);
  EXPECT_EQ(get("first"), "1") << "reads go on";
  EXPECT_EQ(run_sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"), "1");
  require_standby(false);
  while (!store_->health().writable) std::this_thread::yield();
  outcomes_until(CommitOutcome::kCommitted);
  EXPECT_EQ(get("key"), last);
}

// Existing sessions keep the settings that were checked when they began.
TEST_F(UnreplicatedCommits, WaitAlsoIfTheServersSettingChanges) {
  open_impatient();
  EXPECT_EQ(put("a", "0"), CommitOutcome::kCommitted);
  run_sql("ALTER SYSTEM SET synchronous_commit TO off");
  require_standby(true);
  CommitOutcome outcome{};
  // Until the server has applied both settings.
  EXPECT_TRUE(test::comes_true([&] {
    outcome = put("a", "1");
    return outcome != CommitOutcome::kCommitted;
  }));
  EXPECT_EQ(outcome, CommitOutcome::kUnknown);
  run_sql("ALTER SYSTEM RESET synchronous_commit");
}

TEST_F(UnknownOutcome, RoundTripsAreFew) {
  open({});
  const auto round_trips = [&](const auto& call) { return proxy_->fewest_round_trips(call); };
  PostgresStoreOptions options = schema_->options(*proxy_);
  options.read_connections = 1;
  options.commit_connections = 1;
  store_ = test::PostgresSchema::open(options);
  const std::vector<std::string> many{"a", "b", "counter"};
  EXPECT_EQ(round_trips([&] { get("a"); }), 1U);
  EXPECT_EQ(round_trips([&] {
              EXPECT_THAT(read_and_wait(*store_, {.keys = many, .one_state = true},
                                        [](auto, auto, auto) { return true; }),
                          IsOk());
            }),
            1U);
  EXPECT_EQ(round_trips([&] { put("a", "1"); }), 1U);
  EXPECT_EQ(round_trips([&] { increment(); }), 2U);
  EXPECT_EQ(round_trips([&] {
              EXPECT_EQ(transact_and_wait(*store_, counter_, [](auto) { return Batch(); }).outcome,
                        CommitOutcome::kCommitted);
            }),
            1U)
      << "nothing to write";
}

}  // namespace
}  // namespace stator
