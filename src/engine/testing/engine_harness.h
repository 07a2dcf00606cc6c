// SPDX-License-Identifier: Apache-2.0
// EngineTest: a test with an engine in memory, on a pair (engine_pair.h), or in a directory that it
// can reopen. Its clock advances only when a test advances it. Writes wait for their response.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/call_and_wait.h"
#include "engine/engine.h"
#include "engine/testing/engine_pair.h"
#include "storage/stores.h"
#include "support/comes_true.h"
#include "support/matchers.h"
#include "support/temp_dir.h"

namespace stator::test {

class FakeClock : public Clock {
 public:
  std::chrono::system_clock::time_point now() const override {
    return std::chrono::system_clock::time_point(std::chrono::milliseconds(now_ms_.load()));
  }
  void advance(std::chrono::milliseconds by) { now_ms_ += by.count(); }

 private:
  std::atomic<int64_t> now_ms_{1'700'000'000'000};
};

// Tables with on-demand capacity and the key {"pk" S} or {"pk" S, "sk" N}, without indexes.
inline CreateTableRequest hash_table(std::string name = "Things") {
  return {.table = std::move(name),
          .attributes = {{"pk", ScalarType::kS}},
          .key_schema = {{"pk", KeyType::kHash}},
          .billing_mode = BillingMode::kPayPerRequest};
}
inline CreateTableRequest range_table(std::string name = "Things") {
  return {.table = std::move(name),
          .attributes = {{"pk", ScalarType::kS}, {"sk", ScalarType::kN}},
          .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}},
          .billing_mode = BillingMode::kPayPerRequest};
}
// The items of a range_table(), by key.
using Contents = std::map<std::string, Item>;
inline std::string key_text(const Item& item) {
  return to_debug_string(Item{{"pk", item.at("pk")}, {"sk", item.at("sk")}});
}
inline IndexDefinition index_on(std::string name, KeySchema keys, Projection projection = {}) {
  return {.name = std::move(name),
          .key_schema = std::move(keys),
          .projection = std::move(projection),
          .throughput = {},
          .on_demand_throughput = {},
          .warm_throughput = {}};
}

class EngineTest : public ::testing::Test {
 protected:
  EngineTest() { open_empty(); }
  ~EngineTest() override {
    if (HasFailure() && tests_run_on_a_pair()) {
      std::cerr << "STATOR_TEST_BACKEND=" << std::getenv("STATOR_TEST_BACKEND")
                << " STATOR_SEED=" << engine_.seed() << '\n';
    }
  }

  // Opens an engine in memory, or a pair.
  void open_empty() { open_empty(options()); }
  void open_empty(const EngineOptions& options) {
    if (!tests_run_on_a_pair()) return open(make_memory_store(), options);
    engine_.open_pair(options);
  }

  void open(std::unique_ptr<TransactStore> store) { open(std::move(store), options()); }
  void open(std::unique_ptr<TransactStore> store, const EngineOptions& options) {
    engine_.reset();
    auto opened = Engine::open(std::move(store), options);
    ASSERT_THAT(opened, IsOk());
    engine_ = std::move(*opened);
  }
  // Opens the test's directory, or reopens it. A pair keeps its backend instead.
  void open_directory() {
    if (tests_run_on_a_pair()) {
      if (std::exchange(has_opened_directory_, true)) return engine_.reopen_pair(options());
      return engine_.open_pair(options());
    }
    engine_.reset();
    auto store = open_rocks_store({.path = directory_.path() / "data"});
    ASSERT_THAT(store, IsOk());
    open(std::move(*store));
  }

  void create(const CreateTableRequest& request) {
    ASSERT_THAT(engine_->create_table(request), IsOk());
  }

  Result<WriteResponse> put(const PutItemRequest& request) {
    return call_and_wait(*engine_, &Engine::put_item, request);
  }
  Result<WriteResponse> put(const std::string& table, Item item) {
    return put({.table = table, .item = std::move(item)});
  }
  Result<WriteResponse> update(const UpdateItemRequest& request) {
    return call_and_wait(*engine_, &Engine::update_item, request);
  }
  Result<WriteResponse> erase(const DeleteItemRequest& request) {
    return call_and_wait(*engine_, &Engine::delete_item, request);
  }
  Result<BatchWriteItemResult> batch_write(const BatchWriteItemRequest& request) {
    return call_and_wait(*engine_, &Engine::batch_write_item, request);
  }
  Result<TransactWriteItemsResult> transact(const TransactWriteItemsRequest& request) {
    return call_and_wait(*engine_, &Engine::transact_write_items, request);
  }
  // Returns the item; absent if it does not exist.
  std::optional<Item> get(const std::string& table, Item key) {
    auto response = call_and_wait(*engine_, &Engine::get_item,
                                  {.table = table, .key = std::move(key), .consistent_read = true});
    EXPECT_THAT(response, IsOk());
    if (!response || !response->item) return std::nullopt;
    return decode_item(ItemView(*response->item));
  }

  static std::vector<Item> items_of(const PageResponse& page) {
    std::vector<Item> items;
    items.reserve(page.items.size());
    for (std::size_t i = 0; i < page.items.size(); ++i) items.push_back(decode_item(page.items[i]));
    return items;
  }
  // Returns all items of a Query or Scan, page by page.
  template <class Request>
  std::vector<Item> all_pages(Request request, int* pages = nullptr) {
    std::vector<Item> all;
    while (true) {
      const auto page = read(request);
      EXPECT_THAT(page, IsOk());
      if (!page) return all;
      if (pages != nullptr) ++*pages;
      for (Item& item : items_of(*page)) all.push_back(std::move(item));
      if (!page->last_evaluated_key) return all;
      request.exclusive_start_key = page->last_evaluated_key;
    }
  }
  Result<PageResponse> read(const QueryRequest& request) {
    return call_and_wait(*engine_, &Engine::query, request);
  }
  Result<PageResponse> read(const ScanRequest& request) {
    return call_and_wait(*engine_, &Engine::scan, request);
  }

  void wait_for_table(const std::string& table) {
    ASSERT_TRUE(comes_true([&] {
      const auto described = engine_->describe_table({.table = table});
      return described && described->table.status == TableStatus::kActive;
    }));
  }

  // Makes the counts of DescribeTable include all writes. Each engine of a pair counts its own: the
  // first round adds them to the stored counters, the second one reads what was added.
  void share_counts() {
    if (!tests_run_on_a_pair()) return;
    for (int round = 0; round < 2; ++round) {
      engine_.for_each([](Engine& engine) { engine.run_maintenance(); });
    }
  }

  // Those of every engine that the test opens, except the constructor's.
  virtual EngineOptions options() const {
    return {.clock = &clock_, .sweep_interval = {}, .maintenance_interval = {}};
  }

  FakeClock clock_;
  TempDir directory_;
  bool has_opened_directory_ = false;
  TestEngine engine_;
};

}  // namespace stator::test
