// SPDX-License-Identifier: Apache-2.0
// Tables and streams.
#include "access/gather.h"
#include "api/model/table_name.h"

namespace stator::access {
namespace {

void add_tags(Need& need, const std::vector<Tag>& tags) {
  for (const Tag& tag : tags) {
    need.context.tag_keys.push_back(tag.key);
    need.context.request_tags.insert_or_assign(tag.key, tag.value);
  }
}

}  // namespace

Result<void> gather(Needs& needs, const CreateTableRequest& request) {
  add_tags(needs.on_table("CreateTable", request.table), request.tags);
  if (!request.tags.empty()) add_tags(needs.on_table("TagResource", request.table), request.tags);
  if (request.resource_policy) needs.on_table("PutResourcePolicy", request.table);
  return {};
}

Result<void> gather(Needs& needs, const DescribeTableRequest& request) {
  needs.on_table("DescribeTable", request.table);
  return {};
}

Result<void> gather(Needs& needs, const ListTablesRequest&) {
  needs.on_resource("ListTables", needs.arn("table/*"));
  return {};
}

Result<void> gather(Needs& needs, const DeleteTableRequest& request) {
  needs.on_table("DeleteTable", request.table);
  return {};
}

Result<void> gather(Needs& needs, const UpdateTableRequest& request) {
  needs.on_table("UpdateTable", request.table);
  return {};
}

Result<void> gather(Needs& needs, const UpdateTimeToLiveRequest& request) {
  needs.on_table("UpdateTimeToLive", request.table);
  return {};
}

Result<void> gather(Needs& needs, const DescribeTimeToLiveRequest& request) {
  needs.on_table("DescribeTimeToLive", request.table);
  return {};
}

Result<void> gather(Needs& needs, const ListStreamsRequest& request) {
  const std::string table = request.table.value_or("*");
  std::string resource = "table/";
  resource.append(table_name_in(table)).append("/stream/*");
  needs.on_resource("ListStreams", needs.arn(resource));
  return {};
}

Result<void> gather(Needs& needs, const DescribeStreamRequest& request) {
  needs.on_table_arn("DescribeStream", request.stream);
  return {};
}

Result<void> gather(Needs& needs, const GetShardIteratorRequest& request) {
  needs.on_table_arn("GetShardIterator", request.stream);
  return {};
}

// An iterator begins with the stream's ARN. It is protected by a keyed hash, which the engine
// checks.
Result<void> gather(Needs& needs, const GetRecordsRequest& request) {
  const std::string_view iterator = request.iterator;
  needs.on_table_arn("GetRecords", iterator.substr(0, iterator.find('|')));
  return {};
}

}  // namespace stator::access
