// SPDX-License-Identifier: Apache-2.0
// Engine: DynamoDB's operations on a TransactStore.
//
// Thread safety: every method can be called from any thread at once.
// Consistency: single-item operations are linearizable, transactions serializable; a page and a
// TransactGetItems read one state. Index entries commit with their item.
// Blocking: without a WaitPermit, an operation with a `done` does not wait. Exception: a read of a
// local store waits for the disk (docs/decisions/0030-one-form-of-reads.md). An operation that
// returns a result can wait for the store.
// Callbacks: `done` runs exactly once, when a write is as durable as the store promises or a read
// is complete. It runs on the calling thread or on a thread of the engine or the store, without
// locks held, and must not block. On a store of one process, a read calls it before it returns.
// Lifetime: requests are borrowed for the call; if is_shared(), until `done` has run. The
// destructor waits for operations in progress.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "api/model/responses.h"
#include "engine/core/engine_core.h"
#include "stator/client.h"
#include "storage/transact_store.h"

namespace stator {

namespace admin {
struct Operation;
}
struct JobEngine;

struct EngineStats {
  std::size_t tables = 0;
  std::size_t jobs = 0;          // running, waiting or pausing
  std::size_t failing_jobs = 0;  // whose last step failed
  std::chrono::milliseconds oldest_job{0};
  std::size_t vector_cache_bytes = 0;
  std::size_t vector_cache_bytes_max = 0;
  std::size_t vector_graph_rows = 0;
  std::size_t vector_graph_builds = 0;  // in progress
};

class Engine {
 public:
  // Errors: the store's; kCorruption if the store has no Stator catalog that this version can read.
  static Result<std::unique_ptr<Engine>> open(std::unique_ptr<TransactStore> store,
                                              const EngineOptions& options = {});
  ~Engine();

  Result<CreateTableResult> create_table(const CreateTableRequest& request);
  Result<DescribeTableResult> describe_table(const DescribeTableRequest& request);
  Result<ListTablesResult> list_tables(const ListTablesRequest& request);
  Result<DeleteTableResult> delete_table(const DeleteTableRequest& request);
  Result<UpdateTableResult> update_table(const UpdateTableRequest& request);
  Result<UpdateTimeToLiveResult> update_time_to_live(const UpdateTimeToLiveRequest& request);
  Result<DescribeTimeToLiveResult> describe_time_to_live(const DescribeTimeToLiveRequest& request);

  void get_item(const GetItemRequest& request, Done<GetItemResponse> done);
  void query(const QueryRequest& request, Done<PageResponse> done);
  void scan(const ScanRequest& request, Done<PageResponse> done);
  // The same for callers in C++: the items are decoded where the store has them, without a copy.
  void get_item_result(const GetItemRequest& request, Done<GetItemResult> done);
  void query_result(const QueryRequest& request, Done<PageResult> done);
  void scan_result(const ScanRequest& request, Done<PageResult> done);
  // Can take seconds. On a store of one process, the search runs within the call.
  void search_vectors(const SearchVectorsRequest& request, Done<SearchVectorsResponse> done);
  void batch_get_item(const BatchGetItemRequest& request, Done<BatchGetItemResponse> done);
  void transact_get_items(const TransactGetItemsRequest& request,
                          Done<TransactGetItemsResponse> done);

  void put_item(const PutItemRequest& request, Done<WriteResponse> done);
  void update_item(const UpdateItemRequest& request, Done<WriteResponse> done);
  void delete_item(const DeleteItemRequest& request, Done<WriteResponse> done);
  void batch_write_item(const BatchWriteItemRequest& request, Done<BatchWriteItemResult> done);
  void transact_write_items(const TransactWriteItemsRequest& request,
                            Done<TransactWriteItemsResult> done);

  void execute_statement(const ExecuteStatementRequest& request, Done<StatementResponse> done);
  void batch_execute_statement(const BatchExecuteStatementRequest& request,
                               Done<BatchExecuteStatementResult> done);
  void execute_transaction(const ExecuteTransactionRequest& request,
                           Done<ExecuteTransactionResult> done);

  // Executes an operation of engine/admin/administration.h. The request has the operation's shape.
  Result<Item> administer(const admin::Operation& operation, const Item& request);

  // Deletes the items that have expired, and returns their number. Must not be called from a
  // callback.
  std::size_t sweep_expired();
  Result<ListStreamsResult> list_streams(const ListStreamsRequest& request);
  Result<DescribeStreamResult> describe_stream(const DescribeStreamRequest& request);
  Result<GetShardIteratorResult> get_shard_iterator(const GetShardIteratorRequest& request);
  void get_records(const GetRecordsRequest& request, Done<GetRecordsResponse> done);

  // Runs the periodic maintenance now: closes shards and opens new ones, deletes expired change
  // records and tokens, retries failed jobs. For tests with their own clock.
  void run_maintenance();

  TransactStore& store();
  bool is_shared() const;  // whether other processes can use the store
  EngineStats stats() const;
  // That of the store. Also not writable if a newer version of Stator has raised the data's format.
  StoreHealth health() const;

  JobEngine& parts();  // engine/jobs/job_engine.h, for access control and tests

 private:
  struct Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stator
