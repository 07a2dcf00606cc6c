// SPDX-License-Identifier: Apache-2.0
#include "api/wire/legacy.h"
#include "api/wire/request_reader.h"
#include "expression/messages.h"

namespace stator::wire {
namespace {

struct QueryDraft : QueryRequest, LegacyParameters {};
struct ScanDraft : ScanRequest, LegacyParameters {};

// `filter` is qualified because QueryRequest and LegacyParameters both have this member.
constexpr Member<QueryDraft> kQuery[] = {
    {"TableName", set_table<&QueryDraft::table>, true},
    {"IndexName", set_text<&QueryDraft::index>},
    {"KeyConditionExpression", set_text<&QueryDraft::key_condition>},
    {"FilterExpression", set_text<&QueryRequest::filter>},
    {"ProjectionExpression", set_text<&QueryDraft::projection>},
    {"ExpressionAttributeNames", set_names<&QueryDraft::names>},
    {"ExpressionAttributeValues", set_values<&QueryDraft::values>},
    {"Select", set_enum<&QueryDraft::select>},
    {"Limit", set_integer<&QueryDraft::limit>},
    {"ScanIndexForward", set_boolean<&QueryDraft::forward>},
    {"ConsistentRead", set_boolean<&QueryDraft::consistent_read>},
    {"ExclusiveStartKey", set_start_key<&QueryDraft::exclusive_start_key>},
    {"ReturnConsumedCapacity", set_enum<&QueryDraft::return_capacity>},
    {"KeyConditions", set_json<&QueryDraft::key_conditions>},
    {"QueryFilter", set_json<&LegacyParameters::filter>},
    {"AttributesToGet", set_json<&QueryDraft::attributes_to_get>},
    {"ConditionalOperator", set_operator<&QueryDraft::conditional_operator>},
};

constexpr Member<ScanDraft> kScan[] = {
    {"TableName", set_table<&ScanDraft::table>, true},
    {"IndexName", set_text<&ScanDraft::index>},
    {"FilterExpression", set_text<&ScanRequest::filter>},
    {"ProjectionExpression", set_text<&ScanDraft::projection>},
    {"ExpressionAttributeNames", set_names<&ScanDraft::names>},
    {"ExpressionAttributeValues", set_values<&ScanDraft::values>},
    {"Select", set_enum<&ScanDraft::select>},
    {"Limit", set_integer<&ScanDraft::limit>},
    {"Segment", set_integer<&ScanDraft::segment>},
    {"TotalSegments", set_integer<&ScanDraft::total_segments>},
    {"ConsistentRead", set_boolean<&ScanDraft::consistent_read>},
    {"ExclusiveStartKey", set_start_key<&ScanDraft::exclusive_start_key>},
    {"ReturnConsumedCapacity", set_enum<&ScanDraft::return_capacity>},
    {"ScanFilter", set_json<&LegacyParameters::filter>},
    {"AttributesToGet", set_json<&ScanDraft::attributes_to_get>},
    {"ConditionalOperator", set_operator<&ScanDraft::conditional_operator>},
};

// The filter and the projection, which Query and Scan share.
template <class Request>
void translate_range(Request& request, const LegacyParameters& legacy, std::string_view filter_name,
                     LegacyTranslator& translator) {
  if (legacy.filter) {
    request.filter = translator.filter(filter_name, *legacy.filter, legacy.conditional_operator);
  } else {
    translator.refuse_operator(legacy.conditional_operator);
  }
  if (legacy.attributes_to_get) {
    request.projection = translator.projection(*legacy.attributes_to_get);
  }
}

// Translating legacy parameters adds placeholders. Later checks would then find no empty map.
void refuse_empty_placeholders(Reader& reader, const QueryRequest& request) {
  const Reader::At at(reader, Stage::kExpressions);
  if (request.names && request.names->empty()) {
    reader.fail(Code::kValidation, expression::message::kNamesEmpty);
  }
  if (request.values && request.values->empty()) {
    reader.fail(Code::kValidation, expression::message::kValuesEmpty);
  }
}

void translate_query(Reader& reader, QueryDraft& draft) {
  QueryRequest& request = draft;
  const LegacyParameters& legacy = draft;
  const bool has_expression = request.projection || request.filter || request.key_condition;
  if (!uses_legacy(reader,
                   {{"ProjectionExpression", request.projection.has_value()},
                    {"FilterExpression", request.filter.has_value()},
                    {"KeyConditionExpression", request.key_condition.has_value()}},
                   {{"AttributesToGet", legacy.attributes_to_get.has_value()},
                    {"QueryFilter", legacy.filter.has_value()},
                    {"ConditionalOperator", legacy.conditional_operator.has_value()},
                    {"KeyConditions", legacy.key_conditions.has_value()}},
                   request.names.has_value(), request.values.has_value())) {
    return;
  }
  request.legacy = !has_expression;
  if (has_expression) refuse_empty_placeholders(reader, request);
  LegacyTranslator translator(reader, request.names, &request.values);
  if (legacy.key_conditions) {
    request.key_condition = translator.key_condition(*legacy.key_conditions);
  }
  translate_range(request, legacy, "QueryFilter", translator);
}

void translate_scan(Reader& reader, ScanDraft& draft) {
  ScanRequest& request = draft;
  const LegacyParameters& legacy = draft;
  if (!uses_legacy(reader,
                   {{"ProjectionExpression", request.projection.has_value()},
                    {"FilterExpression", request.filter.has_value()}},
                   {{"AttributesToGet", legacy.attributes_to_get.has_value()},
                    {"ScanFilter", legacy.filter.has_value()},
                    {"ConditionalOperator", legacy.conditional_operator.has_value()}},
                   request.names.has_value(), request.values.has_value())) {
    return;
  }
  request.legacy = true;
  LegacyTranslator translator(reader, request.names, &request.values);
  translate_range(request, legacy, "ScanFilter", translator);
}

}  // namespace

template <>
Result<QueryRequest> read_request(std::string_view json) {
  return read_document<QueryRequest>(json, kQuery, translate_query);
}

template <>
Result<ScanRequest> read_request(std::string_view json) {
  return read_document<ScanRequest>(json, kScan, translate_scan);
}

}  // namespace stator::wire
