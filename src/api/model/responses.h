// SPDX-License-Identifier: Apache-2.0
// The engine's responses: like the results in stator/client.h, but with items in binary form, so
// that a server can write them as JSON without building a tree.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stator/client.h"
#include "value/encoded.h"

namespace stator {

struct WriteResponse {
  std::optional<EncodedItem> attributes;
  std::optional<ConsumedCapacity> capacity;
  std::optional<ItemCollectionMetrics> metrics;
};

struct GetItemResponse {
  std::optional<EncodedItem> item;
  std::optional<ConsumedCapacity> capacity;
};

struct PageResponse {
  EncodedItems items;
  bool items_wanted = true;  // false for Select::kCount: the Items member is omitted
  int64_t count = 0;
  int64_t scanned_count = 0;
  std::optional<Item> last_evaluated_key;
  std::optional<ConsumedCapacity> capacity;
};

struct SearchVectorsResponse {
  EncodedItems items;         // the nearest first
  std::vector<float> scores;  // of the items, in their order
  std::optional<VectorCapacity> capacity;
};

struct BatchGetItemResponse {
  std::map<std::string, EncodedItems, std::less<>> items;
  std::map<std::string, KeysAndAttributes, std::less<>> unprocessed;
  std::vector<ConsumedCapacity> capacity;
};

struct StatementResponse {
  EncodedItems items;
  std::optional<std::string> next_token;
  std::optional<Item> last_evaluated_key;
  std::optional<ConsumedCapacity> capacity;
  std::optional<int64_t> examined = {};  // of a read; not in the JSON
};

struct TransactGetItemsResponse {
  std::vector<std::optional<EncodedItem>> items;
  std::vector<ConsumedCapacity> capacity;
};

struct StreamRecordResponse : StreamRecordHeader {
  EncodedItem keys;
  std::optional<EncodedItem> new_image = {};
  std::optional<EncodedItem> old_image = {};
};
struct GetRecordsResponse {
  std::vector<StreamRecordResponse> records;
  std::optional<std::string> next_iterator = {};
};

// "Transaction cancelled, please refer cancellation reasons for specific reasons [None, …]"
std::string cancellation_message(const std::vector<CancellationReason>& reasons);

// Adds a copy of a row to a response, or decodes it for a result of Client.
inline void add_item(EncodedItems& items, ItemView row) {
  items.append(row.bytes());
}
inline void add_item(std::vector<Item>& items, ItemView row) {
  items.push_back(decode_item(row));
}
inline void add_item(std::optional<EncodedItem>& item, ItemView row) {
  item.emplace(row.bytes());
}
inline void add_item(std::optional<Item>& item, ItemView row) {
  item.emplace(decode_item(row));
}

}  // namespace stator
