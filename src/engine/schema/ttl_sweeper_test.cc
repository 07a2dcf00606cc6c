// SPDX-License-Identifier: Apache-2.0
// TTL: the sweep deletes expired items with their index entries, and nothing else.
#include "engine/rows/ttl_queue.h"

#include <future>

#include "engine/jobs/job_engine.h"
#include "engine/testing/engine_harness.h"
#include "engine/testing/faulty_store.h"
#include "engine/verify/verify.h"

namespace stator::test {
namespace {

using ::testing::IsEmpty;

class TimeToLive : public EngineTest {
 protected:
  TimeToLive() {
    CreateTableRequest request = hash_table();
    request.attributes.push_back({"color", ScalarType::kS});
    request.global_indexes = {{index_on("byColor", {{"color", KeyType::kHash}})}};
    create(request);
  }

  Result<UpdateTimeToLiveResult> set(bool enabled, const std::string& attribute = "expires") {
    return engine_->update_time_to_live(
        {.table = "Things", .specification = {.enabled = enabled, .attribute = attribute}});
  }
  DescribeTimeToLiveResult described() {
    return engine_->describe_time_to_live({.table = "Things"}).value();
  }
  void enable() {
    ASSERT_THAT(set(true), IsOk());
    ASSERT_TRUE(comes_true([&] { return described().status == TimeToLiveStatus::kEnabled; }));
  }
  int64_t now() const { return clock_.unix_ms() / 1000; }
  void put_expiring(const std::string& pk, AttributeValue expires) {
    ASSERT_THAT(put("Things", {{"pk", pk}, {"color", "red"}, {"expires", std::move(expires)}}),
                IsOk());
  }
  bool has(const std::string& pk) { return get("Things", {{"pk", pk}}).has_value(); }
  std::size_t queue_length() {
    const TablePtr table = *must(engine_->parts().catalog->newest_snapshot())->find("Things");
    std::size_t rows = 0;
    EXPECT_THAT(read_range(engine_->store(), {.range = space_range(table->expiry()->space)},
                           [&](std::string_view, std::string_view) { return ++rows > 0; }),
                IsOk());
    return rows;
  }
  void expect_sound() {
    const VerifyReport report =
        verify(engine_->store(), [](std::string_view, uint64_t, uint64_t) {});
    EXPECT_THAT(report.findings, IsEmpty()) << report.findings.front().message;
  }
};

class SweptStore : public TimeToLive {
 protected:
  SweptStore() {
    open(std::make_unique<FaultyStore>(faults_));
    create(hash_table());
    enable();
    sweep();
  }
  ~SweptStore() override { engine_.reset(); }

  // Sweeps on another thread, because faults do not affect the test's own thread.
  std::size_t sweep() {
    return std::async(std::launch::async, [&] { return engine_->sweep_expired(); }).get();
  }

  Faults faults_;
};

TEST_F(SweptStore, IsReadFromWhereTheLastSweepEnded) {
  clock_.advance(std::chrono::seconds(10));
  put_expiring("a", now() - 1);
  EXPECT_EQ(sweep(), 1U);
  const TablePtr table = *engine_->parts().catalog->snapshot()->find("Things");
  const KeyRange queue = space_range(table->expiry()->space);
  faults_.take_scans(queue);
  EXPECT_EQ(sweep(), 0U);
  EXPECT_THAT(faults_.take_scans(queue), IsEmpty()) << "no time has passed";
  clock_.advance(std::chrono::seconds(1));
  EXPECT_EQ(sweep(), 0U);
  const auto scans = faults_.take_scans(queue);
  EXPECT_EQ(scans.size(), kQueuePrefixes) << "one seek in each prefix";
  for (const KeyRange& scan : scans) {
    EXPECT_EQ(queue_time(scan.begin), static_cast<uint64_t>(now()));
  }
}

TEST_F(SweptStore, IsReadFromAnEarlierSecondOnceSomethingExpiredIsWritten) {
  put_expiring("long ago", now() - 1000);
  EXPECT_EQ(sweep(), 1U);
  put_expiring("longer ago", now() - 2000);
  put_expiring("soon", now() + 1);
  EXPECT_EQ(sweep(), 1U);
  clock_.advance(-std::chrono::hours(1));
  put_expiring("with the clock set back", now() - 1);
  EXPECT_EQ(sweep(), 1U);
  clock_.advance(std::chrono::hours(1) + std::chrono::seconds(1));
  EXPECT_EQ(sweep(), 1U);
}

TEST_F(SweptStore, IsReadAgainAfterARefusalOfAnyOperation) {
  for (int operation = 0;; ++operation) {
    put_expiring("a", now() - 100);
    faults_.fail_at(operation, {.code = Code::kIo, .message = "refused"});
    const std::size_t deleted = sweep();
    const bool has_failed = faults_.has_failed();
    faults_.mend();
    EXPECT_EQ(deleted + sweep(), 1U) << "operation " << operation;
    if (!has_failed) {
      EXPECT_GT(operation, 2);
      return;
    }
  }
}

TEST_F(TimeToLive, IsDescribedAsItWasSet) {
  EXPECT_EQ(described().status, TimeToLiveStatus::kDisabled);
  EXPECT_EQ(described().attribute, "");
  enable();
  EXPECT_EQ(described().attribute, "expires");
  ASSERT_THAT(set(false), IsOk());
  EXPECT_EQ(described().status, TimeToLiveStatus::kDisabled);
  EXPECT_EQ(described().attribute, "");
}

TEST_F(TimeToLive, RejectsUnchangedSettings) {
  EXPECT_THAT(set(false), FailsWith(Code::kValidation, "TimeToLive is already disabled"));
  enable();
  EXPECT_THAT(set(true), FailsWith(Code::kValidation, "TimeToLive is already enabled"));
  EXPECT_THAT(set(true, "other"),
              FailsWith(Code::kValidation,
                        "TimeToLive is active on a different AttributeName: current AttributeName "
                        "is expires"));
  EXPECT_THAT(set(true, ""), FailsWith(Code::kValidation, "timeToLiveSpecification.attributeName"));
  EXPECT_THAT(engine_->update_time_to_live({.table = "Nope", .specification = {true, "a"}}),
              FailsWith(Code::kResourceNotFound, "Table: Nope not found"));
  EXPECT_THAT(engine_->describe_time_to_live({.table = "Nope"}),
              FailsWith(Code::kResourceNotFound, "Table: Nope not found"));
}

TEST_F(TimeToLive, DeletesOnlyExpiredItems) {
  enable();
  put_expiring("past", now() - 1);
  put_expiring("fraction", Number::parse(std::to_string(now()) + ".5").value());
  put_expiring("future", now() + 60);
  put_expiring("text", std::to_string(now() - 1));
  put_expiring("ancient", now() - kExpiryAgeMaxSeconds - 1);
  put_expiring("negative", -5);
  put_expiring("huge", Number::parse("1e100").value());
  ASSERT_THAT(put("Things", {{"pk", "without"}}), IsOk());
  EXPECT_TRUE(has("past"));
  expect_sound();
  EXPECT_EQ(engine_->sweep_expired(), 2U);
  EXPECT_FALSE(has("past"));
  EXPECT_FALSE(has("fraction"));
  for (const char* pk : {"future", "text", "ancient", "negative", "huge", "without"}) {
    EXPECT_TRUE(has(pk)) << pk;
  }
  EXPECT_EQ(all_pages(ScanRequest{.table = "Things", .index = "byColor"}).size(), 5U);
  share_counts();
  const auto table = engine_->describe_table({.table = "Things"})->table;
  EXPECT_EQ(table.item_count, 6);
  EXPECT_EQ(table.global_indexes[0].item_count, 5);
  EXPECT_EQ(engine_->sweep_expired(), 0U);
  clock_.advance(std::chrono::minutes(1));
  EXPECT_EQ(engine_->sweep_expired(), 1U);
  expect_sound();
}

TEST_F(TimeToLive, FollowsWrites) {
  enable();
  put_expiring("a", now() - 1);
  put_expiring("a", now() + 60);
  EXPECT_EQ(queue_length(), 1U);
  EXPECT_EQ(engine_->sweep_expired(), 0U);
  ASSERT_THAT(update({.table = "Things", .key = {{"pk", "a"}}, .update = "REMOVE expires"}),
              IsOk());
  EXPECT_EQ(queue_length(), 0U);
  put_expiring("a", now() - 1);
  ASSERT_THAT(erase({.table = "Things", .key = {{"pk", "a"}}}), IsOk());
  EXPECT_EQ(queue_length(), 0U);
  ASSERT_THAT(transact({.items = {{.action = TransactAction::kPut,
                                   .table = "Things",
                                   .item = {{"pk", "b"}, {"expires", now() - 1}}}}}),
              IsOk());
  EXPECT_EQ(engine_->sweep_expired(), 1U);
  EXPECT_FALSE(has("b"));
  expect_sound();
}

TEST_F(TimeToLive, FindsItemsThatWereThereBeforeAndSurvivesAnotherOpening) {
  open_directory();
  create(hash_table());
  for (int i = 0; i < 200; ++i) put_expiring(std::to_string(i), now() - 100 + i);
  enable();
  expect_sound();
  open_directory();
  EXPECT_EQ(described().status, TimeToLiveStatus::kEnabled);
  EXPECT_EQ(queue_length(), 200U);
  EXPECT_EQ(engine_->sweep_expired(), 101U);
  EXPECT_EQ(queue_length(), 99U);
  expect_sound();
}

TEST_F(TimeToLive, NoLongerDeletesOnceItIsDisabled) {
  enable();
  put_expiring("a", now() - 1);
  ASSERT_THAT(set(false), IsOk());
  EXPECT_EQ(engine_->sweep_expired(), 0U);
  EXPECT_TRUE(has("a"));
  ASSERT_THAT(set(true, "other"), IsOk());
  ASSERT_TRUE(comes_true([&] { return described().status == TimeToLiveStatus::kEnabled; }));
  EXPECT_EQ(engine_->sweep_expired(), 0U);
  EXPECT_TRUE(has("a"));
  expect_sound();
}

TEST_F(TimeToLive, IsNotInheritedByATableOfTheSameName) {
  enable();
  ASSERT_THAT(engine_->delete_table({.table = "Things"}), IsOk());
  create(hash_table());
  EXPECT_EQ(described().status, TimeToLiveStatus::kDisabled);
  put_expiring("a", now() - 1);
  EXPECT_EQ(engine_->sweep_expired(), 0U);
}

TEST_F(TimeToLive, ItsSweepStartsByItself) {
  open_empty({.clock = &clock_, .sweep_interval = std::chrono::milliseconds(1)});
  create(hash_table());
  enable();
  put_expiring("a", now() - 1);
  EXPECT_TRUE(comes_true([&] { return !has("a"); }));
}

// If the queue lacks a row, the item is never deleted.
TEST_F(TimeToLive, AQueueThatLacksAnItemIsDamage) {
  enable();
  put_expiring("a", now() + 5);
  const TablePtr table = *must(engine_->parts().catalog->newest_snapshot())->find("Things");
  ASSERT_THAT(engine_->store().drop_range(space_range(table->expiry()->space)), IsOk());
  const VerifyReport report = verify(engine_->store(), [](std::string_view, uint64_t, uint64_t) {});
  ASSERT_EQ(report.finding_count, 1U);
  EXPECT_EQ(report.findings[0].kind, "index");
  EXPECT_THAT(report.findings[0].message, ::testing::HasSubstr("TTL queue"));
}

}  // namespace
}  // namespace stator::test
