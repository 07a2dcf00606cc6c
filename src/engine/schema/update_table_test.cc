// SPDX-License-Identifier: Apache-2.0
// UpdateTable: settings, and indexes that are created and deleted during writes.
#include <latch>
#include <random>
#include <thread>

#include "engine/jobs/job_engine.h"
#include "engine/testing/engine_harness.h"
#include "engine/verify/verify.h"

namespace stator::test {
namespace {

using ::testing::IsEmpty;

UpdateTableRequest new_index(const std::string& name, const std::string& attribute,
                             ScalarType type = ScalarType::kS) {
  return {.table = "Things",
          .attributes = {{{attribute, type}}},
          .global_indexes = {{{.create = index_on(name, {{attribute, KeyType::kHash}})}}}};
}

CreateTableRequest provisioned_table() {
  CreateTableRequest request = hash_table();
  request.billing_mode.reset();
  request.throughput = Throughput{.read = 5, .write = 6};
  return request;
}

// Occupies every thread that runs jobs, of each engine, for as long as it lives. So no backfill
// begins.
class HeldJobs {
 public:
  explicit HeldJobs(const TestEngine& engines) {
    engines.for_each([&](Engine& engine) {
      const auto arrived = std::make_shared<std::latch>(JobRunner::kThreads);
      for (std::size_t i = 0; i < JobRunner::kThreads; ++i) {
        engine.parts().jobs.add("hold", [arrived, leave = leave_]() -> Result<void> {
          arrived->count_down();
          leave->wait();
          return {};
        });
      }
      arrived->wait();
    });
  }
  HeldJobs(const HeldJobs&) = delete;
  HeldJobs& operator=(const HeldJobs&) = delete;
  ~HeldJobs() { leave_->count_down(); }

 private:
  std::shared_ptr<std::latch> leave_ = std::make_shared<std::latch>(1);
};

class TableChanges : public EngineTest {
 protected:
  TableDescription described(const std::string& table = "Things") {
    auto result = engine_->describe_table({.table = table});
    EXPECT_THAT(result, IsOk());
    return result ? result->table : TableDescription();
  }
  void wait_until_active() {
    EXPECT_TRUE(comes_true([&] { return described().status == TableStatus::kActive; }));
  }
  void put_numbered(int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_THAT(put("Things", {{"pk", std::to_string(i)}, {"color", color(i)}, {"n", i}}),
                  IsOk());
    }
  }
  static std::string color(int i) { return i % 3 == 0 ? "red" : "blue"; }
  void expect_sound() {
    const VerifyReport report =
        verify(engine_->store(), [](std::string_view, uint64_t, uint64_t) {});
    EXPECT_THAT(report.findings, IsEmpty()) << report.findings.front().message;
  }
};

TEST_F(TableChanges, RespondWithTheOldThroughputAndApplyAtTheNextDescription) {
  create(provisioned_table());
  const auto answer =
      engine_->update_table({.table = "Things", .throughput = Throughput{.read = 10, .write = 2}});
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->table.status, TableStatus::kUpdating);
  EXPECT_EQ(answer->table.throughput, (Throughput{.read = 5, .write = 6}));
  const TableDescription table = described();
  EXPECT_EQ(table.status, TableStatus::kActive);
  EXPECT_EQ(table.throughput, (Throughput{.read = 10, .write = 2}));
  EXPECT_EQ(table.throughput_changes.increased_ms, clock_.unix_ms());
  EXPECT_EQ(table.throughput_changes.decreased_ms, clock_.unix_ms());
  EXPECT_EQ(table.throughput_changes.decreases_today, 1);
  clock_.advance(std::chrono::hours(24));
  EXPECT_EQ(described().throughput_changes.decreases_today, 0);
}

TEST_F(TableChanges, SurviveAnotherOpening) {
  open_directory();
  create(provisioned_table());
  const int64_t switched_ms = clock_.unix_ms();
  for (const UpdateTableRequest& change :
       {UpdateTableRequest{.table = "Things", .billing_mode = BillingMode::kPayPerRequest},
        UpdateTableRequest{.table = "Things", .table_class = TableClass::kStandardInfrequentAccess},
        UpdateTableRequest{.table = "Things", .deletion_protection = true},
        UpdateTableRequest{.table = "Things",
                           .encryption = EncryptionSpecification{.enabled = true}}}) {
    ASSERT_THAT(engine_->update_table(change), IsOk());
  }
  clock_.advance(std::chrono::hours(1));
  open_directory();
  const TableDescription table = described();
  EXPECT_EQ(table.billing_mode, BillingMode::kPayPerRequest);
  EXPECT_EQ(table.on_demand_since_ms, switched_ms);
  EXPECT_EQ(table.throughput, Throughput());
  EXPECT_EQ(table.table_class, TableClass::kStandardInfrequentAccess);
  EXPECT_EQ(table.table_class_changed_ms, switched_ms);
  EXPECT_TRUE(table.deletion_protection);
  ASSERT_TRUE(table.encryption);
  EXPECT_EQ(table.encryption->type, EncryptionType::kKms);
  EXPECT_THAT(engine_->delete_table({.table = "Things"}), FailsWith(Code::kValidation, "protect"));
}

TEST_F(TableChanges, KeepTheItemsAndTheirCount) {
  create(provisioned_table());
  put_numbered(3);
  ASSERT_THAT(engine_->update_table({.table = "Things", .deletion_protection = true}), IsOk());
  share_counts();
  EXPECT_EQ(described().item_count, 3);
  ASSERT_THAT(put("Things", {{"pk", "more"}}), IsOk());
  share_counts();
  EXPECT_EQ(described().item_count, 4);
  EXPECT_EQ(get("Things", {{"pk", "1"}})->at("n"), AttributeValue(1));
}

TEST_F(TableChanges, OfAMissingTableNameIt) {
  EXPECT_THAT(
      engine_->update_table({.table = "Nope", .deletion_protection = true}),
      FailsWith(Code::kResourceNotFound, "Requested resource not found: Table: Nope not found"));
}

TEST_F(TableChanges, AnIndexContainsEarlierItems) {
  create(hash_table());
  put_numbered(300);
  ASSERT_THAT(put("Things", {{"pk", "number"}, {"color", 5}}), IsOk());
  ASSERT_THAT(put("Things", {{"pk", "empty"}, {"color", ""}}), IsOk());
  ASSERT_THAT(put("Things", {{"pk", "long"}, {"color", std::string(2049, 'x')}}), IsOk());
  const auto answer = engine_->update_table(new_index("byColor", "color"));
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->table.status, TableStatus::kUpdating);
  ASSERT_EQ(answer->table.global_indexes.size(), 1U);
  EXPECT_EQ(answer->table.global_indexes[0].status, TableStatus::kCreating);
  EXPECT_EQ(answer->table.global_indexes[0].backfilling, false);
  wait_until_active();
  share_counts();
  const TableDescription table = described();
  ASSERT_EQ(table.global_indexes.size(), 1U);
  EXPECT_EQ(table.global_indexes[0].status, TableStatus::kActive);
  EXPECT_FALSE(table.global_indexes[0].backfilling);
  EXPECT_EQ(table.global_indexes[0].item_count, 300);
  EXPECT_EQ(table.attributes.size(), 2U);
  EXPECT_EQ(all_pages(QueryRequest{.table = "Things",
                                   .index = "byColor",
                                   .key_condition = "color = :c",
                                   .values = Values{{":c", "red"}}})
                .size(),
            100U);
  EXPECT_EQ(all_pages(ScanRequest{.table = "Things", .index = "byColor"}).size(), 300U);
  expect_sound();
}

TEST_F(TableChanges, AnItemThatNoIndexAcceptsCanStillBeUpdatedElsewhere) {
  create(hash_table());
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"color", 5}}), IsOk());
  ASSERT_THAT(engine_->update_table(new_index("byColor", "color")), IsOk());
  EXPECT_THAT(update({.table = "Things",
                      .key = {{"pk", "a"}},
                      .update = "SET n = :n",
                      .values = Values{{":n", 1}}}),
              IsOk());
  EXPECT_THAT(update({.table = "Things",
                      .key = {{"pk", "a"}},
                      .update = "SET color = :n",
                      .values = Values{{":n", 6}}}),
              FailsWith(Code::kValidation, "Type mismatch for Index Key"));
  EXPECT_THAT(put("Things", {{"pk", "b"}, {"color", 5}}),
              FailsWith(Code::kValidation, "Type mismatch for Index Key"));
}

// Concurrent writes continue; the index and its count must match the table.
TEST_F(TableChanges, AnIndexIsBuiltInTheMiddleOfWrites) {
  open_directory();
  create(hash_table());
  put_numbered(400);
  std::atomic<bool> stop = false;
  std::vector<std::thread> writers;
  for (unsigned seed = 1; seed <= 2; ++seed) {
    writers.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 4000 && !stop; ++i) {
        const std::string pk = std::to_string(random() % 500);
        if (random() % 4 == 0) {
          EXPECT_THAT(erase({.table = "Things", .key = {{"pk", pk}}}), IsOk());
        } else {
          EXPECT_THAT(put("Things", {{"pk", pk}, {"color", color(static_cast<int>(random() % 9))}}),
                      IsOk());
        }
      }
    });
  }
  for (int round = 0; round < 3; ++round) {
    const std::string name = "byColor" + std::to_string(round);
    EXPECT_THAT(engine_->update_table(new_index(name, "color")), IsOk());
    wait_until_active();
  }
  EXPECT_THAT(
      engine_->update_table({.table = "Things", .global_indexes = {{{.remove = "byColor1"}}}}),
      IsOk());
  stop = true;
  for (std::thread& writer : writers) writer.join();
  std::vector<Item> items = all_pages(ScanRequest{.table = "Things"});
  std::vector<Item> entries = all_pages(ScanRequest{.table = "Things", .index = "byColor2"});
  const auto by_key = [](const Item& a, const Item& b) {
    return *a.at("pk").get_if<std::string>() < *b.at("pk").get_if<std::string>();
  };
  std::ranges::sort(items, by_key);
  std::ranges::sort(entries, by_key);
  EXPECT_EQ(entries, items);
  expect_sound();
}

TEST_F(TableChanges, AnIndexBeingBuiltIsNotReadAndAnotherWaits) {
  create(hash_table());
  put_numbered(10);
  {
    const HeldJobs held(engine_);
    ASSERT_THAT(engine_->update_table(new_index("byColor", "color")), IsOk());
    const TableDescription table = described();
    EXPECT_EQ(table.status, TableStatus::kUpdating);
    EXPECT_EQ(table.global_indexes[0].status, TableStatus::kCreating);
    EXPECT_EQ(table.global_indexes[0].backfilling, true);
    EXPECT_THAT(call_and_wait(*engine_, &Engine::scan, {.table = "Things", .index = "byColor"}),
                FailsWith(Code::kValidation,
                          "Cannot read from backfilling global secondary index: byColor"));
    EXPECT_THAT(engine_->update_table(new_index("byN", "n", ScalarType::kN)),
                FailsWith(Code::kLimitExceeded, "Only 1 online index"));
    EXPECT_THAT(engine_->update_table({.table = "Things", .deletion_protection = false}), IsOk());
  }
  wait_until_active();
  EXPECT_EQ(all_pages(ScanRequest{.table = "Things", .index = "byColor"}).size(), 10U);
}

TEST_F(TableChanges, AnIndexBeingBuiltCanBeDeletedAndSoCanItsTable) {
  create(hash_table());
  put_numbered(10);
  {
    const HeldJobs held(engine_);
    ASSERT_THAT(engine_->update_table(new_index("byColor", "color")), IsOk());
    const auto answer =
        engine_->update_table({.table = "Things", .global_indexes = {{{.remove = "byColor"}}}});
    ASSERT_THAT(answer, IsOk());
    ASSERT_EQ(answer->table.global_indexes.size(), 1U);
    EXPECT_EQ(answer->table.global_indexes[0].status, TableStatus::kDeleting);
    EXPECT_THAT(described().global_indexes, IsEmpty());
    EXPECT_EQ(described().attributes.size(), 1U);
    ASSERT_THAT(engine_->update_table(new_index("byColor", "color")), IsOk());
    ASSERT_THAT(engine_->delete_table({.table = "Things"}), IsOk());
  }
  create(hash_table());
  EXPECT_THAT(described().global_indexes, IsEmpty());
  EXPECT_THAT(all_pages(ScanRequest{.table = "Things"}), IsEmpty());
}

TEST_F(TableChanges, ABackfillResumesAfterARestart) {
  open_directory();
  create(hash_table());
  put_numbered(100);
  engine_->parts().jobs.stop();
  ASSERT_THAT(engine_->update_table(new_index("byColor", "color")), IsOk());
  expect_sound();
  open_directory();
  wait_until_active();
  EXPECT_EQ(all_pages(ScanRequest{.table = "Things", .index = "byColor"}).size(), 100U);
  share_counts();
  EXPECT_EQ(described().global_indexes[0].item_count, 100);
  expect_sound();
}

}  // namespace
}  // namespace stator::test
