// SPDX-License-Identifier: Apache-2.0
#include "api/model/messages.h"
#include "api/wire/request_reader.h"

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

// With the first action that has an invalid value, and its error message. Errors of earlier actions
// are reported first.
struct TransactWriteDraft : TransactWriteItemsRequest {
  std::string fault;
  std::size_t faulty = 0;
};

void set_actions(Reader& reader, Json json, TransactWriteDraft& out) {
  reader.elements(json, [&](Json element) {
    ElementDraft draft;
    std::string fault = reader.fault_of([&] { reader.members(element, kElement, draft); });
    if (draft.actions != 1 && !reader.failed()) fault = messages::kOneAction;
    if (out.fault.empty() && !fault.empty()) {
      out.fault = std::move(fault);
      out.faulty = out.items.size();
    }
    // What is not an action keeps the places of those that follow. The request is refused anyway.
    if (draft.actions == 0) draft.action.table = "none";
    out.items.push_back(std::move(draft.action));
  });
}

void report_fault(Reader& reader, const TransactWriteDraft& draft) {
  if (draft.fault.empty()) return;
  const auto earlier = check_expressions(draft, draft.faulty);
  reader.fail(Code::kValidation, earlier ? draft.fault : earlier.error().message);
}

struct TransactGetDraft {
  std::optional<TransactGetItem> get;
};

constexpr Member<TransactGetItem> kGet[] = {
    {"TableName", set_table<&TransactGetItem::table>, true},
    {"Key", set_item<&TransactGetItem::key>, true},
    {"ProjectionExpression", set_text<&TransactGetItem::projection>},
    {"ExpressionAttributeNames", set_names<&TransactGetItem::names>},
};

constexpr Member<TransactGetDraft> kGetElement[] = {
    {"Get", set_structure<&TransactGetDraft::get, kGet>, true},
};

void set_gets(Reader& reader, Json json, TransactGetItemsRequest& out) {
  reader.elements(json, [&](Json element) {
    TransactGetDraft draft;
    reader.members(element, kGetElement, draft);
    out.items.push_back(std::move(draft.get).value_or(TransactGetItem()));
  });
}

// An invalid token is reported first.
constexpr Member<TransactWriteDraft> kTransactWriteItems[] = {
    {"ClientRequestToken", set_text<&TransactWriteDraft::client_request_token>},
    {"ReturnConsumedCapacity", set_enum<&TransactWriteDraft::return_capacity>},
    {"ReturnItemCollectionMetrics", set_enum<&TransactWriteDraft::return_metrics>},
    {"TransactItems", set_actions, true},
};

constexpr Member<TransactGetItemsRequest> kTransactGetItems[] = {
    {"TransactItems", set_gets, true},
    {"ReturnConsumedCapacity", set_enum<&TransactGetItemsRequest::return_capacity>},
};

}  // namespace

template <>
Result<TransactWriteItemsRequest> read_request(std::string_view json) {
  return read_document<TransactWriteItemsRequest>(json, kTransactWriteItems, report_fault);
}

template <>
Result<TransactGetItemsRequest> read_request(std::string_view json) {
  return read_document(json, kTransactGetItems);
}

}  // namespace stator::wire
