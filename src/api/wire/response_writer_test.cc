// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "api/wire/wire.h"

namespace stator::wire {
namespace {

constexpr std::size_t kLargeBytes = 400'000;
constexpr int kSmallItems = 1'500;

EncodedItems one_large_item_and_many_small_ones() {
  EncodedItems items;
  items.append(encode_item({{"pk", "large"}, {"v", std::string(kLargeBytes, 'x')}}));
  for (int i = 0; i < kSmallItems; ++i) items.append(encode_item({{"pk", "a"}}));
  return items;
}

TEST(ResponseWriter, ReservesTheSizeOfAllItemsOfAPage) {
  const std::string json = to_json(PageResponse{.items = one_large_item_and_many_small_ones()});
  EXPECT_LE(json.capacity(), 3 * json.size());
}

TEST(ResponseWriter, ReservesTheSizeOfAllItemsOfAStatement) {
  const std::string json =
      to_json(StatementResponse{.items = one_large_item_and_many_small_ones()});
  EXPECT_LE(json.capacity(), 3 * json.size());
}

}  // namespace
}  // namespace stator::wire
