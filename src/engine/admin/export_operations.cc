// SPDX-License-Identifier: Apache-2.0
// ExportTableToPointInTime, DescribeExport, ListExports. engine/jobs/export_job.h writes an export.
#include "engine/admin/support.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/records.h"
#include "engine/core/arns.h"
#include "engine/errors/admin_messages.h"
#include "engine/jobs/export_filter.h"
#include "engine/jobs/export_job.h"
#include "engine/jobs/job_records.h"
#include "engine/streams/point_in_time.h"

namespace stator::admin {
namespace {

constexpr std::string_view kIncremental = "INCREMENTAL_EXPORT";

bool is_incremental(const Item& request) {
  return text_of(request, "ExportType") == kIncremental;
}

Item description_of(const JobEngine& engine, const Job& job) {
  const Item& request = map_of(job.record, "Request");
  const std::string table = text_of(job.record, "Table");
  const std::string status = text_of(job.record, "Status");
  Item described{{"ExportArn", job_arn(engine, kExportJobs, table, job.id)},
                 {"ExportStatus", status},
                 {"TableArn", table_arn(engine, table)},
                 {"DestinationType", "S3"},
                 {"StartTime", seconds(integer_of(job.record, "StartedMs"))}};
  copy_members(request,
               {"ClientToken", "S3Bucket", "S3BucketOwner", "S3Prefix", "S3SseAlgorithm",
                "S3SseKmsKeyId", "ExportFormat", "ExportType", "FilterSpecification"},
               described);
  copy_members(job.record, {"TableId", "FailureCode", "FailureMessage"}, described);
  describe_failure(engine, kExportJobs, job, described);
  if (is_incremental(request)) {
    Item increment = map_of(request, "IncrementalExportSpecification");
    for (const char* time : {"ExportFromTime", "ExportToTime"}) {
      increment[time] = seconds(integer_of(increment, time));
    }
    described["IncrementalExportSpecification"] = std::move(increment);
  } else {
    described["ExportTime"] = seconds(integer_of(request, "ExportTime"));
  }
  if (job.record.contains("EndedMs")) {
    described["EndTime"] = seconds(integer_of(job.record, "EndedMs"));
  }
  if (status == "COMPLETED") {
    described["ExportManifest"] = export_manifest(engine, job.id, job.record);
    described["ItemCount"] = integer_of(job.record, "Items");
    described["BilledSizeBytes"] = integer_of(job.record, "BilledBytes");
  }
  return Item{{"ExportDescription", std::move(described)}};
}

Result<void> check_combinations(const Item& request) {
  const bool has_increment = request.contains("IncrementalExportSpecification");
  const Item& increment = map_of(request, "IncrementalExportSpecification");
  const auto refused = [](const char* text) { return fail(Code::kValidation, text); };
  if (has_increment && !request.contains("ExportType")) {
    return refused(messages::kIncrementNeedsType);
  }
  if (has_increment && !is_incremental(request)) return refused(messages::kIncrementOfFull);
  if (is_incremental(request) && !has_increment) return refused(messages::kNoIncrement);
  if (has_increment && !increment.contains("ExportFromTime")) {
    return refused(messages::kNoExportFromTime);
  }
  if (request.contains("S3SseKmsKeyId") && text_of(request, "S3SseAlgorithm") != "KMS") {
    return refused(messages::kKeyWithoutKms);
  }
  return {};
}

// Errors: kValidation, kAccessDenied, kTableNotFound.
Result<TablePtr> exported_table(const JobEngine& engine, const std::string& arn) {
  if (!arn.starts_with("arn:")) return fail(Code::kValidation, messages::kTableArnIsNone);
  const auto parts = parse_table_arn(engine, arn);
  if (!parts && parts.error().code == Code::kAccessDenied) return Failure(parts.error());
  if (parts && !parts->rest.empty()) return fail(Code::kValidation, messages::kInvalidTableArn);
  if (!parts) return fail(Code::kTableNotFound, messages::no_such_table(arn));
  STATOR_ASSIGN_OR_RETURN(const auto snapshot, engine.catalog->newest_snapshot());
  const TablePtr* table = snapshot->find(parts->table);
  if (table == nullptr) return fail(Code::kTableNotFound, messages::no_such_table(arn));
  return *table;
}

// The request with the defaults that DynamoDB includes in descriptions.
Item completed(Item request, int64_t now_ms) {
  request.emplace("S3SseAlgorithm", "AES256");
  request.emplace("ExportFormat", "DYNAMODB_JSON");
  if (is_incremental(request)) {
    Item increment = map_of(request, "IncrementalExportSpecification");
    increment.emplace("ExportToTime", now_ms);
    increment.emplace("ExportViewType", "NEW_AND_OLD_IMAGES");
    request["IncrementalExportSpecification"] = std::move(increment);
  } else {
    request.emplace("ExportTime", now_ms);
  }
  return request;
}

// The time of the earliest change or state to export.
int64_t oldest_ms(const Item& request) {
  if (!is_incremental(request)) return integer_of(request, "ExportTime");
  return integer_of(map_of(request, "IncrementalExportSpecification"), "ExportFromTime");
}

Failure too_early(const Item& request) {
  return fail(Code::kInvalidExportTime,
              is_incremental(request) ? messages::increment_too_early(time_text(oldest_ms(request)))
                                      : messages::kInvalidExportTime);
}

Result<void> check_times(const Item& request, const TableDefinition& table, int64_t now_ms) {
  constexpr int64_t kMinuteMs = 60'000;
  constexpr int64_t kDayMs = 24L * 60 * kMinuteMs;
  constexpr int64_t kLeastMs = 15 * kMinuteMs;
  const bool recovers = table.recovery_ms > 0;
  const int64_t earliest_ms = recovers ? earliest_restorable_ms(table, now_ms) : INT64_MAX;
  const auto invalid = [](std::string text) {
    return fail(Code::kInvalidExportTime, std::move(text));
  };
  if (!is_incremental(request)) {
    if (!recovers) {
      return fail(Code::kPointInTimeRecoveryUnavailable,
                  messages::no_recovery(table.settings.table));
    }
    const int64_t time_ms = integer_of(request, "ExportTime");
    if (time_ms < earliest_ms) return too_early(request);
    if (time_ms > now_ms) return invalid(messages::kInvalidExportTime);
    return {};
  }
  const Item& increment = map_of(request, "IncrementalExportSpecification");
  const int64_t from_ms = integer_of(increment, "ExportFromTime");
  const int64_t to_ms = integer_of(increment, "ExportToTime");
  // Clients see the earliest time in whole seconds, rounded down.
  constexpr int64_t kSecondMs = 1000;
  if (from_ms < earliest_ms / kSecondMs * kSecondMs) return too_early(request);
  if (to_ms > now_ms) return invalid(messages::increment_too_late(time_text(to_ms)));
  if (to_ms - from_ms < kLeastMs) return invalid(messages::kIncrementTooShort);
  if (to_ms - from_ms > kDayMs) return invalid(messages::kIncrementTooLong);
  return {};
}

// Sets the limits within which the job finds the commit versions of the export's times. The end of
// the log is the latest possible one.
Result<void> set_commit_versions(const JobEngine& engine, const Item& asked, Item& record) {
  STATOR_ASSIGN_OR_RETURN(const uint64_t end, log_end(*engine.store));
  const bool latest = !is_incremental(asked) && !asked.contains("ExportTime");
  record["Stamp"] = latest ? static_cast<int64_t>(end) : 0;
  if (!latest) record["StampLimit"] = static_cast<int64_t>(end);
  return {};
}

Result<Item> export_table(JobEngine& engine, const Item& asked) {
  const int64_t now_ms = engine.now_ms();
  STATOR_RETURN_IF_ERROR(check_combinations(asked));
  std::optional<Job> earlier;
  const auto is_first = [&] { return check_token(engine, kExportJobs, asked, earlier); };
  const auto respond_again = [&]() -> Result<Item> {
    if (map_of(earlier->record, "Asked") != asked) {
      return fail(Code::kExportConflict, messages::token_conflict("Export"));
    }
    return description_of(engine, *earlier);
  };
  if (auto first = is_first(); !first) {
    if (earlier) return respond_again();
    return failure_of(std::move(first));
  }
  STATOR_ASSIGN_OR_RETURN(const TablePtr table, exported_table(engine, text_of(asked, "TableArn")));
  const TableDefinition& definition = table->definition();
  const Item request = completed(asked, now_ms);
  if (request.contains("FilterSpecification")) {
    STATOR_RETURN_IF_ERROR(ExportFilter::make(*table, map_of(request, "FilterSpecification")));
  }
  STATOR_RETURN_IF_ERROR(check_times(request, definition, now_ms));
  Job job{.id = engine.job_ids.next(engine.now_ms()),
          .record = Item{{"Table", table->name()},
                         {"TableId", definition.id},
                         {"Definition", Binary{encode_table(definition)}},
                         {"From", definition.space},
                         {"Log", definition.log_space},
                         {"Asked", asked},
                         {"Request", request},
                         {"Status", "IN_PROGRESS"},
                         {"StartedMs", now_ms}}};
  STATOR_RETURN_IF_ERROR(set_commit_versions(engine, asked, job.record));
  const PinRequest pin{
      .source = table.get(),
      .oldest_ms = std::max(oldest_ms(request), earliest_restorable_ms(definition, now_ms))};
  const auto begun = engine.catalog->begin_pinned(record_key(RecordKind::kExport, job.id),
                                                  job.record, pin, is_first);
  if (earlier) return respond_again();
  if (!begun && begun.error().code == Code::kTrimmedDataAccess) return too_early(request);
  STATOR_RETURN_IF_ERROR(begun);
  start_export(engine, job.id);
  return description_of(engine, job);
}

Result<Item> describe_export(JobEngine& engine, const Item& request) {
  STATOR_ASSIGN_OR_RETURN(const Job job,
                          find_job(engine, kExportJobs, text_of(request, "ExportArn")));
  return description_of(engine, job);
}

// With a table ARN, lists the exports of the table that has this name now.
Result<Item> list_exports(JobEngine& engine, const Item& request) {
  const std::string arn = text_of(request, "TableArn");
  STATOR_ASSIGN_OR_RETURN(const auto snapshot, engine.catalog->newest_snapshot());
  const TablePtr* table = arn.empty() ? nullptr : snapshot->find(arn);
  return list_jobs(
      engine, kExportJobs, request, "MaxResults", "ExportSummaries",
      [&](const Item& record) {
        return arn.empty() ||
               (table != nullptr && text_of(record, "TableId") == (*table)->definition().id);
      },
      [&](const Job& job) {
        const bool incremental = is_incremental(map_of(job.record, "Request"));
        return Item{
            {"ExportArn", job_arn(engine, kExportJobs, text_of(job.record, "Table"), job.id)},
            {"ExportStatus", text_of(job.record, "Status")},
            {"ExportType", incremental ? kIncremental : "FULL_EXPORT"}};
      });
}

}  // namespace

const Operation kExportTableToPointInTime{shapes::kExportTableToPointInTime, export_table};
const Operation kDescribeExport{shapes::kExportArn, describe_export};
const Operation kListExports{shapes::kListExports, list_exports};

}  // namespace stator::admin
