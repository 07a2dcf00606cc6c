// SPDX-License-Identifier: Apache-2.0
#include "api/messages.h"
#include "api/request_reader.h"

namespace stator::wire {
namespace {

// One of the four kinds of actions: a put has an Item, the others a Key.
struct ActionDraft : TransactWriteItem {
  std::optional<Item> given_item;
  std::optional<Item> given_key;
};

constexpr Member<ActionDraft> kAction[] = {
    {"TableName", set_table<&ActionDraft::table>, true},
    {"Item", set_item<&ActionDraft::given_item>},
    {"Key", set_item<&ActionDraft::given_key>},
    {"UpdateExpression", set_text<&ActionDraft::update>},
    {"ConditionExpression", set_text<&ActionDraft::condition>},
    {"ExpressionAttributeNames", set_names<&ActionDraft::names>},
    {"ExpressionAttributeValues", set_values<&ActionDraft::values>},
    {"ReturnValuesOnConditionCheckFailure", set_enum<&ActionDraft::on_condition_failure>},
};

struct ElementDraft {
  TransactWriteItem action;
  int actions = 0;
};

std::string member_path(TransactAction action, std::string_view member) {
  constexpr std::string_view kNames[] = {"conditionCheck", "put", "delete", "update"};
  return std::string(kNames[static_cast<std::size_t>(action)]).append(".").append(member);
}

template <TransactAction action>
void set_action(Reader& reader, Json json, ElementDraft& out) {
  ActionDraft draft;
  reader.members(json, kAction, draft);
  const bool is_put = action == TransactAction::kPut;
  std::optional<Item>& given = is_put ? draft.given_item : draft.given_key;
  if (!given) reader.missing(member_path(action, is_put ? "item" : "key"));
  if (action != TransactAction::kUpdate) draft.update.reset();
  if (given) draft.item = std::move(*given);
  draft.action = action;
  out.action = std::move(draft);
  ++out.actions;
}

constexpr Member<ElementDraft> kElement[] = {
    {"ConditionCheck", set_action<TransactAction::kConditionCheck>},
    {"Put", set_action<TransactAction::kPut>},
    {"Delete", set_action<TransactAction::kDelete>},
    {"Update", set_action<TransactAction::kUpdate>},
};

void set_actions(Reader& reader, Json json, TransactWriteItemsRequest& out) {
  reader.elements(json, [&](Json element) {
    ElementDraft draft;
    reader.members(element, kElement, draft);
    if (draft.actions != 1) {
      return reader.fail(Code::kValidation, messages::kOneAction);
    }
    out.items.push_back(std::move(draft.action));
  });
}

struct GetDraft {
  std::optional<TransactGetItem> get;
};

constexpr Member<TransactGetItem> kGet[] = {
    {"TableName", set_table<&TransactGetItem::table>, true},
    {"Key", set_item<&TransactGetItem::key>, true},
    {"ProjectionExpression", set_text<&TransactGetItem::projection>},
    {"ExpressionAttributeNames", set_names<&TransactGetItem::names>},
};

constexpr Member<GetDraft> kGetElement[] = {
    {"Get", set_structure<&GetDraft::get, kGet>, true},
};

void set_gets(Reader& reader, Json json, TransactGetItemsRequest& out) {
  reader.elements(json, [&](Json element) {
    GetDraft draft;
    reader.members(element, kGetElement, draft);
    if (draft.get) out.items.push_back(std::move(*draft.get));
  });
}

constexpr Member<TransactWriteItemsRequest> kTransactWriteItems[] = {
    {"TransactItems", set_actions, true},
    {"ClientRequestToken", set_text<&TransactWriteItemsRequest::client_request_token>},
    {"ReturnConsumedCapacity", set_enum<&TransactWriteItemsRequest::return_capacity>},
    {"ReturnItemCollectionMetrics", set_enum<&TransactWriteItemsRequest::return_metrics>},
};

constexpr Member<TransactGetItemsRequest> kTransactGetItems[] = {
    {"TransactItems", set_gets, true},
    {"ReturnConsumedCapacity", set_enum<&TransactGetItemsRequest::return_capacity>},
};

}  // namespace

template <>
Result<TransactWriteItemsRequest> read_request(std::string_view json) {
  return read_document(json, kTransactWriteItems);
}

template <>
Result<TransactGetItemsRequest> read_request(std::string_view json) {
  return read_document(json, kTransactGetItems);
}

}  // namespace stator::wire
