// SPDX-License-Identifier: Apache-2.0
// The costs of deleting many expired tokens and items: the time, the latency of other writes during
// it, and the rows and tombstones that each sweep reads. A sweep must not read over the tombstones
// of an earlier one.
//
// STATOR_EXPIRED sets the number of tokens and of items (default: 2,000).
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "engine/items/token_sweep.h"
#include "engine/items/tokens.h"
#include "engine/jobs/job_engine.h"
#include "engine/rows/time_queue.h"
#include "engine/testing/engine_harness.h"
#include "support/forwarding_store.h"
#include "support/from_environment.h"
#include "support/must.h"

namespace stator::test {
namespace {

using SteadyClock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr std::size_t kAtOnce = 25;

// Counts the rows that reads of ranges visit, and the tombstones that they pass.
class CountedReads final : public ForwardingStore {
 public:
  struct Counts {
    std::atomic<uint64_t> rows = 0;
    std::atomic<uint64_t> tombstones = 0;
  };
  CountedReads(std::shared_ptr<TransactStore> inner, std::shared_ptr<Counts> counts)
      : ForwardingStore(std::move(inner)), counts_(std::move(counts)) {}

  void read(const ReadRequest& request, ReadVisitor visit, ReadDone done) override {
    rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
    rocksdb::get_perf_context()->Reset();
    const auto count = [&](std::size_t part, std::string_view key, std::string_view value) {
      ++counts_->rows;
      return visit(part, key, value);
    };
    inner_->read(request, count, std::move(done));
    counts_->tombstones += rocksdb::get_perf_context()->internal_delete_skipped_count;
  }

 private:
  std::shared_ptr<Counts> counts_;
};

class SweepCosts : public testing::Test {
 protected:
  SweepCosts() {
    auto store = open_rocks_store({.path = directory_.path() / "data"});
    EXPECT_THAT(store, IsOk());
    auto opened =
        Engine::open(std::make_unique<CountedReads>(std::move(*store), counts_),
                     {.clock = &clock_, .sweep_interval = {}, .maintenance_interval = {}});
    EXPECT_THAT(opened, IsOk());
    engine_ = std::move(*opened);
    for (const char* table : {"Expiring", "Other"}) {
      EXPECT_THAT(engine_->create_table({.table = table,
                                         .attributes = {{"pk", ScalarType::kN}},
                                         .key_schema = {{"pk", KeyType::kHash}},
                                         .billing_mode = BillingMode::kPayPerRequest}),
                  IsOk());
    }
    EXPECT_THAT(engine_->update_time_to_live(
                    {.table = "Expiring", .specification = {.enabled = true, .attribute = "at"}}),
                IsOk());
    EXPECT_TRUE(comes_true([&] { return engine_->stats().jobs == 0; }));
  }

  void put_expired_items() {
    const int64_t now = clock_.unix_ms() / 1000;
    for (uint64_t i = 0; i < count_;) {
      std::vector<WriteRequest> items;
      for (; i < count_ && items.size() < kAtOnce; ++i) {
        const auto key = static_cast<int64_t>(i);
        items.push_back(
            {.put = Item{{"pk", key}, {"at", now - 1 - key % 10'000}}, .delete_key = {}});
      }
      ASSERT_THAT(
          call_and_wait(*engine_, &Engine::batch_write_item, {.items = {{"Expiring", items}}}),
          IsOk());
    }
  }
  void put_expired_tokens() {
    const int64_t now_ms = clock_.unix_ms();
    constexpr uint64_t kInBatch = 1000;
    for (uint64_t i = 0; i < count_;) {
      Batch batch;
      for (const uint64_t end = std::min(count_, i + kInBatch); i < end; ++i) {
        const int64_t expires_ms = now_ms - 1 - static_cast<int64_t>(i % 600'000);
        const std::string key =
            token_row_key(engine_->parts().catalog->secret(), std::to_string(i));
        batch.put(key, encode_token_row({.expires_ms = expires_ms}));
        batch.put(token_expiry_key(expires_ms, key), "");
      }
      ASSERT_EQ(write_and_wait(engine_->store(), std::move(batch)).outcome,
                CommitOutcome::kCommitted);
    }
  }

  // Runs a sweep while this thread writes to another table, and prints its costs. Returns the
  // tombstones that it read.
  uint64_t sweep(const char* name, const std::function<void()>& body) {
    counts_->rows = 0;
    counts_->tombstones = 0;
    std::atomic<bool> done = false;
    const auto start = SteadyClock::now();
    Milliseconds time{};
    std::vector<Milliseconds> latencies;
    {
      const std::jthread sweeper([&] {
        body();
        time = SteadyClock::now() - start;
        done = true;
      });
      while (!done) {
        const auto begin = SteadyClock::now();
        const PutItemRequest request{
            .table = "Other", .item = {{"pk", 1}, {"n", static_cast<int64_t>(latencies.size())}}};
        EXPECT_THAT(call_and_wait(*engine_, &Engine::put_item, request), IsOk());
        latencies.emplace_back(SteadyClock::now() - begin);
      }
    }
    std::ranges::sort(latencies);
    std::cout << name << ": " << time.count() << " ms, " << counts_->rows << " rows and "
              << counts_->tombstones << " tombstones read";
    if (!latencies.empty()) {
      std::cout << "; " << latencies.size() << " puts, p99 "
                << latencies[latencies.size() * 99 / 100].count() << " ms";
    }
    std::cout << '\n';
    return counts_->tombstones;
  }
  uint64_t sweep_items(const char* name, std::size_t expected) {
    return sweep(name, [&] { EXPECT_EQ(engine_->sweep_expired(), expected); });
  }
  uint64_t sweep_tokens(const char* name) {
    return sweep(name, [&] {
      start_token_sweep(engine_->parts().jobs, engine_->store(), clock_, tokens_);
      EXPECT_TRUE(comes_true([&] { return !tokens_.is_running; }, std::chrono::minutes(10)));
    });
  }
  // Reads a queue from its start, as a sweep without a cursor would.
  uint64_t read_whole_queue(SpaceId space) {
    return sweep("without a cursor", [&] {
      EXPECT_TRUE(
          must(read_queue(engine_->store(), queue_ranges(space, 0, INT64_MAX), 1)).keys.empty());
    });
  }

  const uint64_t count_ = number_from_environment("STATOR_EXPIRED", 2'000);
  FakeClock clock_;
  TempDir directory_;
  std::shared_ptr<CountedReads::Counts> counts_ = std::make_shared<CountedReads::Counts>();
  TokenSweepState tokens_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(SweepCosts, OfItemsIncludeNoTombstonesOfAnEarlierSweep) {
  put_expired_items();
  sweep_items("items, first sweep", count_);
  clock_.advance(std::chrono::seconds(2));
  EXPECT_EQ(sweep_items("items, next sweep", 0), 0U);
  const TablePtr table = *engine_->parts().catalog->snapshot()->find("Expiring");
  EXPECT_GT(read_whole_queue(table->expiry()->space), 0U);
}

TEST_F(SweepCosts, OfTokensIncludeNoTombstonesOfAnEarlierSweep) {
  put_expired_tokens();
  sweep_tokens("tokens, first sweep");
  clock_.advance(std::chrono::seconds(2));
  EXPECT_EQ(sweep_tokens("tokens, next sweep"), 0U);
  EXPECT_GT(read_whole_queue(kTokenExpirySpace), 0U);
}

}  // namespace
}  // namespace stator::test
