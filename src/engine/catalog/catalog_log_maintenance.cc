// SPDX-License-Identifier: Apache-2.0
// The periodic maintenance of change logs: begins epochs, and erases records and streams after
// their retention.
//
// Boundaries define the time: an epoch begins when the last boundary is kEpochMs old. It is erased
// when the boundary that ends it reaches the log's retention. Records are erased before their
// boundaries, so that an interrupted trim can be resumed.
#include <algorithm>
#include <array>
#include <utility>

#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_change.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/catalog_logs.h"
#include "engine/catalog/catalog_rows.h"

namespace stator {

void Catalog::maintain_logs(int64_t now_ms) {
  const auto current = snapshot();
  for (const auto& [space, log] : current->logs) {
    static_cast<void>(maintain_log(space, now_ms));
  }
}

// Stops recording that only a job needed, if the job has ended.
Result<void> Catalog::stop_unwanted_recording(SpaceId space, int64_t now_ms) {
  const auto current = snapshot();
  const auto log = current->logs.find(space);
  if (log == current->logs.end() || log->second->is_recording()) return {};
  for (const auto& [name, table] : current->tables) {
    if (table->log_space() != space) continue;
    STATOR_ASSIGN_OR_RETURN(const bool pinned, is_pinned(space));
    if (pinned) return {};
    STATOR_RETURN_IF_ERROR(update(name, now_ms, [](TableDefinition&) { return Result<void>(); }));
  }
  return {};
}

Result<void> Catalog::maintain_log(SpaceId space, int64_t now_ms) {
  STATOR_RETURN_IF_ERROR(stop_unwanted_recording(space, now_ms));
  LogPtr log;
  std::vector<ShardBoundary> boundaries;
  auto maintained = on_current([&]() -> Result<void> {
    log = nullptr;
    const auto current = snapshot();
    const auto found = current->logs.find(space);
    if (found == current->logs.end()) return {};
    log = found->second;
    // Read after the check of the catalog's version, which changes with each new boundary.
    STATOR_ASSIGN_OR_RETURN(boundaries, with_view(store_, [&](ReadView& view) {
                              return read_boundaries(view, space);
                            }));
    if (log->is_recording() &&
        (boundaries.empty() || boundaries.back().time_ms <= now_ms - kEpochMs)) {
      STATOR_RETURN_IF_ERROR(begin_epoch(space, now_ms));
    }
    return forget_streams(space, now_ms);
  });
  if (!maintained || !log) return maintained;
  return trim(space, boundaries, now_ms);
}

Result<void> Catalog::begin_epoch(SpaceId log, int64_t now_ms) {
  CatalogSnapshot next = *snapshot();
  const auto plan = [&](GuardedRows rows, Batch& batch) -> Result<void> {
    STATOR_ASSIGN_OR_RETURN(const LogDefinition stored, stored_log(rows[0]));
    put_boundary(batch, log, {.time_ms = now_ms, .stream_ms = stored.enabled_stream_ms()});
    return {};
  };
  STATOR_RETURN_IF_ERROR(
      commit_catalog(store_, next.version, {catalog_row_key(CatalogRow::kLog, log)}, plan));
  publish_change(std::move(next));
  return {};
}

// Removes expired streams. Removes the log too if no stream is left and none can follow.
Result<void> Catalog::forget_streams(SpaceId log, int64_t now_ms) {
  CatalogSnapshot next = *snapshot();
  const auto forgotten = [&](LogDefinition& left) {
    left.drop_unreadable_streams(now_ms);
    return left.streams.empty() && !left.is_recording();
  };
  LogDefinition expected = *next.logs.find(log)->second;
  const std::size_t streams = expected.streams.size();
  const bool ends = forgotten(expected);
  // A request still uses a version of the table that records here. Its writes cannot commit any
  // more (kSchemaChanged), so this only delays the end of the log.
  if (ends && !recording_[log].expired()) return {};
  if (!ends && expected.streams.size() == streams) return {};
  if (ends) {
    STATOR_ASSIGN_OR_RETURN(const bool pinned, is_pinned(log));
    if (pinned) return {};
  }
  const auto plan = [&](GuardedRows rows, Batch& batch) -> Result<LogPtr> {
    STATOR_ASSIGN_OR_RETURN(LogDefinition left, stored_log(rows[0]));
    if (!forgotten(left)) {
      put_log(batch, left);
      return std::make_shared<const LogDefinition>(std::move(left));
    }
    STATOR_ASSIGN_OR_RETURN(const Pins pins, decode_pins(rows[1]));
    if (pins.is_pinned()) return fail(kBehind, "the log was pinned concurrently");
    batch.erase(catalog_row_key(CatalogRow::kLog, log));
    batch.erase(pins_key(log));
    batch.put(catalog_row_key(CatalogRow::kDropped, log), "");
    return LogPtr();
  };
  STATOR_ASSIGN_OR_RETURN(
      const LogPtr left,
      commit_catalog(store_, next.version, {catalog_row_key(CatalogRow::kLog, log), pins_key(log)},
                     plan));
  next.logs.erase(log);
  if (left) next.logs.emplace(log, left);
  publish_change(std::move(next));
  if (!left) {
    recording_.erase(log);
    erase_later(log);
  }
  return {};
}

// First commits the end of the range to give up, from the stored retention and pins, then erases. A
// later job that needs a version in this range fails; pins of earlier jobs are kept. Also erases
// what an interrupted trim has left, because its boundaries still exist.
Result<void> Catalog::trim(SpaceId log, const std::vector<ShardBoundary>& boundaries,
                           int64_t now_ms) const {
  const std::array<std::string, 2> keys = {catalog_row_key(CatalogRow::kLog, log), pins_key(log)};
  const auto plan = [&](GuardedRows rows, Batch& batch) -> Result<uint64_t> {
    STATOR_ASSIGN_OR_RETURN(Pins pins, decode_pins(rows[1]));
    if (!rows[0]) return uint64_t{0};  // another process has removed the log
    STATOR_ASSIGN_OR_RETURN(const LogDefinition stored, decode_log(*rows[0]));
    const int64_t oldest_ms = now_ms - stored.retention_ms();
    const uint64_t pinned = pins.oldest();
    const auto first_wanted = std::ranges::find_if(boundaries, [&](const ShardBoundary& boundary) {
      return boundary.time_ms > oldest_ms || boundary.commit_version > pinned;
    });
    if (first_wanted == boundaries.begin()) return pins.given_up_before;
    // The previous boundary begins the epoch that `first_wanted` ends.
    const ShardBoundary& first_kept = *std::prev(first_wanted);
    if (first_kept.commit_version <= pins.given_up_before) return pins.given_up_before;
    pins.given_up_before = first_kept.commit_version;
    pins.given_up_ms = first_kept.time_ms;
    put_pins(batch, log, pins);
    return pins.given_up_before;
  };
  STATOR_ASSIGN_OR_RETURN(const uint64_t given_up_before, commit_change(store_, keys, plan));
  if (boundaries.empty() || boundaries.front().commit_version >= given_up_before) return {};
  for (unsigned log_partition = 0; log_partition < kLogPartitions; ++log_partition) {
    STATOR_RETURN_IF_ERROR(store_.drop_range(log_range(log, log_partition, 0, given_up_before)));
  }
  return store_.drop_range(boundary_range(log, 0, given_up_before));
}

}  // namespace stator
