// SPDX-License-Identifier: Apache-2.0
// AWS JSON 1.0 for DynamoDB: reads and writes requests and responses.
//
// Every function is pure. read_* take one untrusted document; the caller limits its size. Legacy
// parameters (Expected, AttributeUpdates, KeyConditions, QueryFilter, ScanFilter, AttributesToGet,
// ConditionalOperator) are translated into expressions here; the layers below do not see them.
// Unknown members are ignored, as in DynamoDB. Errors: kSerialization for malformed JSON and
// members of a wrong JSON type; kValidation for invalid values.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Operations_Amazon_DynamoDB.html
#pragma once

#include <string>
#include <string_view>

#include "api/model/responses.h"
#include "stator/client.h"

namespace stator::wire {

// ---- Server side: reads requests, writes responses. T is a request of stator/requests.h.
template <class T>
Result<T> read_request(std::string_view json);  // specialized in the .cc for every request type

std::string to_json(const CreateTableResult& result);
std::string to_json(const DescribeTableResult& result);
std::string to_json(const ListTablesResult& result);
std::string to_json(const DeleteTableResult& result);
std::string to_json(const UpdateTableResult& result);
std::string to_json(const UpdateTimeToLiveResult& result);
std::string to_json(const DescribeTimeToLiveResult& result);
std::string to_json(const WriteResponse& response);
std::string to_json(const GetItemResponse& response);
std::string to_json(const PageResponse& response);
std::string to_json(const SearchVectorsResponse& response);
std::string to_json(const BatchGetItemResponse& response);
std::string to_json(const BatchWriteItemResult& result);
std::string to_json(const TransactWriteItemsResult& result);
std::string to_json(const TransactGetItemsResponse& response);
std::string to_json(const StatementResponse& response);
std::string to_json(const BatchExecuteStatementResult& result);
std::string to_json(const ExecuteTransactionResult& result);
std::string to_json(const ListStreamsResult& result);
std::string to_json(const DescribeStreamResult& result);
std::string to_json(const GetShardIteratorResult& result);
std::string to_json(const GetRecordsResponse& response);

// For responses that contain a table's description, as documents (api/admin/document.h).
Item to_document(const TableDescription& table);

// Stator's own codes, such as kIo, have no meaning to remote clients. The first two functions
// replace them as the third one does.
std::string error_to_json(const Error& error);  // {"__type": …, "message": …}, Error::detail
int http_status(Code code);
Code public_code(Code code);
// Replaces the message of an internal error, which can contain a path or an address.
inline constexpr std::string_view kInternalErrorMessage =
    "The request processing has failed because of an unknown error, exception or failure.";

// ---- Client side: writes requests, reads responses. T is a result of stator/client.h.
std::string to_json(const CreateTableRequest& request);
std::string to_json(const DescribeTableRequest& request);
std::string to_json(const ListTablesRequest& request);
std::string to_json(const DeleteTableRequest& request);
std::string to_json(const UpdateTableRequest& request);
std::string to_json(const UpdateTimeToLiveRequest& request);
std::string to_json(const DescribeTimeToLiveRequest& request);
std::string to_json(const PutItemRequest& request);
std::string to_json(const GetItemRequest& request);
std::string to_json(const UpdateItemRequest& request);
std::string to_json(const DeleteItemRequest& request);
std::string to_json(const QueryRequest& request);
std::string to_json(const ScanRequest& request);
std::string to_json(const SearchVectorsRequest& request);
std::string to_json(const BatchGetItemRequest& request);
std::string to_json(const BatchWriteItemRequest& request);
std::string to_json(const TransactWriteItemsRequest& request);
std::string to_json(const TransactGetItemsRequest& request);
std::string to_json(const ExecuteStatementRequest& request);
std::string to_json(const BatchExecuteStatementRequest& request);
std::string to_json(const ExecuteTransactionRequest& request);
std::string to_json(const ListStreamsRequest& request);
std::string to_json(const DescribeStreamRequest& request);
std::string to_json(const GetShardIteratorRequest& request);
std::string to_json(const GetRecordsRequest& request);

template <class T>
Result<T> read_result(std::string_view json);  // specialized in the .cc for every result type
// The error in a response whose status is not 200. If the body is not that of an AWS error, for
// example because a proxy sent it, the code follows from the status.
Error read_error(int status, std::string_view json);

}  // namespace stator::wire
