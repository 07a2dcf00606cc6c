// SPDX-License-Identifier: Apache-2.0
// Writes and reads responses of DynamoDB Streams as JSON.
#include "api/wire/result_reader.h"
#include "api/wire/shapes_writer.h"
#include "api/wire/table_shapes.h"
#include "api/wire/wire.h"

namespace stator::wire {
namespace {

constexpr std::string_view kEventVersion = "1.1";
constexpr std::string_view kEventSource = "aws:dynamodb";

// ---- Writing

void write_shard(JsonWriter& json, const Shard& shard) {
  write_text(json, "ShardId", shard.id);
  json.key("SequenceNumberRange").object([&] {
    write_text(json, "StartingSequenceNumber", shard.starting_sequence_number);
    write_text(json, "EndingSequenceNumber", shard.ending_sequence_number);
  });
  write_text(json, "ParentShardId", shard.parent);
}

void write_record(JsonWriter& json, const StreamRecordResponse& record) {
  write_text(json, "eventID", record.event_id);
  write_enum(json, "eventName", record.event);
  write_text(json, "eventVersion", kEventVersion);
  write_text(json, "eventSource", kEventSource);
  write_text(json, "awsRegion", record.region);
  json.key("dynamodb").object([&] {
    constexpr int64_t kSecond = 1000;
    write_integer(json, "ApproximateCreationDateTime", record.created_ms / kSecond);
    write_item(json, "Keys", record.keys);
    write_item(json, "NewImage", record.new_image);
    write_item(json, "OldImage", record.old_image);
    write_text(json, "SequenceNumber", record.sequence_number);
    write_integer(json, "SizeBytes", record.size_bytes);
    write_enum(json, "StreamViewType", record.view);
  });
  if (record.identity) {
    json.key("userIdentity").object([&] {
      write_text(json, "PrincipalId", record.identity->principal);
      write_text(json, "Type", record.identity->type);
    });
  }
}

// ---- Reading

constexpr Member<StreamSummary> kSummary[] = {
    {"StreamArn", set_text<&StreamSummary::arn>},
    {"TableName", set_text<&StreamSummary::table>},
    {"StreamLabel", set_text<&StreamSummary::label>},
};
constexpr Member<ListStreamsResult> kListStreamsResult[] = {
    {"Streams", set_list<&ListStreamsResult::streams, kSummary>},
    {"LastEvaluatedStreamArn", set_text<&ListStreamsResult::last_evaluated_stream>},
};

constexpr Member<Shard> kSequenceRange[] = {
    {"StartingSequenceNumber", set_text<&Shard::starting_sequence_number>},
    {"EndingSequenceNumber", set_text<&Shard::ending_sequence_number>},
};
constexpr Member<Shard> kShard[] = {
    {"ShardId", set_text<&Shard::id>},
    {"SequenceNumberRange", set_members<kSequenceRange>},
    {"ParentShardId", set_text<&Shard::parent>},
};

using Stream = StreamDescription;
constexpr Member<Stream> kStreamDescription[] = {
    {"StreamArn", set_text<&Stream::arn>},
    {"StreamLabel", set_text<&Stream::label>},
    {"StreamStatus", set_enum<&Stream::status>},
    {"StreamViewType", set_enum<&Stream::view>},
    {"CreationRequestDateTime", set_time<&Stream::created_ms>},
    {"TableName", set_text<&Stream::table>},
    {"KeySchema", set_list<&Stream::key_schema, kKeySchemaElement>},
    {"Shards", set_list<&Stream::shards, kShard>},
    {"LastEvaluatedShardId", set_text<&Stream::last_evaluated_shard>},
};
constexpr Member<DescribeStreamResult> kDescribeStreamResult[] = {
    {"StreamDescription", set_structure<&DescribeStreamResult::stream, kStreamDescription>},
};

constexpr Member<GetShardIteratorResult> kGetShardIteratorResult[] = {
    {"ShardIterator", set_text<&GetShardIteratorResult::iterator>},
};

constexpr Member<UserIdentity> kIdentity[] = {
    {"PrincipalId", set_text<&UserIdentity::principal>},
    {"Type", set_text<&UserIdentity::type>},
};
constexpr Member<StreamRecord> kChange[] = {
    {"ApproximateCreationDateTime", set_time<&StreamRecord::created_ms>},
    {"Keys", set_item<&StreamRecord::keys>},
    {"NewImage", set_item<&StreamRecord::new_image>},
    {"OldImage", set_item<&StreamRecord::old_image>},
    {"SequenceNumber", set_text<&StreamRecord::sequence_number>},
    {"SizeBytes", set_long<&StreamRecord::size_bytes>},
    {"StreamViewType", set_enum<&StreamRecord::view>},
};
constexpr Member<StreamRecord> kRecord[] = {
    {"eventID", set_text<&StreamRecord::event_id>},
    {"eventName", set_enum<&StreamRecord::event>},
    {"awsRegion", set_text<&StreamRecord::region>},
    {"dynamodb", set_members<kChange>},
    {"userIdentity", set_structure<&StreamRecord::identity, kIdentity>},
};
constexpr Member<GetRecordsResult> kGetRecordsResult[] = {
    {"Records", set_list<&GetRecordsResult::records, kRecord>},
    {"NextShardIterator", set_text<&GetRecordsResult::next_iterator>},
};

}  // namespace

std::string to_json(const ListStreamsResult& result) {
  return write_document([&](JsonWriter& json) {
    json.key("Streams").objects(result.streams, [&](const StreamSummary& stream) {
      write_text(json, "StreamArn", stream.arn);
      write_text(json, "TableName", stream.table);
      write_text(json, "StreamLabel", stream.label);
    });
    write_text(json, "LastEvaluatedStreamArn", result.last_evaluated_stream);
  });
}

std::string to_json(const DescribeStreamResult& result) {
  const StreamDescription& stream = result.stream;
  return write_document(1024, [&](JsonWriter& json) {
    json.key("StreamDescription").object([&] {
      write_text(json, "StreamArn", stream.arn);
      write_text(json, "StreamLabel", stream.label);
      write_enum(json, "StreamStatus", stream.status);
      write_enum(json, "StreamViewType", stream.view);
      write_time(json, "CreationRequestDateTime", stream.created_ms);
      write_text(json, "TableName", stream.table);
      write_key_schema(json, stream.key_schema);
      json.key("Shards").objects(stream.shards,
                                 [&](const Shard& shard) { write_shard(json, shard); });
      write_text(json, "LastEvaluatedShardId", stream.last_evaluated_shard);
    });
  });
}

std::string to_json(const GetShardIteratorResult& result) {
  return write_document(
      [&](JsonWriter& json) { write_text(json, "ShardIterator", result.iterator); });
}

std::string to_json(const GetRecordsResponse& response) {
  return write_document(4096, [&](JsonWriter& json) {
    json.key("Records").objects(
        response.records, [&](const StreamRecordResponse& record) { write_record(json, record); });
    write_text(json, "NextShardIterator", response.next_iterator);
  });
}

template <>
Result<ListStreamsResult> read_result(std::string_view json) {
  return read_answer(json, kListStreamsResult);
}
template <>
Result<DescribeStreamResult> read_result(std::string_view json) {
  return read_answer(json, kDescribeStreamResult);
}
template <>
Result<GetShardIteratorResult> read_result(std::string_view json) {
  return read_answer(json, kGetShardIteratorResult);
}
template <>
Result<GetRecordsResult> read_result(std::string_view json) {
  return read_answer(json, kGetRecordsResult);
}

}  // namespace stator::wire
