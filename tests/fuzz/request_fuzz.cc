// SPDX-License-Identifier: Apache-2.0
// Any body as a request of every operation. It gives an error, or a request whose JSON reads back
// to the same request.
#include <algorithm>
#include <boost/pfr/ops_fields.hpp>
#include <concepts>

#include "api/admin/admin_shapes.h"
#include "api/validation/validate.h"
#include "api/wire/wire.h"
#include "base/check.h"

namespace stator {

// Compares all members, including future ones.
template <class T>
  requires(std::same_as<T, KeysAndAttributes> || std::same_as<T, WriteRequest> ||
           std::same_as<T, TransactWriteItem> || std::same_as<T, TransactGetItem> ||
           std::same_as<T, GlobalIndexChange> || std::same_as<T, GlobalIndexUpdate> ||
           std::same_as<T, VectorIndexChange> || std::same_as<T, BatchStatement> ||
           std::same_as<T, ParameterizedStatement> || std::same_as<T, ShardFilter>)
bool operator==(const T& a, const T& b) {
  return boost::pfr::eq_fields(a, b);
}

namespace {

// In JSON, a legacy parameter is the expression to which it was translated.
void forget_legacy(auto& request) {
  if constexpr (requires { request.legacy; }) request.legacy = false;
}
void forget_legacy(BatchGetItemRequest& request) {
  for (auto& [table, wanted] : request.items) forget_legacy(wanted);
}

// A statement with an empty list of parameters is rejected when it runs. Such a list cannot be
// written to JSON.
bool is_whole(const auto&) {
  return true;
}
bool is_whole(const BatchExecuteStatementRequest& request) {
  return std::ranges::all_of(request.statements, [](const BatchStatement& statement) {
    return statement.parameters_fault.empty();
  });
}

template <class Request>
void check(std::string_view body) {
  auto request = wire::read_request<Request>(body);
  if (!request || !is_whole(*request)) return;
  const auto valid = validate(*request);
  const std::string json = wire::to_json(*request);
  const auto again = wire::read_request<Request>(json);
  STATOR_CHECK(again);
  STATOR_CHECK(wire::to_json(*again) == json);
  const auto valid_again = validate(*again);
  STATOR_CHECK(valid.has_value() == valid_again.has_value());
  STATOR_CHECK(valid || valid.error().message == valid_again.error().message);
  forget_legacy(*request);
  STATOR_CHECK(boost::pfr::eq_fields(*request, *again));
}

void check(std::string_view body, const Shape& shape) {
  const auto document = wire::read_document(body, shape);
  STATOR_CHECK(!document || wire::is_json(wire::document_to_json(*document)));
}

}  // namespace
}  // namespace stator

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  stator::check<stator::CreateTableRequest>(body);
  stator::check<stator::DescribeTableRequest>(body);
  stator::check<stator::ListTablesRequest>(body);
  stator::check<stator::DeleteTableRequest>(body);
  stator::check<stator::PutItemRequest>(body);
  stator::check<stator::GetItemRequest>(body);
  stator::check<stator::UpdateItemRequest>(body);
  stator::check<stator::DeleteItemRequest>(body);
  stator::check<stator::QueryRequest>(body);
  stator::check<stator::ScanRequest>(body);
  stator::check<stator::BatchGetItemRequest>(body);
  stator::check<stator::BatchWriteItemRequest>(body);
  stator::check<stator::TransactWriteItemsRequest>(body);
  stator::check<stator::TransactGetItemsRequest>(body);
  stator::check<stator::UpdateTableRequest>(body);
  stator::check<stator::UpdateTimeToLiveRequest>(body);
  stator::check<stator::DescribeTimeToLiveRequest>(body);
  stator::check<stator::ExecuteStatementRequest>(body);
  stator::check<stator::BatchExecuteStatementRequest>(body);
  stator::check<stator::ExecuteTransactionRequest>(body);
  stator::check<stator::ListStreamsRequest>(body);
  stator::check<stator::DescribeStreamRequest>(body);
  stator::check<stator::GetShardIteratorRequest>(body);
  stator::check<stator::GetRecordsRequest>(body);
  stator::check(body, stator::shapes::kNothing);
  stator::check(body, stator::shapes::kTagResource);
  stator::check(body, stator::shapes::kUntagResource);
  stator::check(body, stator::shapes::kListTagsOfResource);
  stator::check(body, stator::shapes::kPutResourcePolicy);
  stator::check(body, stator::shapes::kGetResourcePolicy);
  stator::check(body, stator::shapes::kDeleteResourcePolicy);
  stator::check(body, stator::shapes::kCreateBackup);
  stator::check(body, stator::shapes::kBackupArn);
  stator::check(body, stator::shapes::kListBackups);
  stator::check(body, stator::shapes::kRestoreTableFromBackup);
  stator::check(body, stator::shapes::kTableName);
  stator::check(body, stator::shapes::kUpdateContinuousBackups);
  stator::check(body, stator::shapes::kRestoreTableToPointInTime);
  stator::check(body, stator::shapes::kCreateGlobalTable);
  stator::check(body, stator::shapes::kGlobalTableName);
  stator::check(body, stator::shapes::kListGlobalTables);
  stator::check(body, stator::shapes::kUpdateGlobalTable);
  stator::check(body, stator::shapes::kUpdateGlobalTableSettings);
  stator::check(body, stator::shapes::kKinesisDestination);
  stator::check(body, stator::shapes::kDescribeContributorInsights);
  stator::check(body, stator::shapes::kListContributorInsights);
  stator::check(body, stator::shapes::kUpdateContributorInsights);
  stator::check(body, stator::shapes::kUpdateTableReplicaAutoScaling);
  stator::check(body, stator::shapes::kExportTableToPointInTime);
  stator::check(body, stator::shapes::kExportArn);
  stator::check(body, stator::shapes::kListExports);
  stator::check(body, stator::shapes::kImportTable);
  stator::check(body, stator::shapes::kStartBulkPutItems);
  stator::check(body, stator::shapes::kImportArn);
  stator::check(body, stator::shapes::kListImports);
  return 0;
}
