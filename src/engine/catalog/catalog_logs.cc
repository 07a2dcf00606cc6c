// SPDX-License-Identifier: Apache-2.0
// The catalog's part in change logs: what a change of a definition means for the table's log, and
// what time does to all of them.
//
// The boundaries are the clock: an epoch begins when the last boundary is kEpochMs old, and one is
// erased when the boundary that ends it is as old as the log's retention. Records go before the
// boundaries that frame them, so that what a crash interrupts is found again.
#include <algorithm>
#include <utility>

#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/catalog_commit.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/errors/messages.h"

namespace stator {
namespace {

constexpr std::size_t kStreamsMax = 100;  // of one table, readable at the same time

int64_t enabled_ms(const LogDefinition& log) {
  const LoggedStream* const stream = log.enabled_stream();
  return stream ? stream->created_ms : 0;
}

void keep(const LogDefinition& log, Batch& batch) {
  batch.put(catalog_row_key(CatalogRow::kLog, log.space), encode_log(log));
}

void drop_unreadable(LogDefinition& log, int64_t now_ms) {
  std::erase_if(log.streams,
                [&](const LoggedStream& stream) { return !stream.is_readable(now_ms); });
}

bool wants_stream(const TableDefinition* definition) {
  return definition != nullptr && definition->settings.stream &&
         definition->settings.stream->enabled;
}

}  // namespace

LogPtr CatalogSnapshot::log_of(std::string_view table_id) const {
  for (const auto& [space, log] : logs) {
    if (log->table_id == table_id) return log;
  }
  return nullptr;
}

// Two streams of tables of one name must not have one label, whatever the clock does.
int64_t Catalog::stream_time(std::string_view table, int64_t now_ms) const {
  int64_t time_ms = now_ms;
  const auto current = snapshot();
  for (const auto& [space, log] : current->logs) {
    if (log->table != table || log->streams.empty()) continue;
    time_ms = std::max(time_ms, log->streams.back().created_ms + 1);
  }
  return time_ms;
}

Result<LogPtr> Catalog::plan_log(const TableDefinition* before, TableDefinition& after,
                                 NewSpace new_space, int64_t now_ms, Batch& batch) const {
  const bool has = wants_stream(before);
  const bool wants = wants_stream(&after);
  const LogPtr current = before ? snapshot()->log_of(after.id) : nullptr;
  const int64_t recovery_before_ms = current ? current->recovery_ms : 0;
  if (has && wants && before->settings.stream->view != after.settings.stream->view) {
    return fail(Code::kValidation, messages::kStreamEnabled);
  }
  const bool was_recording = before != nullptr && before->log_space != 0;
  const bool records = wants || after.recovery_ms > 0 || (current && is_held(current->space));
  if (has == wants && after.recovery_ms == recovery_before_ms && was_recording == records) {
    return LogPtr();
  }

  LogDefinition log = current ? *current
                              : LogDefinition{.space = new_space(),
                                              .table = after.settings.table,
                                              .table_id = after.id,
                                              .key_schema = after.settings.key_schema};
  drop_unreadable(log, now_ms);
  if (has && !wants && log.enabled_stream()) log.streams.back().ended_ms = now_ms;
  if (wants && !has) {
    if (log.streams.size() == kStreamsMax) {
      return fail(Code::kLimitExceeded, messages::kTooManyStreams);
    }
    after.latest_stream_ms =
        std::max(stream_time(log.table, now_ms), after.latest_stream_ms.value_or(0) + 1);
    log.streams.push_back(
        {.created_ms = *after.latest_stream_ms,
         .view = after.settings.stream->view.value_or(StreamViewType::kKeysOnly)});
  }
  log.recovery_ms = after.recovery_ms;
  after.log_space = records ? log.space : 0;
  keep(log, batch);
  put_boundary(batch, log.space, {.time_ms = now_ms, .stream_ms = enabled_ms(log)});
  return std::make_shared<const LogDefinition>(std::move(log));
}

LogPtr Catalog::end_log(const Table& table, int64_t now_ms, Batch& batch) const {
  const LogPtr current = snapshot()->log_of(table.definition().id);
  if (!current) return nullptr;
  LogDefinition log = *current;
  if (log.enabled_stream()) log.streams.back().ended_ms = now_ms;
  log.recovery_ms = 0;
  keep(log, batch);
  put_boundary(batch, log.space, {.time_ms = now_ms, .stream_ms = 0});
  return std::make_shared<const LogDefinition>(std::move(log));
}

void Catalog::maintain_logs(int64_t now_ms) {
  const auto current = snapshot();
  for (const auto& [space, log] : current->logs) {
    static_cast<void>(maintain_log(space, now_ms));
  }
}

// Where a table went on to record for a job that has ended since.
Result<void> Catalog::stop_unwanted_recording(SpaceId space, int64_t now_ms) {
  const auto current = snapshot();
  const auto log = current->logs.find(space);
  if (log == current->logs.end() || log->second->is_recording() || is_held(space)) return {};
  for (const auto& [name, table] : current->tables) {
    if (table->log_space() != space) continue;
    STATOR_RETURN_IF_ERROR(update(name, now_ms, [](TableDefinition&) { return Result<void>(); }));
  }
  return {};
}

Result<void> Catalog::maintain_log(SpaceId space, int64_t now_ms) {
  STATOR_RETURN_IF_ERROR(stop_unwanted_recording(space, now_ms));
  LogPtr log;
  std::vector<ShardBoundary> boundaries;
  {
    const std::lock_guard lock(changes_);
    const auto current = snapshot();
    const auto found = current->logs.find(space);
    if (found == current->logs.end()) return {};
    log = found->second;
    STATOR_ASSIGN_OR_RETURN(boundaries, with_view(store_, [&](ReadView& view) {
                              return read_boundaries(view, space);
                            }));
    if (log->is_recording() &&
        (boundaries.empty() || boundaries.back().time_ms <= now_ms - kEpochMs)) {
      STATOR_RETURN_IF_ERROR(begin_epoch(*log, now_ms));
    }
    STATOR_RETURN_IF_ERROR(forget_streams(*log, now_ms));
  }
  return trim(*log, boundaries, now_ms);
}

Result<void> Catalog::begin_epoch(const LogDefinition& log, int64_t now_ms) {
  Batch batch;
  put_boundary(batch, log.space, {.time_ms = now_ms, .stream_ms = enabled_ms(log)});
  return write_or_fail(store_, std::move(batch));
}

// Streams that nobody can read any more; and the log, where there is no other and none will be.
Result<void> Catalog::forget_streams(const LogDefinition& log, int64_t now_ms) {
  LogDefinition left = log;
  drop_unreadable(left, now_ms);
  const bool ends = left.streams.empty() && !left.is_recording();
  // Somebody may still write there, or read.
  if (ends && (!recording_[log.space].expired() || is_held(log.space))) return {};
  if (!ends && left.streams.size() == log.streams.size()) return {};
  Batch batch;
  CatalogSnapshot next = *snapshot();
  if (ends) {
    batch.erase(catalog_row_key(CatalogRow::kLog, log.space));
    batch.put(catalog_row_key(CatalogRow::kDropped, log.space), "");
    next.logs.erase(log.space);
  } else {
    keep(left, batch);
    next.logs.insert_or_assign(log.space, std::make_shared<const LogDefinition>(left));
  }
  STATOR_RETURN_IF_ERROR(write_or_fail(store_, std::move(batch)));
  publish(std::move(next));
  if (ends) {
    recording_.erase(log.space);
    erase_later(log.space);
  }
  return {};
}

Result<void> Catalog::trim(const LogDefinition& log, const std::vector<ShardBoundary>& boundaries,
                           int64_t now_ms) const {
  const int64_t oldest_ms = now_ms - log.retention_ms();
  const uint64_t held = held_from(log.space);
  const auto first_wanted = std::ranges::find_if(boundaries, [&](const ShardBoundary& boundary) {
    return boundary.time_ms > oldest_ms || boundary.commit_version > held;
  });
  // The boundary before it begins the epoch that it ends.
  const auto index = std::max<std::ptrdiff_t>(1, first_wanted - boundaries.begin()) - 1;
  if (index == 0) return {};
  const uint64_t commit_version = boundaries[static_cast<std::size_t>(index)].commit_version;
  for (unsigned log_partition = 0; log_partition < kLogPartitions; ++log_partition) {
    STATOR_RETURN_IF_ERROR(
        store_.drop_range(log_range(log.space, log_partition, 0, commit_version)));
  }
  return store_.drop_range(boundary_range(log.space, commit_version));
}

}  // namespace stator
