// SPDX-License-Identifier: Apache-2.0
// Client: the typed DynamoDB API, implemented by Database (in process) and HttpClient (network).
//
// Thread safety: any number of threads can use one client concurrently.
// Errors: one code for each DynamoDB exception; also kTimeout, kUnavailable and kOutcomeUnknown
// from clients that use a network. A failed condition is Code::kConditionalCheckFailed. A cancelled
// transaction is Code::kTransactionCanceled, with one reason per action in `detail`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/requests.h"
#include "stator/statements.h"
#include "stator/streams.h"

namespace stator {

// ---- Results

struct CancellationReason {
  std::string code =
      "None";           // "None", "ConditionalCheckFailed", "ItemCollectionSizeLimitExceeded",
                        // "TransactionConflict", "ProvisionedThroughputExceeded",
                        // "ThrottlingError", "ValidationError"
  std::string message;  // empty if the code is "None"
  std::optional<Item> item = {};
};

struct ThrottlingReason {
  std::string reason;    // such as "TableWriteProvisionedThroughputExceeded"
  std::string resource;  // the ARN of a table or index
  bool operator==(const ThrottlingReason&) const = default;
};

struct ErrorDetail {
  std::optional<Item> item = {};                 // of a failed condition, if requested
  std::vector<CancellationReason> reasons = {};  // of a cancelled transaction, in request order
  std::vector<ThrottlingReason> throttling_reasons = {};  // of a throttled request
};

struct Capacity {  // units; `read` and `write` are set if the endpoint reports them separately
  double units = 0;
  std::optional<double> read = {};
  std::optional<double> write = {};
  bool operator==(const Capacity&) const = default;
};

struct VectorCapacity {  // bytes; a response has one of the two
  std::optional<double> search_bytes = {};
  std::optional<double> write_bytes = {};
  bool operator==(const VectorCapacity&) const = default;
};

struct ConsumedCapacity {
  std::string table;
  Capacity total;
  // Set for ReturnConsumedCapacity::kIndexes only.
  std::optional<Capacity> table_part = {};
  std::map<std::string, Capacity, std::less<>> local_indexes = {};
  std::map<std::string, Capacity, std::less<>> global_indexes = {};
  std::map<std::string, VectorCapacity, std::less<>> vector_indexes = {};
  bool operator==(const ConsumedCapacity&) const = default;
};

struct ItemCollectionMetrics {
  Item key;  // only the partition key
  double size_lower_gb = 0;
  double size_upper_gb = 0;
};
using TableMetrics = std::map<std::string, std::vector<ItemCollectionMetrics>, std::less<>>;

struct ThroughputChanges {  // to provisioned throughput; Unix times
  std::optional<int64_t> increased_ms = {};
  std::optional<int64_t> decreased_ms = {};
  int64_t decreases_today = 0;
  bool operator==(const ThroughputChanges&) const = default;
};

struct IndexDescription {
  IndexDefinition definition;
  TableStatus status = TableStatus::kActive;
  int64_t size_bytes = 0;
  int64_t item_count = 0;
  std::string arn;
  std::optional<bool> backfilling = {};  // while it is being created
  ThroughputChanges throughput_changes = {};
};

struct VectorIndexDescription {
  VectorIndexDefinition definition;
  TableStatus status = TableStatus::kActive;
  int64_t size_bytes = 0;
  int64_t item_count = 0;
  std::string arn;
  std::optional<bool> backfilling = {};  // while it is being created
};

// The origin of a table that was restored or is being restored.
struct RestoreSummary {
  std::optional<std::string> source_backup_arn = {};
  std::optional<std::string> source_table_arn = {};
  int64_t time_ms = 0;  // the point in time that the items are from; Unix time
  bool in_progress = false;

  bool operator==(const RestoreSummary&) const = default;
};

struct TableDescription {
  std::string table;
  std::string id;  // a UUID, never reused
  std::string arn;
  TableStatus status = TableStatus::kActive;
  int64_t created_ms = 0;  // Unix time
  int64_t size_bytes = 0;
  int64_t item_count = 0;
  std::vector<AttributeDefinition> attributes;
  KeySchema key_schema;
  std::vector<IndexDescription> local_indexes;
  std::vector<IndexDescription> global_indexes;
  std::vector<VectorIndexDescription> vector_indexes;
  BillingMode billing_mode = BillingMode::kProvisioned;
  Throughput throughput;  // zero when on demand
  std::optional<OnDemandThroughput> on_demand_throughput = {};
  std::optional<Throughput> warm_throughput = {};
  std::optional<TableClass> table_class = {};
  bool deletion_protection = false;
  ThroughputChanges throughput_changes = {};
  std::optional<int64_t> on_demand_since_ms = {};  // absent: never on demand
  std::optional<int64_t> table_class_changed_ms = {};
  std::optional<EncryptionSpecification> encryption = {};  // set if the table has its own key
  std::optional<StreamSpecification> stream = {};          // absent: no stream is enabled
  std::optional<std::string> latest_stream_arn = {};
  std::optional<std::string> latest_stream_label = {};
  std::optional<RestoreSummary> restore = {};
};

struct CreateTableResult {
  TableDescription table;
};
struct DescribeTableResult {
  TableDescription table;
};
struct DeleteTableResult {
  TableDescription table;  // without its schema, definitions, indexes and creation time
};
struct UpdateTableResult {
  TableDescription table;
};
struct UpdateTimeToLiveResult {
  TimeToLiveSpecification specification;
};
enum class TimeToLiveStatus { kEnabling, kDisabling, kEnabled, kDisabled };
struct DescribeTimeToLiveResult {
  TimeToLiveStatus status = TimeToLiveStatus::kDisabled;
  std::string attribute;  // empty if disabled
};
struct ListTablesResult {
  std::vector<std::string> tables;
  std::optional<std::string> last_evaluated_table = {};
};

// PutItem, UpdateItem, DeleteItem.
struct WriteResult {
  std::optional<Item> attributes = {};  // absent if not requested or if no item existed
  std::optional<ConsumedCapacity> capacity = {};
  std::optional<ItemCollectionMetrics> metrics = {};
};

struct GetItemResult {
  std::optional<Item> item = {};  // absent: the item does not exist
  std::optional<ConsumedCapacity> capacity = {};
};

// Query, Scan.
struct PageResult {
  std::vector<Item> items;                      // empty for Select::kCount
  int64_t count = 0;                            // items after the filter
  int64_t scanned_count = 0;                    // items examined
  std::optional<Item> last_evaluated_key = {};  // absent: this is the last page
  std::optional<ConsumedCapacity> capacity = {};
};

// An item that SearchVectors has found, without its vector unless the projection names it.
struct SearchResult {
  Item item;
  // COSINE: 0 (the same direction) to 2, and 1 for a vector of zeros; EUCLIDEAN: the distance;
  // DOT_PRODUCT: the higher, the nearer.
  float score = 0;
};

struct SearchVectorsResult {
  std::vector<SearchResult> results;  // the nearest first
  std::optional<VectorCapacity> capacity = {};
};

struct BatchGetItemResult {
  std::map<std::string, std::vector<Item>, std::less<>> items;
  std::map<std::string, KeysAndAttributes, std::less<>> unprocessed;
  std::vector<ConsumedCapacity> capacity;
};

struct BatchWriteItemResult {
  std::map<std::string, std::vector<WriteRequest>, std::less<>> unprocessed;
  std::vector<ConsumedCapacity> capacity;
  TableMetrics metrics;
};

struct TransactWriteItemsResult {
  std::vector<ConsumedCapacity> capacity;
  TableMetrics metrics;
};

struct TransactGetItemsResult {
  std::vector<std::optional<Item>> items;  // in request order
  std::vector<ConsumedCapacity> capacity;
};

struct ExecuteStatementResult {
  std::vector<Item> items;  // read by the statement, or returned by its RETURNING clause
  std::optional<std::string> next_token = {};
  std::optional<Item> last_evaluated_key = {};  // absent: this is the last page
  std::optional<ConsumedCapacity> capacity = {};
  std::optional<int64_t> examined = {};  // items examined by a read; only Stator reports it
};

struct BatchExecuteStatementResult {
  std::vector<BatchStatementResult> responses;  // in request order
  std::vector<ConsumedCapacity> capacity;
};

struct ExecuteTransactionResult {
  std::vector<std::optional<Item>> items;  // read, in request order; empty for writes
  std::vector<ConsumedCapacity> capacity;
};

// ---- The client

class Client {
 public:
  virtual ~Client() = default;

  virtual Result<CreateTableResult> create_table(const CreateTableRequest& request) = 0;
  virtual Result<DescribeTableResult> describe_table(const DescribeTableRequest& request) = 0;
  virtual Result<ListTablesResult> list_tables(const ListTablesRequest& request) = 0;
  virtual Result<DeleteTableResult> delete_table(const DeleteTableRequest& request) = 0;
  virtual Result<UpdateTableResult> update_table(const UpdateTableRequest& request) = 0;
  virtual Result<UpdateTimeToLiveResult> update_time_to_live(
      const UpdateTimeToLiveRequest& request) = 0;
  virtual Result<DescribeTimeToLiveResult> describe_time_to_live(
      const DescribeTimeToLiveRequest& request) = 0;

  virtual Result<WriteResult> put_item(const PutItemRequest& request) = 0;
  virtual Result<GetItemResult> get_item(const GetItemRequest& request) = 0;
  virtual Result<WriteResult> update_item(const UpdateItemRequest& request) = 0;
  virtual Result<WriteResult> delete_item(const DeleteItemRequest& request) = 0;

  virtual Result<PageResult> query(const QueryRequest& request) = 0;
  virtual Result<PageResult> scan(const ScanRequest& request) = 0;

  // Finds the items whose vectors are nearest to a vector.
  virtual Result<SearchVectorsResult> search_vectors(const SearchVectorsRequest& request) = 0;

  virtual Result<BatchGetItemResult> batch_get_item(const BatchGetItemRequest& request) = 0;
  virtual Result<BatchWriteItemResult> batch_write_item(const BatchWriteItemRequest& request) = 0;

  virtual Result<TransactWriteItemsResult> transact_write_items(
      const TransactWriteItemsRequest& request) = 0;
  virtual Result<TransactGetItemsResult> transact_get_items(
      const TransactGetItemsRequest& request) = 0;
  virtual Result<ExecuteStatementResult> execute_statement(
      const ExecuteStatementRequest& request) = 0;
  virtual Result<BatchExecuteStatementResult> batch_execute_statement(
      const BatchExecuteStatementRequest& request) = 0;
  virtual Result<ExecuteTransactionResult> execute_transaction(
      const ExecuteTransactionRequest& request) = 0;

  virtual Result<ListStreamsResult> list_streams(const ListStreamsRequest& request) = 0;
  virtual Result<DescribeStreamResult> describe_stream(const DescribeStreamRequest& request) = 0;
  virtual Result<GetShardIteratorResult> get_shard_iterator(
      const GetShardIteratorRequest& request) = 0;
  virtual Result<GetRecordsResult> get_records(const GetRecordsRequest& request) = 0;

  // Executes any operation of DynamoDB or DynamoDB Streams by name ("TagResource"). `json` is the
  // request in the API's JSON form; returns the response as JSON. Use it for operations that do not
  // have a method here.
  // Errors: those of the operation; kSerialization if `json` is malformed; kUnknownOperation.
  virtual Result<std::string> call(std::string_view operation, std::string_view json) = 0;

 protected:
  Client() = default;
  Client(const Client&) = default;
  Client& operator=(const Client&) = default;
  Client(Client&&) = default;
  Client& operator=(Client&&) = default;
};

}  // namespace stator
