// SPDX-License-Identifier: Apache-2.0
// Numbered writes: the number of a write determines its effect, so the number of writes determines
// the content of the table. Expiring items are separate.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "stator/client.h"

namespace stator::test {

constexpr int64_t kNumberedItems = 1500;
constexpr const char* kShelfIndex = "ByShelf";  // keys: shelf and number
constexpr std::string_view kExpired = "expired-";

using NamedItems = std::map<std::string, Item>;  // by partition key

std::string name_of(int64_t number);
bool erases(int64_t number);
Item item_of(int64_t number);

// The items after the first `count` writes.
NamedItems state_after(int64_t count);
// The number of writes that produces these items; absent if there is none.
std::optional<int64_t> number_of(NamedItems items);
NamedItems without_expired(NamedItems items);

NamedItems scan_all(Client& client, const std::string& table,
                    const std::optional<std::string>& index = {});
void expect_index_of(Client& client, const std::string& table);
// Expects the changes in the table's stream to produce its items.
void expect_stream_of(Client& client, const std::string& table);

template <class T>
Result<void> outcome(const Result<T>& result) {
  if (!result) return Failure(result.error());
  return {};
}

}  // namespace stator::test
