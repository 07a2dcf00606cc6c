// SPDX-License-Identifier: Apache-2.0
// Common parts of the suites of Client: a separate backend, and tables.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/comes_true.h"
#include "support/homes.h"
#include "support/matchers.h"

namespace stator::test {

class ClientTest : public ::testing::TestWithParam<std::string> {
 protected:
  void create(const CreateTableRequest& request) {
    ASSERT_THAT(client_.create_table(request), IsOk());
  }
  void put(const std::string& table, Item item) {
    ASSERT_THAT(client_.put_item({.table = table, .item = std::move(item)}), IsOk());
  }
  // Returns the item; absent if it does not exist.
  std::optional<Item> get(const std::string& table, Item key) {
    auto got = client_.get_item({.table = table, .key = std::move(key), .consistent_read = true});
    EXPECT_THAT(got, IsOk());
    return got ? got->item : std::nullopt;
  }

  Result<PageResult> read(const QueryRequest& request) { return client_.query(request); }
  Result<PageResult> read(const ScanRequest& request) { return client_.scan(request); }
  // Returns all pages of a Query or Scan.
  template <class Request>
  std::vector<PageResult> pages(Request request) {
    std::vector<PageResult> pages;
    while (true) {
      auto page = read(request);
      EXPECT_THAT(page, IsOk());
      if (!page) return pages;
      request.exclusive_start_key = page->last_evaluated_key;
      pages.push_back(std::move(*page));
      if (!request.exclusive_start_key) return pages;
    }
  }
  template <class Request>
  std::vector<Item> all_items(const Request& request) {
    std::vector<Item> items;
    for (const PageResult& page : pages(request)) {
      items.insert(items.end(), page.items.begin(), page.items.end());
    }
    return items;
  }

  Home home_ = open_home(GetParam());
  Client& client_ = *home_.client;
};

#define STATOR_IN_EACH_HOME(suite)                                          \
  INSTANTIATE_TEST_SUITE_P(Homes, suite, ::testing::ValuesIn(home_kinds()), \
                           [](const auto& test) { return test.param; })

// Key {"pk" S}, on-demand capacity.
inline CreateTableRequest hash_table(std::string name) {
  return {.table = std::move(name),
          .attributes = {{"pk", ScalarType::kS}},
          .key_schema = {{"pk", KeyType::kHash}},
          .billing_mode = BillingMode::kPayPerRequest};
}

inline IndexDefinition index_on(std::string name, KeySchema keys, Projection projection = {}) {
  return {.name = std::move(name),
          .key_schema = std::move(keys),
          .projection = std::move(projection),
          .throughput = {},
          .on_demand_throughput = {},
          .warm_throughput = {}};
}

// Key {"pk" S, "sk" N}; LocalByRank (pk, rank N: keys only), GlobalByPlace (place S, rank: with
// note).
inline CreateTableRequest indexed_table(std::string name) {
  return {.table = std::move(name),
          .attributes = {{"pk", ScalarType::kS},
                         {"sk", ScalarType::kN},
                         {"rank", ScalarType::kN},
                         {"place", ScalarType::kS}},
          .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}},
          .local_indexes = {{index_on(
              "LocalByRank", {{"pk", KeyType::kHash}, {"rank", KeyType::kRange}},
              {.type = ProjectionType::kKeysOnly, .non_key_attributes = {}})}},
          .global_indexes = {{index_on(
              "GlobalByPlace", {{"place", KeyType::kHash}, {"rank", KeyType::kRange}},
              {.type = ProjectionType::kInclude, .non_key_attributes = {"note"}})}},
          .billing_mode = BillingMode::kPayPerRequest};
}

}  // namespace stator::test
