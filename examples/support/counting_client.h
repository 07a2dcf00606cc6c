// SPDX-License-Identifier: Apache-2.0
// CountingClient: a client that counts the requests and capacity units of another client.
//
// Sets ReturnConsumedCapacity on requests that consume units.
// Thread safety: as Client.
// Lifetime: borrows the other client.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "stator/client.h"

namespace stator::examples {

struct Cost {
  int64_t requests = 0;
  double read_units = 0;
  double write_units = 0;
  // Writes whose condition failed: DynamoDB charges for them, but does not report how much.
  int64_t refused = 0;
  std::map<std::string, int64_t> by_operation = {};

  Cost operator-(const Cost& earlier) const;
  // "120 requests (100 PutItem, 20 Query), 90.0 write units, 20.0 read units, and 10 refused".
  std::string text() const;
};

class CountingClient final : public Client {
 public:
  explicit CountingClient(Client& inner) : inner_(inner) {}

  Cost cost() const;

  Result<CreateTableResult> create_table(const CreateTableRequest& request) override;
  Result<DescribeTableResult> describe_table(const DescribeTableRequest& request) override;
  Result<ListTablesResult> list_tables(const ListTablesRequest& request) override;
  Result<DeleteTableResult> delete_table(const DeleteTableRequest& request) override;
  Result<UpdateTableResult> update_table(const UpdateTableRequest& request) override;
  Result<UpdateTimeToLiveResult> update_time_to_live(
      const UpdateTimeToLiveRequest& request) override;
  Result<DescribeTimeToLiveResult> describe_time_to_live(
      const DescribeTimeToLiveRequest& request) override;
  Result<WriteResult> put_item(const PutItemRequest& request) override;
  Result<GetItemResult> get_item(const GetItemRequest& request) override;
  Result<WriteResult> update_item(const UpdateItemRequest& request) override;
  Result<WriteResult> delete_item(const DeleteItemRequest& request) override;
  Result<PageResult> query(const QueryRequest& request) override;
  Result<PageResult> scan(const ScanRequest& request) override;
  Result<SearchVectorsResult> search_vectors(const SearchVectorsRequest& request) override;
  Result<BatchGetItemResult> batch_get_item(const BatchGetItemRequest& request) override;
  Result<BatchWriteItemResult> batch_write_item(const BatchWriteItemRequest& request) override;
  Result<TransactWriteItemsResult> transact_write_items(
      const TransactWriteItemsRequest& request) override;
  Result<TransactGetItemsResult> transact_get_items(
      const TransactGetItemsRequest& request) override;
  Result<ExecuteStatementResult> execute_statement(const ExecuteStatementRequest& request) override;
  Result<BatchExecuteStatementResult> batch_execute_statement(
      const BatchExecuteStatementRequest& request) override;
  Result<ExecuteTransactionResult> execute_transaction(
      const ExecuteTransactionRequest& request) override;
  Result<ListStreamsResult> list_streams(const ListStreamsRequest& request) override;
  Result<DescribeStreamResult> describe_stream(const DescribeStreamRequest& request) override;
  Result<GetShardIteratorResult> get_shard_iterator(
      const GetShardIteratorRequest& request) override;
  Result<GetRecordsResult> get_records(const GetRecordsRequest& request) override;
  Result<std::string> call(std::string_view operation, std::string_view json) override;

 private:
  void count(const char* operation, double read_units, double write_units);
  template <class T>
  void count_write(const char* operation, const Result<T>& result);
  template <class T>
  void count_statements(const char* operation, bool reads, const Result<T>& result);

  Client& inner_;
  mutable std::mutex mutex_;
  Cost cost_;  // guarded by mutex_
};

}  // namespace stator::examples
