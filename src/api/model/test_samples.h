// SPDX-License-Identifier: Apache-2.0
// Requests and responses in which every member has a value other than its default.
#pragma once

#include "api/model/responses.h"
#include "stator/client.h"

namespace stator::test {

inline Item sample_item() {
  return {{"pk", "a"},
          {"n", Number::parse("-12.5").value()},
          {"bytes", Binary{std::string("\x00\xff\x10", 3)}},
          {"yes", true},
          {"none", nullptr},
          {"texts", StringSet({"x", "y\"\\\n\x01"})},
          {"numbers", NumberSet({1, 20, -3})},
          {"blobs", BinarySet({Binary{"q"}, Binary{"qq"}})},
          {"list", List{AttributeValue(1), AttributeValue("é\U0001F600"), AttributeValue(List{})}},
          {"map", Map{{" ", "a blank name"}, {"deep", Map{{"x", nullptr}}}}}};
}

inline Item sample_key() {
  return {{"pk", "a"}, {"sk", 7}};
}

template <class Request>
void fill_write_options(Request& request) {
  request.condition = "#a = :v";
  request.names = Names{{"#a", "status"}};
  request.values = Values{{":v", List{AttributeValue(1)}}};
  request.return_values = ReturnValues::kAllOld;
  request.on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld;
  request.return_capacity = ReturnConsumedCapacity::kIndexes;
  request.return_metrics = ReturnItemCollectionMetrics::kSize;
}

inline PutItemRequest full_put() {
  PutItemRequest request{.table = "Table", .item = sample_item()};
  fill_write_options(request);
  return request;
}

inline UpdateItemRequest full_update() {
  UpdateItemRequest request{.table = "Table", .key = sample_key()};
  request.update = "SET #a = :v";
  fill_write_options(request);
  request.return_values = ReturnValues::kUpdatedNew;
  return request;
}

inline DeleteItemRequest full_delete() {
  DeleteItemRequest request{.table = "Table", .key = sample_key()};
  fill_write_options(request);
  return request;
}

inline GetItemRequest full_get() {
  return {.table = "Table",
          .key = sample_key(),
          .consistent_read = true,
          .projection = "#a",
          .names = Names{{"#a", "status"}},
          .return_capacity = ReturnConsumedCapacity::kTotal};
}

template <class Request>
void fill_range(Request& request) {
  request.table = "Table";
  request.index = "Index";
  request.filter = "b = :v";
  request.projection = "#a";
  request.names = Names{{"#a", "status"}};
  request.values = Values{{":v", 1}};
  request.select = Select::kSpecificAttributes;
  request.limit = 5;
  request.consistent_read = true;
  request.exclusive_start_key = sample_key();
  request.return_capacity = ReturnConsumedCapacity::kTotal;
}

inline QueryRequest full_query() {
  QueryRequest request;
  fill_range(request);
  request.key_condition = "pk = :v";
  request.forward = false;
  return request;
}

inline ScanRequest full_scan() {
  ScanRequest request;
  fill_range(request);
  request.segment = 1;
  request.total_segments = 4;
  return request;
}

inline std::map<std::string, KeysAndAttributes, std::less<>> sample_keys() {
  return {{"Table",
           {.keys = {sample_key(), {{"pk", "b"}, {"sk", 8}}},
            .consistent_read = true,
            .projection = "#a",
            .names = Names{{"#a", "status"}}}},
          {"Other", {.keys = {{{"id", 1}}}}}};
}

inline std::map<std::string, std::vector<WriteRequest>, std::less<>> sample_writes() {
  return {{"Table", {{.put = sample_item()}, {.delete_key = sample_key()}}}};
}

inline BatchGetItemRequest full_batch_get() {
  return {.items = sample_keys(), .return_capacity = ReturnConsumedCapacity::kIndexes};
}

inline BatchWriteItemRequest full_batch_write() {
  return {.items = sample_writes(),
          .return_capacity = ReturnConsumedCapacity::kTotal,
          .return_metrics = ReturnItemCollectionMetrics::kSize};
}

inline TransactWriteItemsRequest full_transact_write() {
  TransactWriteItemsRequest request;
  for (const TransactAction action : {TransactAction::kConditionCheck, TransactAction::kPut,
                                      TransactAction::kDelete, TransactAction::kUpdate}) {
    TransactWriteItem item{.action = action, .table = "Table", .item = sample_key()};
    item.condition = "#a = :v";
    item.names = Names{{"#a", "status"}};
    item.values = Values{{":v", 1}};
    item.on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld;
    if (action == TransactAction::kUpdate) item.update = "SET b = :v";
    request.items.push_back(item);
  }
  request.client_request_token = "token";
  request.return_capacity = ReturnConsumedCapacity::kTotal;
  request.return_metrics = ReturnItemCollectionMetrics::kSize;
  return request;
}

inline TransactGetItemsRequest full_transact_get() {
  return {.items = {{.table = "Table",
                     .key = sample_key(),
                     .projection = "#a",
                     .names = Names{{"#a", "status"}}}},
          .return_capacity = ReturnConsumedCapacity::kTotal};
}

inline CreateTableRequest full_create() {
  const IndexDefinition local{.name = "Local",
                              .key_schema = {{"pk", KeyType::kHash}, {"at", KeyType::kRange}},
                              .projection = {ProjectionType::kKeysOnly, {}}};
  const IndexDefinition global{.name = "Global",
                               .key_schema = {{"at", KeyType::kHash}, {"sk", KeyType::kRange}},
                               .projection = {ProjectionType::kInclude, {"x", "y"}},
                               .throughput = Throughput{3, 4},
                               .on_demand_throughput = OnDemandThroughput{5, 6},
                               .warm_throughput = Throughput{7, 8}};
  const VectorIndexDefinition vectors{
      .name = "Vectors",
      .vector_attribute = "vector",
      .search_schema = {{"pk", SearchSchemaElementType::kHash},
                        {"at", SearchSchemaElementType::kInlineFilter}},
      .projection = {ProjectionType::kInclude, {"x"}},
      .dimensions = 3,
      .distance_function = VectorDistanceFunction::kDotProduct};
  return {
      .table = "Table",
      .attributes = {{"pk", ScalarType::kS}, {"sk", ScalarType::kB}, {"at", ScalarType::kN}},
      .key_schema = {{"pk", KeyType::kHash}, {"sk", KeyType::kRange}},
      .local_indexes = std::vector{local},
      .global_indexes = std::vector{global},
      .billing_mode = BillingMode::kProvisioned,
      .throughput = Throughput{1, 2},
      .on_demand_throughput = OnDemandThroughput{9, 10},
      .warm_throughput = Throughput{11, 12},
      .table_class = TableClass::kStandardInfrequentAccess,
      .deletion_protection = true,
      .tags = {{"key", "value"}},
      .encryption =
          EncryptionSpecification{.enabled = true, .type = EncryptionType::kKms, .key_id = "a-key"},
      .stream = StreamSpecification{.enabled = true, .view = StreamViewType::kNewImage},
      .resource_policy = R"({"Version": "2012-10-17"})",
      .vector_indexes = std::vector{vectors}};
}

inline SearchVectorsRequest full_search() {
  return {.table = "Table",
          .index = "Vectors",
          .vector = {0.1F, -2, 3e38F},
          .top_k = 5,
          .condition = "#a = :v",
          .projection = "b",
          .names = Names{{"#a", "status"}},
          .values = Values{{":v", "x"}},
          .return_capacity = ReturnConsumedCapacity::kTotal};
}

inline UpdateTableRequest full_update_table() {
  const CreateTableRequest create = full_create();
  const GlobalIndexUpdate update{.name = "Updated",
                                 .throughput = Throughput{1, 2},
                                 .on_demand_throughput = OnDemandThroughput{3, 4},
                                 .warm_throughput = Throughput{5, 6}};
  return {.table = "Table",
          .attributes = create.attributes,
          .billing_mode = create.billing_mode,
          .throughput = create.throughput,
          .on_demand_throughput = create.on_demand_throughput,
          .warm_throughput = create.warm_throughput,
          .table_class = create.table_class,
          .deletion_protection = true,
          .global_indexes = {{{.update = update},
                              {.create = create.global_indexes->front()},
                              {.remove = "Removed"}}},
          .encryption = create.encryption,
          .stream = create.stream,
          .replica_regions = {"eu-west-1"},
          .vector_indexes = {
              {{.create = create.vector_indexes->front()}, {.remove = "RemovedVectors"}}}};
}

inline UpdateTimeToLiveRequest full_update_time_to_live() {
  return {.table = "Table", .specification = {.enabled = true, .attribute = "expires"}};
}

inline ConsumedCapacity sample_capacity() {
  return {.table = "Table",
          .total = {6.5, 1.5, 5},
          .table_part = Capacity{2, 0.5, 1.5},
          .local_indexes = {{"Local", {1, 0.5, 0.5}}},
          .global_indexes = {{"Global", {2, 1, 1}}},
          .vector_indexes = {{"Vectors", {.search_bytes = {}, .write_bytes = 1024}}}};
}

inline ItemCollectionMetrics sample_metrics() {
  return {.key = {{"pk", "a"}}, .size_lower_gb = 0, .size_upper_gb = 1};
}

inline TableDescription sample_description() {
  const CreateTableRequest request = full_create();
  TableDescription table{.table = "Table",
                         .id = "12345678-1234-1234-1234-123456789abc",
                         .arn = "arn:aws:dynamodb:us-east-1:000000782867:table/Table",
                         .status = TableStatus::kUpdating,
                         .created_ms = 1'421'866'952'062,
                         .size_bytes = 100,
                         .item_count = 5,
                         .attributes = request.attributes,
                         .key_schema = request.key_schema,
                         .local_indexes = {{.definition = request.local_indexes->front(),
                                            .size_bytes = 1,
                                            .item_count = 2,
                                            .arn = "arn:local"}},
                         .global_indexes = {{.definition = request.global_indexes->front(),
                                             .status = TableStatus::kCreating,
                                             .size_bytes = 3,
                                             .item_count = 4,
                                             .arn = "arn:global",
                                             .backfilling = true,
                                             .throughput_changes = {1000, 2000, 3}}},
                         .billing_mode = BillingMode::kPayPerRequest,
                         .throughput = {1, 2}};
  table.vector_indexes = {{.definition = request.vector_indexes->front(),
                           .status = TableStatus::kCreating,
                           .size_bytes = 5,
                           .item_count = 6,
                           .arn = "arn:vectors",
                           .backfilling = true}};
  table.on_demand_throughput = OnDemandThroughput{9, 10};
  table.warm_throughput = Throughput{11, 12};
  table.table_class = TableClass::kStandardInfrequentAccess;
  table.deletion_protection = true;
  table.throughput_changes = {4000, 5000, 6};
  table.on_demand_since_ms = 7000;
  table.table_class_changed_ms = 8000;
  table.encryption = EncryptionSpecification{
      .enabled = true, .type = EncryptionType::kKms, .key_id = "arn:aws:kms:key"};
  table.stream = request.stream;
  table.latest_stream_label = "2024-01-01T00:00:00.000";
  table.restore = RestoreSummary{.source_backup_arn = table.arn + "/backup/01704067200000-a1b2c3d4",
                                 .source_table_arn = table.arn,
                                 .time_ms = 1'704'067'200'125,
                                 .in_progress = true};
  table.latest_stream_arn = table.arn + "/stream/2024-01-01T00:00:00.000";
  return table;
}

inline WriteResponse full_write_response() {
  return {.attributes = encode_item(sample_item()),
          .capacity = sample_capacity(),
          .metrics = sample_metrics()};
}

inline EncodedItems sample_items() {
  EncodedItems items;
  items.append(encode_item(sample_item()));
  items.append(encode_item(sample_key()));
  return items;
}

inline SearchVectorsResponse full_search_response() {
  return {.items = sample_items(),
          .scores = {0.25F, 2},
          .capacity = VectorCapacity{.search_bytes = 2048}};
}

inline PageResponse full_page() {
  return {.items = sample_items(),
          .count = 2,
          .scanned_count = 9,
          .last_evaluated_key = sample_key(),
          .capacity = sample_capacity()};
}

inline BatchGetItemResponse full_batch_get_response() {
  BatchGetItemResponse response{.unprocessed = sample_keys(), .capacity = {sample_capacity()}};
  response.items.emplace("Table", sample_items());
  return response;
}

inline BatchWriteItemResult full_batch_write_result() {
  return {.unprocessed = sample_writes(),
          .capacity = {sample_capacity(), sample_capacity()},
          .metrics = {{"Table", {sample_metrics()}}}};
}

inline TransactGetItemsResponse full_transact_get_response() {
  return {.items = {encode_item(sample_item()), std::nullopt}, .capacity = {sample_capacity()}};
}

}  // namespace stator::test
