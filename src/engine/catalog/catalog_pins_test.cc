// SPDX-License-Identifier: Apache-2.0
// A job of one process pins history while another process trims and erases it.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>

#include "engine/catalog/records.h"
#include "engine/testing/shared_catalog.h"
#include "support/comes_true.h"
#include "support/forwarding_store.h"

namespace stator {
namespace {

using test::comes_true;
using test::FailsWith;
using test::hash_table;
using test::IsOk;
using test::kNowMs;
using test::must;
using test::SharedCatalog;

constexpr uint32_t kPinsSeed = 20263;
constexpr int64_t kPeriodMs = 24LL * 60 * 60 * 1000;  // of point-in-time recovery

// Actions of another process: before the first transaction that reads `key`, during its decision,
// and before the first erasure.
struct Hooks {
  std::string key = {};
  std::function<void()> before_transact = {};
  std::function<void()> in_decide = {};
  std::function<Result<void>()> before_drop = {};  // if it fails, nothing is dropped
};

class HookedStore final : public test::ForwardingStore {
 public:
  HookedStore(std::shared_ptr<TransactStore> inner, Hooks& hooks)
      : ForwardingStore(std::move(inner)), hooks_(hooks) {}
  void transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                SchemaVersions expected) override {
    const bool is_hooked = std::ranges::count(keys, hooks_.key) > 0;
    if (is_hooked) run(hooks_.before_transact);
    inner_->transact(
        keys,
        [this, is_hooked, decide = std::move(decide)](GuardedRows rows) mutable {
          if (is_hooked) run(hooks_.in_decide);
          return decide(rows);
        },
        std::move(done), expected);
  }
  Result<void> drop_range(const KeyRange& range) override {
    if (auto once = take(hooks_.before_drop)) STATOR_RETURN_IF_ERROR(once());
    return inner_->drop_range(range);
  }

 private:
  // Jobs of the catalog use the store too.
  template <class Hook>
  Hook take(Hook& hook) {
    const std::lock_guard lock(mutex_);
    return std::exchange(hook, {});
  }
  void run(std::function<void()>& hook) {
    if (const auto once = take(hook)) once();
  }

  Hooks& hooks_;
  std::mutex mutex_;
};

class CatalogPins : public ::testing::Test {
 protected:
  CatalogPins()
      : hooked_(std::make_shared<test::SharedStore>(backend_, kPinsSeed + 1), hooks_),
        jobs_({}),
        trimmer_(must(Catalog::open(hooked_, jobs_))) {
    must(reader_->create(hash_table(), kNowMs));
    must(set_recovery(*reader_, kPeriodMs));
    EXPECT_THAT(trimmer_->refresh(), IsOk());
    log_ = source()->log_space();
    hooks_.key = pins_key(log_);
    for (int epoch = 0; epoch < 6; ++epoch) {
      const int64_t now_ms = kNowMs + epoch * kEpochMs;
      reader_->maintain_logs(now_ms);
      record(now_ms);
    }
    EXPECT_THAT(trimmer_->refresh(), IsOk());
    versions_ = records();
    EXPECT_EQ(versions_.size(), 6U);
  }
  ~CatalogPins() override { jobs_.stop(); }

  static Result<TableVersions> set_recovery(Catalog& catalog, int64_t period_ms) {
    return catalog.update("Things", kNowMs, [&](TableDefinition& definition) -> Result<void> {
      definition.recovery_ms = period_ms;
      return {};
    });
  }
  TablePtr source() { return *reader_->snapshot()->find("Things"); }
  void record(int64_t time_ms) {
    const EncodedItem item = encode_item({{"pk", "a"}});
    Batch batch;
    put_change(batch, log_, space_range(source()->definition().space).begin,
               {.time_ms = time_ms, .after = ItemView(item)});
    ASSERT_EQ(write_and_wait(reader_.store(), std::move(batch)).outcome, CommitOutcome::kCommitted);
  }
  // The commit versions of the records in the log.
  std::vector<uint64_t> records() {
    std::vector<uint64_t> found;
    EXPECT_THAT(with_view(reader_.store(),
                          [&](ReadView& view) {
                            return scan_changes(view, log_, 0, 0, UINT64_MAX,
                                                [&](const Change& change) {
                                                  found.push_back(change.commit_version);
                                                  return true;
                                                });
                          }),
                IsOk());
    return found;
  }
  std::vector<uint64_t> from(std::size_t index) const {
    return {versions_.begin() + static_cast<std::ptrdiff_t>(index), versions_.end()};
  }
  bool has_row(const std::string& key) {
    return must(read_value(reader_.store(), key, [](std::string_view) {}));
  }

  Item job(uint64_t commit_version) {
    return Item{{"From", source()->definition().space},
                {"Log", log_},
                {"Stamp", static_cast<int64_t>(commit_version)}};
  }
  Result<void> pin(uint64_t commit_version, int64_t oldest_ms = 0) {
    return reader_->begin_pinned(key_, job(commit_version),
                                 {.source = source().get(), .oldest_ms = oldest_ms});
  }
  Result<void> end() {
    return reader_->change_pinned(key_, [](Item& record) -> Result<void> {
      record = Item{{"Status", "COMPLETED"}};
      return {};
    });
  }
  // At this time, all six epochs but the last are older than the recovery period.
  void trim() { trimmer_->maintain_logs(kNowMs + 5 * kEpochMs + kPeriodMs); }

  const std::string key_ = record_key(RecordKind::kExport, "job");
  test::SharedBackend backend_{kPinsSeed};
  SharedCatalog reader_{backend_, kPinsSeed};
  Hooks hooks_;
  HookedStore hooked_;
  JobRunner jobs_;
  std::unique_ptr<Catalog> trimmer_;
  SpaceId log_ = 0;
  std::vector<uint64_t> versions_;  // of the records; one record per epoch
};

TEST_F(CatalogPins, KeepOnlyTheRecordsThatAJobReads) {
  ASSERT_THAT(pin(versions_[2]), IsOk());
  trim();
  EXPECT_EQ(records(), from(2));
  ASSERT_THAT(end(), IsOk());
  trim();
  EXPECT_EQ(records(), from(5));
}

TEST_F(CatalogPins, KeepEverythingThatIsLeftForAJobThatSearches) {
  ASSERT_THAT(pin(0, kNowMs), IsOk());
  trim();
  EXPECT_EQ(records(), versions_);
  ASSERT_THAT(reader_->change_pinned(key_,
                                     [&](Item& record) -> Result<void> {
                                       record = job(versions_[3]);
                                       return {};
                                     }),
              IsOk());
  trim();
  EXPECT_EQ(records(), from(3));
}

TEST_F(CatalogPins, KeepTheOldestOfSeveralJobs) {
  ASSERT_THAT(pin(versions_[4]), IsOk());
  const std::string other = record_key(RecordKind::kExport, "other");
  ASSERT_THAT(reader_->begin_pinned(other, job(versions_[2]), {.source = source().get()}), IsOk());
  trim();
  EXPECT_EQ(records(), from(2));
}

TEST_F(CatalogPins, AreRefusedForTrimmedRecords) {
  trim();
  ASSERT_EQ(records(), from(5));
  EXPECT_THAT(pin(versions_[4]), FailsWith(Code::kTrimmedDataAccess, "trimmed"));
  EXPECT_THAT(pin(0, kNowMs + 4 * kEpochMs), FailsWith(Code::kTrimmedDataAccess, "trimmed"));
  EXPECT_FALSE(has_row(key_));
  EXPECT_THAT(pin(versions_[5]), IsOk());
  EXPECT_THAT(pin(0, kNowMs + 5 * kEpochMs), IsOk());
}

// The other process pins at every point of a trim that permits it.
TEST_F(CatalogPins, BeforeTheDecisionToTrimAreSeen) {
  bool pinned = false;
  hooks_.before_drop = [&]() -> Result<void> {
    return fail(Code::kIo, "nothing is to be dropped");
  };
  hooks_.in_decide = [&] { pinned = pin(versions_[0]).has_value(); };
  trim();
  EXPECT_TRUE(pinned);
  EXPECT_EQ(records(), versions_);
  EXPECT_NE(hooks_.before_drop, nullptr) << "a pinned record would have been erased";
}

TEST_F(CatalogPins, AfterTheDecisionToTrimAreRefused) {
  std::optional<Result<void>> early;
  std::optional<Result<void>> late;
  hooks_.before_drop = [&]() -> Result<void> {
    EXPECT_EQ(records(), versions_) << "nothing is erased yet";
    early = pin(versions_[4]);
    late = pin(versions_[5]);
    return {};
  };
  trim();
  ASSERT_TRUE(early && late);
  EXPECT_THAT(*early, FailsWith(Code::kTrimmedDataAccess, ""));
  EXPECT_THAT(*late, IsOk());
  EXPECT_EQ(records(), from(5));
}

TEST_F(CatalogPins, DoNotRestoreTrimmedRecordsThatAreNotErasedYet) {
  hooks_.before_drop = []() -> Result<void> { return fail(Code::kIo, "stopped"); };
  trim();
  ASSERT_EQ(records(), versions_);
  EXPECT_THAT(pin(versions_[1]), FailsWith(Code::kTrimmedDataAccess, ""));
  ASSERT_THAT(pin(versions_[5]), IsOk());
  trim();
  EXPECT_EQ(records(), from(5)) << "the next trim erases it";
}

TEST_F(CatalogPins, RespectARetentionThatAnotherProcessExtended) {
  hooks_.before_transact = [&] { must(set_recovery(*reader_, 10 * kPeriodMs)); };
  trim();
  EXPECT_EQ(records(), versions_);
}

TEST_F(CatalogPins, KeepTheRowsOfADroppedTable) {
  const SpaceId space = source()->definition().space;
  const std::string row = space_range(space).begin;
  Batch batch;
  batch.put(row, encode_item({{"pk", "a"}}));
  ASSERT_EQ(write_and_wait(reader_.store(), std::move(batch)).outcome, CommitOutcome::kCommitted);
  ASSERT_THAT(pin(versions_[2]), IsOk());
  must(trimmer_->drop("Things", kNowMs, test::no_backup));
  EXPECT_TRUE(comes_true([&] { return jobs_.stats().jobs == 0; }));
  trimmer_->maintain_logs(kNowMs + 100 * kPeriodMs);
  EXPECT_TRUE(has_row(row));
  EXPECT_EQ(records(), from(2));
  EXPECT_TRUE(trimmer_->snapshot()->logs.contains(log_));
  ASSERT_THAT(end(), IsOk());
  EXPECT_TRUE(comes_true([&] { return !has_row(row); }));
  EXPECT_FALSE(has_row(pins_key(space)));
  EXPECT_TRUE(comes_true([&] {
    trimmer_->maintain_logs(kNowMs + 100 * kPeriodMs);
    return records().empty() && !has_row(pins_key(log_));
  }));
}

TEST_F(CatalogPins, AreRefusedForATableThatAnotherProcessDropped) {
  const TablePtr known = source();
  must(trimmer_->drop("Things", kNowMs, test::no_backup));
  EXPECT_THAT(reader_->begin_pinned(key_, job(versions_[2]), {.source = known.get()}),
              FailsWith(Code::kThrottling, ""));
  EXPECT_FALSE(has_row(key_));
}

TEST_F(CatalogPins, AreRefusedForATableThatIsDroppedConcurrently) {
  const Item asked = job(versions_[2]);
  const TablePtr known = *trimmer_->snapshot()->find("Things");
  hooks_.in_decide = [&] { must(reader_->drop("Things", kNowMs, test::no_backup)); };
  EXPECT_THAT(trimmer_->begin_pinned(key_, asked, {.source = known.get()}),
              FailsWith(Code::kThrottling, ""));
  EXPECT_FALSE(has_row(key_));
}

TEST_F(CatalogPins, AreNotMixedUpIfAnotherJobGetsTheName) {
  ASSERT_THAT(pin(versions_[2]), IsOk());
  Item other = job(versions_[2]);
  other["Log"] = log_ + 1;
  hooks_.before_transact = [&] { EXPECT_THAT(Records(reader_.store()).put(key_, other), IsOk()); };
  EXPECT_THAT(trimmer_->change_pinned(key_,
                                      [](Item& record) -> Result<void> {
                                        record.clear();
                                        return {};
                                      }),
              FailsWith(Code::kThrottling, ""));
  EXPECT_TRUE(has_row(key_));
}

TEST_F(CatalogPins, AreRefusedForATableThatStoppedRecording) {
  const TablePtr known = source();
  must(set_recovery(*trimmer_, 0));
  EXPECT_THAT(reader_->begin_pinned(key_, job(versions_[2]), {.source = known.get()}),
              FailsWith(Code::kThrottling, ""));
}

TEST_F(CatalogPins, KeepATableRecording) {
  ASSERT_THAT(pin(versions_[2]), IsOk());
  must(set_recovery(*trimmer_, 0));
  trim();
  EXPECT_EQ((*trimmer_->snapshot()->find("Things"))->log_space(), log_);
  ASSERT_THAT(end(), IsOk());
  trim();
  EXPECT_EQ((*trimmer_->snapshot()->find("Things"))->log_space(), 0U);
}

TEST_F(CatalogPins, OfRestoredTablesEndWithThem) {
  const auto begin = [&](const std::string& name) {
    const PinRequest request{.source = source().get()};
    return reader_->begin_restore(
        {.settings = hash_table(name), .id = "id of " + name, .created_ms = kNowMs},
        job(versions_[2]), &request);
  };
  must(begin("Finished"));
  must(begin("Cancelled"));
  trim();
  EXPECT_EQ(records(), from(2));
  ASSERT_THAT(trimmer_->finish_restore("Finished"), IsOk());
  trim();
  EXPECT_EQ(records(), from(2));
  ASSERT_THAT(trimmer_->cancel_restore("Cancelled"), IsOk());
  EXPECT_FALSE(has_row(pins_key(source()->definition().space)));
  trim();
  EXPECT_EQ(records(), from(5));
  EXPECT_THAT(begin("Again"), FailsWith(Code::kTrimmedDataAccess, ""));
  EXPECT_FALSE(reader_->snapshot()->restoring.contains("Again"));
}

}  // namespace
}  // namespace stator
