// SPDX-License-Identifier: Apache-2.0
#include "api/legacy.h"
#include "api/messages.h"
#include "api/request_reader.h"

namespace stator::wire {
namespace {

struct PutDraft : PutItemRequest, LegacyParameters {};
struct GetDraft : GetItemRequest, LegacyParameters {};
struct UpdateDraft : UpdateItemRequest, LegacyParameters {};
struct DeleteDraft : DeleteItemRequest, LegacyParameters {};

constexpr Member<PutDraft> kPutItem[] = {
    {"TableName", set_table<&PutDraft::table>, true},
    {"Item", set_item<&PutDraft::item>, true},
    {"ConditionExpression", set_text<&PutDraft::condition>},
    {"ExpressionAttributeNames", set_names<&PutDraft::names>},
    {"ExpressionAttributeValues", set_values<&PutDraft::values>},
    {"ReturnValues", set_enum<&PutDraft::return_values>},
    {"ReturnValuesOnConditionCheckFailure", set_enum<&PutDraft::on_condition_failure>},
    {"ReturnConsumedCapacity", set_enum<&PutDraft::return_capacity>},
    {"ReturnItemCollectionMetrics", set_enum<&PutDraft::return_metrics>},
    {"Expected", set_json<&PutDraft::expected>},
    {"ConditionalOperator", set_json<&PutDraft::conditional_operator>},
};

constexpr Member<GetDraft> kGetItem[] = {
    {"TableName", set_table<&GetDraft::table>, true},
    {"Key", set_item<&GetDraft::key>, true},
    {"ConsistentRead", set_boolean<&GetDraft::consistent_read>},
    {"ProjectionExpression", set_text<&GetDraft::projection>},
    {"ExpressionAttributeNames", set_names<&GetDraft::names>},
    {"ReturnConsumedCapacity", set_enum<&GetDraft::return_capacity>},
    {"AttributesToGet", set_json<&GetDraft::attributes_to_get>},
};

constexpr Member<UpdateDraft> kUpdateItem[] = {
    {"TableName", set_table<&UpdateDraft::table>, true},
    {"Key", set_item<&UpdateDraft::key>, true},
    {"UpdateExpression", set_text<&UpdateDraft::update>},
    {"ConditionExpression", set_text<&UpdateDraft::condition>},
    {"ExpressionAttributeNames", set_names<&UpdateDraft::names>},
    {"ExpressionAttributeValues", set_values<&UpdateDraft::values>},
    {"ReturnValues", set_enum<&UpdateDraft::return_values>},
    {"ReturnValuesOnConditionCheckFailure", set_enum<&UpdateDraft::on_condition_failure>},
    {"ReturnConsumedCapacity", set_enum<&UpdateDraft::return_capacity>},
    {"ReturnItemCollectionMetrics", set_enum<&UpdateDraft::return_metrics>},
    {"AttributeUpdates", set_json<&UpdateDraft::attribute_updates>},
    {"Expected", set_json<&UpdateDraft::expected>},
    {"ConditionalOperator", set_json<&UpdateDraft::conditional_operator>},
};

constexpr Member<DeleteDraft> kDeleteItem[] = {
    {"TableName", set_table<&DeleteDraft::table>, true},
    {"Key", set_item<&DeleteDraft::key>, true},
    {"ConditionExpression", set_text<&DeleteDraft::condition>},
    {"ExpressionAttributeNames", set_names<&DeleteDraft::names>},
    {"ExpressionAttributeValues", set_values<&DeleteDraft::values>},
    {"ReturnValues", set_enum<&DeleteDraft::return_values>},
    {"ReturnValuesOnConditionCheckFailure", set_enum<&DeleteDraft::on_condition_failure>},
    {"ReturnConsumedCapacity", set_enum<&DeleteDraft::return_capacity>},
    {"ReturnItemCollectionMetrics", set_enum<&DeleteDraft::return_metrics>},
    {"Expected", set_json<&DeleteDraft::expected>},
    {"ConditionalOperator", set_json<&DeleteDraft::conditional_operator>},
};

template <class Draft>
void translate_expected(Reader& reader, Draft& draft, LegacyTranslator& translator) {
  if (draft.expected) {
    draft.condition = translator.condition(*draft.expected, draft.conditional_operator);
  } else if (draft.conditional_operator) {
    reader.fail(Code::kValidation, messages::kOperatorAlone);
  }
}

// PutItem and DeleteItem.
template <class Draft>
void translate_condition(Reader& reader, Draft& draft) {
  if (!uses_legacy(reader, {{"ConditionExpression", draft.condition.has_value()}},
                   {{"Expected", draft.expected.has_value()},
                    {"ConditionalOperator", draft.conditional_operator.has_value()}},
                   draft.names.has_value(), draft.values.has_value())) {
    return;
  }
  draft.legacy = true;
  LegacyTranslator translator(reader, draft.names, &draft.values);
  translate_expected(reader, draft, translator);
}

void translate_update(Reader& reader, UpdateDraft& draft) {
  if (!uses_legacy(reader,
                   {{"UpdateExpression", draft.update.has_value()},
                    {"ConditionExpression", draft.condition.has_value()}},
                   {{"AttributeUpdates", draft.attribute_updates.has_value()},
                    {"Expected", draft.expected.has_value()},
                    {"ConditionalOperator", draft.conditional_operator.has_value()}},
                   draft.names.has_value(), draft.values.has_value())) {
    return;
  }
  draft.legacy = true;
  LegacyTranslator translator(reader, draft.names, &draft.values);
  if (draft.attribute_updates) draft.update = translator.update(*draft.attribute_updates);
  translate_expected(reader, draft, translator);
}

}  // namespace

template <>
Result<PutItemRequest> read_request(std::string_view json) {
  return read_document<PutItemRequest>(json, kPutItem, translate_condition<PutDraft>);
}

template <>
Result<GetItemRequest> read_request(std::string_view json) {
  return read_document<GetItemRequest>(json, kGetItem, translate_projection<GetDraft>);
}

template <>
Result<UpdateItemRequest> read_request(std::string_view json) {
  return read_document<UpdateItemRequest>(json, kUpdateItem, translate_update);
}

template <>
Result<DeleteItemRequest> read_request(std::string_view json) {
  return read_document<DeleteItemRequest>(json, kDeleteItem, translate_condition<DeleteDraft>);
}

}  // namespace stator::wire
