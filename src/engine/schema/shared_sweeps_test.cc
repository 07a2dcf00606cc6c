// SPDX-License-Identifier: Apache-2.0
// Two engines on one store sweep it at the same time, and each sweeps rows that the other left.
#include <future>
#include <map>

#include "engine/jobs/job_engine.h"
#include "engine/streams/streams_harness.h"
#include "support/must.h"
#include "support/shared_store.h"

namespace stator::test {
namespace {

constexpr uint32_t kSweepSeed = 283;
constexpr std::string_view kService = "dynamodb.amazonaws.com";

class SharedSweeps : public StreamsTest {
 protected:
  SharedSweeps() {
    engine_ = open_engine(clock_);
    others_ = open_engine(other_clock_);
    create(with_stream(hash_table()));
    EXPECT_THAT(
        engine_->update_time_to_live(
            {.table = "Things", .specification = {.enabled = true, .attribute = "expires"}}),
        IsOk());
    EXPECT_TRUE(comes_true([&] { return engine_->stats().jobs == 0; }));
    EXPECT_THAT(others_->parts().catalog->refresh(), IsOk());
  }
  ~SharedSweeps() override {
    engine_.reset();
    others_.reset();
  }

  std::unique_ptr<Engine> open_engine(const Clock& clock) {
    return must(Engine::open(std::make_unique<SharedStore>(backend_, ++seed_),
                             {.clock = &clock,
                              .sweep_interval = {},
                              .retry_delay = [](int) { return std::chrono::milliseconds(0); },
                              .maintenance_interval = {}}));
  }
  int64_t now() const { return clock_.unix_ms() / 1000; }
  std::size_t tokens() {
    std::size_t rows = 0;
    for (const SpaceId space : {kTokenSpace, kTokenExpirySpace}) {
      EXPECT_THAT(read_range(engine_->store(), {.range = space_range(space)},
                             [&](std::string_view, std::string_view) { return ++rows > 0; }),
                  IsOk());
    }
    return rows;
  }
  static void write_with_token(Engine& engine, const std::string& token) {
    TransactWriteItemsRequest request{.items = {}, .client_request_token = token};
    request.items.push_back({.table = "Things", .item = {{"pk", token}}});
    EXPECT_THAT(call_and_wait(engine, &Engine::transact_write_items, request), IsOk());
  }

  SharedBackend backend_{kSweepSeed};
  uint32_t seed_ = kSweepSeed;
  FakeClock other_clock_;
  std::unique_ptr<Engine> others_;
};

TEST_F(SharedSweeps, DeleteEachExpiredItemOnce) {
  constexpr int kRounds = 5;
  constexpr int kExpired = 60;
  std::size_t deleted = 0;
  for (int i = 0; i < kRounds * kExpired; ++i) {
    ASSERT_THAT(put("Things", {{"pk", std::to_string(i)}, {"expires", now() - i}}), IsOk());
    if (i % kExpired != kExpired - 1) continue;
    auto other = std::async(std::launch::async, [&] { return others_->sweep_expired(); });
    deleted += engine_->sweep_expired();
    deleted += other.get();
  }
  EXPECT_EQ(deleted, static_cast<std::size_t>(kRounds * kExpired));
  std::map<std::string, int> removals;
  for (const StreamRecord& record : records(stream_of("Things"))) {
    if (record.event != StreamEvent::kRemove) continue;
    ASSERT_TRUE(record.identity);
    EXPECT_EQ(record.identity->principal, kService);
    ++removals[to_debug_string(record.keys)];
  }
  EXPECT_EQ(removals.size(), static_cast<std::size_t>(kRounds * kExpired));
  for (const auto& [key, count] : removals) EXPECT_EQ(count, 1) << key;
}

TEST_F(SharedSweeps, DeleteItemsThatAnotherEngineWroteAndDidNotSweep) {
  EXPECT_EQ(others_->sweep_expired(), 0U);
  ASSERT_THAT(put("Things", {{"pk", "old"}, {"expires", now() - 1000}}), IsOk());
  engine_.reset();
  EXPECT_EQ(others_->sweep_expired(), 1U);
}

TEST_F(SharedSweeps, EraseTokensOfAnEngineWhoseClockIsBehind) {
  write_with_token(*engine_, "first");
  other_clock_.advance(std::chrono::hours(1));
  const auto sweep = [&] {
    others_->run_maintenance();
    EXPECT_TRUE(comes_true([&] { return others_->stats().jobs == 0; }));
  };
  sweep();
  EXPECT_EQ(tokens(), 0U);
  write_with_token(*engine_, "second");
  EXPECT_EQ(tokens(), 2U);
  sweep();
  EXPECT_EQ(tokens(), 0U);
}

TEST_F(SharedSweeps, EraseTokensTogether) {
  for (int i = 0; i < 30; ++i) write_with_token(*engine_, "token " + std::to_string(i));
  EXPECT_EQ(tokens(), 60U);
  clock_.advance(std::chrono::hours(1));
  other_clock_.advance(std::chrono::hours(1));
  engine_->run_maintenance();
  others_->run_maintenance();
  EXPECT_TRUE(comes_true([&] { return engine_->stats().jobs + others_->stats().jobs == 0; }));
  EXPECT_EQ(tokens(), 0U);
  EXPECT_EQ(engine_->stats().failing_jobs + others_->stats().failing_jobs, 0U);
}

// The engine that enabled TTL has stopped: the others sweep without a request.
TEST_F(SharedSweeps, BeginOnceAnotherEngineHasSwitchedThemOn) {
  create(hash_table("Later"));
  EXPECT_THAT(engine_->update_time_to_live(
                  {.table = "Things", .specification = {.enabled = false, .attribute = "expires"}}),
              IsOk());
  const auto third = must(Engine::open(std::make_unique<SharedStore>(backend_, ++seed_),
                                       {.clock = &clock_,
                                        .sweep_interval = std::chrono::milliseconds(1),
                                        .maintenance_interval = {}}));
  EXPECT_THAT(engine_->update_time_to_live(
                  {.table = "Later", .specification = {.enabled = true, .attribute = "expires"}}),
              IsOk());
  ASSERT_THAT(put("Later", {{"pk", "old"}, {"expires", now() - 1}}), IsOk());
  third->run_maintenance();
  EXPECT_TRUE(comes_true([&] { return !get("Later", {{"pk", "old"}}); }));
}

}  // namespace
}  // namespace stator::test
