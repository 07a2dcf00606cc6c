// SPDX-License-Identifier: Apache-2.0
// How a change of a table's definition affects its change log. catalog_log_maintenance.cc has the
// periodic maintenance.
#include <algorithm>
#include <utility>

#include "engine/catalog/catalog.h"
#include "engine/catalog/catalog_change.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/catalog_logs.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/errors/messages.h"

namespace stator {
namespace {

constexpr std::size_t kStreamsMax = 100;  // of one table, readable at the same time

bool wants_stream(const TableDefinition* definition) {
  return definition != nullptr && definition->settings.stream &&
         definition->settings.stream->enabled;
}

}  // namespace

Result<LogDefinition> stored_log(const std::optional<std::string>& row) {
  if (!row) return fail(Code::kCorruption, "a change log has no row in the catalog");
  return decode_log(*row);
}

void put_log(Batch& batch, const LogDefinition& log) {
  batch.put(catalog_row_key(CatalogRow::kLog, log.space), encode_log(log));
}

LogPtr CatalogSnapshot::log_of(std::string_view table_id) const {
  for (const auto& [space, log] : logs) {
    if (log->table_id == table_id) return log;
  }
  return nullptr;
}

// Streams of tables with the same name must have different labels, even if the clock is set back.
int64_t Catalog::stream_time(std::string_view table, int64_t now_ms) const {
  int64_t time_ms = now_ms;
  const auto current = snapshot();
  for (const auto& [space, log] : current->logs) {
    if (log->table != table || log->streams.empty()) continue;
    time_ms = std::max(time_ms, log->streams.back().created_ms + 1);
  }
  return time_ms;
}

std::optional<SpaceId> Catalog::log_of(const Table& table) const {
  const LogPtr log = snapshot()->log_of(table.definition().id);
  return log ? std::optional(log->space) : std::nullopt;
}

Result<LogPtr> Catalog::plan_log(const TableDefinition* before, TableDefinition& after,
                                 const LogRows& rows, NewSpace new_space, int64_t now_ms,
                                 Batch& batch) const {
  const bool has = wants_stream(before);
  const bool wants = wants_stream(&after);
  std::optional<LogDefinition> current;
  if (rows.log) {
    STATOR_ASSIGN_OR_RETURN(current, decode_log(*rows.log));
  }
  STATOR_ASSIGN_OR_RETURN(const Pins pins, decode_pins(rows.pins));
  const int64_t recovery_before_ms = current ? current->recovery_ms : 0;
  if (has && wants && before->settings.stream->view != after.settings.stream->view) {
    return fail(Code::kValidation, messages::stream_enabled(after.settings.table));
  }
  const bool was_recording = before != nullptr && before->log_space != 0;
  const bool records = wants || after.recovery_ms > 0 || pins.is_pinned();
  if (has == wants && after.recovery_ms == recovery_before_ms && was_recording == records) {
    return LogPtr();
  }

  LogDefinition log = current ? *current
                              : LogDefinition{.space = new_space(),
                                              .table = after.settings.table,
                                              .table_id = after.id,
                                              .key_schema = after.settings.key_schema};
  log.drop_unreadable_streams(now_ms);
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
  put_log(batch, log);
  put_boundary(batch, log.space, {.time_ms = now_ms, .stream_ms = log.enabled_stream_ms()});
  return std::make_shared<const LogDefinition>(std::move(log));
}

Result<LogPtr> Catalog::end_log(const std::optional<std::string>& row, int64_t now_ms,
                                Batch& batch) const {
  STATOR_ASSIGN_OR_RETURN(LogDefinition log, stored_log(row));
  if (log.enabled_stream()) log.streams.back().ended_ms = now_ms;
  log.recovery_ms = 0;
  put_log(batch, log);
  put_boundary(batch, log.space, {.time_ms = now_ms, .stream_ms = 0});
  return std::make_shared<const LogDefinition>(std::move(log));
}

}  // namespace stator
