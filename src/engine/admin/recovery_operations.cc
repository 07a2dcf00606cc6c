// SPDX-License-Identifier: Apache-2.0
// UpdateContinuousBackups, DescribeContinuousBackups, RestoreTableToPointInTime.
#include <algorithm>

#include "api/model/messages.h"
#include "engine/admin/support.h"
#include "engine/core/arns.h"
#include "engine/errors/admin_messages.h"
#include "engine/jobs/restore_job.h"
#include "engine/streams/point_in_time.h"

namespace stator::admin {
namespace {

constexpr int64_t kSecondMs = 1000;
constexpr int64_t kDayMs = 24LL * 3600 * kSecondMs;
constexpr int64_t kDefaultDays = 35;

// Errors: kTableNotFound; kContinuousBackupsUnavailable for a table that is being restored.
Result<TablePtr> find_backed_up(const JobEngine& engine, std::string_view name) {
  STATOR_ASSIGN_OR_RETURN(const auto snapshot, engine.catalog->newest_snapshot());
  if (snapshot->restoring.contains(name)) {
    return fail(Code::kContinuousBackupsUnavailable, messages::backups_being_enabled(name));
  }
  return find_table_named(engine, name);
}

// In whole seconds, as clients see them. If the current time is not after the earliest time, or is
// in the same second, both times are equal.
struct RestorableTimes {
  int64_t earliest_ms = 0;
  int64_t latest_ms = 0;
};
RestorableTimes restorable_times(const TableDefinition& table, int64_t now_ms) {
  const int64_t earliest_ms = earliest_restorable_ms(table, now_ms);
  const int64_t earliest_second = (earliest_ms + kSecondMs - 1) / kSecondMs * kSecondMs;
  return {.earliest_ms = earliest_second,
          .latest_ms = std::max(now_ms / kSecondMs * kSecondMs, earliest_second)};
}

Item continuous_backups_of(const TableDefinition& definition, int64_t now_ms) {
  Item recovery{{"PointInTimeRecoveryStatus", "DISABLED"}};
  if (definition.recovery_ms > 0) {
    const RestorableTimes times = restorable_times(definition, now_ms);
    recovery = Item{{"PointInTimeRecoveryStatus", "ENABLED"},
                    {"RecoveryPeriodInDays", definition.recovery_ms / kDayMs},
                    {"EarliestRestorableDateTime", seconds(times.earliest_ms)},
                    {"LatestRestorableDateTime", seconds(times.latest_ms)}};
  }
  return Item{{"ContinuousBackupsDescription",
               Item{{"ContinuousBackupsStatus", "ENABLED"},
                    {"PointInTimeRecoveryDescription", std::move(recovery)}}}};
}

Result<Item> describe_continuous_backups(JobEngine& engine, const Item& request) {
  STATOR_ASSIGN_OR_RETURN(const TablePtr table,
                          find_backed_up(engine, text_of(request, "TableName")));
  return continuous_backups_of(table->definition(), engine.now_ms());
}

Result<Item> update_continuous_backups(JobEngine& engine, const Item& request) {
  const std::string name = text_of(request, "TableName");
  const Item& wanted = map_of(request, "PointInTimeRecoverySpecification");
  const bool enabled = boolean_of(wanted, "PointInTimeRecoveryEnabled");
  const int64_t days = integer_of(wanted, "RecoveryPeriodInDays", kDefaultDays);
  const int64_t now_ms = engine.now_ms();
  STATOR_RETURN_IF_ERROR(find_backed_up(engine, name));
  auto versions =
      engine.catalog->update(name, now_ms, [&](TableDefinition& definition) -> Result<void> {
        const bool was_enabled = definition.recovery_ms > 0;
        // A longer period does not restore history that a shorter period has discarded.
        definition.recovery_since_ms =
            was_enabled ? earliest_restorable_ms(definition, now_ms) : now_ms;
        definition.recovery_ms = enabled ? days * kDayMs : 0;
        return {};
      });
  if (versions) return continuous_backups_of(versions->after->definition(), now_ms);
  if (versions.error().code != Code::kResourceNotFound) return failure_of(std::move(versions));
  return fail(Code::kTableNotFound, messages::no_such_table(name));
}

// Returns the source's name. Errors: kValidation, kAccessDenied.
Result<std::string> source_of(const Item& request) {
  const bool has_arn = request.contains("SourceTableArn");
  const bool has_name = request.contains("SourceTableName");
  if (has_arn == has_name) {
    return fail(Code::kValidation,
                has_arn ? messages::kTwoRestoreSources : messages::kTableNameRequired);
  }
  return text_of(request, has_arn ? "SourceTableArn" : "SourceTableName");
}

Result<void> check_one_time(const Item& request) {
  const bool latest = boolean_of(request, "UseLatestRestorableTime");
  if (latest != request.contains("RestoreDateTime")) return {};
  return fail(Code::kValidation, latest ? messages::kTwoRestoreTimes : messages::kNoRestoreTime);
}

Failure invalid_time(int64_t time_ms, const TableDefinition& source, int64_t now_ms) {
  const int64_t latest_ms = std::max(now_ms, restorable_times(source, now_ms).latest_ms);
  return fail(Code::kInvalidRestoreTime,
              messages::invalid_restore_time(time_text(time_ms),
                                             time_text(earliest_restorable_ms(source, now_ms)),
                                             time_text(latest_ms)));
}

// Errors: kInvalidRestoreTime.
Result<int64_t> time_of(const Item& request, const TableDefinition& source, int64_t now_ms) {
  if (boolean_of(request, "UseLatestRestorableTime")) return now_ms;
  const int64_t time_ms = integer_of(request, "RestoreDateTime");
  const int64_t earliest_ms = earliest_restorable_ms(source, now_ms);
  const int64_t latest_ms = std::max(now_ms, restorable_times(source, now_ms).latest_ms);
  if (time_ms >= earliest_ms && time_ms <= latest_ms) return time_ms;
  return invalid_time(time_ms, source, now_ms);
}

Result<Item> restore_table_to_point_in_time(JobEngine& engine, const Item& request) {
  STATOR_ASSIGN_OR_RETURN(const std::string name, source_of(request));
  STATOR_RETURN_IF_ERROR(check_one_time(request));
  STATOR_ASSIGN_OR_RETURN(const TablePtr source, find_table_named(engine, name));
  const TableDefinition& definition = source->definition();
  if (definition.recovery_ms == 0) {
    return fail(Code::kPointInTimeRecoveryUnavailable, messages::no_recovery(name));
  }
  const int64_t now_ms = engine.now_ms();
  STATOR_ASSIGN_OR_RETURN(const int64_t time_ms, time_of(request, definition, now_ms));
  RestoreSummary summary{.source_table_arn = table_arn(engine, name), .time_ms = time_ms};
  STATOR_ASSIGN_OR_RETURN(TableDefinition target,
                          restored_definition(engine, definition, request, std::move(summary)));
  STATOR_ASSIGN_OR_RETURN(const uint64_t limit, log_end(*engine.store));
  Item record{{"From", definition.space}, {"Log", definition.log_space}};
  if (boolean_of(request, "UseLatestRestorableTime")) {
    record["Stamp"] = static_cast<int64_t>(limit);
  } else {
    // The job finds the commit version of the time. Until then, the whole log is pinned.
    record["Stamp"] = 0;
    record["StampLimit"] = static_cast<int64_t>(limit);
    record["TimeMs"] = time_ms;
  }
  const PinRequest pin{.source = source.get(), .oldest_ms = time_ms};
  auto begun = begin_restore(engine, std::move(target), std::move(record), pin);
  if (begun || begun.error().code != Code::kTrimmedDataAccess) return begun;
  return invalid_time(time_ms, definition, now_ms);
}

}  // namespace

const Operation kDescribeContinuousBackups{shapes::kTableName, describe_continuous_backups};
const Operation kUpdateContinuousBackups{shapes::kUpdateContinuousBackups,
                                         update_continuous_backups};
const Operation kRestoreTableToPointInTime{shapes::kRestoreTableToPointInTime,
                                           restore_table_to_point_in_time};

}  // namespace stator::admin
