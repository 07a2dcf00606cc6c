// SPDX-License-Identifier: Apache-2.0
#include "support/counting_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace stator::examples {
namespace {

double units(const std::optional<ConsumedCapacity>& capacity) {
  return capacity ? capacity->total.units : 0;
}

double units(const std::vector<ConsumedCapacity>& capacities) {
  double sum = 0;
  for (const ConsumedCapacity& capacity : capacities) sum += capacity.total.units;
  return sum;
}

template <class Request>
Request metered(Request request) {
  request.return_capacity = ReturnConsumedCapacity::kTotal;
  return request;
}

// DynamoDB requires that the statements of a request all read or all write.
bool is_read(std::string_view first_statement) {
  constexpr std::string_view kSelect = "select";
  const std::size_t begin =
      std::min(first_statement.find_first_not_of(" \t\r\n"), first_statement.size());
  return std::ranges::equal(first_statement.substr(begin, kSelect.size()), kSelect, {},
                            [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
}

template <class Statement>
bool is_read(const std::vector<Statement>& statements) {
  return !statements.empty() && is_read(statements.front().statement);
}

}  // namespace

Cost Cost::operator-(const Cost& earlier) const {
  Cost difference = *this;
  difference.requests -= earlier.requests;
  difference.read_units -= earlier.read_units;
  difference.write_units -= earlier.write_units;
  difference.refused -= earlier.refused;
  for (const auto& [operation, count] : earlier.by_operation) {
    int64_t& left = difference.by_operation[operation];
    left -= count;
    if (left == 0) difference.by_operation.erase(operation);
  }
  return difference;
}

std::string Cost::text() const {
  std::string operations;
  for (const auto& [operation, count] : by_operation) {
    operations += fmt::format("{}{} {}", operations.empty() ? "" : ", ", count, operation);
  }
  std::string text = fmt::format("{} requests ({}), {:.1f} write units, {:.1f} read units",
                                 requests, operations, write_units, read_units);
  if (refused > 0) text += fmt::format(", and {} writes refused by their conditions", refused);
  return text;
}

Cost CountingClient::cost() const {
  const std::scoped_lock lock(mutex_);
  return cost_;
}

void CountingClient::count(const char* operation, double read_units, double write_units) {
  const std::scoped_lock lock(mutex_);
  ++cost_.requests;
  ++cost_.by_operation[operation];
  cost_.read_units += read_units;
  cost_.write_units += write_units;
}

template <class T>
void CountingClient::count_write(const char* operation, const Result<T>& result) {
  count(operation, 0, result ? units(result->capacity) : 0);
  if (result) return;
  const Code code = result.error().code;
  if (code != Code::kConditionalCheckFailed && code != Code::kTransactionCanceled) return;
  const std::scoped_lock lock(mutex_);
  ++cost_.refused;
}

template <class T>
void CountingClient::count_statements(const char* operation, bool reads, const Result<T>& result) {
  if (!reads) return count_write(operation, result);
  count(operation, result ? units(result->capacity) : 0, 0);
}

Result<CreateTableResult> CountingClient::create_table(const CreateTableRequest& request) {
  count("CreateTable", 0, 0);
  return inner_.create_table(request);
}

Result<DescribeTableResult> CountingClient::describe_table(const DescribeTableRequest& request) {
  count("DescribeTable", 0, 0);
  return inner_.describe_table(request);
}

Result<ListTablesResult> CountingClient::list_tables(const ListTablesRequest& request) {
  count("ListTables", 0, 0);
  return inner_.list_tables(request);
}

Result<DeleteTableResult> CountingClient::delete_table(const DeleteTableRequest& request) {
  count("DeleteTable", 0, 0);
  return inner_.delete_table(request);
}

Result<UpdateTableResult> CountingClient::update_table(const UpdateTableRequest& request) {
  count("UpdateTable", 0, 0);
  return inner_.update_table(request);
}

Result<UpdateTimeToLiveResult> CountingClient::update_time_to_live(
    const UpdateTimeToLiveRequest& request) {
  count("UpdateTimeToLive", 0, 0);
  return inner_.update_time_to_live(request);
}

Result<DescribeTimeToLiveResult> CountingClient::describe_time_to_live(
    const DescribeTimeToLiveRequest& request) {
  count("DescribeTimeToLive", 0, 0);
  return inner_.describe_time_to_live(request);
}

Result<WriteResult> CountingClient::put_item(const PutItemRequest& request) {
  auto result = inner_.put_item(metered(request));
  count_write("PutItem", result);
  return result;
}

Result<GetItemResult> CountingClient::get_item(const GetItemRequest& request) {
  auto result = inner_.get_item(metered(request));
  count("GetItem", result ? units(result->capacity) : 0, 0);
  return result;
}

Result<WriteResult> CountingClient::update_item(const UpdateItemRequest& request) {
  auto result = inner_.update_item(metered(request));
  count_write("UpdateItem", result);
  return result;
}

Result<WriteResult> CountingClient::delete_item(const DeleteItemRequest& request) {
  auto result = inner_.delete_item(metered(request));
  count_write("DeleteItem", result);
  return result;
}

Result<PageResult> CountingClient::query(const QueryRequest& request) {
  auto result = inner_.query(metered(request));
  count("Query", result ? units(result->capacity) : 0, 0);
  return result;
}

Result<PageResult> CountingClient::scan(const ScanRequest& request) {
  auto result = inner_.scan(metered(request));
  count("Scan", result ? units(result->capacity) : 0, 0);
  return result;
}

// The capacity of a search is in bytes, not in units.
Result<SearchVectorsResult> CountingClient::search_vectors(const SearchVectorsRequest& request) {
  count("SearchVectors", 0, 0);
  return inner_.search_vectors(request);
}

Result<BatchGetItemResult> CountingClient::batch_get_item(const BatchGetItemRequest& request) {
  auto result = inner_.batch_get_item(metered(request));
  count("BatchGetItem", result ? units(result->capacity) : 0, 0);
  return result;
}

Result<BatchWriteItemResult> CountingClient::batch_write_item(
    const BatchWriteItemRequest& request) {
  auto result = inner_.batch_write_item(metered(request));
  count_write("BatchWriteItem", result);
  return result;
}

Result<TransactWriteItemsResult> CountingClient::transact_write_items(
    const TransactWriteItemsRequest& request) {
  auto result = inner_.transact_write_items(metered(request));
  count_write("TransactWriteItems", result);
  return result;
}

Result<TransactGetItemsResult> CountingClient::transact_get_items(
    const TransactGetItemsRequest& request) {
  auto result = inner_.transact_get_items(metered(request));
  count("TransactGetItems", result ? units(result->capacity) : 0, 0);
  return result;
}

Result<ExecuteStatementResult> CountingClient::execute_statement(
    const ExecuteStatementRequest& request) {
  auto result = inner_.execute_statement(metered(request));
  count_statements("ExecuteStatement", is_read(request.statement), result);
  return result;
}

Result<BatchExecuteStatementResult> CountingClient::batch_execute_statement(
    const BatchExecuteStatementRequest& request) {
  auto result = inner_.batch_execute_statement(metered(request));
  count_statements("BatchExecuteStatement", is_read(request.statements), result);
  return result;
}

Result<ExecuteTransactionResult> CountingClient::execute_transaction(
    const ExecuteTransactionRequest& request) {
  auto result = inner_.execute_transaction(metered(request));
  count_statements("ExecuteTransaction", is_read(request.statements), result);
  return result;
}

Result<ListStreamsResult> CountingClient::list_streams(const ListStreamsRequest& request) {
  count("ListStreams", 0, 0);
  return inner_.list_streams(request);
}

Result<DescribeStreamResult> CountingClient::describe_stream(const DescribeStreamRequest& request) {
  count("DescribeStream", 0, 0);
  return inner_.describe_stream(request);
}

Result<GetShardIteratorResult> CountingClient::get_shard_iterator(
    const GetShardIteratorRequest& request) {
  count("GetShardIterator", 0, 0);
  return inner_.get_shard_iterator(request);
}

Result<GetRecordsResult> CountingClient::get_records(const GetRecordsRequest& request) {
  count("GetRecords", 0, 0);
  return inner_.get_records(request);
}

// Counts no units: they are only in the JSON of the response, if requested.
Result<std::string> CountingClient::call(std::string_view operation, std::string_view json) {
  count(std::string(operation).c_str(), 0, 0);
  return inner_.call(operation, json);
}

}  // namespace stator::examples
