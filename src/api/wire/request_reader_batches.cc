// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>
#include <string>

#include "api/model/messages.h"
#include "api/model/table_name.h"
#include "api/wire/batch_shapes.h"
#include "api/wire/legacy.h"
#include "api/wire/request_reader.h"

namespace stator::wire {
namespace {

struct KeysDraft : KeysAndAttributes, LegacyParameters {};

constexpr Member<KeysDraft> kKeysAndAttributes[] = {
    {"Keys", set_items<&KeysDraft::keys>, true},
    {"ConsistentRead", set_boolean<&KeysDraft::consistent_read>},
    {"ProjectionExpression", set_text<&KeysDraft::projection>},
    {"ExpressionAttributeNames", set_names<&KeysDraft::names>},
    {"AttributesToGet", set_json<&KeysDraft::attributes_to_get>},
};

struct PutPart {
  Item item;
};
struct DeletePart {
  Item key;
};
struct WriteDraft {
  std::optional<PutPart> put;
  std::optional<DeletePart> erase;
};

constexpr Member<PutPart> kPutRequest[] = {{"Item", set_item<&PutPart::item>, true}};
constexpr Member<DeletePart> kDeleteRequest[] = {{"Key", set_item<&DeletePart::key>, true}};
constexpr Member<WriteDraft> kWriteRequest[] = {
    {"PutRequest", set_structure<&WriteDraft::put, kPutRequest>},
    {"DeleteRequest", set_structure<&WriteDraft::erase, kDeleteRequest>},
};

WriteRequest read_write(Reader& reader, Json json) {
  WriteDraft draft;
  reader.members(json, kWriteRequest, draft);
  WriteRequest request;
  if (draft.put) request.put = std::move(draft.put->item);
  if (draft.erase) request.delete_key = std::move(draft.erase->key);
  return request;
}

// The entries of a batch by table. Of a repeated name, the last entry counts, as for all members.
// An ARN must be the only entry of its table.
template <class Entry>
class ByTable {
 public:
  Entry& add(Reader& reader, std::string_view name_or_arn) {
    const auto [at, added] = entries_.try_emplace(std::string(table_name_in(name_or_arn)));
    if (at->first != name_or_arn) given_by_arn_.insert(at->first);
    if (!added && given_by_arn_.contains(at->first)) {
      reader.fail(Code::kValidation, messages::kTableTwice);
    }
    return at->second = {};
  }
  std::map<std::string, Entry, std::less<>> take() && { return std::move(entries_); }

 private:
  std::map<std::string, Entry, std::less<>> entries_;
  std::set<std::string> given_by_arn_;
};

constexpr Member<BatchGetItemRequest> kBatchGetItem[] = {
    {"RequestItems", set_keys_by_table<&BatchGetItemRequest::items>},
    {"ReturnConsumedCapacity", set_enum<&BatchGetItemRequest::return_capacity>},
};

// Unknown enumeration values are reported before invalid table names.
constexpr Member<BatchWriteItemRequest> kBatchWriteItem[] = {
    {"ReturnConsumedCapacity", set_enum<&BatchWriteItemRequest::return_capacity>},
    {"ReturnItemCollectionMetrics", set_enum<&BatchWriteItemRequest::return_metrics>},
    {"RequestItems", set_requests_by_table<&BatchWriteItemRequest::items>},
};

}  // namespace

std::map<std::string, KeysAndAttributes, std::less<>> read_keys_by_table(Reader& reader,
                                                                         Json json) {
  ByTable<KeysAndAttributes> tables;
  reader.entries(json, [&](std::string_view name, Json entry) {
    KeysDraft draft;
    reader.members(entry, kKeysAndAttributes, draft);
    if (!reader.failed()) translate_projection(reader, draft);
    tables.add(reader, name) = std::move(draft);
  });
  return std::move(tables).take();
}

std::map<std::string, std::vector<WriteRequest>, std::less<>> read_requests_by_table(Reader& reader,
                                                                                     Json json) {
  ByTable<std::vector<WriteRequest>> tables;
  reader.entries(json, [&](std::string_view name, Json entry) {
    std::vector<WriteRequest>& requests = tables.add(reader, name);
    reader.elements(entry, [&](Json element) { requests.push_back(read_write(reader, element)); });
  });
  return std::move(tables).take();
}

template <>
Result<BatchGetItemRequest> read_request(std::string_view json) {
  return read_document(json, kBatchGetItem);
}

template <>
Result<BatchWriteItemRequest> read_request(std::string_view json) {
  return read_document(json, kBatchWriteItem);
}

}  // namespace stator::wire
