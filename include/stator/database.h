// SPDX-License-Identifier: Apache-2.0
// Database: DynamoDB's tables in this process, in a directory or in memory.
//
// A Database is a Client: what runs on it runs on HttpClient and against Amazon DynamoDB.
// Thread safety: as Client. In a child after fork(), item reads and writes fail; do not destroy it
// there. Lifetime: destruction waits for writes under way.
// Durability: see Durability; every acknowledged write obeys it, and none is half applied.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "stator/client.h"

namespace stator {

class Engine;
class TransactStore;

enum class Durability {
  kSync,  // an acknowledged write survives loss of power
  kOs,    // an acknowledged write survives the end of the process, not of the operating system
};

struct DatabaseOptions {
  std::filesystem::path path = {};  // empty: in memory, gone with the Database
  Durability durability = Durability::kSync;
  bool create_if_missing = true;
  // Memory for parts of the directory that were read, filled as they are. 0: an eighth of what the
  // process may use, but 64 MB to 8 GB.
  std::size_t cache_bytes = 0;
  // A directory whose directories stand for S3's buckets, for imports and exports; empty: none.
  std::filesystem::path buckets = {};
};

class Database final : public Client {
 public:
  // kLocked when another process has the directory open, kCorruption when it is damaged or no
  // Stator directory, kIo when the file system refuses.
  static Result<Database> open(const DatabaseOptions& options = {});

  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database() override;

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

  // The writes for those who do not wait: each returns once its write is evaluated and queued, and
  // `done` runs exactly once, when the outcome is as durable as promised, or earlier where nothing
  // was written. It runs on the calling thread or on one of the database's, and must neither block
  // nor call what does. Requests are borrowed for the call only.
  template <class T>
  using Done = std::move_only_function<void(Result<T>)>;
  void put_item(const PutItemRequest& request, Done<WriteResult> done);
  void update_item(const UpdateItemRequest& request, Done<WriteResult> done);
  void delete_item(const DeleteItemRequest& request, Done<WriteResult> done);
  void batch_write_item(const BatchWriteItemRequest& request, Done<BatchWriteItemResult> done);
  void transact_write_items(const TransactWriteItemsRequest& request,
                            Done<TransactWriteItemsResult> done);

  // Copies everything, as it is at one moment, to a directory that does not exist yet and that can
  // be opened as a Database. Writes go on meanwhile. On the same file system the copy shares its
  // table files with the original, so it costs little, and does not outlive the disk.
  // kInvalidArgument in memory; kIo where the file system refuses.
  Result<void> backup(const std::filesystem::path& directory);

 private:
  friend Result<Database> open_database_on(std::unique_ptr<TransactStore> store);
  friend Database database_on(std::unique_ptr<Engine> engine);
  struct Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stator
