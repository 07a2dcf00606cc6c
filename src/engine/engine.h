// SPDX-License-Identifier: Apache-2.0
// Engine: DynamoDB's operations on a Store.
//
// Thread safety: every method may be called from any thread at once.
// Consistency: single-item operations are linearizable, transactions serializable; a page and a
// TransactGetItems read one state. Index entries commit with their item.
// Blocking: reads and table operations answer on the calling thread. Writes are evaluated on the
// calling thread and never wait there for the disk: `done` runs exactly once, on the calling thread
// or the store's, once the outcome is as durable as the store promises. It must not block.
// Lifetime: requests are borrowed for the call only. Destruction waits for writes under way.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "api/responses.h"
#include "base/clock.h"
#include "base/log_level.h"
#include "stator/client.h"
#include "storage/store.h"

namespace stator {

namespace admin {
struct Operation;
}

template <class T>
using Done = std::move_only_function<void(Result<T>)>;

struct EngineOptions {
  const Clock* clock = &system_clock();  // must outlive the engine
  std::string region = "us-east-1";      // of ARNs
  std::string account = "000000782867";
  // Its directories stand for S3's buckets; empty: there are none.
  std::filesystem::path buckets = {};
  // Told of what no answer tells, such as why an item was not imported; from any thread.
  std::function<void(LogLevel, const std::string&)> report = {};
  // How often expired items are looked for, by the machine's time; zero: when told only.
  std::chrono::milliseconds sweep_interval{1000};
  // Of an item collection. See collections.h.
  int64_t collection_bytes_max = 10LL << 30;
  // Pause before a failed step of a job is tried again, by the failures in a row; empty: see
  // jobs.h.
  std::function<std::chrono::milliseconds(int failures)> retry_delay = {};
  // How often Engine::tend() is done without being told, by the machine's time; zero: never.
  std::chrono::milliseconds tend_interval{60'000};
};

struct EngineStats {
  std::size_t tables = 0;
  std::size_t jobs = 0;          // running, waiting or pausing
  std::size_t failing_jobs = 0;  // whose last step failed
  std::chrono::milliseconds oldest_job{0};
};

class Engine {
 public:
  // kCorruption where the store holds no Stator catalogue that this version can read.
  static Result<std::unique_ptr<Engine>> open(std::unique_ptr<Store> store,
                                              const EngineOptions& options = {});
  ~Engine();

  Result<CreateTableResult> create_table(const CreateTableRequest& request);
  Result<DescribeTableResult> describe_table(const DescribeTableRequest& request);
  Result<ListTablesResult> list_tables(const ListTablesRequest& request);
  Result<DeleteTableResult> delete_table(const DeleteTableRequest& request);
  Result<UpdateTableResult> update_table(const UpdateTableRequest& request);
  Result<UpdateTimeToLiveResult> update_time_to_live(const UpdateTimeToLiveRequest& request);
  Result<DescribeTimeToLiveResult> describe_time_to_live(const DescribeTimeToLiveRequest& request);

  Result<GetItemResponse> get_item(const GetItemRequest& request);
  Result<PageResponse> query(const QueryRequest& request);
  Result<PageResponse> scan(const ScanRequest& request);
  Result<BatchGetItemResponse> batch_get_item(const BatchGetItemRequest& request);
  Result<TransactGetItemsResponse> transact_get_items(const TransactGetItemsRequest& request);

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

  // One of engine/administration.h. The request is of the operation's shape.
  Result<Item> administer(const admin::Operation& operation, const Item& request);

  // Deletes the items that have expired by now; returns how many. Not from a callback.
  std::size_t sweep_expired();
  Result<ListStreamsResult> list_streams(const ListStreamsRequest& request);
  Result<DescribeStreamResult> describe_stream(const DescribeStreamRequest& request);
  Result<GetShardIteratorResult> get_shard_iterator(const GetShardIteratorRequest& request);
  Result<GetRecordsResponse> get_records(const GetRecordsRequest& request);

  // Does at once what is otherwise done by and by as time passes: shards are closed and new ones
  // opened, what is too old erased (records of changes, tokens), failed jobs tried again. For tests
  // with a clock of their own.
  void tend();

  Store& store();
  EngineStats stats() const;

  struct Impl;  // engine_impl.h, for this folder
  Impl& impl() { return *impl_; }

 private:
  explicit Engine(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stator
