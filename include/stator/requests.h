// SPDX-License-Identifier: Apache-2.0
// Typed requests of the DynamoDB API, version 2012-08-10.
//
// Members have the API's names in snake case, without parts that the context implies (TableName is
// `table`, ConditionExpression is `condition`). A member with its default value is an omitted
// parameter. DynamoDB's limits and rules apply. The client or server that executes a request checks
// them; a violation is Code::kValidation with DynamoDB's message.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stator/value.h"

namespace stator {

using Names = std::map<std::string, std::string, std::less<>>;      // "#n" to attribute name
using Values = std::map<std::string, AttributeValue, std::less<>>;  // ":v" to value

enum class ReturnValues { kNone, kAllOld, kUpdatedOld, kAllNew, kUpdatedNew };
enum class ReturnConsumedCapacity { kNone, kTotal, kIndexes };
enum class ReturnItemCollectionMetrics { kNone, kSize };
enum class ReturnValuesOnConditionCheckFailure { kNone, kAllOld };
enum class Select { kAllAttributes, kAllProjectedAttributes, kSpecificAttributes, kCount };
enum class ScalarType { kS, kN, kB };
enum class KeyType { kHash, kRange };
enum class ProjectionType { kAll, kKeysOnly, kInclude };
enum class BillingMode { kProvisioned, kPayPerRequest };
enum class TableClass { kStandard, kStandardInfrequentAccess };
enum class StreamViewType { kNewImage, kOldImage, kNewAndOldImages, kKeysOnly };
enum class TableStatus { kCreating, kUpdating, kDeleting, kActive };
enum class EncryptionType { kAes256, kKms };
enum class SearchSchemaElementType { kHash, kInlineFilter };
enum class VectorDistanceFunction { kCosine, kDotProduct, kEuclidean };

// ---- Tables

struct AttributeDefinition {
  std::string name;
  ScalarType type = ScalarType::kS;
  bool operator==(const AttributeDefinition&) const = default;
};

struct KeySchemaElement {
  std::string name;
  KeyType type = KeyType::kHash;
  bool operator==(const KeySchemaElement&) const = default;
};
using KeySchema = std::vector<KeySchemaElement>;

struct Projection {
  ProjectionType type = ProjectionType::kAll;
  std::vector<std::string> non_key_attributes;  // kInclude only
  bool operator==(const Projection&) const = default;
};

struct Throughput {  // capacity units per second
  int64_t read = 0;
  int64_t write = 0;
  bool operator==(const Throughput&) const = default;
};

struct OnDemandThroughput {  // request units per second; -1: no maximum
  int64_t max_read = -1;
  int64_t max_write = -1;
  bool operator==(const OnDemandThroughput&) const = default;
};

struct IndexDefinition {
  std::string name;
  KeySchema key_schema;  // global: up to 4 HASH, then up to 4 RANGE elements
  Projection projection;
  std::optional<Throughput> throughput;                    // global only
  std::optional<OnDemandThroughput> on_demand_throughput;  // global only
  std::optional<Throughput> warm_throughput;               // global only
  bool operator==(const IndexDefinition&) const = default;
};

struct SearchSchemaElement {
  std::string name;
  SearchSchemaElementType type = SearchSchemaElementType::kHash;
  bool operator==(const SearchSchemaElement&) const = default;
};

// An index of the items whose attribute `vector_attribute` is a list of `dimensions` numbers. The
// index stores them as 32-bit floats. Only for on-demand tables.
struct VectorIndexDefinition {
  std::string name;
  std::string vector_attribute;
  // Attributes that a search condition can name: at most one HASH and up to 18 INLINE_FILTER
  // elements. With a HASH element, each search covers only the items with one value of it.
  std::vector<SearchSchemaElement> search_schema = {};
  Projection projection;
  int64_t dimensions = 0;  // 1 to 4,096
  VectorDistanceFunction distance_function = VectorDistanceFunction::kCosine;
  bool operator==(const VectorIndexDefinition&) const = default;
};

struct EncryptionSpecification {  // SSESpecification; stored and described, but not applied
  std::optional<bool> enabled = {};
  std::optional<EncryptionType> type = {};
  std::optional<std::string> key_id = {};  // KMSMasterKeyId
  bool operator==(const EncryptionSpecification&) const = default;
};

struct StreamSpecification {
  bool enabled = false;
  std::optional<StreamViewType> view = {};  // set if, and only if, enabled
  bool operator==(const StreamSpecification&) const = default;
};

struct Tag {
  std::string key;
  std::string value;
  bool operator==(const Tag&) const = default;
};

struct CreateTableRequest {
  std::string table;
  std::vector<AttributeDefinition> attributes;
  KeySchema key_schema;
  std::optional<std::vector<IndexDefinition>> local_indexes = {};
  std::optional<std::vector<IndexDefinition>> global_indexes = {};
  std::optional<BillingMode> billing_mode = {};  // absent: provisioned, as in DynamoDB
  std::optional<Throughput> throughput = {};
  std::optional<OnDemandThroughput> on_demand_throughput = {};
  std::optional<Throughput> warm_throughput = {};
  std::optional<TableClass> table_class = {};
  std::optional<bool> deletion_protection = {};
  std::vector<Tag> tags = {};
  std::optional<EncryptionSpecification> encryption = {};
  std::optional<StreamSpecification> stream = {};
  std::optional<std::string> resource_policy = {};                        // JSON
  std::optional<std::vector<VectorIndexDefinition>> vector_indexes = {};  // up to 5
};

struct GlobalIndexUpdate {  // settings of an existing index
  std::string name;
  std::optional<Throughput> throughput = {};
  std::optional<OnDemandThroughput> on_demand_throughput = {};
  std::optional<Throughput> warm_throughput = {};
};

struct GlobalIndexChange {  // exactly one of the three
  std::optional<GlobalIndexUpdate> update = {};
  std::optional<IndexDefinition> create = {};
  std::optional<std::string> remove = {};  // Delete; the index's name
};

struct VectorIndexChange {  // exactly one of the two
  std::optional<VectorIndexDefinition> create = {};
  std::optional<std::string> remove = {};  // Delete; the index's name
};

struct UpdateTableRequest {
  std::string table;
  std::optional<std::vector<AttributeDefinition>> attributes = {};  // at least the new ones
  std::optional<BillingMode> billing_mode = {};
  std::optional<Throughput> throughput = {};
  std::optional<OnDemandThroughput> on_demand_throughput = {};
  std::optional<Throughput> warm_throughput = {};
  std::optional<TableClass> table_class = {};
  std::optional<bool> deletion_protection = {};
  std::optional<std::vector<GlobalIndexChange>> global_indexes = {};  // GlobalSecondaryIndexUpdates
  std::optional<EncryptionSpecification> encryption = {};
  std::optional<StreamSpecification> stream = {};
  std::vector<std::string> replica_regions = {};  // of ReplicaUpdates; any region is rejected
  std::optional<std::vector<VectorIndexChange>> vector_indexes = {};  // VectorIndexUpdates
};

struct TimeToLiveSpecification {
  bool enabled = false;
  std::string attribute;  // its value is a number, the expiry time in Unix seconds
  bool operator==(const TimeToLiveSpecification&) const = default;
};

struct UpdateTimeToLiveRequest {
  std::string table;
  TimeToLiveSpecification specification;
};

struct DescribeTimeToLiveRequest {
  std::string table;
};

struct DescribeTableRequest {
  std::string table;
};

struct DeleteTableRequest {
  std::string table;
};

struct ListTablesRequest {
  std::optional<int64_t> limit = {};  // 1 to 100
  std::optional<std::string> exclusive_start_table = {};
};

// ---- Single items

struct PutItemRequest {
  std::string table;
  Item item;
  std::optional<std::string> condition = {};
  std::optional<Names> names = {};
  std::optional<Values> values = {};
  ReturnValues return_values = ReturnValues::kNone;  // kNone or kAllOld
  ReturnValuesOnConditionCheckFailure on_condition_failure =
      ReturnValuesOnConditionCheckFailure::kNone;
  ReturnConsumedCapacity return_capacity = ReturnConsumedCapacity::kNone;
  ReturnItemCollectionMetrics return_metrics = ReturnItemCollectionMetrics::kNone;
  // The expressions were translated from legacy parameters: limits of expressions do not apply.
  bool legacy = false;
};

struct GetItemRequest {
  std::string table;
  Item key;
  bool consistent_read = false;
  std::optional<std::string> projection = {};
  std::optional<Names> names = {};
  ReturnConsumedCapacity return_capacity = ReturnConsumedCapacity::kNone;
  bool legacy = false;  // see PutItemRequest
};

struct UpdateItemRequest {
  std::string table;
  Item key;
  std::optional<std::string> update = {};
  std::optional<std::string> condition = {};
  std::optional<Names> names = {};
  std::optional<Values> values = {};
  ReturnValues return_values = ReturnValues::kNone;
  ReturnValuesOnConditionCheckFailure on_condition_failure =
      ReturnValuesOnConditionCheckFailure::kNone;
  ReturnConsumedCapacity return_capacity = ReturnConsumedCapacity::kNone;
  ReturnItemCollectionMetrics return_metrics = ReturnItemCollectionMetrics::kNone;
  bool legacy = false;  // see PutItemRequest
};

struct DeleteItemRequest {
  std::string table;
  Item key;
  std::optional<std::string> condition = {};
  std::optional<Names> names = {};
  std::optional<Values> values = {};
  ReturnValues return_values = ReturnValues::kNone;  // kNone or kAllOld
  ReturnValuesOnConditionCheckFailure on_condition_failure =
      ReturnValuesOnConditionCheckFailure::kNone;
  ReturnConsumedCapacity return_capacity = ReturnConsumedCapacity::kNone;
  ReturnItemCollectionMetrics return_metrics = ReturnItemCollectionMetrics::kNone;
  bool legacy = false;  // see PutItemRequest
};

// ---- Ranges

struct QueryRequest {
  std::string table;
  std::optional<std::string> index = {};
  std::optional<std::string> key_condition = {};
  std::optional<std::string> filter = {};
  std::optional<std::string> projection = {};
  std::optional<Names> names = {};
  std::optional<Values> values = {};
  std::optional<Select> select = {};
  std::optional<int64_t> limit = {};  // items examined, 1 or more
  bool forward = true;                // ScanIndexForward
  bool consistent_read = false;
  std::optional<Item> exclusive_start_key = {};
  ReturnConsumedCapacity return_capacity = ReturnConsumedCapacity::kNone;
  bool legacy = false;  // see PutItemRequest
};

struct ScanRequest {
  std::string table;
  std::optional<std::string> index = {};
  std::optional<std::string> filter = {};
  std::optional<std::string> projection = {};
  std::optional<Names> names = {};
  std::optional<Values> values = {};
  std::optional<Select> select = {};
  std::optional<int64_t> limit = {};
  std::optional<int64_t> segment = {};         // 0 to total_segments - 1
  std::optional<int64_t> total_segments = {};  // 1 to 1,000,000
  bool consistent_read = false;
  std::optional<Item> exclusive_start_key = {};
  ReturnConsumedCapacity return_capacity = ReturnConsumedCapacity::kNone;
  bool legacy = false;  // see PutItemRequest
};

// ---- Vectors

struct SearchVectorsRequest {
  std::string table;
  std::string index;
  std::vector<float> vector;  // SearchVector: as many numbers as the index has dimensions
  int64_t top_k = 0;          // 1 to 100
  // Equalities of attributes of the search schema, joined by AND: "tenant = :t AND color = :c".
  std::optional<std::string> condition = {};  // SearchConditionExpression
  std::optional<std::string> projection = {};
  std::optional<Names> names = {};
  std::optional<Values> values = {};
  ReturnConsumedCapacity return_capacity = ReturnConsumedCapacity::kNone;
  // Stator's extension: compares all vectors. Otherwise a search in a large partition can miss some
  // of the nearest ones, see DatabaseOptions::approximate_search_rows.
  bool exact = false;
};

// ---- Batches

struct KeysAndAttributes {
  std::vector<Item> keys;
  bool consistent_read = false;
  std::optional<std::string> projection = {};
  std::optional<Names> names = {};
  bool legacy = false;  // see PutItemRequest
};

struct BatchGetItemRequest {  // up to 100 keys
  std::map<std::string, KeysAndAttributes, std::less<>> items;
  ReturnConsumedCapacity return_capacity = ReturnConsumedCapacity::kNone;
};

struct WriteRequest {  // exactly one of the two
  std::optional<Item> put = {};
  std::optional<Item> delete_key = {};
};

struct BatchWriteItemRequest {  // up to 25 requests
  std::map<std::string, std::vector<WriteRequest>, std::less<>> items;
  ReturnConsumedCapacity return_capacity = ReturnConsumedCapacity::kNone;
  ReturnItemCollectionMetrics return_metrics = ReturnItemCollectionMetrics::kNone;
};

// ---- Transactions

enum class TransactAction { kConditionCheck, kPut, kDelete, kUpdate };

struct TransactWriteItem {
  TransactAction action = TransactAction::kPut;
  std::string table;
  Item item;                               // the item of a put, the key of the others
  std::optional<std::string> update = {};  // kUpdate only
  std::optional<std::string> condition = {};
  std::optional<Names> names = {};
  std::optional<Values> values = {};
  ReturnValuesOnConditionCheckFailure on_condition_failure =
      ReturnValuesOnConditionCheckFailure::kNone;
};

struct TransactWriteItemsRequest {  // up to 100 actions, 4 MB, one action per item
  std::vector<TransactWriteItem> items;
  std::optional<std::string> client_request_token = {};  // 1 to 36 characters
  ReturnConsumedCapacity return_capacity = ReturnConsumedCapacity::kNone;
  ReturnItemCollectionMetrics return_metrics = ReturnItemCollectionMetrics::kNone;
};

struct TransactGetItem {
  std::string table;
  Item key;
  std::optional<std::string> projection = {};
  std::optional<Names> names = {};
};

struct TransactGetItemsRequest {  // up to 100
  std::vector<TransactGetItem> items;
  ReturnConsumedCapacity return_capacity = ReturnConsumedCapacity::kNone;
};

}  // namespace stator
