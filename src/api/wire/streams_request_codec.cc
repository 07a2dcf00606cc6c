// SPDX-License-Identifier: Apache-2.0
// Reads and writes requests of DynamoDB Streams as JSON.
#include "api/wire/request_reader.h"
#include "api/wire/shapes_writer.h"

namespace stator::wire {
namespace {

constexpr Member<ListStreamsRequest> kListStreams[] = {
    {"TableName", set_table<&ListStreamsRequest::table>},
    {"Limit", set_integer<&ListStreamsRequest::limit>},
    {"ExclusiveStartStreamArn", set_text<&ListStreamsRequest::exclusive_start_stream>},
};

constexpr Member<ShardFilter> kShardFilter[] = {
    {"Type", set_enum<&ShardFilter::type>},
    {"ShardId", set_text<&ShardFilter::shard>},
};

constexpr Member<DescribeStreamRequest> kDescribeStream[] = {
    {"StreamArn", set_text<&DescribeStreamRequest::stream>, true},
    {"Limit", set_integer<&DescribeStreamRequest::limit>},
    {"ExclusiveStartShardId", set_text<&DescribeStreamRequest::exclusive_start_shard>},
    {"ShardFilter", set_structure<&DescribeStreamRequest::filter, kShardFilter>},
};

constexpr Member<GetShardIteratorRequest> kGetShardIterator[] = {
    {"StreamArn", set_text<&GetShardIteratorRequest::stream>, true},
    {"ShardId", set_text<&GetShardIteratorRequest::shard>, true},
    {"ShardIteratorType", set_enum<&GetShardIteratorRequest::type>, true},
    {"SequenceNumber", set_text<&GetShardIteratorRequest::sequence_number>},
    {"Timestamp", set_time<&GetShardIteratorRequest::timestamp_ms>},
};

constexpr Member<GetRecordsRequest> kGetRecords[] = {
    {"ShardIterator", set_text<&GetRecordsRequest::iterator>, true},
    {"Limit", set_integer<&GetRecordsRequest::limit>},
};

}  // namespace

template <>
Result<ListStreamsRequest> read_request(std::string_view json) {
  return read_document(json, kListStreams);
}

template <>
Result<DescribeStreamRequest> read_request(std::string_view json) {
  return read_document(json, kDescribeStream);
}

template <>
Result<GetShardIteratorRequest> read_request(std::string_view json) {
  return read_document(json, kGetShardIterator);
}

template <>
Result<GetRecordsRequest> read_request(std::string_view json) {
  return read_document(json, kGetRecords);
}

std::string to_json(const ListStreamsRequest& request) {
  return write_document([&](JsonWriter& json) {
    write_text(json, "TableName", request.table);
    write_integer(json, "Limit", request.limit);
    write_text(json, "ExclusiveStartStreamArn", request.exclusive_start_stream);
  });
}

std::string to_json(const DescribeStreamRequest& request) {
  return write_document([&](JsonWriter& json) {
    write_text(json, "StreamArn", request.stream);
    write_integer(json, "Limit", request.limit);
    write_text(json, "ExclusiveStartShardId", request.exclusive_start_shard);
    if (request.filter) {
      json.key("ShardFilter").object([&] {
        if (request.filter->type) write_enum(json, "Type", *request.filter->type);
        write_text(json, "ShardId", request.filter->shard);
      });
    }
  });
}

std::string to_json(const GetShardIteratorRequest& request) {
  return write_document([&](JsonWriter& json) {
    write_text(json, "StreamArn", request.stream);
    write_text(json, "ShardId", request.shard);
    write_enum(json, "ShardIteratorType", request.type);
    write_text(json, "SequenceNumber", request.sequence_number);
    write_time(json, "Timestamp", request.timestamp_ms);
  });
}

std::string to_json(const GetRecordsRequest& request) {
  return write_document([&](JsonWriter& json) {
    write_text(json, "ShardIterator", request.iterator);
    write_integer(json, "Limit", request.limit);
  });
}

}  // namespace stator::wire
