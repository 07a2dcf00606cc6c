// SPDX-License-Identifier: Apache-2.0
#include "api/model/messages.h"
#include "api/wire/legacy.h"
#include "api/wire/request_reader.h"
#include "fmt/format.h"

namespace stator::wire {
namespace {

struct PutDraft : PutItemRequest, LegacyParameters {};
struct GetDraft : GetItemRequest, LegacyParameters {};
struct UpdateDraft : UpdateItemRequest, LegacyParameters {};
struct DeleteDraft : DeleteItemRequest, LegacyParameters {};

// The current layer's message does not name this member. UpdateItem reports only this message.
template <class Draft>
void set_return_values(Reader& reader, Json json, Draft& out) {
  const std::string current = fmt::format(messages::kEnumSetAlone, messages::kReturnValuesSet);
  out.return_values = reader.enumeration<ReturnValues>(json, current);
  if constexpr (std::is_same_v<Draft, UpdateDraft>) {
    if (!enum_from_name<ReturnValues>(reader.text(json))) {
      reader.constraints().report_alone(counted(current));
    }
  }
}

// Members are in the order in which DynamoDB reports them.
constexpr Member<PutDraft> kPutItem[] = {
    {"ReturnConsumedCapacity", set_enum<&PutDraft::return_capacity>},
    {"TableName", set_table<&PutDraft::table>, true},
    {"Item", set_item<&PutDraft::item>, true},
    {"ConditionalOperator", set_operator<&PutDraft::conditional_operator>},
    {"ReturnValues", set_return_values<PutDraft>},
    {"ReturnItemCollectionMetrics", set_enum<&PutDraft::return_metrics>},
    {"ConditionExpression", set_text<&PutDraft::condition>},
    {"ExpressionAttributeNames", set_names<&PutDraft::names>},
    {"ExpressionAttributeValues", set_values<&PutDraft::values>},
    {"ReturnValuesOnConditionCheckFailure", set_enum<&PutDraft::on_condition_failure>},
    {"Expected", set_json<&PutDraft::expected>},
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
    {"ReturnConsumedCapacity", set_enum<&UpdateDraft::return_capacity>},
    {"TableName", set_table<&UpdateDraft::table>, true},
    {"ReturnItemCollectionMetrics", set_enum<&UpdateDraft::return_metrics>},
    {"ReturnValues", set_return_values<UpdateDraft>},
    {"ConditionalOperator", set_operator<&UpdateDraft::conditional_operator>},
    {"Key", set_item<&UpdateDraft::key>, true},
    {"UpdateExpression", set_text<&UpdateDraft::update>},
    {"ConditionExpression", set_text<&UpdateDraft::condition>},
    {"ExpressionAttributeNames", set_names<&UpdateDraft::names>},
    {"ExpressionAttributeValues", set_values<&UpdateDraft::values>},
    {"ReturnValuesOnConditionCheckFailure", set_enum<&UpdateDraft::on_condition_failure>},
    {"AttributeUpdates", set_json<&UpdateDraft::attribute_updates>},
    {"Expected", set_json<&UpdateDraft::expected>},
};

constexpr Member<DeleteDraft> kDeleteItem[] = {
    {"ReturnConsumedCapacity", set_enum<&DeleteDraft::return_capacity>},
    {"TableName", set_table<&DeleteDraft::table>, true},
    {"ReturnValues", set_return_values<DeleteDraft>},
    {"ReturnItemCollectionMetrics", set_enum<&DeleteDraft::return_metrics>},
    {"ConditionalOperator", set_operator<&DeleteDraft::conditional_operator>},
    {"Key", set_item<&DeleteDraft::key>, true},
    {"ConditionExpression", set_text<&DeleteDraft::condition>},
    {"ExpressionAttributeNames", set_names<&DeleteDraft::names>},
    {"ExpressionAttributeValues", set_values<&DeleteDraft::values>},
    {"ReturnValuesOnConditionCheckFailure", set_enum<&DeleteDraft::on_condition_failure>},
    {"Expected", set_json<&DeleteDraft::expected>},
};

template <class Draft>
void translate_expected(Draft& draft, LegacyTranslator& translator) {
  if (draft.expected) {
    draft.condition = translator.condition(*draft.expected, draft.conditional_operator);
  } else {
    translator.refuse_operator(draft.conditional_operator);
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
  translate_expected(draft, translator);
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
  translate_expected(draft, translator);
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
