// SPDX-License-Identifier: Apache-2.0
// ListStreams, DescribeStream, GetShardIterator, GetRecords.
//
// Each operation takes the safe position, then reads one later view of the store. It ignores
// everything from that position on. Nothing can appear before the position any more, so results are
// complete and in order. A shard that ends before it cannot grow. A boundary at or after the
// position does not end its shard yet, because earlier records can still appear.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/validation/validate.h"
#include "engine/catalog/catalog_change.h"
#include "engine/catalog/catalog_header.h"
#include "engine/core/arns.h"
#include "engine/core/run_read.h"
#include "engine/errors/messages.h"
#include "engine/errors/service_errors.h"
#include "engine/rows/stored_key.h"
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

// One epoch of a stream, in all log partitions.
struct Epoch {
  ShardBoundary begin;
  std::optional<ShardBoundary> end;     // absent: it is open
  std::optional<ShardBoundary> parent;  // of the previous epoch, if the stream has one
};

bool is_trimmed(const std::optional<ShardBoundary>& end, int64_t now_ms) {
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

// Returns the epochs that begin before `safe`. Later boundaries are ignored.
Result<std::vector<Epoch>> epochs_of(ReadView& view, uint64_t safe, const FoundStream& found,
                                     int64_t now_ms) {
  STATOR_ASSIGN_OR_RETURN(std::vector<ShardBoundary> boundaries,
                          read_boundaries(view, found.log->space));
  std::erase_if(boundaries,
                [&](const ShardBoundary& boundary) { return boundary.commit_version >= safe; });
  std::vector<Epoch> epochs;
  for (std::size_t i = 0; i < boundaries.size(); ++i) {
    if (boundaries[i].stream_ms != found.stream.created_ms) continue;
    Epoch epoch{.begin = boundaries[i], .end = {}, .parent = {}};
    if (i + 1 < boundaries.size()) epoch.end = boundaries[i + 1];
    if (i > 0 && boundaries[i - 1].stream_ms == boundaries[i].stream_ms)
      epoch.parent = boundaries[i - 1];
    if (!is_trimmed(epoch.end, now_ms)) epochs.push_back(epoch);
  }
  return epochs;
}

Shard make_shard(const Hash128& secret, SpaceId log, unsigned log_partition, const Epoch& epoch) {
  Shard shard{.id = shard_id(secret, log, log_partition, epoch.begin),
              .starting_sequence_number = sequence_number(epoch.begin.commit_version + 1)};
  if (epoch.end) shard.ending_sequence_number = sequence_number(epoch.end->commit_version);
  if (epoch.parent) shard.parent = shard_id(secret, log, log_partition, *epoch.parent);
  return shard;
}

std::size_t page_size(std::optional<int64_t> limit) {
  return std::min(kListedMax, static_cast<std::size_t>(limit.value_or(kListedMax)));
}

// Returns the first position of an iterator in its shard, as of `view`.
Result<uint64_t> start_position(ReadView& view, uint64_t safe, const LogDefinition& log,
                                unsigned log_partition, const Epoch& epoch,
                                const GetShardIteratorRequest& request) {
  const uint64_t first = epoch.begin.commit_version + 1;
  const uint64_t last = epoch.end ? epoch.end->commit_version : safe;
  switch (request.type) {
    case ShardIteratorType::kTrimHorizon:
      return first;
    case ShardIteratorType::kLatest:
      return last;
    case ShardIteratorType::kAtTimestamp:
      return first_change_at(view, log.space, log_partition, first, last,
                             request.timestamp_ms.value_or(0));
    case ShardIteratorType::kAtSequenceNumber:
    case ShardIteratorType::kAfterSequenceNumber:
      break;
  }
  const auto commit_version = read_sequence_number(request.sequence_number.value_or(""));
  if (!commit_version || *commit_version < first || *commit_version > last) {
    return fail(Code::kValidation, messages::kInvalidSequenceNumber);
  }
  return request.type == ShardIteratorType::kAtSequenceNumber ? *commit_version
                                                              : *commit_version + 1;
}

// Returns an iterator of the shard in the request.
Result<ShardIterator> start_iterator(ReadView& view, uint64_t safe, const Hash128& secret,
                                     const FoundStream& found, int64_t now_ms,
                                     const GetShardIteratorRequest& request) {
  STATOR_ASSIGN_OR_RETURN(const auto epochs, epochs_of(view, safe, found, now_ms));
  const LogDefinition& log = *found.log;
  for (const Epoch& epoch : epochs) {
    for (unsigned log_partition = 0; log_partition < kLogPartitions; ++log_partition) {
      if (shard_id(secret, log.space, log_partition, epoch.begin) != request.shard) continue;
      STATOR_ASSIGN_OR_RETURN(const uint64_t position,
                              start_position(view, safe, log, log_partition, epoch, request));
      return ShardIterator{.log = log.space,
                           .stream_ms = found.stream.created_ms,
                           .log_partition = log_partition,
                           .begin = epoch.begin.commit_version,
                           .position = position,
                           .issued_ms = now_ms};
    }
  }
  const auto time_ms = shard_time(request.shard);
  const bool was_there = time_ms && !epochs.empty() && *time_ms < epochs.front().begin.time_ms;
  if (request.sequence_number && was_there) {
    return fail(Code::kTrimmedDataAccess, messages::kTrimmed);
  }
  return fail(Code::kResourceNotFound, messages::kShardNotFound);
}

StreamRecordResponse make_record(const EngineCore& engine, const Hash128& secret,
                                 const FoundStream& found, const Change& change) {
  constexpr int64_t kSecond = 1000;
  const StreamViewType view = found.stream.view;
  StreamRecordResponse record;
  record.event_id = event_id(secret, found.log->space, change.commit_version);
  record.event = !change.before  ? StreamEvent::kInsert
                 : !change.after ? StreamEvent::kRemove
                                 : StreamEvent::kModify;
  record.region = engine.options.region;
  record.created_ms = change.time_ms / kSecond * kSecond;
  record.sequence_number = sequence_number(change.commit_version);
  record.view = view;
  if (change.by_service) {
    record.identity = UserIdentity{.principal = "dynamodb.amazonaws.com", .type = "Service"};
  }
  record.keys = stored_key(change.after ? *change.after : *change.before, found.log->key_schema);
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

// The log of a dropped table has no table whose version could be compared. A shared store reads the
// format of the data instead, which a newer version of Stator can have raised.
class ReadOfRecords {
 public:
  using Response = GetRecordsResponse;

  ReadOfRecords(EngineCore& engine, const GetRecordsRequest& request)
      : engine_(engine),
        request_(request),
        now_ms_(engine.now_ms()),
        secret_(stream_secret(engine.catalog->secret())),
        iterator_(read_shard_iterator(secret_, request.iterator, arn_)) {}

  Result<void> prepare(const EngineCore&, const CatalogSnapshot& snapshot) {
    if (!iterator_) return fail(Code::kValidation, messages::kInvalidIterator);
    if (iterator_->issued_ms <= now_ms_ - kIteratorLifetimeMs) {
      return fail(Code::kExpiredIterator, messages::kIteratorExpired);
    }
    STATOR_ASSIGN_OR_RETURN(found_, find_stream(engine_, snapshot, arn_));
    if (found_.log->space != iterator_->log) return stream_not_found(arn_);
    if (engine_.is_shared) keys_ = {catalog_row_key(CatalogRow::kHeader)};
    return {};
  }

  // On a shared store, getting the safe position can block.
  void read(EngineCore&, ReadDone done) {
    if (!engine_.is_shared) return read_safe(std::move(done));
    engine_.blocking.post([this, done = std::move(done)]() mutable { read_safe(std::move(done)); });
  }
  // Visits the rows of the read.
  bool operator()(std::size_t part, std::string_view key, std::string_view value) {
    if (part < keys_.size()) return knows_format_ = read_catalog_header(value).has_value();
    if (part == keys_.size()) return has_succeeded(take_boundary(key, value));
    return is_readable() && has_succeeded(take_change(key, value));
  }
  Result<GetRecordsResponse> finish();

 private:
  void read_safe(ReadDone done);
  // Keeps the error. Returns whether the read goes on.
  bool has_succeeded(Result<bool> wants_more) {
    if (wants_more) return *wants_more;
    failure_ = failure_of(std::move(wants_more));
    return false;
  }
  Result<bool> take_boundary(std::string_view key, std::string_view value);
  Result<bool> take_change(std::string_view key, std::string_view value);
  // Whether no record of the shard can have been trimmed. Call it after the boundaries.
  bool is_readable() const {
    return begin_ && begin_->commit_version == iterator_->begin && !is_trimmed(end_, now_ms_);
  }

  EngineCore& engine_;
  const GetRecordsRequest& request_;
  const int64_t now_ms_;
  const Hash128 secret_;
  std::string_view arn_;  // refers to the request; set with iterator_
  std::optional<ShardIterator> iterator_;
  FoundStream found_;
  std::vector<std::string> keys_;
  std::array<RangeRead, 2> ranges_;  // of the boundaries and the changes
  bool knows_format_ = false;
  std::optional<ShardBoundary> begin_;  // of the shard
  std::optional<ShardBoundary> end_;    // absent: it is open
  std::string end_key_;                 // of its records, if end_ is set
  bool is_cut_ = false;                 // more records follow
  int64_t bytes_ = 0;
  Result<void> failure_;
  GetRecordsResponse response_;
};

void ReadOfRecords::read_safe(ReadDone done) {
  constexpr std::size_t kUsualBoundaries = 8;
  const auto position = engine_.store->safe_position();
  if (!position) return done(Failure(position.error()));
  const auto safe = static_cast<uint64_t>(*position);
  const ShardIterator& from = *iterator_;
  // The shard can have begun at a safe position that another process got later.
  const uint64_t boundaries_end = std::max(safe, from.begin + 1);
  ranges_[0] = {.range = boundary_range(from.log, from.begin, boundaries_end),
                .expected_rows = kUsualBoundaries};
  ranges_[1] = {.range = log_range(from.log, from.log_partition, from.position, safe),
                .expected_rows = static_cast<std::size_t>(request_.limit.value_or(0))};
  engine_.store->read({.keys = keys_, .ranges = ranges_, .one_state = true}, *this,
                      [this, done = std::move(done)](Result<void> outcome) mutable {
                        if (outcome) outcome = std::move(failure_);
                        const bool is_behind = outcome && !keys_.empty() && !knows_format_;
                        if (is_behind)
                          outcome = fail(kBehind, "the format of the data has changed");
                        done(std::move(outcome));
                      });
}

Result<bool> ReadOfRecords::take_boundary(std::string_view key, std::string_view value) {
  STATOR_ASSIGN_OR_RETURN(const ShardBoundary boundary, read_boundary(key, value));
  if (!begin_) {
    begin_ = boundary;
  } else if (!end_) {
    end_ = boundary;
    end_key_ = log_range(iterator_->log, iterator_->log_partition, 0, end_->commit_version).end;
  }
  return true;
}

Result<bool> ReadOfRecords::take_change(std::string_view key, std::string_view value) {
  if (end_ && key >= end_key_) return false;
  STATOR_ASSIGN_OR_RETURN(const Change change, read_change(key, value));
  auto& records = response_.records;
  is_cut_ = static_cast<int64_t>(records.size()) >= request_.limit.value_or(kRecordsMax);
  if (is_cut_) return false;
  auto record = make_record(engine_, secret_, found_, change);
  bytes_ += record.size_bytes;
  is_cut_ = !records.empty() && bytes_ > kPageBytesMax;
  if (is_cut_) return false;
  iterator_->position = change.commit_version + 1;
  records.push_back(std::move(record));
  return true;
}

Result<GetRecordsResponse> ReadOfRecords::finish() {
  if (!is_readable()) return fail(Code::kTrimmedDataAccess, messages::kTrimmed);
  if (!end_ || is_cut_) {
    iterator_->issued_ms = now_ms_;
    response_.next_iterator = shard_iterator_text(secret_, arn_, *iterator_);
  }
  return std::move(response_);
}

// Calls `read` with a view of the store that is later than the safe position. Returns its result.
// Waits for the store. Errors: those of the store, as DynamoDB's errors.
template <class Read>
auto read_log(const EngineCore& engine, Read read) {
  using Output = std::invoke_result_t<Read&, ReadView&, uint64_t>;
  const auto read_view = [&]() -> Output {
    STATOR_ASSIGN_OR_RETURN(const LogPosition safe, engine.store->safe_position());
    return with_view(*engine.store,
                     [&](ReadView& view) { return read(view, static_cast<uint64_t>(safe)); });
  };
  Output result = read_view();
  return result ? std::move(result) : Output(Failure(service_error(std::move(result).error())));
}

}  // namespace

bool is_readable_stream(const EngineCore& engine, const CatalogSnapshot& snapshot,
                        std::string_view arn) {
  return find_stream(engine, snapshot, arn).has_value();
}

Result<ListStreamsResult> list_streams(const EngineCore& engine,
                                       const ListStreamsRequest& request) {
  STATOR_RETURN_IF_ERROR(validate(request));
  const int64_t now_ms = engine.now_ms();
  STATOR_ASSIGN_OR_RETURN(const auto snapshot, engine.catalog->newest_snapshot());
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
  STATOR_RETURN_IF_ERROR(validate(request));
  STATOR_ASSIGN_OR_RETURN(const auto snapshot, engine.catalog->newest_snapshot());
  STATOR_ASSIGN_OR_RETURN(const FoundStream found, find_stream(engine, *snapshot, request.stream));
  STATOR_ASSIGN_OR_RETURN(const auto epochs, read_log(engine, [&](ReadView& view, uint64_t safe) {
                            return epochs_of(view, safe, found, engine.now_ms());
                          }));

  const Hash128 secret = stream_secret(engine.catalog->secret());
  std::vector<Shard> shards;
  for (const Epoch& epoch : epochs) {
    for (unsigned log_partition = 0; log_partition < kLogPartitions; ++log_partition) {
      Shard shard = make_shard(secret, found.log->space, log_partition, epoch);
      if (request.exclusive_start_shard && shard.id <= *request.exclusive_start_shard) continue;
      if (request.filter && shard.parent != request.filter->shard) continue;
      shards.push_back(std::move(shard));
    }
  }
  // Sorted by start time, so that parents come before their children.
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
  STATOR_RETURN_IF_ERROR(validate(request));
  const int64_t now_ms = engine.now_ms();
  if (request.timestamp_ms.value_or(now_ms) > now_ms) {
    return fail(Code::kValidation, messages::kTimestampInFuture);
  }
  STATOR_ASSIGN_OR_RETURN(const auto snapshot, engine.catalog->newest_snapshot());
  STATOR_ASSIGN_OR_RETURN(const FoundStream found, find_stream(engine, *snapshot, request.stream));
  const Hash128 secret = stream_secret(engine.catalog->secret());
  STATOR_ASSIGN_OR_RETURN(const ShardIterator iterator,
                          read_log(engine, [&](ReadView& view, uint64_t safe) {
                            return start_iterator(view, safe, secret, found, now_ms, request);
                          }));
  return GetShardIteratorResult{shard_iterator_text(secret, request.stream, iterator)};
}

void get_records(EngineCore& engine, const GetRecordsRequest& request,
                 Done<GetRecordsResponse> done) {
  if (auto valid = validate(request); !valid) return done(failure_of(std::move(valid)));
  run_read<ReadOfRecords>(engine, std::move(done), engine, request);
}

}  // namespace stator
