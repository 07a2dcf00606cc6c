// SPDX-License-Identifier: Apache-2.0
// ChangeLog: every change of a table's items, with both images, in the order of the commits.
//
// A table whose changes somebody wants has a log, a space of its own: a record is put in the commit
// of the write that it describes, under a commit version of the store. Its items fall into
// kLogPartitions by the hash of their partition key; an item's records are in one log partition, in
// order. Boundaries cut the log into epochs: what lies between two of them ages, and is erased, as
// one. A stream is some epochs of a log, and a shard is what one log partition has in one of them.
// docs/formats/changes.md, docs/decisions/0006-change-log.md
//
// Two consumers share a log: streams (24 hours) and point-in-time recovery (as long as it is told
// to), and what either needs is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "engine/rows/row_layout.h"
#include "stator/requests.h"

namespace stator {

inline constexpr unsigned kLogPartitions = 4;
inline constexpr int64_t kEpochMs = 4LL * 60 * 60 * 1000;
inline constexpr int64_t kStreamRetentionMs = 24LL * 60 * 60 * 1000;

// ---- What the catalog keeps of a log

struct LoggedStream {
  int64_t created_ms = 0;  // tells the streams of all tables of one name apart
  StreamViewType view = StreamViewType::kNewAndOldImages;
  std::optional<int64_t> ended_ms = {};

  bool is_readable(int64_t now_ms) const {
    return !ended_ms || *ended_ms > now_ms - kStreamRetentionMs;
  }
};

struct LogDefinition {
  SpaceId space = 0;
  std::string table;     // the name
  std::string table_id;  // the incarnation: one log for each at a time
  KeySchema key_schema;
  std::vector<LoggedStream> streams = {};  // oldest first, readable ones; the last may be enabled
  int64_t recovery_ms = 0;                 // how long point-in-time recovery wants records, or 0

  bool is_recording() const { return recovery_ms > 0 || enabled_stream() != nullptr; }
  const LoggedStream* enabled_stream() const {
    return streams.empty() || streams.back().ended_ms ? nullptr : &streams.back();
  }
  int64_t retention_ms() const;
};
using LogPtr = std::shared_ptr<const LogDefinition>;

// ---- Records

struct Change {
  uint64_t commit_version = 0;
  int64_t time_ms = 0;
  std::optional<ItemView> before = {};
  std::optional<ItemView> after = {};
  bool by_service = false;  // not by a request: an item that expired
};

unsigned log_partition_of(std::string_view item_row_key);
void put_change(Batch& batch, SpaceId log, std::string_view item_row_key, const Change& change);
// kCorruption for bytes that are no record. The change borrows from `value`.
Result<Change> read_change(std::string_view key, std::string_view value);

// The rows of a log partition with commit versions from `from` on and below `to`.
KeyRange log_range(SpaceId log, unsigned log_partition, uint64_t from, uint64_t to = UINT64_MAX);
// Shows the changes of a log partition in order, until `visit` says no; expected_rows as of
// RangeRead.
Result<void> scan_changes(ReadView& view, SpaceId log, unsigned log_partition, uint64_t from,
                          uint64_t to, FunctionRef<bool(const Change&)> visit,
                          std::size_t expected_rows = 0);
// The first commit version behind all changes of a log partition with commit versions from `from`
// on and below `to`.
Result<uint64_t> behind_changes(ReadView& view, SpaceId log, unsigned log_partition, uint64_t from,
                                uint64_t to);
// The commit version of the first change of a log partition that happened at `time_ms` or later,
// among those with commit versions from `from` on and below `to`; `to` if there is none. Times of
// changes must follow their order to within five seconds.
Result<uint64_t> first_change_at(ReadView& view, SpaceId log, unsigned log_partition, uint64_t from,
                                 uint64_t to, int64_t time_ms);

// ---- Boundaries

struct ShardBoundary {
  uint64_t commit_version = 0;  // set by the commit
  int64_t time_ms = 0;
  int64_t stream_ms = 0;  // created_ms of the stream that the epoch belongs to, or 0

  bool operator==(const ShardBoundary&) const = default;
};

void put_boundary(Batch& batch, SpaceId log, const ShardBoundary& boundary);
Result<ShardBoundary> read_boundary(std::string_view key, std::string_view value);  // kCorruption
// The boundaries from commit version `from` on, oldest first, `count_max` at most.
Result<std::vector<ShardBoundary>> read_boundaries(ReadView& view, SpaceId log, uint64_t from = 0,
                                                   std::size_t count_max = SIZE_MAX);

KeyRange boundary_range(SpaceId log, uint64_t to);  // of the boundaries below `to`
// Whether a row of the log's space is a boundary; what else is there is a record.
bool is_boundary(std::string_view key);

}  // namespace stator
