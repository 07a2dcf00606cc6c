// SPDX-License-Identifier: Apache-2.0
// Validates stream settings of tables, and the operations that read streams.
#include "api/model/messages.h"
#include "api/validation/validate.h"
#include "api/validation/validate_rules.h"

namespace stator {
namespace {

constexpr int64_t kListMax = 100;
constexpr int64_t kRecordsMax = 1000;

void add_limit(std::optional<int64_t> limit, Constraints& constraints) {
  if (limit) constraints.range(*limit, "limit", 1, INT64_MAX);
}

void add_stream_arn(const std::string& arn, std::string_view path, Constraints& constraints) {
  constraints.length(arn, path, 1, 1024);  // below the model's minimum, 37: malformed
}

// arn:PARTITION:dynamodb:REGION:ACCOUNT:table/NAME/stream/LABEL
bool is_stream_arn(std::string_view arn) {
  const auto take = [&arn](std::string_view end) {
    const std::size_t at = arn.find(end);
    const std::string_view part = arn.substr(0, at);
    arn.remove_prefix(at == std::string_view::npos ? arn.size() : at + end.size());
    return part;
  };
  if (take(":") != "arn" || take(":").empty() || take(":") != "dynamodb") return false;
  if (take(":").empty() || take(":").empty() || take("/") != "table") return false;
  return !take("/stream/").empty() && !arn.empty();
}

Result<void> check_stream_arn(const std::string& arn) {
  if (is_stream_arn(arn)) return {};
  return fail(Code::kValidation, messages::kInvalidStreamArn);
}

void add_shard_id(const std::string& id, std::string_view path, Constraints& constraints) {
  constraints.length(id, path, 28, 65);
}

bool takes_sequence_number(ShardIteratorType type) {
  return type == ShardIteratorType::kAtSequenceNumber ||
         type == ShardIteratorType::kAfterSequenceNumber;
}

}  // namespace

Result<void> check_stream(const StreamSpecification& stream, std::string_view without_view,
                          std::string_view with_view) {
  if (stream.enabled == stream.view.has_value()) return {};
  return invalid(stream.enabled ? without_view : with_view);
}

void add_constraints(const ListStreamsRequest& request, Constraints& constraints) {
  if (request.table) constraints.table_name(*request.table, "tableName");
  add_limit(request.limit, constraints);
  if (request.exclusive_start_stream) {
    add_stream_arn(*request.exclusive_start_stream, "exclusiveStartStreamArn", constraints);
  }
}

void add_constraints(const DescribeStreamRequest& request, Constraints& constraints) {
  add_stream_arn(request.stream, "streamArn", constraints);
  add_limit(request.limit, constraints);
  if (request.exclusive_start_shard) {
    add_shard_id(*request.exclusive_start_shard, "exclusiveStartShardId", constraints);
  }
  if (request.filter && request.filter->shard) {
    add_shard_id(*request.filter->shard, "shardFilter.shardId", constraints);
  }
}

void add_constraints(const GetShardIteratorRequest& request, Constraints& constraints) {
  add_stream_arn(request.stream, "streamArn", constraints);
  add_shard_id(request.shard, "shardId", constraints);
  if (request.sequence_number) {
    constraints.length(*request.sequence_number, "sequenceNumber", 21, 40);
  }
}

void add_constraints(const GetRecordsRequest& request, Constraints& constraints) {
  constraints.length(request.iterator, "shardIterator", 1, 2048);
  add_limit(request.limit, constraints);
}

Result<void> validate(const ListStreamsRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  if (request.exclusive_start_stream) {
    STATOR_RETURN_IF_ERROR(check_stream_arn(*request.exclusive_start_stream));
  }
  if (request.limit.value_or(1) > kListMax) {
    return invalid(messages::kListStreamsLimit);
  }
  return {};
}

Result<void> validate(const DescribeStreamRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  STATOR_RETURN_IF_ERROR(check_stream_arn(request.stream));
  if (request.limit.value_or(1) > kListMax) {
    return invalid(messages::kDescribeStreamLimit);
  }
  if (request.filter && !request.filter->type) {
    return invalid(messages::kShardFilterWithoutType);
  }
  if (request.filter && !request.filter->shard) {
    return invalid(messages::kShardFilterWithoutShard);
  }
  return {};
}

Result<void> validate(const GetShardIteratorRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  STATOR_RETURN_IF_ERROR(check_stream_arn(request.stream));
  if (takes_sequence_number(request.type) && !request.sequence_number) {
    return invalid(messages::kSequenceNumberNeeded);
  }
  if (!takes_sequence_number(request.type) && request.sequence_number) {
    return invalid(messages::kSequenceNumberUnwanted);
  }
  const bool takes_timestamp = request.type == ShardIteratorType::kAtTimestamp;
  if (takes_timestamp && !request.timestamp_ms) return invalid(messages::kTimestampNeeded);
  if (!takes_timestamp && request.timestamp_ms) return invalid(messages::kTimestampUnwanted);
  return {};
}

Result<void> validate(const GetRecordsRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  if (request.limit.value_or(1) > kRecordsMax) {
    return invalid(messages::kGetRecordsLimit);
  }
  return {};
}

}  // namespace stator
