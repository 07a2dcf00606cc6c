// SPDX-License-Identifier: Apache-2.0
// Random requests of all operations, from a seed. They use few keys and values, so that conditions
// are true or false, items grow and are deleted, and pages end within partitions. Some requests are
// invalid.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "histories/any_request.h"

namespace stator::test {

class RandomRequests {
 public:
  explicit RandomRequests(uint64_t seed);

  AnyRequest next();
  // Receives the response to the last request. If it is a page, the next page can be requested.
  void learn(std::string_view answer);
  int pick(int choices) { return static_cast<int>(random_() % static_cast<uint64_t>(choices)); }

 private:
  // An expression with the values and names of its placeholders.
  struct Expression {
    std::string text;
    Values values = {};
    Names names = {};
  };

  template <class T>
  T pick_of(std::vector<T> choices) {
    return std::move(choices[static_cast<std::size_t>(pick(static_cast<int>(choices.size())))]);
  }
  std::string pick_table();
  std::string pick_text() { return std::string(1, static_cast<char>('a' + pick(4))); }
  std::optional<std::string> pick_index();
  std::optional<int64_t> pick_limit();
  Item pick_key();
  Item pick_item();
  ReturnConsumedCapacity pick_capacity() { return static_cast<ReturnConsumedCapacity>(pick(3)); }
  Expression pick_condition();
  Expression pick_update();
  Expression pick_key_condition(bool by_group);
  Expression pick_projection();

  CreateTableRequest create_table(std::string table);
  AnyRequest write_one();
  GetItemRequest get_item();
  QueryRequest query();
  ScanRequest scan();
  BatchGetItemRequest batch_get();
  BatchWriteItemRequest batch_write();
  TransactGetItemsRequest transact_get();
  TransactWriteItem transact_item();
  TransactWriteItemsRequest transact_write();
  AnyRequest about_tables();

  std::mt19937_64 random_;
  std::deque<AnyRequest> next_;      // to be sent before new ones are chosen
  std::optional<AnyRequest> asked_;  // the last request, if it was for a page
  TransactWriteItemsRequest with_token_;
};

}  // namespace stator::test
