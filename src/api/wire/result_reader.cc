// SPDX-License-Identifier: Apache-2.0
// Reads responses about items from JSON.
#include "api/wire/result_reader.h"
#include "api/wire/batch_shapes.h"
#include "api/wire/wire.h"

namespace stator::wire {
namespace {

constexpr Member<Capacity> kCapacity[] = {
    {"CapacityUnits", set_real<&Capacity::units>},
    {"ReadCapacityUnits", set_real<&Capacity::read>},
    {"WriteCapacityUnits", set_real<&Capacity::write>},
};

template <auto member, const auto& table, class T>
void set_index_capacity(Reader& reader, Json json, T& out) {
  reader.entries(json, [&](std::string_view name, Json entry) {
    reader.members(entry, table, (out.*member)[std::string(name)]);
  });
}

template <auto member>
void set_total(Reader& reader, Json json, ConsumedCapacity& out) {
  out.total.*member = reader.real(json);
}

constexpr Member<VectorCapacity> kVectorCapacity[] = {
    {"VectorSearchRequestBytes", set_real<&VectorCapacity::search_bytes>},
    {"VectorWriteRequestBytes", set_real<&VectorCapacity::write_bytes>},
};

constexpr Member<ConsumedCapacity> kConsumedCapacity[] = {
    {"TableName", set_text<&ConsumedCapacity::table>},
    {"CapacityUnits", set_total<&Capacity::units>},
    {"ReadCapacityUnits", set_total<&Capacity::read>},
    {"WriteCapacityUnits", set_total<&Capacity::write>},
    {"Table", set_structure<&ConsumedCapacity::table_part, kCapacity>},
    {"LocalSecondaryIndexes", set_index_capacity<&ConsumedCapacity::local_indexes, kCapacity>},
    {"GlobalSecondaryIndexes", set_index_capacity<&ConsumedCapacity::global_indexes, kCapacity>},
    {"VectorIndexes", set_index_capacity<&ConsumedCapacity::vector_indexes, kVectorCapacity>},
};

void set_size_range(Reader& reader, Json json, ItemCollectionMetrics& out) {
  std::vector<double> bounds;
  reader.elements(json, [&](Json bound) { bounds.push_back(reader.real(bound)); });
  if (bounds.size() < 2) return;
  out.size_lower_gb = bounds[0];
  out.size_upper_gb = bounds[1];
}

constexpr Member<ItemCollectionMetrics> kMetrics[] = {
    {"ItemCollectionKey", set_item<&ItemCollectionMetrics::key>},
    {"SizeEstimateRangeGB", set_size_range},
};

template <auto member, class T>
void set_table_metrics(Reader& reader, Json json, T& out) {
  reader.entries(json, [&](std::string_view table, Json list) {
    auto& collections = (out.*member)[std::string(table)];
    reader.elements(
        list, [&](Json element) { reader.members(element, kMetrics, collections.emplace_back()); });
  });
}

constexpr Member<WriteResult> kWriteResult[] = {
    {"Attributes", set_item<&WriteResult::attributes>},
    {"ConsumedCapacity", set_structure<&WriteResult::capacity, kConsumedCapacity>},
    {"ItemCollectionMetrics", set_structure<&WriteResult::metrics, kMetrics>},
};

constexpr Member<GetItemResult> kGetItemResult[] = {
    {"Item", set_item<&GetItemResult::item>},
    {"ConsumedCapacity", set_structure<&GetItemResult::capacity, kConsumedCapacity>},
};

constexpr Member<PageResult> kPageResult[] = {
    {"Items", set_items<&PageResult::items>},
    {"Count", set_long<&PageResult::count>},
    {"ScannedCount", set_long<&PageResult::scanned_count>},
    {"LastEvaluatedKey", set_item<&PageResult::last_evaluated_key>},
    {"ConsumedCapacity", set_structure<&PageResult::capacity, kConsumedCapacity>},
};

void set_score(Reader& reader, Json json, SearchResult& out) {
  out.score = static_cast<float>(reader.real(json));
}
constexpr Member<SearchResult> kSearchResult[] = {
    {"Item", set_item<&SearchResult::item>},
    {"Score", set_score},
};

constexpr Member<SearchVectorsResult> kSearchVectorsResult[] = {
    {"SearchResults", set_list<&SearchVectorsResult::results, kSearchResult>},
    {"ConsumedCapacity", set_structure<&SearchVectorsResult::capacity, kVectorCapacity>},
};

void set_responses(Reader& reader, Json json, BatchGetItemResult& out) {
  reader.entries(json, [&](std::string_view table, Json items) {
    out.items.insert_or_assign(std::string(table), reader.items(items));
  });
}

constexpr Member<BatchGetItemResult> kBatchGetItemResult[] = {
    {"Responses", set_responses},
    {"UnprocessedKeys", set_keys_by_table<&BatchGetItemResult::unprocessed>},
    {"ConsumedCapacity", set_list<&BatchGetItemResult::capacity, kConsumedCapacity>},
};

constexpr Member<BatchWriteItemResult> kBatchWriteItemResult[] = {
    {"UnprocessedItems", set_requests_by_table<&BatchWriteItemResult::unprocessed>},
    {"ItemCollectionMetrics", set_table_metrics<&BatchWriteItemResult::metrics>},
    {"ConsumedCapacity", set_list<&BatchWriteItemResult::capacity, kConsumedCapacity>},
};

constexpr Member<TransactWriteItemsResult> kTransactWriteItemsResult[] = {
    {"ConsumedCapacity", set_list<&TransactWriteItemsResult::capacity, kConsumedCapacity>},
    {"ItemCollectionMetrics", set_table_metrics<&TransactWriteItemsResult::metrics>},
};

struct ItemResponse {
  std::optional<Item> item;
};
constexpr Member<ItemResponse> kItemResponse[] = {{"Item", set_item<&ItemResponse::item>}};

template <class T>
void set_item_responses(Reader& reader, Json json, T& out) {
  reader.elements(json, [&](Json element) {
    ItemResponse response;
    reader.members(element, kItemResponse, response);
    out.items.push_back(std::move(response.item));
  });
}

constexpr Member<TransactGetItemsResult> kTransactGetItemsResult[] = {
    {"Responses", set_item_responses<TransactGetItemsResult>},
    {"ConsumedCapacity", set_list<&TransactGetItemsResult::capacity, kConsumedCapacity>},
};

constexpr Member<ExecuteTransactionResult> kExecuteTransactionResult[] = {
    {"Responses", set_item_responses<ExecuteTransactionResult>},
    {"ConsumedCapacity", set_list<&ExecuteTransactionResult::capacity, kConsumedCapacity>},
};

constexpr Member<ExecuteStatementResult> kExecuteStatementResult[] = {
    {"Items", set_items<&ExecuteStatementResult::items>},
    {"NextToken", set_text<&ExecuteStatementResult::next_token>},
    {"LastEvaluatedKey", set_item<&ExecuteStatementResult::last_evaluated_key>},
    {"ConsumedCapacity", set_structure<&ExecuteStatementResult::capacity, kConsumedCapacity>},
};

constexpr Member<StatementError> kStatementError[] = {
    {"Code", set_text<&StatementError::code>},
    {"Message", set_text<&StatementError::message>},
    {"Item", set_item<&StatementError::item>},
};

constexpr Member<BatchStatementResult> kBatchStatementResult[] = {
    {"Error", set_structure<&BatchStatementResult::error, kStatementError>},
    {"TableName", set_text<&BatchStatementResult::table>},
    {"Item", set_item<&BatchStatementResult::item>},
};

constexpr Member<BatchExecuteStatementResult> kBatchExecuteStatementResult[] = {
    {"Responses", set_list<&BatchExecuteStatementResult::responses, kBatchStatementResult>},
    {"ConsumedCapacity", set_list<&BatchExecuteStatementResult::capacity, kConsumedCapacity>},
};

// ---- Errors

constexpr Member<CancellationReason> kReason[] = {
    {"Code", set_text<&CancellationReason::code>},
    {"Message", set_text<&CancellationReason::message>},
    {"Item", set_item<&CancellationReason::item>},
};

constexpr Member<ThrottlingReason> kThrottlingReason[] = {
    {"reason", set_text<&ThrottlingReason::reason>},
    {"resource", set_text<&ThrottlingReason::resource>},
};

struct ErrorDraft : ErrorDetail {
  std::string type;
  std::string message;
};

constexpr Member<ErrorDraft> kError[] = {
    {"__type", set_text<&ErrorDraft::type>},
    {"message", set_text<&ErrorDraft::message>},
    {"Message", set_text<&ErrorDraft::message>},
    {"Item", set_item<&ErrorDraft::item>},
    {"CancellationReasons", set_list<&ErrorDraft::reasons, kReason>},
    {"ThrottlingReasons", set_list<&ErrorDraft::throttling_reasons, kThrottlingReason>},
    {"throttlingReasons", set_list<&ErrorDraft::throttling_reasons, kThrottlingReason>},
};

Code code_of(std::string_view type, int status) {
  type.remove_prefix(type.rfind('#') + 1);  // npos + 1 is 0
  for (int i = 0; i <= static_cast<int>(Code::kServiceUnavailable); ++i) {
    const auto code = static_cast<Code>(i);
    if (type == code_name(code)) return code;
  }
  // Undocumented names that DynamoDB also uses.
  if (type == "InternalFailure" || type == "InternalServerErrorException") {
    return Code::kInternalServerError;
  }
  if (type == "ServiceUnavailableException") return Code::kServiceUnavailable;
  if (type == "AccessDenied" || type == "ExpiredTokenException") return Code::kAccessDenied;
  if (type == "MissingAuthenticationToken") return Code::kMissingAuthenticationToken;
  if (type == "InvalidClientTokenId") return Code::kUnrecognizedClient;
  if (type == "ThrottledException" || type == "TooManyRequestsException") return Code::kThrottling;
  if (status == 503) return Code::kServiceUnavailable;
  return status >= 500 ? Code::kInternalServerError : Code::kValidation;
}

}  // namespace

template <>
Result<WriteResult> read_result(std::string_view json) {
  return read_answer(json, kWriteResult);
}
template <>
Result<GetItemResult> read_result(std::string_view json) {
  return read_answer(json, kGetItemResult);
}
template <>
Result<PageResult> read_result(std::string_view json) {
  return read_answer(json, kPageResult);
}
template <>
Result<SearchVectorsResult> read_result(std::string_view json) {
  return read_answer(json, kSearchVectorsResult);
}
template <>
Result<BatchGetItemResult> read_result(std::string_view json) {
  return read_answer(json, kBatchGetItemResult);
}
template <>
Result<BatchWriteItemResult> read_result(std::string_view json) {
  return read_answer(json, kBatchWriteItemResult);
}
template <>
Result<TransactWriteItemsResult> read_result(std::string_view json) {
  return read_answer(json, kTransactWriteItemsResult);
}
template <>
Result<TransactGetItemsResult> read_result(std::string_view json) {
  return read_answer(json, kTransactGetItemsResult);
}

template <>
Result<ExecuteStatementResult> read_result(std::string_view json) {
  return read_answer(json, kExecuteStatementResult);
}
template <>
Result<BatchExecuteStatementResult> read_result(std::string_view json) {
  return read_answer(json, kBatchExecuteStatementResult);
}
template <>
Result<ExecuteTransactionResult> read_result(std::string_view json) {
  return read_answer(json, kExecuteTransactionResult);
}

Error read_error(int status, std::string_view json) {
  ErrorDraft draft;
  Reader reader;
  if (const Result<Document> document = Document::parse(json)) {
    reader.members(document->root(), kError, draft);
  }
  Error error{.code = code_of(draft.type, status), .message = std::move(draft.message)};
  if (error.message.empty()) error.message = "HTTP status " + std::to_string(status);
  if (draft.item || !draft.reasons.empty() || !draft.throttling_reasons.empty()) {
    error.detail = std::make_shared<const ErrorDetail>(std::move(draft));
  }
  return error;
}

}  // namespace stator::wire
