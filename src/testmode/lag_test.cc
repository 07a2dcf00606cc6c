// SPDX-License-Identifier: Apache-2.0
// The results of lagging reads, compared with the history of a table. Each write is a transaction
// that also stores the number of the write, so a result shows which state it is from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "engine/testing/engine_harness.h"
#include "support/from_environment.h"
#include "testmode/test_mode.h"

namespace stator::testmode {
namespace {

using std::chrono::milliseconds;
using test::FailsWith;
using test::IsOk;

constexpr int64_t kTableLagMs = 400;
constexpr int64_t kIndexLagMs = 1000;
constexpr int kKeys = 8;

CreateTableRequest indexed_table() {
  CreateTableRequest request = test::range_table();
  request.attributes.push_back({"all", ScalarType::kS});
  request.attributes.push_back({"number", ScalarType::kN});
  // Its entries lack an attribute, so a query reads the items too.
  request.local_indexes = {test::index_on("by_number",
                                          {{"pk", KeyType::kHash}, {"number", KeyType::kRange}},
                                          {.type = ProjectionType::kKeysOnly})};
  request.global_indexes = {
      test::index_on("all", {{"all", KeyType::kHash}, {"sk", KeyType::kRange}})};
  return request;
}

class Lag : public test::EngineTest {
 protected:
  void start() {
    create(indexed_table());
    auto mode = TestMode::start(
        *engine_, timer_,
        {.seed = 1,
         .rules = {{.fault = Fault::kReadLag, .ms = kTableLagMs},
                   {.fault = Fault::kIndexLag, .tables = {"Things"}, .ms = kIndexLagMs}}});
    ASSERT_THAT(mode, IsOk());
    mode_ = std::move(*mode);
    write();
    clock_.advance(milliseconds(kIndexLagMs + 1));  // now there is a state as old as each lag
  }
  ~Lag() override { mode_.reset(); }

  // Stores the number of the write in row 0 and in one other row, or deletes that one.
  void write() {
    const int number = static_cast<int>(states_.size());
    std::map<int, int> next = states_.empty() ? std::map<int, int>() : states_.back().rows;
    const int key = 1 + static_cast<int>(random_() % kKeys);
    const auto item = [&](int sk) {
      return Item{{"pk", "a"}, {"sk", sk}, {"all", "x"}, {"number", number}};
    };
    TransactWriteItemsRequest request;
    request.items.push_back({.action = TransactAction::kPut, .table = "Things", .item = item(0)});
    next[0] = number;
    if (random_() % 4 == 0) {
      request.items.push_back({.action = TransactAction::kDelete,
                               .table = "Things",
                               .item = {{"pk", "a"}, {"sk", key}}});
      next.erase(key);
    } else {
      request.items.push_back(
          {.action = TransactAction::kPut, .table = "Things", .item = item(key)});
      next[key] = number;
    }
    static_cast<void>(mode_->on_request("TransactWriteItems", request));
    ASSERT_THAT(transact(request), IsOk());
    states_.push_back({clock_.unix_ms(), std::move(next)});
  }

  static std::map<int, int> rows_of(const std::vector<Item>& items) {
    std::map<int, int> rows;
    for (const Item& item : items) {
      const auto number = [&](const char* name) {
        return static_cast<int>(item.at(name).get_if<Number>()->to_int64().value());
      };
      rows[number("sk")] = number("number");
    }
    return rows;
  }
  std::map<int, int> query(bool consistent, const std::optional<std::string>& index = {}) {
    QueryRequest request{.table = "Things",
                         .index = index,
                         .key_condition = "#k = :k",
                         .names = Names(),
                         .values = Values(),
                         .select = Select::kAllAttributes,
                         .consistent_read = consistent};
    request.names->emplace("#k", index == "all" ? "all" : "pk");
    request.values->emplace(":k", index == "all" ? "x" : "a");
    return rows_of(all_pages(std::move(request)));
  }
  std::map<int, int> scan(bool consistent) {
    return rows_of(all_pages(ScanRequest{.table = "Things", .consistent_read = consistent}));
  }
  std::map<int, int> batch_get(bool consistent) {
    KeysAndAttributes keys{.keys = {}, .consistent_read = consistent};
    for (int key = 0; key <= kKeys; ++key) keys.keys.push_back({{"pk", "a"}, {"sk", key}});
    const auto got =
        call_and_wait(*engine_, &Engine::batch_get_item, {.items = {{"Things", keys}}});
    EXPECT_THAT(got, IsOk());
    std::vector<Item> items;
    const EncodedItems& found = got->items.at("Things");
    items.reserve(found.size());
    for (std::size_t i = 0; i < found.size(); ++i) items.push_back(decode_item(found[i]));
    return rows_of(items);
  }
  std::map<int, int> batch_select(bool consistent) {
    BatchExecuteStatementRequest request;
    for (int key = 0; key <= kKeys; ++key) {
      request.statements.push_back(
          {.statement = "SELECT * FROM Things WHERE pk = 'a' AND sk = " + std::to_string(key),
           .consistent_read = consistent});
    }
    const auto got = call_and_wait(*engine_, &Engine::batch_execute_statement, request);
    EXPECT_THAT(got, IsOk());
    std::vector<Item> items;
    for (const BatchStatementResult& response : got->responses) {
      EXPECT_FALSE(response.error);
      if (response.item) items.push_back(*response.item);
    }
    return rows_of(items);
  }
  // The first row, read with GetItem.
  std::map<int, int> get_first(bool consistent) {
    const auto got = call_and_wait(
        *engine_, &Engine::get_item,
        {.table = "Things", .key = {{"pk", "a"}, {"sk", 0}}, .consistent_read = consistent});
    EXPECT_THAT(got, IsOk());
    return got && got->item ? rows_of({decode_item(ItemView(*got->item))}) : std::map<int, int>();
  }

  // Checks a lagging read; `last` is the state that the previous one saw.
  void expect_lags(const std::map<int, int>& rows, int64_t lag_ms, int& last, bool whole = true) {
    ASSERT_TRUE(rows.contains(0)) << "a state from before the first write";
    const int seen = rows.at(0);
    if (whole) {
      EXPECT_EQ(rows, states_[static_cast<std::size_t>(seen)].rows) << "a mix of states";
    }
    EXPECT_GE(seen, last) << "an earlier state than the read before";
    last = seen;
    const int64_t now_ms = clock_.unix_ms();
    const auto next = static_cast<std::size_t>(seen) + 1;
    if (next < states_.size()) {
      EXPECT_GE(states_[next].time_ms, now_ms - lag_ms) << "older than the lag";
    }
    const int64_t age_ms = now_ms - states_[static_cast<std::size_t>(seen)].time_ms;
    EXPECT_GE(age_ms, lag_ms - (lag_ms + 7) / 8) << "newer than the lag allows";
  }

  void run_history() {
    start();
    int last_of_table = 0;
    int last_of_index = 0;
    for (int step = 0; step < 600 && !HasFailure(); ++step) {
      if (random_() % 2 == 0) write();
      clock_.advance(milliseconds(random_() % 3 == 0 ? random_() % 300 : random_() % 20));
      switch (random_() % 8) {
        case 0:
          expect_lags(query(false), kTableLagMs, last_of_table);
          break;
        case 1:
          expect_lags(scan(false), kTableLagMs, last_of_table);
          break;
        case 2:
          expect_lags(batch_get(false), kTableLagMs, last_of_table);
          break;
        case 3:
          expect_lags(get_first(false), kTableLagMs, last_of_table, false);
          break;
        case 4:
          expect_lags(query(false, "all"), kIndexLagMs, last_of_index);
          break;
        case 5:
          expect_lags(query(false, "by_number"), kTableLagMs, last_of_table);
          break;
        case 6:
          expect_lags(batch_select(false), kTableLagMs, last_of_table);
          break;
        default:
          EXPECT_EQ(query(true), states_.back().rows);
          EXPECT_EQ(query(true, "by_number"), states_.back().rows);
          EXPECT_EQ(scan(true), states_.back().rows);
          EXPECT_EQ(batch_get(true), states_.back().rows);
          EXPECT_EQ(batch_select(true), states_.back().rows);
          EXPECT_EQ(get_first(true).at(0), states_.back().rows.at(0));
      }
    }
    // Without further writes, all see the newest state after the lag.
    clock_.advance(milliseconds(kIndexLagMs + 1));
    EXPECT_EQ(scan(false), states_.back().rows);
    EXPECT_EQ(query(false, "all"), states_.back().rows);
  }

  struct State {
    int64_t time_ms;
    std::map<int, int> rows;  // the number of the last write of each, by sort key
  };

  const uint64_t seed_ = test::number_from_environment("STATOR_SEED", std::random_device{}());
  ::testing::ScopedTrace trace_{__FILE__, __LINE__, "STATOR_SEED=" + std::to_string(seed_)};
  std::mt19937_64 random_{seed_};
  Timer timer_;
  std::unique_ptr<TestMode> mode_;
  std::vector<State> states_;
};

TEST_F(Lag, ShowsOneStateOfTheTimeOfTheLagInMemory) {
  run_history();
}

TEST_F(Lag, ShowsOneStateOfTheTimeOfTheLagInADirectory) {
  open_directory();
  run_history();
}

TEST_F(Lag, EndsWhenTheRulesAreReplaced) {
  start();
  clock_.advance(milliseconds(10));
  write();
  EXPECT_NE(scan(false), states_.back().rows);
  ASSERT_THAT(mode_->replace({}), IsOk());
  EXPECT_EQ(scan(false), states_.back().rows);
}

TEST_F(Lag, EndsWithTheTestMode) {
  start();
  clock_.advance(milliseconds(10));
  write();
  mode_.reset();
  EXPECT_EQ(scan(false), states_.back().rows);
  EXPECT_EQ(batch_get(false), states_.back().rows);
}

TEST_F(Lag, OfOneTableDoesNotDelayOthers) {
  start();
  create(test::hash_table("Others"));
  ASSERT_THAT(mode_->replace(
                  {.rules = {{.fault = Fault::kReadLag, .tables = {"Others"}, .ms = kTableLagMs}}}),
              IsOk());
  write();
  ASSERT_THAT(put("Others", {{"pk", "b"}}), IsOk());
  const auto both = call_and_wait(*engine_, &Engine::batch_get_item,
                                  {.items = {{"Others", {.keys = {{{"pk", "b"}}}}},
                                             {"Things", {.keys = {{{"pk", "a"}, {"sk", 0}}}}}}});
  ASSERT_THAT(both, IsOk());
  EXPECT_EQ(both->items.at("Others").size(), 0U);
  ASSERT_EQ(both->items.at("Things").size(), 1U);
  EXPECT_EQ(rows_of({decode_item(both->items.at("Things")[0])}).at(0), states_.back().rows.at(0));
}

TEST_F(Lag, OfIndexesConcernsSearchesOfVectors) {
  CreateTableRequest request = test::hash_table();
  request.vector_indexes.emplace();
  request.vector_indexes->push_back({.name = "near",
                                     .vector_attribute = "vector",
                                     .projection = {.type = ProjectionType::kKeysOnly},
                                     .dimensions = 1});
  create(request);
  const auto found = [&] {
    SearchVectorsRequest search{.table = "Things", .index = "near", .vector = {1}, .top_k = 5};
    static_cast<void>(mode_->on_request("SearchVectors", search));
    const auto response = call_and_wait(*engine_, &Engine::search_vectors, search);
    EXPECT_THAT(response, IsOk());
    return response ? response->items.size() : 0;
  };
  auto mode = TestMode::start(*engine_, timer_,
                              {.rules = {{.fault = Fault::kReadLag, .ms = kTableLagMs},
                                         {.fault = Fault::kIndexLag, .ms = kIndexLagMs}}});
  ASSERT_THAT(mode, IsOk());
  mode_ = std::move(*mode);
  clock_.advance(milliseconds(kIndexLagMs + 1));
  EXPECT_EQ(found(), 0U);
  ASSERT_THAT(put("Things", {{"pk", "a"}, {"vector", List{1}}}), IsOk());
  clock_.advance(milliseconds(kTableLagMs + 1));
  EXPECT_EQ(found(), 0U);
  clock_.advance(milliseconds(kIndexLagMs - kTableLagMs));
  EXPECT_EQ(found(), 1U);
  ASSERT_THAT(mode_->replace({}), IsOk());
  ASSERT_THAT(put("Things", {{"pk", "b"}, {"vector", List{1}}}), IsOk());
  EXPECT_EQ(found(), 2U);
}

TEST_F(Lag, KeepsFewStates) {
  LaggedViews views(*engine_->store().local_views(), clock_, 1000);
  for (int i = 0; i < 5000; ++i) {
    ASSERT_THAT(views.keep(), IsOk());
    ASSERT_LE(views.kept(), LaggedViews::kKeptMax);
    clock_.advance(milliseconds(1));
  }
  EXPECT_EQ(views.kept(), LaggedViews::kKeptMax - 1);
}

TEST_F(Lag, ShowsTheNewestStateIfTheClockIsSetBack) {
  start();
  clock_.advance(milliseconds(-5000));
  write();
  EXPECT_EQ(scan(false).at(0), states_.back().rows.at(0) - 1);
  clock_.advance(milliseconds(kTableLagMs + 1));
  EXPECT_EQ(scan(false), states_.back().rows);
}

TEST_F(Lag, IsOfOneStateWhileOthersWrite) {
  start();
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; i < 300; ++i) {
      write();
      clock_.advance(milliseconds(7));
    }
    done = true;
  });
  int last = 0;
  std::vector<std::map<int, int>> seen;
  while (!done) {
    seen.push_back(scan(false));
    const int number = seen.back().at(0);
    EXPECT_GE(number, last);
    last = number;
  }
  writer.join();
  for (const auto& rows : seen) {
    EXPECT_EQ(rows, states_[static_cast<std::size_t>(rows.at(0))].rows);
  }
}

TEST(SharedStoreLag, IsRefused) {
  test::TestEngine engine;
  engine.open_pair({.sweep_interval = {}});
  Timer timer;
  for (const Fault fault : {Fault::kReadLag, Fault::kIndexLag}) {
    EXPECT_THAT(TestMode::start(*engine, timer, {.rules = {{.fault = fault, .ms = 5}}}),
                FailsWith(Code::kInvalidArgument, "a store that several servers share has no"));
  }
  const auto started =
      TestMode::start(*engine, timer, {.rules = {{.fault = Fault::kInternalError}}});
  ASSERT_THAT(started, IsOk());
  EXPECT_THAT((*started)->replace({.rules = {{.fault = Fault::kReadLag, .ms = 5}}}),
              FailsWith(Code::kInvalidArgument, "a store that several servers share has no"));
  EXPECT_THAT((*started)->to_json(), ::testing::HasSubstr("internal_error"));
}

}  // namespace
}  // namespace stator::testmode
