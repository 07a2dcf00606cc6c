// SPDX-License-Identifier: Apache-2.0
// Writes responses about items as JSON.
#include "api/wire/shapes_writer.h"
#include "api/wire/wire.h"

namespace stator::wire {
namespace {

constexpr std::size_t kEnvelopeBytes = 256;

void write_units(JsonWriter& json, const Capacity& capacity) {
  json.key("CapacityUnits");
  json.real(capacity.units);
  if (capacity.read) {
    json.key("ReadCapacityUnits");
    json.real(*capacity.read);
  }
  if (capacity.write) {
    json.key("WriteCapacityUnits");
    json.real(*capacity.write);
  }
}

void write_index_units(JsonWriter& json, std::string_view key,
                       const std::map<std::string, Capacity, std::less<>>& indexes) {
  if (indexes.empty()) return;
  json.key(key);
  json.begin_object();
  for (const auto& [name, capacity] : indexes) {
    json.user_key(name);
    json.begin_object();
    write_units(json, capacity);
    json.end_object();
  }
  json.end_object();
}

void write_bytes(JsonWriter& json, const VectorCapacity& capacity) {
  json.begin_object();
  if (capacity.search_bytes) {
    json.key("VectorSearchRequestBytes");
    json.real(*capacity.search_bytes);
  }
  if (capacity.write_bytes) {
    json.key("VectorWriteRequestBytes");
    json.real(*capacity.write_bytes);
  }
  json.end_object();
}

void write_vector_capacity(JsonWriter& json, const ConsumedCapacity& capacity) {
  if (capacity.vector_indexes.empty()) return;
  json.key("VectorIndexes");
  json.begin_object();
  for (const auto& [name, bytes] : capacity.vector_indexes) {
    json.user_key(name);
    write_bytes(json, bytes);
  }
  json.end_object();
}

void write_capacity(JsonWriter& json, const ConsumedCapacity& capacity) {
  json.begin_object();
  write_text(json, "TableName", capacity.table);
  write_units(json, capacity.total);
  if (capacity.table_part) {
    json.key("Table");
    json.begin_object();
    write_units(json, *capacity.table_part);
    json.end_object();
  }
  write_index_units(json, "LocalSecondaryIndexes", capacity.local_indexes);
  write_index_units(json, "GlobalSecondaryIndexes", capacity.global_indexes);
  write_vector_capacity(json, capacity);
  json.end_object();
}

void write_capacity_member(JsonWriter& json, const std::optional<ConsumedCapacity>& capacity) {
  if (!capacity) return;
  json.key("ConsumedCapacity");
  write_capacity(json, *capacity);
}

void write_capacity_member(JsonWriter& json, const std::vector<ConsumedCapacity>& capacity) {
  if (capacity.empty()) return;
  json.key("ConsumedCapacity");
  json.begin_array();
  for (const ConsumedCapacity& table : capacity) write_capacity(json, table);
  json.end_array();
}

void write_metrics(JsonWriter& json, const ItemCollectionMetrics& metrics) {
  json.begin_object();
  write_item(json, "ItemCollectionKey", metrics.key);
  json.key("SizeEstimateRangeGB");
  json.begin_array();
  json.real(metrics.size_lower_gb);
  json.real(metrics.size_upper_gb);
  json.end_array();
  json.end_object();
}

void write_metrics_member(JsonWriter& json, const TableMetrics& metrics) {
  if (metrics.empty()) return;
  json.key("ItemCollectionMetrics");
  json.begin_object();
  for (const auto& [table, collections] : metrics) {
    json.user_key(table);
    json.begin_array();
    for (const ItemCollectionMetrics& collection : collections) write_metrics(json, collection);
    json.end_array();
  }
  json.end_object();
}

void write_items(JsonWriter& json, const EncodedItems& items) {
  json.begin_array();
  for (std::size_t i = 0; i < items.size(); ++i) json.item(items[i]);
  json.end_array();
}

// Estimates the JSON size of encoded items, so that a large buffer need not grow. JSON takes more
// space than the binary form, and six bytes for each control character.
class TextSize {
 public:
  void add(std::string_view encoded) {
    bytes_ += encoded.size() + encoded.size() / 2;
    if (bytes_ < kLargeBytes) return;
    for (const char c : encoded) bytes_ += static_cast<unsigned char>(c) < ' ' ? kEscapeBytes : 0;
  }
  void add(const EncodedItems& items) {
    for (std::size_t i = 0; i < items.size(); ++i) add(items[i].bytes());
  }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kLargeBytes = 4UL << 20;
  static constexpr std::size_t kEscapeBytes = 5;  // in addition to the character
  std::size_t bytes_ = kEnvelopeBytes;
};

std::size_t text_size_of(const EncodedItems& items) {
  TextSize size;
  size.add(items);
  return size.bytes();
}

std::size_t text_size_of(const std::optional<EncodedItem>& item) {
  TextSize size;
  if (item) size.add(*item);
  return size.bytes();
}

}  // namespace

std::string to_json(const WriteResponse& response) {
  JsonWriter json(text_size_of(response.attributes));
  json.begin_object();
  if (response.attributes) {
    json.key("Attributes");
    json.item(ItemView(*response.attributes));
  }
  write_capacity_member(json, response.capacity);
  if (response.metrics) {
    json.key("ItemCollectionMetrics");
    write_metrics(json, *response.metrics);
  }
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const GetItemResponse& response) {
  JsonWriter json(text_size_of(response.item));
  json.begin_object();
  if (response.item) {
    json.key("Item");
    json.item(ItemView(*response.item));
  }
  write_capacity_member(json, response.capacity);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const PageResponse& response) {
  const EncodedItems& items = response.items;
  JsonWriter json(text_size_of(items));
  json.begin_object();
  if (response.items_wanted) {
    json.key("Items");
    write_items(json, items);
  }
  write_integer(json, "Count", response.count);
  write_integer(json, "ScannedCount", response.scanned_count);
  write_item(json, "LastEvaluatedKey", response.last_evaluated_key);
  write_capacity_member(json, response.capacity);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const SearchVectorsResponse& response) {
  JsonWriter json(text_size_of(response.items));
  json.begin_object();
  json.key("SearchResults");
  json.begin_array();
  for (std::size_t i = 0; i < response.items.size(); ++i) {
    json.begin_object();
    json.key("Item");
    json.item(response.items[i]);
    json.key("Score");
    json.real(response.scores[i]);
    json.end_object();
  }
  json.end_array();
  if (response.capacity) {
    json.key("ConsumedCapacity");
    write_bytes(json, *response.capacity);
  }
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const BatchGetItemResponse& response) {
  TextSize size;
  for (const auto& [table, items] : response.items) size.add(items);
  JsonWriter json(size.bytes());
  json.begin_object();
  json.key("Responses");
  json.begin_object();
  for (const auto& [table, items] : response.items) {
    json.user_key(table);
    write_items(json, items);
  }
  json.end_object();
  json.key("UnprocessedKeys");
  write_keys_by_table(json, response.unprocessed);
  write_capacity_member(json, response.capacity);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const BatchWriteItemResult& result) {
  JsonWriter json;
  json.begin_object();
  json.key("UnprocessedItems");
  write_requests_by_table(json, result.unprocessed);
  write_metrics_member(json, result.metrics);
  write_capacity_member(json, result.capacity);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const TransactWriteItemsResult& result) {
  JsonWriter json;
  json.begin_object();
  write_capacity_member(json, result.capacity);
  write_metrics_member(json, result.metrics);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const StatementResponse& response) {
  const EncodedItems& items = response.items;
  JsonWriter json(text_size_of(items));
  json.begin_object();
  json.key("Items");
  write_items(json, items);
  write_text(json, "NextToken", response.next_token);
  write_item(json, "LastEvaluatedKey", response.last_evaluated_key);
  write_capacity_member(json, response.capacity);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const BatchExecuteStatementResult& result) {
  JsonWriter json;
  json.begin_object();
  json.key("Responses");
  json.begin_array();
  for (const BatchStatementResult& response : result.responses) {
    json.begin_object();
    if (response.error) {
      json.key("Error");
      json.begin_object();
      const bool is_internal = response.error->code == code_name(Code::kInternalServerError);
      write_text(json, "Code", response.error->code);
      write_text(json, "Message",
                 is_internal ? kInternalErrorMessage : std::string_view(response.error->message));
      write_item(json, "Item", response.error->item);
      json.end_object();
    }
    if (!response.table.empty()) write_text(json, "TableName", response.table);
    write_item(json, "Item", response.item);
    json.end_object();
  }
  json.end_array();
  write_capacity_member(json, result.capacity);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const ExecuteTransactionResult& result) {
  JsonWriter json;
  json.begin_object();
  json.key("Responses");
  json.begin_array();
  for (const std::optional<Item>& item : result.items) {
    json.begin_object();
    write_item(json, "Item", item);
    json.end_object();
  }
  json.end_array();
  write_capacity_member(json, result.capacity);
  json.end_object();
  return std::move(json).finish();
}

std::string to_json(const TransactGetItemsResponse& response) {
  TextSize size;
  for (const std::optional<EncodedItem>& item : response.items) {
    if (item) size.add(*item);
  }
  JsonWriter json(size.bytes());
  json.begin_object();
  json.key("Responses");
  json.begin_array();
  for (const std::optional<EncodedItem>& item : response.items) {
    json.begin_object();
    if (item) {
      json.key("Item");
      json.item(ItemView(*item));
    }
    json.end_object();
  }
  json.end_array();
  write_capacity_member(json, response.capacity);
  json.end_object();
  return std::move(json).finish();
}

}  // namespace stator::wire
