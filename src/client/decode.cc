// SPDX-License-Identifier: Apache-2.0
#include "client/decode.h"

#include <utility>

namespace stator {
namespace {

std::optional<Item> decode(const std::optional<EncodedItem>& item) {
  if (!item) return std::nullopt;
  return decode_item(ItemView(*item));
}

std::vector<Item> decode(const EncodedItems& items) {
  std::vector<Item> decoded;
  decoded.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) decoded.push_back(decode_item(items[i]));
  return decoded;
}

}  // namespace

Result<WriteResult> decode(Result<WriteResponse> response) {
  if (!response) return failure_of(std::move(response));
  return WriteResult{.attributes = decode(response->attributes),
                     .capacity = std::move(response->capacity),
                     .metrics = std::move(response->metrics)};
}

Result<SearchVectorsResult> decode(Result<SearchVectorsResponse> response) {
  if (!response) return failure_of(std::move(response));
  SearchVectorsResult result{.results = {}, .capacity = response->capacity};
  result.results.reserve(response->items.size());
  for (std::size_t i = 0; i < response->items.size(); ++i) {
    result.results.push_back(
        {.item = decode_item(response->items[i]), .score = response->scores[i]});
  }
  return result;
}

Result<BatchGetItemResult> decode(Result<BatchGetItemResponse> response) {
  if (!response) return failure_of(std::move(response));
  BatchGetItemResult result{.unprocessed = std::move(response->unprocessed),
                            .capacity = std::move(response->capacity)};
  for (const auto& [table, items] : response->items) result.items.emplace(table, decode(items));
  return result;
}

Result<TransactGetItemsResult> decode(Result<TransactGetItemsResponse> response) {
  if (!response) return failure_of(std::move(response));
  TransactGetItemsResult result{.capacity = std::move(response->capacity)};
  for (const auto& item : response->items) result.items.push_back(decode(item));
  return result;
}

Result<ExecuteStatementResult> decode(Result<StatementResponse> response) {
  if (!response) return failure_of(std::move(response));
  return ExecuteStatementResult{.items = decode(response->items),
                                .next_token = std::move(response->next_token),
                                .last_evaluated_key = std::move(response->last_evaluated_key),
                                .capacity = std::move(response->capacity),
                                .examined = response->examined};
}

Result<GetRecordsResult> decode(Result<GetRecordsResponse> response) {
  if (!response) return failure_of(std::move(response));
  GetRecordsResult result{.records = {}, .next_iterator = std::move(response->next_iterator)};
  result.records.reserve(response->records.size());
  for (StreamRecordResponse& record : response->records) {
    result.records.push_back({static_cast<StreamRecordHeader&&>(record),
                              decode_item(ItemView(record.keys)), decode(record.new_image),
                              decode(record.old_image)});
  }
  return result;
}

}  // namespace stator
