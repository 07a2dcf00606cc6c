// SPDX-License-Identifier: Apache-2.0
// DynamoDB Streams: the changes of a table during the last 24 hours, in order.
//
// A stream has shards. Each record is in one shard. All records of an item are in one shard and its
// descendants, in the order of the changes. A closed shard has an ending sequence number, and
// children that name it as their parent. Conventions are those of stator/requests.h and
// stator/client.h.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "stator/requests.h"

namespace stator {

enum class StreamStatus { kEnabling, kEnabled, kDisabling, kDisabled };
enum class ShardIteratorType {
  kTrimHorizon,
  kLatest,
  kAtSequenceNumber,
  kAfterSequenceNumber,
  kAtTimestamp  // the first record of this time or later
};
enum class ShardFilterType { kChildShards };
enum class StreamEvent { kInsert, kModify, kRemove };

struct ListStreamsRequest {
  std::optional<std::string> table = {};                   // its streams only
  std::optional<int64_t> limit = {};                       // 1 to 100
  std::optional<std::string> exclusive_start_stream = {};  // an ARN
};

struct StreamSummary {
  std::string arn;
  std::string table;
  std::string label;
  bool operator==(const StreamSummary&) const = default;
};

struct ListStreamsResult {
  std::vector<StreamSummary> streams;
  std::optional<std::string> last_evaluated_stream = {};
};

struct ShardFilter {
  std::optional<ShardFilterType> type = {};
  std::optional<std::string> shard = {};  // the parent of the shards to return
};

struct DescribeStreamRequest {
  std::string stream;                 // an ARN
  std::optional<int64_t> limit = {};  // of shards, 1 to 100
  std::optional<std::string> exclusive_start_shard = {};
  std::optional<ShardFilter> filter = {};
};

struct Shard {
  std::string id;
  std::string starting_sequence_number;
  std::optional<std::string> ending_sequence_number = {};  // absent: the shard is open
  std::optional<std::string> parent = {};
  bool operator==(const Shard&) const = default;
};

struct StreamDescription {
  std::string arn;
  std::string label;
  StreamStatus status = StreamStatus::kEnabled;
  StreamViewType view = StreamViewType::kNewAndOldImages;
  int64_t created_ms = 0;
  std::string table;
  KeySchema key_schema;
  std::vector<Shard> shards;
  std::optional<std::string> last_evaluated_shard = {};
};

struct DescribeStreamResult {
  StreamDescription stream;
};

struct GetShardIteratorRequest {
  std::string stream;  // an ARN
  std::string shard;
  ShardIteratorType type = ShardIteratorType::kTrimHorizon;
  std::optional<std::string> sequence_number = {};  // kAtSequenceNumber, kAfterSequenceNumber
  std::optional<int64_t> timestamp_ms = {};         // kAtTimestamp; Unix time, not in the future
};

struct GetShardIteratorResult {
  std::string iterator;  // valid for 15 minutes
};

struct GetRecordsRequest {
  std::string iterator;
  std::optional<int64_t> limit = {};  // 1 to 1000
};

struct UserIdentity {
  std::string principal;
  std::string type;
  bool operator==(const UserIdentity&) const = default;
};

struct StreamRecordHeader {
  std::string event_id;
  StreamEvent event = StreamEvent::kInsert;
  std::string region;
  int64_t created_ms = 0;  // Unix time, in whole seconds
  std::string sequence_number;
  int64_t size_bytes = 0;
  StreamViewType view = StreamViewType::kNewAndOldImages;
  std::optional<UserIdentity> identity = {};  // of changes made by time to live
};

struct StreamRecord : StreamRecordHeader {
  Item keys;
  std::optional<Item> new_image = {};
  std::optional<Item> old_image = {};
};

struct GetRecordsResult {
  std::vector<StreamRecord> records;
  std::optional<std::string> next_iterator = {};  // absent at the end of a closed shard
};

}  // namespace stator
