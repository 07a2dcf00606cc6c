// SPDX-License-Identifier: Apache-2.0
#include "api/model/responses.h"

#include <utility>

namespace stator {
namespace {

std::optional<Item> decoded(const std::optional<EncodedItem>& item) {
  if (!item) return std::nullopt;
  return decode_item(ItemView(*item));
}

std::vector<Item> decoded(const EncodedItems& items) {
  std::vector<Item> list;
  list.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) list.push_back(decode_item(items[i]));
  return list;
}

}  // namespace

WriteResult to_result(WriteResponse response) {
  return {.attributes = decoded(response.attributes),
          .capacity = std::move(response.capacity),
          .metrics = std::move(response.metrics)};
}

GetItemResult to_result(GetItemResponse response) {
  return {.item = decoded(response.item), .capacity = std::move(response.capacity)};
}

PageResult to_result(PageResponse response) {
  PageResult result{.items = {},
                    .count = response.count,
                    .scanned_count = response.scanned_count,
                    .last_evaluated_key = std::move(response.last_evaluated_key),
                    .capacity = std::move(response.capacity)};
  if (response.items_wanted) result.items = decoded(response.items);
  return result;
}

SearchVectorsResult to_result(SearchVectorsResponse response) {
  SearchVectorsResult result{.results = {}, .capacity = response.capacity};
  result.results.reserve(response.items.size());
  for (std::size_t i = 0; i < response.items.size(); ++i) {
    result.results.push_back({.item = decode_item(response.items[i]), .score = response.scores[i]});
  }
  return result;
}

BatchGetItemResult to_result(BatchGetItemResponse response) {
  BatchGetItemResult result{.items = {},
                            .unprocessed = std::move(response.unprocessed),
                            .capacity = std::move(response.capacity)};
  for (const auto& [table, items] : response.items) result.items.emplace(table, decoded(items));
  return result;
}

TransactGetItemsResult to_result(TransactGetItemsResponse response) {
  TransactGetItemsResult result{.items = {}, .capacity = std::move(response.capacity)};
  result.items.reserve(response.items.size());
  for (const auto& item : response.items) result.items.push_back(decoded(item));
  return result;
}

std::string cancellation_message(const std::vector<CancellationReason>& reasons) {
  std::string text =
      "Transaction cancelled, please refer cancellation reasons for specific reasons [";
  for (const CancellationReason& reason : reasons) {
    if (!text.ends_with('[')) text += ", ";
    text += reason.code;
  }
  return text + "]";
}

}  // namespace stator
