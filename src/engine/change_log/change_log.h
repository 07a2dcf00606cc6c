// SPDX-License-Identifier: Apache-2.0
// ChangeLog: every change of a table's items, with both images, in commit order.
//
// A table with a stream or point-in-time recovery has a log, a separate space. A record is written
// in the commit of the change that it describes, under a commit version of the store. The hash of
// the partition key selects one of kLogPartitions, so the records of an item are in one log
// partition, in order. Shard boundaries divide the log into epochs, which are kept and erased as a
// whole. A stream is a sequence of epochs; a shard is one log partition of one epoch.
// docs/formats/changes.md, docs/decisions/0006-change-log.md
//
// Retention: kStreamRetentionMs (stream_retention.h) for streams, the configured period for
// point-in-time recovery; the longer one applies.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "engine/change_log/stream_retention.h"
#include "engine/rows/row_layout.h"
#include "stator/requests.h"

namespace stator {

inline constexpr unsigned kLogPartitions = 4;

// ---- The stored definition of a log

struct LoggedStream {
  int64_t created_ms = 0;  // unique among the streams of all tables with one name
  StreamViewType view = StreamViewType::kNewAndOldImages;
  std::optional<int64_t> ended_ms = {};

  bool is_readable(int64_t now_ms) const {
    return !ended_ms || *ended_ms > now_ms - kStreamRetentionMs;
  }
};

struct LogDefinition {
  SpaceId space = 0;
  std::string table;     // the name
  std::string table_id;  // a table has at most one log at a time
  KeySchema key_schema;
  std::vector<LoggedStream> streams = {};  // readable ones, oldest first; the last can be enabled
  int64_t recovery_ms = 0;                 // retention for point-in-time recovery, or 0

  bool is_recording() const { return recovery_ms > 0 || enabled_stream() != nullptr; }
  const LoggedStream* enabled_stream() const {
    return streams.empty() || streams.back().ended_ms ? nullptr : &streams.back();
  }
  // created_ms of the enabled stream, or 0.
  int64_t enabled_stream_ms() const { return enabled_stream() ? enabled_stream()->created_ms : 0; }
  int64_t retention_ms() const;
  void drop_unreadable_streams(int64_t now_ms);
};
using LogPtr = std::shared_ptr<const LogDefinition>;

// ---- Records

struct Change {
  uint64_t commit_version = 0;
  int64_t time_ms = 0;
  std::optional<ItemView> before = {};
  std::optional<ItemView> after = {};
  bool by_service = false;  // the deletion of an expired item, not a request
};

unsigned log_partition_of(std::string_view item_row_key);
void put_change(Batch& batch, SpaceId log, std::string_view item_row_key, const Change& change);
// The change borrows from `value`. Errors: kCorruption for malformed bytes.
Result<Change> read_change(std::string_view key, std::string_view value);

// The rows of a log partition with commit versions in [from, to).
KeyRange log_range(SpaceId log, unsigned log_partition, uint64_t from, uint64_t to = UINT64_MAX);
// Visits the changes of a log partition with commit versions in [from, to), in order, until `visit`
// returns false. `expected_rows`: see RangeRead.
Result<void> scan_changes(ReadView& view, SpaceId log, unsigned log_partition, uint64_t from,
                          uint64_t to, FunctionRef<bool(const Change&)> visit,
                          std::size_t expected_rows = 0);
// Returns the first commit version after all changes of a log partition in [from, to).
Result<uint64_t> behind_changes(ReadView& view, SpaceId log, unsigned log_partition, uint64_t from,
                                uint64_t to);
// Returns the commit version of the first change of a log partition in [from, to) with a time of
// `time_ms` or later; `to` if there is none. The times must ascend, to within five seconds.
Result<uint64_t> first_change_at(ReadView& view, SpaceId log, unsigned log_partition, uint64_t from,
                                 uint64_t to, int64_t time_ms);

// ---- Boundaries

struct ShardBoundary {
  uint64_t commit_version = 0;  // set by the commit
  int64_t time_ms = 0;
  int64_t stream_ms = 0;  // created_ms of the epoch's stream, or 0

  bool operator==(const ShardBoundary&) const = default;
};

void put_boundary(Batch& batch, SpaceId log, const ShardBoundary& boundary);
Result<ShardBoundary> read_boundary(std::string_view key, std::string_view value);  // kCorruption
// Returns all boundaries, oldest first.
Result<std::vector<ShardBoundary>> read_boundaries(ReadView& view, SpaceId log);

// The rows of the boundaries with commit versions in [from, to).
KeyRange boundary_range(SpaceId log, uint64_t from, uint64_t to = UINT64_MAX);
// Whether a row of the log's space is a boundary. All other rows are records.
bool is_boundary(std::string_view key);

}  // namespace stator
