// SPDX-License-Identifier: Apache-2.0
// ListStreams, DescribeStream, GetShardIterator, GetRecords.
//
// Each reads one state of the store. Commits appear there in the order of their stamps, so a shard
// that has no mark behind it in that state can still grow, and nothing will ever come before what
// it holds.
#include <algorithm>
#include <utility>

#include "api/validation/validate.h"
#include "engine/core/arns.h"
#include "engine/errors/messages.h"
#include "engine/errors/service_errors.h"
#include "engine/streams/shard_iterator.h"
#include "engine/streams/stream_operations.h"

namespace stator {
namespace {

constexpr std::size_t kListedMax = 100;
constexpr int64_t kRecordsMax = 1000;
constexpr int64_t kPageBytesMax = 1LL << 20;
constexpr int64_t kIteratorLifetimeMs = 15LL * 60 * 1000;

struct FoundStream {
  LogPtr log;
  LoggedStream stream;
};

// What a stream has of one generation, in all buckets.
struct Generation {
  LogMark begin;
  std::optional<LogMark> end;     // absent: it is open
  std::optional<LogMark> parent;  // of the generation before, where that is the stream's too
};

bool is_trimmed(const std::optional<LogMark>& end, int64_t now_ms) {
  return end && end->time_ms <= now_ms - kStreamRetentionMs;
}

Failure stream_not_found(std::string_view arn) {
  return fail(Code::kResourceNotFound, messages::stream_not_found(arn));
}

Result<FoundStream> find_stream(const EngineCore& engine, const CatalogSnapshot& snapshot,
                                std::string_view arn) {
  for (const auto& [space, log] : snapshot.logs) {
    for (const LoggedStream& stream : log->streams) {
      if (stream.is_readable(engine.now_ms()) &&
          arn == stream_arn(engine, log->table, stream.created_ms)) {
        return FoundStream{.log = log, .stream = stream};
      }
    }
  }
  return stream_not_found(arn);
}

Result<std::vector<Generation>> generations_of(ReadView& view, const FoundStream& found,
                                               int64_t now_ms) {
  STATOR_TRY(const std::vector<LogMark> marks, read_marks(view, found.log->space));
  std::vector<Generation> generations;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (marks[i].stream_ms != found.stream.created_ms) continue;
    Generation generation{.begin = marks[i], .end = {}, .parent = {}};
    if (i + 1 < marks.size()) generation.end = marks[i + 1];
    if (i > 0 && marks[i - 1].stream_ms == marks[i].stream_ms) generation.parent = marks[i - 1];
    if (!is_trimmed(generation.end, now_ms)) generations.push_back(generation);
  }
  return generations;
}

Shard make_shard(const Hash128& secret, SpaceId log, unsigned bucket,
                 const Generation& generation) {
  Shard shard{.id = shard_id(secret, log, bucket, generation.begin),
              .starting_sequence_number = sequence_number(generation.begin.stamp + 1)};
  if (generation.end) shard.ending_sequence_number = sequence_number(generation.end->stamp);
  if (generation.parent) shard.parent = shard_id(secret, log, bucket, *generation.parent);
  return shard;
}

std::size_t page_size(std::optional<int64_t> limit) {
  return std::min(kListedMax, static_cast<std::size_t>(limit.value_or(kListedMax)));
}

// Where in its shard an iterator begins.
Result<uint64_t> start_position(const Store& store, ReadView& view, SpaceId log, unsigned bucket,
                                const Generation& generation,
                                const GetShardIteratorRequest& request) {
  const uint64_t first = generation.begin.stamp + 1;
  switch (request.type) {
    case ShardIteratorType::kTrimHorizon:
      return first;
    case ShardIteratorType::kLatest:
      if (generation.end) return generation.end->stamp;
      return behind_changes(view, log, bucket, first, UINT64_MAX);
    case ShardIteratorType::kAtSequenceNumber:
    case ShardIteratorType::kAfterSequenceNumber:
      break;
  }
  const auto stamp = read_sequence_number(request.sequence_number.value_or(""));
  const uint64_t last = generation.end ? generation.end->stamp : store.last_stamp() + 1;
  if (!stamp || *stamp < first || *stamp > last) {
    return fail(Code::kValidation, messages::kInvalidSequenceNumber);
  }
  return request.type == ShardIteratorType::kAtSequenceNumber ? *stamp : *stamp + 1;
}

EncodedItem keys_of(const LogDefinition& log, ItemView image) {
  ItemBuilder keys;
  for (AttributeCursor cursor = image.attributes(); const auto attribute = cursor.next();) {
    const bool is_key = std::ranges::any_of(log.key_schema, [&](const KeySchemaElement& element) {
      return element.name == attribute->name;
    });
    if (is_key) keys.add(attribute->name, attribute->value);
  }
  return std::move(keys).finish();
}

StreamRecordResponse make_record(const EngineCore& engine, const Hash128& secret,
                                 const FoundStream& found, const Change& change) {
  constexpr int64_t kSecond = 1000;
  const StreamViewType view = found.stream.view;
  StreamRecordResponse record;
  record.event_id = event_id(secret, found.log->space, change.stamp);
  record.event = !change.before  ? StreamEvent::kInsert
                 : !change.after ? StreamEvent::kRemove
                                 : StreamEvent::kModify;
  record.region = engine.options.region;
  record.created_ms = change.time_ms / kSecond * kSecond;
  record.sequence_number = sequence_number(change.stamp);
  record.view = view;
  if (change.by_service) {
    record.identity = UserIdentity{.principal = "dynamodb.amazonaws.com", .type = "Service"};
  }
  record.keys = keys_of(*found.log, change.after ? *change.after : *change.before);
  std::size_t bytes = item_size_bytes(ItemView(record.keys));
  const auto show = [&](const std::optional<ItemView>& image, std::optional<EncodedItem>& shown) {
    if (!image) return;
    shown = EncodedItem(image->bytes());
    bytes += item_size_bytes(*image);
  };
  const bool both = view == StreamViewType::kNewAndOldImages;
  if (both || view == StreamViewType::kNewImage) show(change.after, record.new_image);
  if (both || view == StreamViewType::kOldImage) show(change.before, record.old_image);
  record.size_bytes = static_cast<int64_t>(bytes);
  return record;
}

Result<GetRecordsResponse> read_records(const EngineCore& engine, const FoundStream& found,
                                        ShardIterator iterator, std::string_view arn,
                                        int64_t limit) {
  const int64_t now_ms = engine.now_ms();
  const Hash128 secret = stream_secret(engine.catalog->secret());
  STATOR_TRY(const auto view, engine.store->read_view());
  STATOR_TRY(const auto marks, read_marks(*view, iterator.log, iterator.begin, 2));
  std::optional<LogMark> end;
  if (marks.size() > 1) end = marks[1];
  if (marks.empty() || marks[0].stamp != iterator.begin || is_trimmed(end, now_ms)) {
    return fail(Code::kTrimmedDataAccess, messages::kTrimmed);
  }
  GetRecordsResponse response;
  int64_t bytes = 0;
  bool all = true;
  STATOR_CHECK_OK(scan_changes(*view, iterator.log, iterator.bucket, iterator.position,
                               end ? end->stamp : UINT64_MAX, [&](const Change& change) {
                                 all = static_cast<int64_t>(response.records.size()) < limit;
                                 if (!all) return false;
                                 auto record = make_record(engine, secret, found, change);
                                 bytes += record.size_bytes;
                                 all = response.records.empty() || bytes <= kPageBytesMax;
                                 if (!all) return false;
                                 iterator.position = change.stamp + 1;
                                 response.records.push_back(std::move(record));
                                 return true;
                               }));
  if (end && all) return response;
  iterator.issued_ms = now_ms;
  response.next_iterator = shard_iterator_text(secret, arn, iterator);
  return response;
}

// The answer, or the service's error for one of the store's.
template <class T>
Result<T> answer(Result<T> result) {
  if (!result) return Failure(service_error(std::move(result).error()));
  return result;
}

}  // namespace

bool is_readable_stream(const EngineCore& engine, const CatalogSnapshot& snapshot,
                        std::string_view arn) {
  return find_stream(engine, snapshot, arn).has_value();
}

Result<ListStreamsResult> list_streams(const EngineCore& engine,
                                       const ListStreamsRequest& request) {
  STATOR_CHECK_OK(validate(request));
  const int64_t now_ms = engine.now_ms();
  const auto snapshot = engine.catalog->snapshot();
  std::vector<StreamSummary> streams;
  for (const auto& [space, log] : snapshot->logs) {
    if (request.table && log->table != *request.table) continue;
    for (const LoggedStream& stream : log->streams) {
      if (!stream.is_readable(now_ms)) continue;
      StreamSummary summary{.arn = stream_arn(engine, log->table, stream.created_ms),
                            .table = log->table,
                            .label = stream_label(stream.created_ms)};
      if (request.exclusive_start_stream && summary.arn <= *request.exclusive_start_stream) {
        continue;
      }
      streams.push_back(std::move(summary));
    }
  }
  std::ranges::sort(streams, {}, &StreamSummary::arn);
  ListStreamsResult result{.streams = std::move(streams)};
  if (const std::size_t limit = page_size(request.limit); result.streams.size() > limit) {
    result.streams.resize(limit);
    result.last_evaluated_stream = result.streams.back().arn;
  }
  return result;
}

Result<DescribeStreamResult> describe_stream(const EngineCore& engine,
                                             const DescribeStreamRequest& request) {
  STATOR_CHECK_OK(validate(request));
  const auto snapshot = engine.catalog->snapshot();
  STATOR_TRY(const FoundStream found, find_stream(engine, *snapshot, request.stream));
  auto view = answer(engine.store->read_view());
  if (!view) return failure_of(std::move(view));
  auto generations = answer(generations_of(**view, found, engine.now_ms()));
  if (!generations) return failure_of(std::move(generations));

  const Hash128 secret = stream_secret(engine.catalog->secret());
  std::vector<Shard> shards;
  for (const Generation& generation : *generations) {
    for (unsigned bucket = 0; bucket < kLogBuckets; ++bucket) {
      Shard shard = make_shard(secret, found.log->space, bucket, generation);
      if (request.exclusive_start_shard && shard.id <= *request.exclusive_start_shard) continue;
      if (request.filter && shard.parent != request.filter->shard) continue;
      shards.push_back(std::move(shard));
    }
  }
  // By the time at which they began: parents come before their children.
  std::ranges::sort(shards, {}, &Shard::id);
  StreamDescription stream{
      .arn = request.stream,
      .label = stream_label(found.stream.created_ms),
      .status = found.stream.ended_ms ? StreamStatus::kDisabled : StreamStatus::kEnabled,
      .view = found.stream.view,
      .created_ms = found.stream.created_ms,
      .table = found.log->table,
      .key_schema = found.log->key_schema,
      .shards = std::move(shards)};
  if (const std::size_t limit = page_size(request.limit); stream.shards.size() > limit) {
    stream.shards.resize(limit);
    stream.last_evaluated_shard = stream.shards.back().id;
  }
  return DescribeStreamResult{.stream = std::move(stream)};
}

Result<GetShardIteratorResult> get_shard_iterator(const EngineCore& engine,
                                                  const GetShardIteratorRequest& request) {
  STATOR_CHECK_OK(validate(request));
  const int64_t now_ms = engine.now_ms();
  const auto snapshot = engine.catalog->snapshot();
  STATOR_TRY(const FoundStream found, find_stream(engine, *snapshot, request.stream));
  const SpaceId log = found.log->space;
  auto view = answer(engine.store->read_view());
  if (!view) return failure_of(std::move(view));
  auto generations = answer(generations_of(**view, found, now_ms));
  if (!generations) return failure_of(std::move(generations));

  const Hash128 secret = stream_secret(engine.catalog->secret());
  for (const Generation& generation : *generations) {
    for (unsigned bucket = 0; bucket < kLogBuckets; ++bucket) {
      if (shard_id(secret, log, bucket, generation.begin) != request.shard) continue;
      auto position =
          answer(start_position(*engine.store, **view, log, bucket, generation, request));
      if (!position) return failure_of(std::move(position));
      const ShardIterator iterator{.log = log,
                                   .stream_ms = found.stream.created_ms,
                                   .bucket = bucket,
                                   .begin = generation.begin.stamp,
                                   .position = *position,
                                   .issued_ms = now_ms};
      return GetShardIteratorResult{shard_iterator_text(secret, request.stream, iterator)};
    }
  }
  const auto time_ms = shard_time(request.shard);
  const bool was_there =
      time_ms && !generations->empty() && *time_ms < generations->front().begin.time_ms;
  if (request.sequence_number && was_there) {
    return fail(Code::kTrimmedDataAccess, messages::kTrimmed);
  }
  return fail(Code::kResourceNotFound, messages::kShardNotFound);
}

Result<GetRecordsResponse> get_records(const EngineCore& engine, const GetRecordsRequest& request) {
  STATOR_CHECK_OK(validate(request));
  const Hash128 secret = stream_secret(engine.catalog->secret());
  std::string_view arn;
  const auto iterator = read_shard_iterator(secret, request.iterator, arn);
  if (!iterator) return fail(Code::kValidation, messages::kInvalidIterator);
  if (iterator->issued_ms <= engine.now_ms() - kIteratorLifetimeMs) {
    return fail(Code::kExpiredIterator, messages::kIteratorExpired);
  }
  const auto snapshot = engine.catalog->snapshot();
  STATOR_TRY(const FoundStream found, find_stream(engine, *snapshot, arn));
  if (found.log->space != iterator->log) return stream_not_found(arn);
  return answer(read_records(engine, found, *iterator, arn, request.limit.value_or(kRecordsMax)));
}

}  // namespace stator
