// SPDX-License-Identifier: Apache-2.0
// Engine: DynamoDB's operations on a TransactStore.
//
// Thread safety: every method may be called from any thread at once.
// Consistency: single-item operations are linearizable, transactions serializable; a page and a
// TransactGetItems read one state. Index entries commit with their item.
// Blocking: operations with a `done` never wait for the disk or the network of a write, nor for
// the network of a read (docs/decisions/0030-one-form-of-reads.md). `done` runs exactly once, on
// the calling thread or on one of the engine or the store: once a write is as durable as the store
// promises, or a read is complete. It must not block. On a store of one process, a read calls
// `done` before it returns. Operations that return a result do so on the calling thread; if
// is_shared(), they wait for the store.
// Lifetime: requests are borrowed for the call, and until `done` has run if is_shared().
// Destruction waits for operations under way.
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
};

class Engine {
 public:
  // kCorruption where the store holds no Stator catalog that this version can read.
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
  // Takes long: on a store of one process within the call.
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

  // One of engine/admin/administration.h. The request is of the operation's shape.
  Result<Item> administer(const admin::Operation& operation, const Item& request);

  // Deletes the items that have expired by now; returns how many. Not from a callback.
  std::size_t sweep_expired();
  Result<ListStreamsResult> list_streams(const ListStreamsRequest& request);
  Result<DescribeStreamResult> describe_stream(const DescribeStreamRequest& request);
  Result<GetShardIteratorResult> get_shard_iterator(const GetShardIteratorRequest& request);
  void get_records(const GetRecordsRequest& request, Done<GetRecordsResponse> done);

  // Does at once what is otherwise done by and by as time passes: shards are closed and new ones
  // opened, what is too old erased (records of changes, tokens), failed jobs tried again. For tests
  // with a clock of their own.
  void run_maintenance();

  TransactStore& store();
  bool is_shared() const;  // by several processes, which can change the data
  EngineStats stats() const;

  JobEngine& parts();  // engine/jobs/job_engine.h, for access control and tests

 private:
  struct Impl;
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stator
