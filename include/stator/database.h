// SPDX-License-Identifier: Apache-2.0
// Database: a Client whose tables are in this process, stored in a directory or in memory, or in
// PostgreSQL, where other processes use them too (docs/cluster.md).
//
// Code written for Client also runs on HttpClient and against Amazon DynamoDB.
// Thread safety: as Client. After fork(), item reads and writes fail in the child, and the child
// must not destroy the Database.
// Lifetime: the destructor waits for writes in progress. Their callbacks must not use a Database
// that is being destroyed.
// Durability: every acknowledged write is as durable as DatabaseOptions::durability states, or as
// PostgreSQL's synchronous_commit. Writes are atomic.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stator/client.h"

namespace stator {

class Engine;
class TransactStore;

enum class Durability {
  kSync,  // an acknowledged write survives loss of power
  kOs,    // an acknowledged write survives a process crash, but not an operating system crash
};

struct DatabaseOptions {
  // A directory. Empty, without `store`: in memory, lost when the Database is destroyed.
  std::filesystem::path path = {};
  // Instead of a path: postgresql://USER@HOST:PORT/DATABASE or postgres://…, as libpq reads it,
  // with special characters encoded (%40). A missing password is read from PGPASSWORD or ~/.pgpass.
  // `stator cluster init` prepares the database.
  std::string store = {};
  std::string schema = {};  // of the store: lower-case letters, digits and '_'; empty: "stator"
  // The next three concern a directory only.
  Durability durability = Durability::kSync;
  bool create_if_missing = true;
  // Size limit of the cache of data read from the directory. 0: one eighth of the memory that the
  // process may use, at least 8 MB and at most 8 GB. A quarter of it is for items that are read
  // again. The rest includes the indexes and filters of all files, which stay in memory: about 1.3
  // bytes per item and 45 bytes per 16 KB of data.
  std::size_t cache_bytes = 0;
  // Size limit, in bytes, of the vectors that are kept in memory because they are searched often. A
  // vector takes about 100 bytes and a byte for each component. 0: the default of `cache_bytes`.
  // Not used in PostgreSQL.
  std::size_t vector_cache_bytes = 0;
  // A thread builds a graph for a partition of a vector index that has at least this many vectors
  // in this memory and is searched often. Searches then return most of the nearest vectors: about
  // 99% if they resemble embeddings, fewer with kDotProduct if their lengths differ. Requests with
  // `exact` compare all vectors. 0: never.
  std::size_t approximate_search_rows = 50'000;
  // Imports and exports use each subdirectory of this directory as an S3 bucket. Empty: imports
  // and exports are unavailable.
  std::filesystem::path buckets = {};
  // Injects faults for the tests of an application: rules in JSON, see docs/testing.md. "{}": no
  // rules yet. Absent: off.
  std::optional<std::string> test_mode = {};
};

class Database final : public Client {
 public:
  // Errors: kLocked if another process has the directory open; kCorruption if the directory is
  // damaged or is not a Stator directory; kIo if a file system call fails, `path` is not a
  // directory, or it has no data and `create_if_missing` is false; kInvalidArgument for invalid
  // rules of the test mode. Errors with `store`: kInvalidArgument for an invalid URL, a path in
  // addition to it, an unsuitable server or a newer version; kNotFound if the schema is not
  // initialized; kAccessDenied if the role lacks privileges; kUnavailable if the server cannot be
  // reached or accepts no writes; kIo without libpq. Messages name the remedy and contain no
  // password.
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

  // Asynchronous writes. Each returns once its write is evaluated and queued. `done` runs exactly
  // once: when the write is durable, or earlier if nothing was written. It runs on the calling
  // thread or on a thread of the database, with no locks held; it must not block or call anything
  // that blocks. The request is borrowed only until the method returns.
  template <class T>
  using Done = std::move_only_function<void(Result<T>)>;
  void put_item(const PutItemRequest& request, Done<WriteResult> done);
  void update_item(const UpdateItemRequest& request, Done<WriteResult> done);
  void delete_item(const DeleteItemRequest& request, Done<WriteResult> done);
  void batch_write_item(const BatchWriteItemRequest& request, Done<BatchWriteItemResult> done);
  void transact_write_items(const TransactWriteItemsRequest& request,
                            Done<TransactWriteItemsResult> done);

  // Copies the database, as of one point in time, to a directory that must not exist yet and that
  // can be opened as a Database. Writes continue during the copy. On the same file system, the copy
  // shares table files with the original: it is cheap, but is lost together with the disk.
  // Errors: kInvalidArgument for a database in memory or in PostgreSQL; kIo if a file system call
  // fails.
  Result<void> backup(const std::filesystem::path& directory);

  // Replaces the rules of the test mode; their counts begin at 0.
  // Errors: kInvalidArgument for invalid rules, and for a Database opened without test mode.
  Result<void> set_test_mode(std::string_view rules);
  // The rules with their counts, and the seed, in JSON. Errors: kInvalidArgument without test mode.
  Result<std::string> test_mode() const;

 private:
  friend Result<Database> open_database_on(std::unique_ptr<TransactStore> store);
  friend Database database_on(std::unique_ptr<Engine> engine);
  struct Impl;
  explicit Database(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stator
