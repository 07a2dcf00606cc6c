// SPDX-License-Identifier: Apache-2.0
// Work on many rows reads many of them at once, because a shared store needs a round trip for each
// read.
#include "engine/change_log/change_log.h"
#include "engine/jobs/job_engine.h"
#include "engine/streams/point_in_time.h"
#include "engine/testing/counting_store.h"
#include "engine/testing/engine_harness.h"
#include "engine/verify/verify.h"
#include "support/must.h"

namespace stator::test {
namespace {

class CountedReads : public EngineTest {
 protected:
  CountedReads() { open(std::make_unique<CountingStore>(counts_)); }
  ~CountedReads() override { engine_.reset(); }

  // The number of reads of a call.
  template <class Call>
  std::size_t reads_of(Call call) {
    const std::size_t before = counts_.reads;
    call();
    return counts_.reads - before;
  }
  const Table& things() { return **engine_->parts().catalog->snapshot()->find("Things"); }
  std::size_t finding_count() {
    return verify(engine_->store(), [](std::string_view, uint64_t, uint64_t) {}).finding_count;
  }

  ReadCounts counts_;
};

TEST_F(CountedReads, OfASweepAreOnePerStepForAllItems) {
  constexpr std::size_t kExpired = 128;
  constexpr std::size_t kSteps = 2;
  create(hash_table());
  ASSERT_THAT(engine_->update_time_to_live(
                  {.table = "Things", .specification = {.enabled = true, .attribute = "expires"}}),
              IsOk());
  ASSERT_TRUE(comes_true([&] { return engine_->stats().jobs == 0; }));
  for (std::size_t i = 0; i < kExpired; ++i) {
    ASSERT_THAT(put("Things", {{"pk", std::to_string(i)}, {"expires", 1'600'000'000}}), IsOk());
  }
  std::size_t deleted = 0;
  const std::size_t reads = reads_of([&] { deleted = engine_->sweep_expired(); });
  EXPECT_EQ(deleted, kExpired);
  EXPECT_EQ(reads, 2 * kSteps + 1) << "each step reads the queue, then the items; the end of the "
                                      "queue is read too";
}

class CountedReadsOfLog : public CountedReads {
 protected:
  CountedReadsOfLog() {
    CreateTableRequest request = range_table();
    request.stream = StreamSpecification{.enabled = true, .view = StreamViewType::kKeysOnly};
    create(request);
  }

  void write_all(int items, const std::string& text) {
    for (int i = 0; i < items; ++i) {
      ASSERT_THAT(put("Things", {{"pk", std::to_string(i)}, {"sk", i}, {"text", text}}), IsOk());
    }
  }
  TableHistory history() {
    return {.key = things().key(), .log = things().log_space(), .secret = things().secret()};
  }
  uint64_t end() { return must(log_end(engine_->store())); }
  // The number of rows that a reader returns.
  template <class Reader>
  static std::size_t row_count(Reader reader) {
    std::size_t rows = 0;
    while (const auto batch = must(reader.next())) rows += batch->size();
    return rows;
  }
};

TEST_F(CountedReadsOfLog, AreAFewForAllItemsOfAPointInTime) {
  constexpr int kItems = 200;
  write_all(kItems, "first");
  const uint64_t first = end();
  write_all(kItems, "second");
  write_all(kItems + 100, "third");
  std::size_t rows = 0;
  EXPECT_LE(reads_of([&] { rows = row_count(PastItems(engine_->store(), history(), first)); }),
            2 * kLogPartitions);
  EXPECT_EQ(rows, kItems);
  EXPECT_LE(
      reads_of([&] { rows = row_count(PastChanges(engine_->store(), history(), first, end())); }),
      2 * kLogPartitions);
  EXPECT_EQ(rows, kItems + 100);
}

TEST_F(CountedReadsOfLog, AreLimitedInBytes) {
  constexpr int kItems = 40;
  constexpr std::size_t kTextBytes = 300'000;
  constexpr std::size_t kReadBytesMax = 3UL << 20;
  write_all(kItems, std::string(kTextBytes, 'a'));
  const uint64_t first = end();
  write_all(kItems, std::string(kTextBytes, 'b'));
  counts_.bytes_max = 0;
  EXPECT_EQ(row_count(PastItems(engine_->store(), history(), first)), kItems);
  EXPECT_EQ(row_count(PastChanges(engine_->store(), history(), first, end())), kItems);
  EXPECT_GT(counts_.bytes_max, 2 * kTextBytes);
  EXPECT_LT(counts_.bytes_max, kReadBytesMax);
}

TEST_F(CountedReads, OfVerifyAreAFewForAllTokens) {
  constexpr std::size_t kTokens = 100;
  create(hash_table());
  const std::size_t others = reads_of([&] { EXPECT_EQ(finding_count(), 0U); });
  for (std::size_t i = 0; i < kTokens; ++i) {
    TransactWriteItemsRequest request{.items = {}, .client_request_token = std::to_string(i)};
    request.items.push_back({.table = "Things", .item = {{"pk", "a"}}});
    ASSERT_THAT(transact(request), IsOk());
  }
  const std::size_t reads = reads_of([&] { EXPECT_EQ(finding_count(), 0U); });
  EXPECT_LE(reads - others, kTokens / 10);
}

TEST_F(CountedReads, OfVerifyAreAFewForAllEntriesOfAnIndex) {
  constexpr std::size_t kItems = 100;
  CreateTableRequest request = hash_table();
  request.attributes.push_back({"color", ScalarType::kS});
  request.global_indexes = {index_on("byColor", {{"color", KeyType::kHash}})};
  create(request);
  for (std::size_t i = 0; i < kItems; ++i) {
    ASSERT_THAT(put("Things", {{"pk", std::to_string(i)}, {"color", "red"}}), IsOk());
  }
  const std::size_t others = reads_of([&] { EXPECT_EQ(finding_count(), 0U); });
  Batch batch;
  ASSERT_THAT(
      read_range(engine_->store(), {.range = space_range(things().indexes().begin()->key.space)},
                 [&](std::string_view key, std::string_view) {
                   batch.erase(std::string(key));
                   return false;
                 }),
      IsOk());
  ASSERT_EQ(write_and_wait(engine_->store(), std::move(batch)).outcome, CommitOutcome::kCommitted);
  const std::size_t reads = reads_of([&] { EXPECT_EQ(finding_count(), 1U); });
  EXPECT_LE(reads - others, kItems / 10);
}

}  // namespace
}  // namespace stator::test
