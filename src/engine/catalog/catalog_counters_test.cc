// SPDX-License-Identifier: Apache-2.0
// Several processes count the items of one table.
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "engine/catalog/records.h"
#include "engine/testing/shared_catalog.h"
#include "support/from_environment.h"

namespace stator {
namespace {

using test::hash_table;
using test::IsOk;
using test::kNowMs;
using test::must;
using test::SharedCatalog;

constexpr uint32_t kCountersSeed = 20262;

TablePtr table_of(SharedCatalog& catalog) {
  return *catalog->snapshot()->find("Things");
}
Counters& counters_of(SharedCatalog& catalog, std::size_t position = 0) {
  return table_of(catalog)->counters(position);
}
Counters::Totals totals_of(SharedCatalog& catalog) {
  return counters_of(catalog).totals();
}
void count_writes(SharedCatalog& catalog, int64_t items) {
  counters_of(catalog).add(0, {.items = items, .bytes = 10 * items});
}

class SharedCounters : public ::testing::Test {
 protected:
  SharedCounters() {
    must(ours_->create(hash_table(), kNowMs));
    EXPECT_THAT(theirs_->refresh(), IsOk());
  }
  bool has_row(SpaceId space) {
    return must(read_value(ours_.store(), catalog_row_key(CatalogRow::kCounters, space),
                           [](std::string_view) {}));
  }

  test::SharedBackend backend_{kCountersSeed};
  SharedCatalog ours_{backend_, kCountersSeed};
  SharedCatalog theirs_{backend_, kCountersSeed + 1};
};

TEST_F(SharedCounters, AddUp) {
  count_writes(ours_, 3);
  count_writes(theirs_, 4);
  ours_->share_counters();
  theirs_->share_counters();
  ours_->share_counters();
  EXPECT_EQ(totals_of(ours_), (Counters::Totals{.items = 7, .bytes = 70}));
  EXPECT_EQ(totals_of(theirs_), (Counters::Totals{.items = 7, .bytes = 70}));
  count_writes(ours_, -2);
  ours_->share_counters();
  theirs_->share_counters();
  EXPECT_EQ(totals_of(theirs_), (Counters::Totals{.items = 5, .bytes = 50}))
      << "what only the other one did";
  SharedCatalog third(backend_, kCountersSeed + 2);
  EXPECT_EQ(totals_of(third), (Counters::Totals{.items = 5, .bytes = 50}));
}

TEST_F(SharedCounters, AreKnownToEnginesThatStartLater) {
  count_writes(ours_, 3);
  ours_->share_counters();
  SharedCatalog third(backend_, kCountersSeed + 2);
  EXPECT_FALSE(table_of(third)->needs_count());
  count_writes(third, 1);
  third->save_counters();
  SharedCatalog fourth(backend_, kCountersSeed + 3);
  EXPECT_EQ(totals_of(fourth), (Counters::Totals{.items = 4, .bytes = 40}));
}

TEST_F(SharedCounters, OfANewIndexAddUp) {
  must(ours_->update(
      "Things", kNowMs,
      [](TableDefinition& definition) -> Result<void> {
        definition.settings.global_indexes = {test::index_on("byPk", {{"pk", KeyType::kHash}})};
        definition.global_spaces = {0};
        return {};
      },
      test::no_fill));
  EXPECT_THAT(theirs_->refresh(), IsOk());
  for (SharedCatalog* catalog : {&ours_, &theirs_}) counters_of(*catalog, 1).add(0, {.items = 5});
  ours_->share_counters();
  theirs_->share_counters();
  EXPECT_EQ(counters_of(theirs_, 1).totals().items, 10);
}

TEST_F(SharedCounters, AreCountedByOneAndTakenOverByTheOthers) {
  must(ours_->begin_restore({.settings = hash_table("More"), .id = "id", .created_ms = kNowMs},
                            Item{{"From", 20}}));
  EXPECT_THAT(ours_->finish_restore("More"), IsOk());
  EXPECT_THAT(theirs_->refresh(), IsOk());
  const TablePtr ours = *ours_->snapshot()->find("More");
  const TablePtr theirs = *theirs_->snapshot()->find("More");
  EXPECT_TRUE(ours->needs_count());
  EXPECT_TRUE(theirs->needs_count());
  theirs->counters(0).add(0, {.items = 1, .bytes = 1});
  theirs_->share_counters();
  EXPECT_FALSE(has_row(ours->definition().space)) << "a part of the items is no count";
  for (const TablePtr& table : {ours, theirs}) {
    const uint64_t count = table->counters(0).begin_count();
    table->counters(0).set_base(count, 0);
    table->counters(0).finish_count(count, {.items = 100, .bytes = 1000});
    table->count_state()->is_needed = false;
  }
  ours_->share_counters();
  theirs_->share_counters();
  EXPECT_EQ(theirs->counters(0).totals(), (Counters::Totals{.items = 100, .bytes = 1000}));
  SharedCatalog third(backend_, kCountersSeed + 2);
  const TablePtr known = *third->snapshot()->find("More");
  EXPECT_FALSE(known->needs_count());
  EXPECT_EQ(known->counters(0).totals(), (Counters::Totals{.items = 100, .bytes = 1000}));
}

TEST_F(SharedCounters, EndATablesNeedOfACountWhenTheRowAppears) {
  must(ours_->begin_restore({.settings = hash_table("More"), .id = "id", .created_ms = kNowMs},
                            Item{{"From", 20}}));
  EXPECT_THAT(ours_->finish_restore("More"), IsOk());
  EXPECT_THAT(theirs_->refresh(), IsOk());
  (*ours_->snapshot()->find("More"))->count_state()->is_needed = false;
  ours_->share_counters();
  const TablePtr theirs = *theirs_->snapshot()->find("More");
  EXPECT_TRUE(theirs->needs_count());
  theirs_->share_counters();
  EXPECT_FALSE(theirs->needs_count());
}

// A save and a load of the catalog read the same row for the first time.
TEST(SharedCountersOfThreads, TakeOverARowOnce) {
  Counters counters;
  counters.add(0, {.items = 2, .bytes = 20});
  const Counters::Kept saving = counters.kept();
  const Counters::Kept loading = counters.kept();
  counters.set_stored(loading, {.items = 100, .bytes = 1000});
  counters.set_stored(saving, {.items = 100, .bytes = 1000});
  EXPECT_EQ(counters.totals(), (Counters::Totals{.items = 100, .bytes = 1000}));
}

TEST_F(SharedCounters, LeaveNothingBehindADroppedTable) {
  const SpaceId space = table_of(theirs_)->definition().space;
  EXPECT_TRUE(has_row(space));
  count_writes(theirs_, 4);
  must(ours_->drop("Things", kNowMs, test::no_backup));
  EXPECT_FALSE(has_row(space));
  theirs_->share_counters();
  EXPECT_FALSE(has_row(space)) << "a process that does not know yet began it again";
}

TEST(SharedCountersUnderFaults, LoseAndRepeatNothing) {
  const auto seed =
      static_cast<uint32_t>(test::number_from_environment("STATOR_SEED", std::random_device{}()));
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  test::SharedBackend backend(seed, {.conflicts = 100, .lost_replies = 100, .late = 100});
  constexpr uint32_t kProcesses = 3;
  std::vector<std::unique_ptr<SharedCatalog>> processes;
  for (uint32_t i = 0; i < kProcesses; ++i) {
    processes.push_back(std::make_unique<SharedCatalog>(backend, seed + i));
    if (i == 0) must((*processes[0])->create(hash_table(), kNowMs));
  }
  std::vector<int64_t> written(kProcesses);
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < kProcesses; ++i) {
    threads.emplace_back([&, i] {
      std::mt19937 random(seed + i);
      for (int n = 0; n < 60; ++n) {
        const auto items = static_cast<int64_t>(random() % 20) - 5;
        count_writes(*processes[i], items);
        written[i] += items;
        if (random() % 3 == 0) (*processes[i])->share_counters();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const int64_t sum = written[0] + written[1] + written[2];
  // The first round adds the remaining counts, and the second one reads them. A save can fail.
  const auto all_agree = [&] {
    for (const auto& process : processes) (*process)->share_counters();
    return std::ranges::all_of(processes, [&](const auto& process) {
      return totals_of(*process).items == std::max<int64_t>(0, sum);
    });
  };
  int rounds = 0;
  while (!all_agree() && rounds < 20) ++rounds;
  EXPECT_LT(rounds, 20) << totals_of(*processes[0]).items << " instead of " << sum;
  backend.deliver_late();
  EXPECT_TRUE(all_agree()) << "a late request was applied again";
}

}  // namespace
}  // namespace stator
