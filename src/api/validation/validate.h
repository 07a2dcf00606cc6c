// SPDX-License-Identifier: Apache-2.0
// Checks of a request that need no table: presence, lengths, patterns, counts, combinations, valid
// attribute values. All requests are checked, in process and over a network.
//
// Errors: kValidation with DynamoDB's message; violated constraints of the model are collected into
// "N validation errors detected: …".
#pragma once

#include <cstddef>

#include "stator/requests.h"
#include "stator/statements.h"
#include "stator/streams.h"

namespace stator {

Result<void> validate(const CreateTableRequest& request);
Result<void> validate(const DescribeTableRequest& request);
Result<void> validate(const ListTablesRequest& request);
Result<void> validate(const DeleteTableRequest& request);
Result<void> validate(const UpdateTableRequest& request);
Result<void> validate(const UpdateTimeToLiveRequest& request);
Result<void> validate(const DescribeTimeToLiveRequest& request);
Result<void> validate(const PutItemRequest& request);
Result<void> validate(const GetItemRequest& request);
Result<void> validate(const UpdateItemRequest& request);
Result<void> validate(const DeleteItemRequest& request);
Result<void> validate(const QueryRequest& request);
Result<void> validate(const ScanRequest& request);
Result<void> validate(const SearchVectorsRequest& request);
Result<void> validate(const BatchGetItemRequest& request);
Result<void> validate(const BatchWriteItemRequest& request);
Result<void> validate(const TransactWriteItemsRequest& request);
Result<void> validate(const TransactGetItemsRequest& request);
Result<void> validate(const ExecuteStatementRequest& request);
Result<void> validate(const BatchExecuteStatementRequest& request);
Result<void> validate(const ExecuteTransactionRequest& request);
Result<void> validate(const ListStreamsRequest& request);
Result<void> validate(const DescribeStreamRequest& request);
Result<void> validate(const GetShardIteratorRequest& request);
Result<void> validate(const GetRecordsRequest& request);

// Checks the expressions of the first actions of a transaction, whose errors have precedence over
// errors of later actions.
Result<void> check_expressions(const TransactWriteItemsRequest& request, std::size_t actions);

// The checks of validate() between the model's constraints and the values: placeholders need an
// expression.
Result<void> check_parameters(const PutItemRequest& request);
Result<void> check_parameters(const GetItemRequest& request);
Result<void> check_parameters(const UpdateItemRequest& request);
Result<void> check_parameters(const DeleteItemRequest& request);
Result<void> check_parameters(const QueryRequest& request);
Result<void> check_parameters(const ScanRequest& request);
Result<void> check_parameters(const BatchGetItemRequest& request);
template <class Request>
Result<void> check_parameters(const Request&) {
  return {};
}

}  // namespace stator
