// SPDX-License-Identifier: Apache-2.0
// The needs of each request, one overload per type. A type without one does not compile in
// protocol/operations.h.
//
// Errors: kValidation for expressions and statements that the engine rejects too; the needs known
// by then are decided first.
#pragma once

#include <string_view>

#include "access/needs.h"
#include "stator/result.h"

namespace stator::access {

// ---- item_needs.cc
Result<void> gather(Needs& needs, const GetItemRequest& request);
Result<void> gather(Needs& needs, const PutItemRequest& request);
Result<void> gather(Needs& needs, const UpdateItemRequest& request);
Result<void> gather(Needs& needs, const DeleteItemRequest& request);
Result<void> gather(Needs& needs, const QueryRequest& request);
Result<void> gather(Needs& needs, const ScanRequest& request);
Result<void> gather(Needs& needs, const SearchVectorsRequest& request);
Result<void> gather(Needs& needs, const BatchGetItemRequest& request);
Result<void> gather(Needs& needs, const BatchWriteItemRequest& request);
Result<void> gather(Needs& needs, const TransactGetItemsRequest& request);
Result<void> gather(Needs& needs, const TransactWriteItemsRequest& request);

// ---- statement_needs.cc
Result<void> gather(Needs& needs, const ExecuteStatementRequest& request);
Result<void> gather(Needs& needs, const BatchExecuteStatementRequest& request);
Result<void> gather(Needs& needs, const ExecuteTransactionRequest& request);

// ---- table_needs.cc
Result<void> gather(Needs& needs, const CreateTableRequest& request);
Result<void> gather(Needs& needs, const DescribeTableRequest& request);
Result<void> gather(Needs& needs, const ListTablesRequest& request);
Result<void> gather(Needs& needs, const DeleteTableRequest& request);
Result<void> gather(Needs& needs, const UpdateTableRequest& request);
Result<void> gather(Needs& needs, const UpdateTimeToLiveRequest& request);
Result<void> gather(Needs& needs, const DescribeTimeToLiveRequest& request);
Result<void> gather(Needs& needs, const ListStreamsRequest& request);
Result<void> gather(Needs& needs, const DescribeStreamRequest& request);
Result<void> gather(Needs& needs, const GetShardIteratorRequest& request);
Result<void> gather(Needs& needs, const GetRecordsRequest& request);

// ---- document_needs.cc
// For an administrative operation. Errors: kAccessDenied for one without a rule.
Result<void> gather(Needs& needs, std::string_view operation, const Item& request);

}  // namespace stator::access
