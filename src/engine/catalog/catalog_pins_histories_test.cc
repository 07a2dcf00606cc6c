// SPDX-License-Identifier: Apache-2.0
// Concurrent processes write, pin, move pins, release pins and trim one log at random. The backend
// has all failures that a store can hide. Pinned history must exist until its job ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>
#include <set>
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

constexpr std::size_t kJobProcesses = 3;
constexpr int kSteps = 120;  // per process
constexpr int64_t kKeptMs = 24LL * 60 * 60 * 1000;

std::set<uint64_t> log_records(TransactStore& store, SpaceId log, uint64_t from) {
  std::set<uint64_t> found;
  EXPECT_THAT(with_view(store,
                        [&](ReadView& view) {
                          return scan_changes(view, log, 0, from, UINT64_MAX,
                                              [&](const Change& change) {
                                                found.insert(change.commit_version);
                                                return true;
                                              });
                        }),
              IsOk());
  return found;
}

// State that all processes share.
struct History {
  std::mutex mutex = {};
  std::set<uint64_t> written = {};  // commit versions of records that a process has read
  std::atomic<int64_t> now_ms = kNowMs;
  std::atomic<int> pinned = 0;
  std::atomic<int> refused = 0;

  std::set<uint64_t> written_from(uint64_t from) {
    const std::lock_guard lock(mutex);
    return {written.lower_bound(from), written.end()};
  }
};

class JobProcess {
 public:
  JobProcess(test::SharedBackend& backend, History& history, uint32_t seed)
      : catalog_(backend, seed),
        history_(history),
        random_(seed),
        key_(record_key(RecordKind::kExport, "job " + std::to_string(seed))) {}

  void run() {
    for (int i = 0; i < kSteps && !testing::Test::HasFailure(); ++i) step();
    while (pinned_from_ && !testing::Test::HasFailure()) end();
  }
  SharedCatalog& catalog() { return catalog_; }

 private:
  TablePtr table() { return *catalog_->snapshot()->find("Things"); }
  SpaceId log() { return table()->log_space(); }

  void step() {
    switch (random_() % 6) {
      case 0:
      case 1:
        return write();
      case 2:
        history_.now_ms += kEpochMs / 2;
        return catalog_->maintain_logs(history_.now_ms);
      case 3:
        return pinned_from_ ? end() : begin();
      case 4:
        return pinned_from_ ? move() : begin();
      default:
        if (pinned_from_) check();
    }
  }

  void write() {
    const EncodedItem item = encode_item({{"pk", "a"}});
    Batch batch;
    put_change(batch, log(), space_range(table()->definition().space).begin,
               {.time_ms = history_.now_ms, .after = ItemView(item)});
    EXPECT_EQ(write_and_wait(catalog_.store(), std::move(batch)).outcome,
              CommitOutcome::kCommitted);
    const auto seen = log_records(catalog_.store(), log(), 0);
    const std::lock_guard lock(history_.mutex);
    history_.written.insert(seen.begin(), seen.end());
  }

  Item job(uint64_t commit_version) {
    return Item{{"From", table()->definition().space},
                {"Log", log()},
                {"Stamp", static_cast<int64_t>(commit_version)}};
  }
  // Returns a random record version from `from` on, or a later version.
  uint64_t pick(uint64_t from) {
    const auto written = history_.written_from(from);
    const std::size_t index = random_() % (written.size() + 1);
    if (index == written.size()) return written.empty() ? from + 1 : *written.rbegin() + 1;
    return *std::next(written.begin(), static_cast<std::ptrdiff_t>(index));
  }

  void begin() {
    const uint64_t from = random_() % 4 == 0 ? 0 : pick(0);
    const auto begun = catalog_->begin_pinned(
        key_, job(from), {.source = table().get(), .oldest_ms = history_.now_ms - kKeptMs});
    if (begun) {
      ++history_.pinned;
      pinned_from_ = from > 0 ? from : left_from();
      return check();
    }
    if (begun.error().code == Code::kTrimmedDataAccess) ++history_.refused;
    EXPECT_TRUE(begun.error().code == Code::kTrimmedDataAccess ||
                begun.error().code == Code::kThrottling)
        << begun.error().message;
  }

  // Returns the version up to which the log was given up while everything after it was pinned.
  uint64_t left_from() {
    std::optional<std::string> row;
    must(read_value(catalog_.store(), pins_key(log()),
                    [&](std::string_view value) { row = value; }));
    return std::max<uint64_t>(1, must(decode_pins(row)).given_up_before);
  }

  void move() {
    const uint64_t to = pick(*pinned_from_);
    const auto moved = catalog_->change_pinned(key_, [&](Item& record) -> Result<void> {
      record = job(to);
      return {};
    });
    if (moved) pinned_from_ = to;
    check();
  }

  void end() {
    check();
    const auto ended = catalog_->change_pinned(key_, [](Item& record) -> Result<void> {
      record.clear();
      return {};
    });
    if (ended) pinned_from_.reset();
  }

  void check() {
    const auto expected = history_.written_from(*pinned_from_);
    const auto found = log_records(catalog_.store(), log(), *pinned_from_);
    EXPECT_TRUE(std::ranges::includes(found, expected))
        << "of " << expected.size() << " pinned records, only " << found.size() << " are there";
  }

  SharedCatalog catalog_;
  History& history_;
  std::mt19937 random_;
  std::string key_;
  std::optional<uint64_t> pinned_from_;
};

TEST(CatalogPinsHistories, LoseNothingThatIsPinned) {
  const auto seed =
      static_cast<uint32_t>(test::number_from_environment("STATOR_SEED", std::random_device{}()));
  SCOPED_TRACE("STATOR_SEED=" + std::to_string(seed));
  test::SharedBackend backend(seed, {.conflicts = 50, .lost_replies = 50, .late = 50, .slow = 20});
  History history;
  {
    SharedCatalog first(backend, seed);
    must(first->create(hash_table(), kNowMs));
    must(first->update("Things", kNowMs, [](TableDefinition& definition) -> Result<void> {
      definition.recovery_ms = kKeptMs;
      return {};
    }));
  }
  std::vector<std::unique_ptr<JobProcess>> processes;
  for (uint32_t i = 0; i < kJobProcesses; ++i) {
    processes.push_back(std::make_unique<JobProcess>(backend, history, seed + i));
  }
  std::vector<std::thread> threads;
  for (const auto& process : processes) threads.emplace_back([&process] { process->run(); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(history.pinned, 10);

  // No pin is left.
  SharedCatalog& last = processes[0]->catalog();
  const SpaceId log = (*last->snapshot()->find("Things"))->log_space();
  history.now_ms += 10 * kKeptMs;
  for (int i = 0; i < 50 && !log_records(last.store(), log, 0).empty(); ++i) {
    last->maintain_logs(history.now_ms);
    history.now_ms += kKeptMs;
  }
  EXPECT_TRUE(log_records(last.store(), log, 0).empty());
  EXPECT_FALSE(must(read_value(last.store(),
                               pins_key((*last->snapshot()->find("Things"))->definition().space),
                               [](std::string_view) {})))
      << "a pin is left";
}

}  // namespace
}  // namespace stator
