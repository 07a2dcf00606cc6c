// SPDX-License-Identifier: Apache-2.0
// Writes responses about items as JSON.
#include "api/wire/shapes_writer.h"
#include "api/wire/wire.h"

namespace stator::wire {
namespace {

constexpr std::size_t kEnvelopeBytes = 256;

void write_real(JsonWriter& json, std::string_view key, std::optional<double> value) {
  if (value) json.key(key).real(*value);
}

void write_units(JsonWriter& json, const Capacity& capacity) {
  write_real(json, "CapacityUnits", capacity.units);
  write_real(json, "ReadCapacityUnits", capacity.read);
  write_real(json, "WriteCapacityUnits", capacity.write);
}

void write_bytes(JsonWriter& json, const VectorCapacity& capacity) {
  write_real(json, "VectorSearchRequestBytes", capacity.search_bytes);
  write_real(json, "VectorWriteRequestBytes", capacity.write_bytes);
}

void write_index_units(JsonWriter& json, std::string_view key,
                       const std::map<std::string, Capacity, std::less<>>& indexes) {
  if (indexes.empty()) return;
  json.key(key).entries(indexes, [&](const Capacity& capacity) {
    json.object([&] { write_units(json, capacity); });
  });
}

void write_capacity(JsonWriter& json, const ConsumedCapacity& capacity) {
  write_text(json, "TableName", capacity.table);
  write_units(json, capacity.total);
  if (capacity.table_part) {
    json.key("Table").object([&] { write_units(json, *capacity.table_part); });
  }
  write_index_units(json, "LocalSecondaryIndexes", capacity.local_indexes);
  write_index_units(json, "GlobalSecondaryIndexes", capacity.global_indexes);
  if (capacity.vector_indexes.empty()) return;
  json.key("VectorIndexes").entries(capacity.vector_indexes, [&](const VectorCapacity& bytes) {
    json.object([&] { write_bytes(json, bytes); });
  });
}

void write_capacity_member(JsonWriter& json, const std::optional<ConsumedCapacity>& capacity) {
  if (capacity) json.key("ConsumedCapacity").object([&] { write_capacity(json, *capacity); });
}

void write_capacity_member(JsonWriter& json, const std::vector<ConsumedCapacity>& capacity) {
  if (capacity.empty()) return;
  json.key("ConsumedCapacity").objects(capacity, [&](const ConsumedCapacity& table) {
    write_capacity(json, table);
  });
}

void write_metrics(JsonWriter& json, const ItemCollectionMetrics& metrics) {
  write_item(json, "ItemCollectionKey", metrics.key);
  json.key("SizeEstimateRangeGB").begin_array();
  json.real(metrics.size_lower_gb);
  json.real(metrics.size_upper_gb);
  json.end_array();
}

void write_metrics_member(JsonWriter& json, const TableMetrics& metrics) {
  if (metrics.empty()) return;
  json.key("ItemCollectionMetrics").entries(metrics, [&](const auto& collections) {
    json.objects(collections,
                 [&](const ItemCollectionMetrics& collection) { write_metrics(json, collection); });
  });
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
  void add(const std::optional<EncodedItem>& item) {
    if (item) add(std::string_view(*item));
  }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kLargeBytes = 4UL << 20;
  static constexpr std::size_t kEscapeBytes = 5;  // in addition to the character
  std::size_t bytes_ = kEnvelopeBytes;
};

template <class T>
std::size_t text_size_of(const T& items) {
  TextSize size;
  size.add(items);
  return size.bytes();
}

}  // namespace

std::string to_json(const WriteResponse& response) {
  return write_document(text_size_of(response.attributes), [&](JsonWriter& json) {
    write_item(json, "Attributes", response.attributes);
    write_capacity_member(json, response.capacity);
    if (response.metrics) {
      json.key("ItemCollectionMetrics").object([&] { write_metrics(json, *response.metrics); });
    }
  });
}

std::string to_json(const GetItemResponse& response) {
  return write_document(text_size_of(response.item), [&](JsonWriter& json) {
    write_item(json, "Item", response.item);
    write_capacity_member(json, response.capacity);
  });
}

std::string to_json(const PageResponse& response) {
  return write_document(text_size_of(response.items), [&](JsonWriter& json) {
    if (response.items_wanted) write_items(json.key("Items"), response.items);
    write_integer(json, "Count", response.count);
    write_integer(json, "ScannedCount", response.scanned_count);
    write_item(json, "LastEvaluatedKey", response.last_evaluated_key);
    write_capacity_member(json, response.capacity);
  });
}

std::string to_json(const SearchVectorsResponse& response) {
  return write_document(text_size_of(response.items), [&](JsonWriter& json) {
    json.key("SearchResults").begin_array();
    for (std::size_t i = 0; i < response.items.size(); ++i) {
      json.object([&] {
        json.key("Item").item(response.items[i]);
        json.key("Score").real(response.scores[i]);
      });
    }
    json.end_array();
    if (response.capacity) {
      json.key("ConsumedCapacity").object([&] { write_bytes(json, *response.capacity); });
    }
  });
}

std::string to_json(const BatchGetItemResponse& response) {
  TextSize size;
  for (const auto& [table, items] : response.items) size.add(items);
  return write_document(size.bytes(), [&](JsonWriter& json) {
    json.key("Responses").entries(response.items, [&](const EncodedItems& items) {
      write_items(json, items);
    });
    write_keys_by_table(json.key("UnprocessedKeys"), response.unprocessed);
    write_capacity_member(json, response.capacity);
  });
}

std::string to_json(const BatchWriteItemResult& result) {
  return write_document([&](JsonWriter& json) {
    write_requests_by_table(json.key("UnprocessedItems"), result.unprocessed);
    write_metrics_member(json, result.metrics);
    write_capacity_member(json, result.capacity);
  });
}

std::string to_json(const TransactWriteItemsResult& result) {
  return write_document([&](JsonWriter& json) {
    write_capacity_member(json, result.capacity);
    write_metrics_member(json, result.metrics);
  });
}

std::string to_json(const StatementResponse& response) {
  return write_document(text_size_of(response.items), [&](JsonWriter& json) {
    write_items(json.key("Items"), response.items);
    write_text(json, "NextToken", response.next_token);
    write_item(json, "LastEvaluatedKey", response.last_evaluated_key);
    write_capacity_member(json, response.capacity);
  });
}

std::string to_json(const BatchExecuteStatementResult& result) {
  return write_document([&](JsonWriter& json) {
    json.key("Responses").objects(result.responses, [&](const BatchStatementResult& response) {
      if (const std::optional<StatementError>& error = response.error) {
        json.key("Error").object([&] {
          const bool is_internal = error->code == code_name(Code::kInternalServerError);
          write_text(json, "Code", error->code);
          write_text(json, "Message",
                     is_internal ? kInternalErrorMessage : std::string_view(error->message));
          write_item(json, "Item", error->item);
        });
      }
      if (!response.table.empty()) write_text(json, "TableName", response.table);
      write_item(json, "Item", response.item);
    });
    write_capacity_member(json, result.capacity);
  });
}

std::string to_json(const ExecuteTransactionResult& result) {
  return write_document([&](JsonWriter& json) {
    json.key("Responses").objects(result.items, [&](const std::optional<Item>& item) {
      write_item(json, "Item", item);
    });
    write_capacity_member(json, result.capacity);
  });
}

std::string to_json(const TransactGetItemsResponse& response) {
  TextSize size;
  for (const std::optional<EncodedItem>& item : response.items) size.add(item);
  return write_document(size.bytes(), [&](JsonWriter& json) {
    json.key("Responses").objects(response.items, [&](const std::optional<EncodedItem>& item) {
      write_item(json, "Item", item);
    });
    write_capacity_member(json, response.capacity);
  });
}

}  // namespace stator::wire
