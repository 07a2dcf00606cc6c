// SPDX-License-Identifier: Apache-2.0
// HttpClient: a Client for any endpoint that speaks DynamoDB's protocol.
//
// Requests are signed (Signature Version 4). Like the AWS SDKs, the client retries after
// throttling, 5xx responses and dropped connections, with jittered exponential backoff. It adds a
// token to each TransactWriteItems request without one, so that retries are idempotent. It checks
// each response against its x-amz-crc32 header and treats a damaged one as a dropped connection.
// Network errors, after the last attempt: kUnavailable (nothing can have been written), kTimeout
// (no response to a read) and kOutcomeUnknown (a write was sent, but its response did not arrive).
// A retried write can see the effect of its own first attempt: a condition such as
// attribute_not_exists then fails although the write succeeded.
// CallLimits (stator/call_limits.h) limit the time that a thread's requests take, and cancel them.
// Thread safety: as Client; threads share connections, which are kept alive.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "stator/client.h"

namespace stator {

struct Credentials {
  std::string access_key_id;
  std::string secret_access_key;
  std::string session_token = {};
};

struct HttpClientOptions {
  std::string endpoint;  // "http://127.0.0.1:8000", "https://dynamodb.eu-west-1.amazonaws.com"
  std::string region = "us-east-1";  // for the signature
  Credentials credentials = {"stator", "stator"};
  std::string ca_file = {};  // PEM certificates to trust over https; empty: the system's
  int max_attempts = 10;     // in total, 1 or more
  std::chrono::milliseconds connect_timeout{3'000};
  std::chrono::milliseconds request_timeout{30'000};  // per attempt
  std::chrono::milliseconds backoff_base{25};
  std::chrono::milliseconds backoff_max{5'000};
};

class HttpClient final : public Client {
 public:
  // Loads libcurl.so.4. Does not connect yet.
  // Errors: kInvalidArgument if the endpoint is not an http or https URL or an option is out of
  // range; kIo if libcurl.so.4 could not be loaded.
  static Result<HttpClient> open(const HttpClientOptions& options);

  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient() override;

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
  struct Impl;
  explicit HttpClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stator
