// SPDX-License-Identifier: Apache-2.0
#include "crash/numbered_writes.h"

#include <algorithm>

#include "support/stream_consumer.h"

namespace stator::test {
namespace {

constexpr int64_t kFarSeconds = 4'102'444'800;  // 2100

}  // namespace

std::string name_of(int64_t number) {
  return "item-" + std::to_string(number % kNumberedItems);
}

bool erases(int64_t number) {
  return number > kNumberedItems && number % 7 == 0;
}

Item item_of(int64_t number) {
  Item item{{"pk", name_of(number)}, {"number", number}};
  if (number % 5 < 3) item["shelf"] = number % 5;
  if (number % 3 == 0) item["expires"] = kFarSeconds;
  return item;
}

NamedItems state_after(int64_t count) {
  NamedItems items;
  for (int64_t last = std::max<int64_t>(1, count - kNumberedItems + 1); last <= count; ++last) {
    if (!erases(last)) items.emplace(name_of(last), item_of(last));
  }
  return items;
}

NamedItems without_expired(NamedItems items) {
  std::erase_if(items, [](const auto& entry) { return entry.first.starts_with(kExpired); });
  return items;
}

std::optional<int64_t> number_of(NamedItems items) {
  items = without_expired(std::move(items));
  int64_t newest = 0;
  for (const auto& [name, item] : items) {
    newest = std::max(newest, item.at("number").get_if<Number>()->to_int64().value_or(0));
  }
  // The last write can have erased an item.
  for (const int64_t count : {newest, newest + 1}) {
    if ((count == newest || erases(count)) && state_after(count) == items) return count;
  }
  return std::nullopt;
}

NamedItems scan_all(Client& client, const std::string& table,
                    const std::optional<std::string>& index) {
  NamedItems items;
  ScanRequest request{.table = table, .index = index};
  do {
    auto page = client.scan(request);
    EXPECT_TRUE(page) << page.error().message;
    if (!page) return items;
    for (Item& item : page->items) {
      std::string name = *item.at("pk").get_if<std::string>();
      EXPECT_TRUE(items.emplace(std::move(name), std::move(item)).second) << "an item twice";
    }
    request.exclusive_start_key = page->last_evaluated_key;
  } while (request.exclusive_start_key);
  return items;
}

void expect_index_of(Client& client, const std::string& table) {
  NamedItems items = scan_all(client, table);
  std::erase_if(items, [](const auto& entry) { return !entry.second.contains("shelf"); });
  EXPECT_EQ(scan_all(client, table, kShelfIndex), items) << "the index of " << table;
}

void expect_stream_of(Client& client, const std::string& table) {
  StreamReplay replay;
  StreamConsumer consumer;
  const auto described = client.describe_table({.table = table});
  ASSERT_TRUE(described) << described.error().message;
  for (const StreamRecord& record :
       consumer.read(client, described->table.latest_stream_arn.value_or("none"))) {
    replay.apply(record);
  }
  NamedItems items;
  for (const auto& [keys, item] : replay.items()) {
    items.emplace(*item.at("pk").get_if<std::string>(), item);
  }
  EXPECT_EQ(items, scan_all(client, table)) << "the stream of " << table;
}

}  // namespace stator::test
