// SPDX-License-Identifier: Apache-2.0
// Two processes change one catalog. Before each kind of change, the other process changes the same
// table and creates another one.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "engine/catalog/catalog_change.h"
#include "engine/catalog/catalog_header.h"
#include "engine/catalog/job_leases.h"
#include "engine/catalog/raise_format.h"
#include "engine/catalog/records.h"
#include "engine/testing/shared_catalog.h"
#include "support/forwarding_store.h"

namespace stator {
namespace {

using test::describe;
using test::FailsWith;
using test::hash_table;
using test::IsOk;
using test::kNowMs;
using test::must;
using test::SharedCatalog;

constexpr int64_t kDayMs = 24LL * 60 * 60 * 1000;
constexpr uint32_t kSeed = 20261;

Result<TableVersions> add_tag(Catalog& catalog, const std::string& tag) {
  return catalog.update("Things", kNowMs, [&](TableDefinition& definition) -> Result<void> {
    definition.settings.tags.push_back({.key = tag, .value = ""});
    return {};
  });
}

CreateTableRequest streaming_table(const std::string& name) {
  CreateTableRequest request = hash_table(name);
  request.stream = {.enabled = true, .view = StreamViewType::kKeysOnly};
  return request;
}

TableDefinition to_restore(const std::string& name) {
  return {.settings = hash_table(name), .id = "id of " + name, .created_ms = kNowMs};
}

class CatalogSharing : public ::testing::Test {
 protected:
  CatalogSharing() {
    must(ours_->create(streaming_table("Things"), kNowMs));
    must(ours_->begin_restore(to_restore("Restored"), Item{{"From", 20}}));
    EXPECT_THAT(theirs_->refresh(), IsOk());
  }

  // The snapshots of both processes equal one that a third process loads.
  void expect_agreement() {
    SharedCatalog third(backend_, kSeed + 2);
    const std::string stored = describe(*third->snapshot());
    EXPECT_EQ(describe(*ours_->snapshot()), stored);
    EXPECT_THAT(theirs_->refresh(), IsOk());
    EXPECT_EQ(describe(*theirs_->snapshot()), stored);
  }

  // Makes the other process's changes, then ours, which must take them into account.
  template <class Change>
  void expect_both(Change change) {
    must(add_tag(*theirs_, "theirs"));
    must(theirs_->create(hash_table("Theirs"), kNowMs));
    ASSERT_EQ(ours_->snapshot()->find("Theirs"), nullptr);
    ASSERT_THAT(change(*ours_), IsOk());
    const auto snapshot = ours_->snapshot();
    EXPECT_NE(snapshot->find("Theirs"), nullptr);
    if (const TablePtr* things = snapshot->find("Things")) {
      const auto& tags = (*things)->definition().settings.tags;
      EXPECT_EQ(std::ranges::count(tags, "theirs", &Tag::key), 1);
    }
    expect_agreement();
  }

  std::size_t boundaries(SpaceId log) {
    return must(with_view(theirs_.store(),
                          [&](ReadView& view) { return read_boundaries(view, log); }))
        .size();
  }
  SpaceId log() { return (*ours_->snapshot()->find("Things"))->log_space(); }

  test::SharedBackend backend_{kSeed};
  SharedCatalog ours_{backend_, kSeed};
  SharedCatalog theirs_{backend_, kSeed + 1};
};

TEST_F(CatalogSharing, CreatesAfterChangesByOthers) {
  expect_both([](Catalog& catalog) { return catalog.create(streaming_table("Ours"), kNowMs); });
  EXPECT_THAT(theirs_->create(hash_table("Ours"), kNowMs), FailsWith(Code::kResourceInUse, "Ours"));
}

TEST_F(CatalogSharing, RefusesANameThatOthersTook) {
  must(theirs_->create(hash_table("Theirs"), kNowMs));
  EXPECT_THAT(ours_->create(hash_table("Theirs"), kNowMs),
              FailsWith(Code::kResourceInUse, "Theirs"));
  EXPECT_THAT(ours_->begin_restore(to_restore("Theirs"), {}),
              FailsWith(Code::kTableAlreadyExists, "Theirs"));
  must(theirs_->begin_restore(to_restore("Also"), {}));
  EXPECT_THAT(ours_->create(hash_table("Also"), kNowMs), FailsWith(Code::kResourceInUse, "Also"));
}

TEST_F(CatalogSharing, UpdatesATableThatOthersUpdated) {
  expect_both([](Catalog& catalog) { return add_tag(catalog, "ours"); });
}

TEST_F(CatalogSharing, UpdatesATableThatOthersCreated) {
  must(theirs_->drop("Things", kNowMs, test::no_backup));
  must(theirs_->create(hash_table(), kNowMs));
  EXPECT_THAT(add_tag(*ours_, "ours"), IsOk());
  expect_agreement();
}

TEST_F(CatalogSharing, AllocatesSeparateKeyspacesForIndexesAndQueues) {
  const auto enable = [](TableDefinition& definition) -> Result<void> {
    definition.expiry = ExpiryQueue{.attribute = "until", .space = 0};
    return {};
  };
  expect_both(
      [&](Catalog& catalog) { return catalog.update("Things", kNowMs, enable, test::no_fill); });
  must(theirs_->update("Theirs", kNowMs, enable, test::no_fill));
  const auto snapshot = theirs_->snapshot();
  std::set<SpaceId> spaces;
  std::size_t count = 0;
  for (const auto* tables : {&snapshot->tables, &snapshot->restoring}) {
    for (const auto& [name, table] : *tables) {
      for (const SpaceId space : table->all_spaces()) {
        spaces.insert(space);
        ++count;
      }
    }
  }
  EXPECT_EQ(spaces.size(), count) << "a space has two owners";
}

TEST_F(CatalogSharing, DropsATableThatOthersUpdated) {
  expect_both([](Catalog& catalog) { return catalog.drop("Things", kNowMs, test::no_backup); });
}

TEST_F(CatalogSharing, KeepsATableThatOthersProtected) {
  must(theirs_->update("Things", kNowMs, [](TableDefinition& definition) -> Result<void> {
    definition.settings.deletion_protection = true;
    return {};
  }));
  EXPECT_THAT(ours_->drop("Things", kNowMs, test::no_backup), FailsWith(Code::kValidation, ""));
  expect_agreement();
}

TEST_F(CatalogSharing, DoesNotFindATableThatOthersDropped) {
  must(theirs_->drop("Things", kNowMs, test::no_backup));
  EXPECT_THAT(add_tag(*ours_, "ours"), FailsWith(Code::kResourceNotFound, "Things"));
  EXPECT_THAT(ours_->drop("Things", kNowMs, test::no_backup),
              FailsWith(Code::kResourceNotFound, ""));
}

TEST_F(CatalogSharing, ChangesStreamsOfATableThatOthersUpdated) {
  expect_both([](Catalog& catalog) {
    return catalog.update("Things", kNowMs, [](TableDefinition& definition) -> Result<void> {
      definition.settings.stream.reset();
      return {};
    });
  });
}

TEST_F(CatalogSharing, KeepsRecoveryThatOthersEnabled) {
  const auto recovery = [](int64_t ms) {
    return [ms](TableDefinition& definition) -> Result<void> {
      definition.recovery_ms = ms;
      return {};
    };
  };
  const auto disable_stream = [](TableDefinition& definition) -> Result<void> {
    definition.settings.stream->enabled = false;
    return {};
  };
  must(theirs_->update("Things", kNowMs, recovery(kDayMs)));
  must(ours_->update("Things", kNowMs, disable_stream));
  EXPECT_EQ(ours_->snapshot()->logs.at(log())->recovery_ms, kDayMs);
  expect_both([&](Catalog& catalog) { return catalog.update("Things", kNowMs, recovery(0)); });
  EXPECT_EQ(log(), 0U) << "nobody wants records any more";
}

TEST_F(CatalogSharing, BeginsRestoresAfterChangesByOthers) {
  expect_both([](Catalog& catalog) { return catalog.begin_restore(to_restore("More"), {}); });
}

TEST_F(CatalogSharing, FinishesRestoresAfterChangesByOthers) {
  expect_both([](Catalog& catalog) { return catalog.finish_restore("Restored"); });
  EXPECT_THAT(theirs_->cancel_restore("Restored"), IsOk());
  EXPECT_NE(theirs_->snapshot()->find("Restored"), nullptr) << "it is not being restored any more";
}

TEST_F(CatalogSharing, CancelsRestoresAfterChangesByOthers) {
  expect_both([](Catalog& catalog) { return catalog.cancel_restore("Restored"); });
  EXPECT_THAT(theirs_->finish_restore("Restored"), IsOk());
  EXPECT_EQ(theirs_->snapshot()->find("Restored"), nullptr) << "it was cancelled";
}

TEST_F(CatalogSharing, AddsEachShardBoundaryOnce) {
  const std::size_t before = boundaries(log());
  theirs_->maintain_logs(kNowMs + kEpochMs);
  ours_->maintain_logs(kNowMs + kEpochMs);
  EXPECT_EQ(boundaries(log()), before + 1);
  expect_agreement();
}

TEST_F(CatalogSharing, AddsEachShardBoundaryOnceForConcurrentAttempts) {
  const std::size_t before = boundaries(log());
  constexpr int kEpochs = 5;
  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    const int64_t now_ms = kNowMs + epoch * kEpochMs;
    std::thread other([&] { theirs_->maintain_logs(now_ms); });
    ours_->maintain_logs(now_ms);
    other.join();
  }
  EXPECT_EQ(boundaries(log()), before + kEpochs);
}

TEST_F(CatalogSharing, ForgetsStreamsAfterChangesByOthers) {
  must(ours_->update("Things", kNowMs, [](TableDefinition& definition) -> Result<void> {
    definition.settings.stream.reset();
    return {};
  }));
  EXPECT_THAT(theirs_->refresh(), IsOk());
  expect_both([](Catalog& catalog) -> Result<void> {
    catalog.maintain_logs(kNowMs + 2 * kDayMs);
    return {};
  });
  EXPECT_TRUE(ours_->snapshot()->logs.empty());
}

TEST_F(CatalogSharing, AllocatesSeparateKeyspacesForBackups) {
  const std::string key = record_key(RecordKind::kBackup, "ours");
  SpaceId taken = 0;
  expect_both([&](Catalog& catalog) -> Result<void> {
    STATOR_ASSIGN_OR_RETURN(taken, catalog.take_space(key, [](SpaceId) { return Item(); }));
    return catalog.refresh();
  });
  for (const auto& [name, table] : ours_->snapshot()->tables) {
    EXPECT_EQ(std::ranges::count(table->all_spaces(), taken), 0) << name;
  }
}

TEST_F(CatalogSharing, KeepsUnchangedTablesAndCounters) {
  must(ours_->create(hash_table("Ours"), kNowMs));
  const TablePtr unchanged = *ours_->snapshot()->find("Ours");
  const TablePtr changed = *ours_->snapshot()->find("Things");
  unchanged->counters(0).add(1, {.items = 3, .bytes = 30});
  changed->counters(0).add(1, {.items = 4, .bytes = 40});
  must(add_tag(*theirs_, "theirs"));
  EXPECT_THAT(ours_->refresh(), IsOk());
  EXPECT_EQ(*ours_->snapshot()->find("Ours"), unchanged);
  const TablePtr now = *ours_->snapshot()->find("Things");
  EXPECT_NE(now, changed);
  EXPECT_EQ(&now->counters(0), &changed->counters(0));
  EXPECT_FALSE(now->needs_count());
}

TEST_F(CatalogSharing, AgreesOnOneSecretForConcurrentStarts) {
  for (uint32_t round = 0; round < 20; ++round) {
    test::SharedBackend backend(kSeed + round, {.conflicts = 50, .lost_replies = 100, .late = 100});
    std::optional<SharedCatalog> other;
    std::thread start([&] { other.emplace(backend, kSeed); });
    SharedCatalog mine(backend, kSeed + 1);
    start.join();
    ASSERT_EQ(mine->secret(), (*other)->secret());
    backend.deliver_late();
    SharedCatalog third(backend, kSeed + 2);
    ASSERT_EQ(third->secret(), mine->secret());
  }
}

// Runs an action before its first commit.
class PreemptedStore final : public test::ForwardingStore {
 public:
  PreemptedStore(test::SharedBackend& backend, std::function<void()> action)
      : ForwardingStore(std::make_shared<test::SharedStore>(backend, kSeed + 9)),
        action_(std::move(action)) {}
  void transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                SchemaVersions expected) override {
    if (action_) std::exchange(action_, nullptr)();
    inner_->transact(keys, std::move(decide), std::move(done), expected);
  }

 private:
  std::function<void()> action_;
};

// Raises the format like a process of a newer version, while ours_ has the catalog of before.
class RaisedFormat : public CatalogSharing {
 protected:
  static constexpr uint64_t kNewer = kCatalogFormat + 1;
  static constexpr const char* kReason =
      "the data has format 7; this version of Stator reads formats 1 to 6";

  void set_format(uint64_t format) {
    Batch batch;
    batch.put(catalog_row_key(CatalogRow::kHeader),
              encode_catalog_header({.format = format, .secret = ours_->secret()}));
    ASSERT_THAT(write_or_fail(theirs_.store(), std::move(batch)), IsOk());
  }
  uint64_t version_of(const std::string& key) {
    std::optional<std::string> row;
    EXPECT_THAT(
        read_value(theirs_.store(), key, [&](std::string_view value) { row.emplace(value); }),
        IsOk());
    return must(read_version(row));
  }
};

TEST_F(RaisedFormat, IsRefusedByTheNextReloadAndFromThenOn) {
  const auto before = ours_->snapshot();
  ASSERT_THAT(raise_format(theirs_.store(), kNewer), IsOk());
  EXPECT_EQ(ours_->refusal(), nullptr);
  EXPECT_THAT(ours_->refresh(), FailsWith(Code::kUnavailable, kReason));
  ASSERT_NE(ours_->refusal(), nullptr);
  EXPECT_EQ(*ours_->refusal(), kReason);
  EXPECT_THAT(ours_->newest_snapshot(), FailsWith(Code::kInternalServerError, kReason));
  EXPECT_THAT(ours_->create(hash_table("Ours"), kNowMs), FailsWith(Code::kUnavailable, kReason));
  set_format(kCatalogFormat);
  EXPECT_THAT(ours_->refresh(), FailsWith(Code::kUnavailable, kReason)) << "until a restart";
  EXPECT_EQ(ours_->snapshot(), before);
}

TEST_F(RaisedFormat, IsRefusedByTheNextChange) {
  ASSERT_THAT(raise_format(theirs_.store(), kNewer), IsOk());
  EXPECT_THAT(add_tag(*ours_, "ours"), FailsWith(Code::kUnavailable, kReason));
}

// Rows of the newer format, which come before the header, are not read as damage.
TEST_F(RaisedFormat, IsTheReasonWhyRowsAreUnreadable) {
  Batch unknown;
  unknown.put(catalog_row_key(CatalogRow::kRecord, "unknown"), "");
  ASSERT_THAT(raise_format(theirs_.store(), kNewer, unknown), IsOk());
  EXPECT_THAT(ours_->refresh(), FailsWith(Code::kUnavailable, kReason));
}

TEST_F(RaisedFormat, GivesEveryTableANewVersion) {
  const auto before = ours_->snapshot();
  ASSERT_THAT(raise_format(theirs_.store(), kNewer), IsOk());
  EXPECT_EQ(version_of(catalog_row_key(CatalogRow::kVersion)), before->version + 1);
  for (const auto* tables : {&before->tables, &before->restoring}) {
    ASSERT_FALSE(tables->empty());
    for (const auto& [name, table] : *tables) {
      EXPECT_GT(version_of(version_key(table->definition().space)), table->version()) << name;
    }
  }
}

TEST_F(RaisedFormat, GivesThousandsOfTablesNewVersionsInSeveralCommits) {
  constexpr SpaceId kFirst = 1000;
  constexpr SpaceId kTables = 9000;
  Batch batch;
  for (SpaceId space = kFirst; space < kFirst + kTables; ++space) {
    batch.put_schema_version(version_key(space), 1);
  }
  ASSERT_THAT(write_or_fail(theirs_.store(), std::move(batch)), IsOk());
  const uint64_t before = ours_->snapshot()->version;
  ASSERT_THAT(raise_format(theirs_.store(), kNewer), IsOk());
  EXPECT_EQ(version_of(catalog_row_key(CatalogRow::kVersion)), before + 3);
  for (SpaceId space = kFirst; space < kFirst + kTables; ++space) {
    ASSERT_GT(version_of(version_key(space)), 1U) << space;
  }
}

TEST_F(RaisedFormat, AppliesToATableThatAnotherProcessCreatesJustBefore) {
  TablePtr created;
  PreemptedStore store(backend_,
                       [&] { created = must(ours_->create(hash_table("Ours"), kNowMs)); });
  ASSERT_THAT(raise_format(store, kNewer), IsOk());
  ASSERT_NE(created, nullptr);
  EXPECT_GT(version_of(version_key(created->definition().space)), created->version());
}

TEST_F(RaisedFormat, TakesTheLeasesOfJobs) {
  const std::string restored = record_key(RecordKind::kRestore, "Restored");
  JobLease lease(ours_.store(), record_work(restored), {});
  ASSERT_THAT(lease.take(), IsOk());
  ASSERT_TRUE(lease.is_held());
  ASSERT_THAT(raise_format(theirs_.store(), kNewer), IsOk());
  EXPECT_THAT(lease.confirm(), FailsWith(Code::kHeld, ""));
  JobLeases leases(theirs_.store());
  ASSERT_THAT(leases.look(kNowMs), IsOk());
  EXPECT_TRUE(leases.is_free(lease.key())) << "servers of the newer version resume the job at once";
}

TEST_F(RaisedFormat, TakesALeaseThatAnOlderServerAcquiresJustBefore) {
  JobLease lease(ours_.store(), record_work(record_key(RecordKind::kRestore, "Restored")), {});
  PreemptedStore store(backend_, [&] { EXPECT_THAT(lease.take(), IsOk()); });
  ASSERT_THAT(raise_format(store, kNewer), IsOk());
  EXPECT_THAT(lease.confirm(), FailsWith(Code::kHeld, ""));
}

// Two servers of this version start on older data. The second one read the header before the first
// one raised the format, and must not repeat the rows that were written with it.
TEST_F(RaisedFormat, IsRaisedOnceByServersOfOneVersion) {
  set_format(kCatalogFormat - 1);
  SharedCatalog first(backend_, kSeed + 2);
  const TablePtr table = must(first->create(hash_table("First"), kNowMs));
  Batch rows;
  rows.put(catalog_row_key(CatalogRow::kMigration), "");
  ASSERT_THAT(raise_format(theirs_.store(), kCatalogFormat, rows), IsOk());
  EXPECT_EQ(version_of(version_key(table->definition().space)), table->version());
  EXPECT_THAT(first->create(hash_table("Second"), kNowMs), IsOk());
  EXPECT_THAT(ours_->refresh(), IsOk());
  expect_agreement();
}

TEST_F(RaisedFormat, LetsServersOfOneVersionStartAtOnce) {
  for (uint32_t round = 0; round < 20; ++round) {
    set_format(kCatalogFormat - 1);
    std::optional<SharedCatalog> other;
    std::thread start([&] { other.emplace(backend_, kSeed + 3); });
    SharedCatalog mine(backend_, kSeed + 2);
    start.join();
    const std::string name = "Table" + std::to_string(round);
    ASSERT_THAT(mine->create(hash_table(name), kNowMs), IsOk());
    ASSERT_THAT((*other)->refresh(), IsOk());
    ASSERT_EQ(describe(*(*other)->snapshot()), describe(*mine->snapshot()));
  }
  EXPECT_THAT(ours_->refresh(), IsOk());
  expect_agreement();
}

}  // namespace
}  // namespace stator
