// SPDX-License-Identifier: Apache-2.0
// Results of writes whose first commits fail.
#include <gmock/gmock.h>

#include <future>
#include <mutex>
#include <thread>

#include "engine/catalog/catalog_rows.h"
#include "engine/testing/engine_harness.h"
#include "support/forwarding_store.h"

namespace stator {
namespace {

using test::comes_true;
using test::FailsWith;
using test::hash_table;
using test::IsOk;

// The outcomes of the next `remaining` commits; later ones succeed. The store retries after
// conflicts, unless it gives up. While `hold` is set, applied commits are not acknowledged.
struct Script {
  std::atomic<bool> hold{false};
  std::mutex mutex;
  std::vector<std::pair<CommitDone, CommitResult>> held;  // guarded by mutex
  std::atomic<int> remaining{0};
  bool gives_up = false;
  CommitOutcome outcome = CommitOutcome::kConflict;
  Code code = Code::kUnavailable;
};

class ScriptedStore : public test::ForwardingStore {
 public:
  ScriptedStore(Script& script, std::shared_ptr<TransactStore> inner)
      : ForwardingStore(std::move(inner)), script_(script) {}

  void transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                SchemaVersions expected) override {
    if (script_.remaining > 0) {
      --script_.remaining;
      static_cast<void>(transact_and_wait(*inner_, keys, [&](GuardedRows rows) {
        decide(rows);
        return Batch();
      }));
      if (script_.outcome == CommitOutcome::kConflict && script_.remaining > 0) {
        return transact(keys, std::move(decide), std::move(done), expected);
      }
      if (script_.outcome != CommitOutcome::kConflict || script_.gives_up) {
        done({.outcome = script_.outcome, .error = {.code = script_.code, .message = "scripted"}});
        return;
      }
    }
    if (!script_.hold) return inner_->transact(keys, std::move(decide), std::move(done), expected);
    CommitResult result =
        transact_and_wait(*inner_, keys, [&](GuardedRows rows) { return decide(rows); }, expected);
    EXPECT_EQ(result.outcome, CommitOutcome::kCommitted);
    const std::scoped_lock lock(script_.mutex);
    script_.held.emplace_back(std::move(done), std::move(result));
  }

 private:
  Script& script_;
};

class Outcomes : public test::EngineTest {
 protected:
  Outcomes() {
    reopen();
    create(hash_table());
  }
  ~Outcomes() override { engine_.reset(); }

  void next_commits(int count, CommitOutcome outcome, Code code = Code::kUnavailable) {
    script_.outcome = outcome;
    script_.code = code;
    script_.remaining = count;
  }

  void reopen() { open(std::make_unique<ScriptedStore>(script_, inner_)); }

  Script script_;
  std::shared_ptr<TransactStore> inner_ = make_memory_store();
};

UpdateItemRequest increment() {
  return {.table = "Things",
          .key = {{"pk", "a"}},
          .update = "ADD n :one",
          .values = {{{":one", 1}}},
          .return_values = ReturnValues::kUpdatedNew};
}

TEST_F(Outcomes, ConflictsAreTriedAgainAndAppliedOnce) {
  next_commits(5, CommitOutcome::kConflict);
  ASSERT_THAT(update(increment()), IsOk());
  EXPECT_EQ(script_.remaining, 0);
  EXPECT_EQ(get("Things", {{"pk", "a"}}), (Item{{"pk", "a"}, {"n", 1}}));
  next_commits(3, CommitOutcome::kConflict);
  ASSERT_THAT(transact({.items = {{.action = TransactAction::kUpdate,
                                   .table = "Things",
                                   .item = {{"pk", "a"}},
                                   .update = "ADD n :one",
                                   .values = {{{":one", 1}}}}},
                        .client_request_token = "token"}),
              IsOk());
  EXPECT_EQ(get("Things", {{"pk", "a"}}), (Item{{"pk", "a"}, {"n", 2}}));
  const auto described = engine_->describe_table({.table = "Things"});
  ASSERT_THAT(described, IsOk());
  EXPECT_EQ(described->table.item_count, 1);
}

TEST_F(Outcomes, ConflictsThatDoNotEndAreReported) {
  script_.gives_up = true;
  next_commits(1, CommitOutcome::kConflict);
  EXPECT_THAT(update(increment()),
              FailsWith(Code::kTransactionConflict, "Transaction is ongoing for the item"));
  next_commits(1, CommitOutcome::kConflict);
  EXPECT_THAT(transact({.items = {{.action = TransactAction::kUpdate,
                                   .table = "Things",
                                   .item = {{"pk", "a"}},
                                   .update = "ADD n :one",
                                   .values = {{{":one", 1}}}}}}),
              FailsWith(Code::kTransactionCanceled, "[TransactionConflict]"));
  EXPECT_EQ(get("Things", {{"pk", "a"}}), std::nullopt);
}

TEST_F(Outcomes, ASchemaThatChangesIsReadAgainAndOneThatDoesNotStopIsReported) {
  const TransactWriteItemsRequest transaction{.items = {{.action = TransactAction::kUpdate,
                                                         .table = "Things",
                                                         .item = {{"pk", "a"}},
                                                         .update = "ADD n :one",
                                                         .values = {{{":one", 1}}}}}};
  next_commits(3, CommitOutcome::kSchemaChanged);
  ASSERT_THAT(update(increment()), IsOk());
  next_commits(3, CommitOutcome::kSchemaChanged);
  ASSERT_THAT(transact(transaction), IsOk());
  next_commits(1000, CommitOutcome::kSchemaChanged);
  EXPECT_THAT(update(increment()), FailsWith(Code::kThrottling, ""));
  EXPECT_THAT(transact(transaction), FailsWith(Code::kThrottling, ""));
  next_commits(0, CommitOutcome::kSchemaChanged);
  EXPECT_EQ(get("Things", {{"pk", "a"}}), (Item{{"pk", "a"}, {"n", 2}}));
}

TEST_F(Outcomes, AFailedConditionIsReportedOnlyOnceItsReadIsDurable) {
  ASSERT_THAT(put("Things", {{"pk", "a"}}), IsOk());
  next_commits(1, CommitOutcome::kUnavailable);
  EXPECT_THAT(
      put({.table = "Things", .item = {{"pk", "a"}}, .condition = "attribute_not_exists(pk)"}),
      FailsWith(Code::kInternalServerError, "scripted"));
}

TEST_F(Outcomes, FullQueuesThrottleAndOtherFailuresAreServerErrors) {
  next_commits(1, CommitOutcome::kUnavailable, Code::kThrottling);
  EXPECT_THAT(put("Things", {{"pk", "a"}}), FailsWith(Code::kThrottling, ""));
  next_commits(1, CommitOutcome::kUnavailable, Code::kIo);
  EXPECT_THAT(put("Things", {{"pk", "a"}}), FailsWith(Code::kInternalServerError, "scripted"));
  next_commits(1, CommitOutcome::kUnknown);
  EXPECT_THAT(put("Things", {{"pk", "a"}}),
              FailsWith(Code::kInternalServerError, "the write might have been applied"));
  EXPECT_EQ(get("Things", {{"pk", "a"}}), std::nullopt);
  const auto described = engine_->describe_table({.table = "Things"});
  ASSERT_THAT(described, IsOk());
  EXPECT_EQ(described->table.item_count, 0);
}

TEST_F(Outcomes, ABatchReturnsThrottledItemsUnlessNothingWasWritten) {
  const Item put_item{{"pk", "b"}, {"v", 1}};
  const BatchWriteItemRequest request{.items = {{"Things",
                                                 {{.put = {}, .delete_key = Item{{"pk", "a"}}},
                                                  {.put = put_item, .delete_key = {}},
                                                  {.put = Item{{"pk", "c"}}, .delete_key = {}}}}}};
  next_commits(2, CommitOutcome::kUnavailable, Code::kThrottling);
  const auto result = batch_write(request);
  ASSERT_THAT(result, IsOk());
  ASSERT_EQ(result->unprocessed.count("Things"), 1U);
  const auto& unprocessed = result->unprocessed.at("Things");
  ASSERT_EQ(unprocessed.size(), 2U);
  EXPECT_EQ(unprocessed[0].delete_key, (Item{{"pk", "a"}}));
  EXPECT_EQ(unprocessed[1].put, put_item);
  EXPECT_TRUE(get("Things", {{"pk", "c"}}));
  next_commits(3, CommitOutcome::kUnavailable, Code::kThrottling);
  EXPECT_THAT(batch_write(request), FailsWith(Code::kThrottling, ""));
}

TEST_F(Outcomes, ACountIsExactAndKeptThoughWritesAreAcknowledgedLate) {
  const std::string counters = catalog_row_key(CatalogRow::kCounters);
  const auto item_count = [&] {
    return engine_->describe_table({.table = "Things"})->table.item_count;
  };
  ASSERT_THAT(put("Things", {{"pk", "a"}}), IsOk());
  engine_.reset();
  EXPECT_THAT(inner_->drop_range({.begin = counters, .end = prefix_end(counters)}), IsOk());
  reopen();
  script_.hold = true;
  std::vector<std::promise<Result<WriteResponse>>> answers(2);
  const auto put_held = [&](std::size_t i, const char* key) {
    engine_->put_item(
        {.table = "Things", .item = {{"pk", key}}},
        [&, i](Result<WriteResponse> result) { answers[i].set_value(std::move(result)); });
  };
  put_held(0, "before the count");
  ASSERT_TRUE(comes_true([&] { return item_count() == 2; }));
  put_held(1, "after the count");
  script_.hold = false;
  for (auto& [done, result] : std::exchange(script_.held, {})) done(std::move(result));
  for (auto& answer : answers) EXPECT_THAT(answer.get_future().get(), IsOk());
  EXPECT_EQ(item_count(), 3);
  reopen();
  EXPECT_EQ(item_count(), 3) << "it was kept";
}

}  // namespace
}  // namespace stator
