// SPDX-License-Identifier: Apache-2.0
// Schema versions, which the transactions of every TransactStore check.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>

#include "storage/schema_rows.h"
#include "storage/transact_fixture.h"

namespace stator {
namespace {

using test::IsOk;

class SchemaContract : public test::TransactStores {
 protected:
  void set_version(std::size_t user, uint64_t version) {
    transact(store(user), {"schema"}, [&](GuardedRows) {
      Batch batch;
      batch.put_schema_version("schema", version);
      return batch;
    });
  }
  std::shared_ptr<const SchemaRow> lend(std::size_t user) {
    auto lent = store(user).schema_row("schema");
    EXPECT_THAT(lent, IsOk());
    return lent ? *lent : nullptr;
  }
  uint64_t version(std::size_t user, const SchemaRow& row) {
    const auto found = store(user).schema_version(row);
    EXPECT_THAT(found, IsOk());
    return found.value_or(0);
  }

  // Outcomes of a transaction that writes, one that does not, and a blind write.
  std::vector<CommitOutcome> outcomes(std::size_t user, const SchemaRow& row, uint64_t expected) {
    const std::vector<std::string> keys{"a"};
    const SchemaVersion schema{.row = &row, .version = expected};
    const SchemaVersions schemas(&schema, 1);
    Batch batch;
    batch.put("a", std::to_string(expected));
    const auto write = [&](GuardedRows) { return batch; };
    const auto look = [](GuardedRows) { return Batch(); };
    const auto final_outcome = [](auto run) {
      CommitOutcome outcome = CommitOutcome::kConflict;
      while (outcome == CommitOutcome::kConflict) outcome = run().outcome;
      return outcome;
    };
    return {final_outcome([&] { return transact_and_wait(store(user), keys, write, schemas); }),
            final_outcome([&] { return transact_and_wait(store(user), keys, look, schemas); }),
            final_outcome([&] { return write_and_wait(store(user), batch, schemas); })};
  }

  static constexpr auto kDone = CommitOutcome::kCommitted;
  static constexpr auto kChanged = CommitOutcome::kSchemaChanged;
};

TEST_P(SchemaContract, CommitsOnlyWithTheExpectedVersion) {
  const std::vector all_done(3, kDone);
  const std::vector all_changed(3, kChanged);
  const auto row = lend(0);
  const auto other = lend(1);
  EXPECT_EQ(outcomes(0, *row, 0), all_done) << "an absent row has version 0";
  EXPECT_EQ(outcomes(0, *row, 1), all_changed);
  for (const uint64_t next : {uint64_t{1}, uint64_t{2}, uint64_t{1} << 40, uint64_t{0}}) {
    SCOPED_TRACE(next);
    set_version(1, next);
    EXPECT_EQ(version(0, *row), next);
    EXPECT_EQ(version(1, *other), next);
    EXPECT_EQ(outcomes(0, *row, next), all_done);
    EXPECT_EQ(outcomes(1, *other, next), all_done);
    EXPECT_EQ(outcomes(0, *row, next + 1), all_changed);
    EXPECT_EQ(outcomes(0, *lend(0), next), all_done) << "lent again";
    EXPECT_EQ(get("a"), std::to_string(next)) << "nothing was applied with another version";
  }
}

TEST_P(SchemaContract, ChecksEachOfSeveralSchemas) {
  const auto row = lend(0);
  const auto second = store().schema_row("second");
  ASSERT_THAT(second, IsOk());
  set_version(0, 5);
  const auto outcome = [&](uint64_t first_version, uint64_t second_version) {
    const SchemaVersion schemas[] = {{row.get(), first_version}, {second->get(), second_version}};
    Batch batch;
    batch.put("a", "x");
    CommitResult result;
    do {
      result = write_and_wait(store(), batch, schemas);
    } while (result.outcome == CommitOutcome::kConflict);
    return result.outcome;
  };
  EXPECT_EQ(outcome(5, 0), kDone);
  EXPECT_EQ(outcome(5, 1), kChanged);
  EXPECT_EQ(outcome(4, 0), kChanged);
}

// A reader that sees a version sees all commits that expected earlier versions. Each row contains
// the version with which it was written.
TEST_P(SchemaContract, ANewVersionCommitsAfterTheCommitsThatExpectedTheOldVersion) {
  constexpr std::size_t kWriters = 3;
  constexpr uint64_t kVersions = 40;
  set_version(0, 1);
  std::atomic<bool> stop = false;
  std::atomic<int> committed = 0;
  std::atomic<int> refused = 0;
  std::vector<std::jthread> threads;
  threads.reserve(kWriters);
  for (std::size_t user = 0; user < kWriters; ++user) {
    threads.emplace_back([&, user] {
      const auto row = lend(user);
      SchemaVersion schema{.row = row.get(), .version = version(user, *row)};
      for (int n = 0; !stop; ++n) {
        const std::vector<std::string> keys{"item-" + std::to_string(user) + std::to_string(n % 9)};
        Batch batch;
        batch.put(keys[0], std::to_string(schema.version) + " " + std::to_string(n));
        const auto write = [&](GuardedRows) { return batch; };
        const CommitResult result = n % 2 == 0
                                        ? write_and_wait(store(user), batch, {&schema, 1})
                                        : transact_and_wait(store(user), keys, write, {&schema, 1});
        if (result.outcome == kDone) ++committed;
        if (result.outcome != kChanged) continue;
        ++refused;
        schema.version = version(user, *row);
      }
    });
  }
  const auto rows_before = [&](uint64_t version) {
    std::map<std::string, std::string> found;
    const auto read = read_range(store(1), {.range = {.begin = "item-", .end = "item."}},
                                 [&](std::string_view key, std::string_view value) {
                                   if (std::stoull(std::string(value)) < version) {
                                     found.emplace(key, value);
                                   }
                                   return true;
                                 });
    EXPECT_THAT(read, IsOk());
    return found;
  };
  for (uint64_t version = 2; version <= kVersions; ++version) {
    set_version(1, version);
    const auto seen = rows_before(version);
    for (const int before = committed; committed < before + 20;) std::this_thread::yield();
    for (const auto& [key, value] : rows_before(version)) {
      const auto known = seen.find(key);
      EXPECT_TRUE(known != seen.end() && known->second == value)
          << value << " came after version " << version;
    }
  }
  stop = true;
  threads.clear();
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Stores, SchemaContract, testing::ValuesIn(test::store_kinds()),
                         [](const auto& instance) { return instance.param; });

TEST(SchemaRows, ReleasesUnusedRows) {
  SchemaRows rows;
  int reads = 0;
  const auto read = [&](const std::string&) -> Result<uint64_t> { return ++reads; };
  const auto used = rows.lend("used", read);
  ASSERT_THAT(used, IsOk());
  const auto first = rows.lend("0", read).value()->newest();
  for (int i = 1; i < 200; ++i) ASSERT_THAT(rows.lend(std::to_string(i), read), IsOk());
  EXPECT_NE(rows.lend("0", read).value()->newest(), first) << "it is still kept";
  EXPECT_EQ(*rows.lend("used", read), *used);
}

}  // namespace
}  // namespace stator
