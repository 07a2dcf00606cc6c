// SPDX-License-Identifier: Apache-2.0
// ImportTable, DescribeImport, ListImports.
#include "api/admin/table_parameters.h"
#include "api/validation/validate.h"
#include "base/random.h"
#include "engine/admin/support.h"
#include "engine/core/arns.h"
#include "engine/errors/admin_messages.h"
#include "engine/errors/messages.h"
#include "engine/jobs/import_job.h"
#include "engine/jobs/job_records.h"
#include "transfer/bucket.h"

namespace stator::admin {
namespace {

Item summary_of(const JobEngine& engine, const Job& job) {
  const std::string table = text_of(job.record, "Table");
  Item summary{{"ImportArn", job_arn(engine, kImportJobs, table, job.id)},
               {"ImportStatus", text_of(job.record, "Status")},
               {"TableArn", table_arn(engine, table)},
               {"StartTime", seconds(integer_of(job.record, "StartedMs"))}};
  copy_members(map_of(job.record, "Request"), {"S3BucketSource", "InputFormat"}, summary);
  if (job.record.contains("EndedMs")) {
    summary["EndTime"] = seconds(integer_of(job.record, "EndedMs"));
  }
  return summary;
}

Item import_description(const JobEngine& engine, const Job& job) {
  Item described = summary_of(engine, job);
  copy_members(
      map_of(job.record, "Request"),
      {"ClientToken", "InputFormatOptions", "InputCompressionType", "TableCreationParameters"},
      described);
  copy_members(job.record, {"TableId", "FailureCode", "FailureMessage"}, described);
  describe_failure(engine, kImportJobs, job, described);
  described["ErrorCount"] = integer_of(job.record, "Errors");
  described["ProcessedItemCount"] = integer_of(job.record, "Processed");
  described["ImportedItemCount"] = integer_of(job.record, "Imported");
  described["ProcessedSizeBytes"] = integer_of(job.record, "Bytes");
  return Item{{"ImportTableDescription", std::move(described)}};
}

// The request with the defaults that DynamoDB includes in descriptions.
Item completed(const JobEngine& engine, Item request) {
  Item source = map_of(request, "S3BucketSource");
  source.emplace("S3BucketOwner", engine.options.account);
  request["S3BucketSource"] = std::move(source);
  request.emplace("InputCompressionType", "NONE");
  return request;
}

// Returns the reason the import cannot begin. DynamoDB reports it in the import's description.
std::optional<JobFailure> find_failure(const JobEngine& engine, const Item& request) {
  const Item& source = map_of(request, "S3BucketSource");
  const auto bucket = transfer::Bucket::open(engine.options.buckets, text_of(source, "S3Bucket"));
  if (!bucket && !is_passing(bucket.error())) return failure_for(bucket.error());
  if (text_of(source, "S3BucketOwner") != engine.options.account) return bucket_access_denied();
  return std::nullopt;
}

Failure table_exists(std::string_view name) {
  return fail(Code::kResourceInUse, messages::table_exists(name));
}

Result<Item> import_table(JobEngine& engine, const Item& asked) {
  const Item request = completed(engine, asked);
  const Item& parameters = map_of(request, "TableCreationParameters");
  const std::string name = text_of(parameters, "TableName");
  if (request.contains("InputFormatOptions") && text_of(request, "InputFormat") != "CSV") {
    return fail(Code::kValidation, messages::options_for_format(text_of(request, "InputFormat")));
  }
  TableDefinition definition{
      .settings = table_parameters(parameters), .id = random_uuid(), .created_ms = engine.now_ms()};
  STATOR_RETURN_IF_ERROR(validate(definition.settings));
  STATOR_ASSIGN_OR_RETURN(const auto snapshot, engine.catalog->newest_snapshot());
  std::optional<Job> earlier;
  const auto is_first = [&] { return check_token(engine, kImportJobs, request, earlier); };
  const auto respond_again = [&]() -> Result<Item> {
    if (text_of(earlier->record, "Table") != name) {
      return fail(Code::kImportConflict, messages::token_conflict("Import"));
    }
    engine.catalog->wait_for_change();
    STATOR_ASSIGN_OR_RETURN(const auto newest, engine.catalog->newest_snapshot());
    if (text_of(earlier->record, "Status") == "COMPLETED" && newest->find(name) != nullptr) {
      return table_exists(name);
    }
    return import_description(engine, *earlier);
  };
  if (auto first = is_first(); !first) {
    if (earlier) return respond_again();
    return failure_of(std::move(first));
  }
  if (snapshot->find(name) != nullptr || snapshot->restoring.contains(name)) {
    return table_exists(name);
  }
  Job job{.id = engine.job_ids.next(engine.now_ms()),
          .record = Item{{"Table", name},
                         {"TableId", definition.id},
                         {"Request", request},
                         {"Status", "IN_PROGRESS"},
                         {"StartedMs", engine.now_ms()}}};
  Item begun = import_description(engine, job);
  const auto failure = find_failure(engine, request);
  if (failure) end_job(job.record, engine.now_ms(), failure);
  const std::string key = record_key(RecordKind::kImport, job.id);
  if (failure) {
    const auto written = engine.catalog->begin_pinned(key, job.record, {}, is_first);
    if (earlier) return respond_again();
    STATOR_RETURN_IF_ERROR(written);
    return begun;
  }
  const auto made = engine.catalog->begin_restore(
      std::move(definition), Item{{"Import", job.id}}, nullptr,
      NamedRecord{.key = key, .record = std::move(job.record)}, is_first);
  if (earlier) return respond_again();
  if (!made) {
    if (made.error().code == Code::kTableAlreadyExists) return table_exists(name);
    return Failure(made.error());
  }
  start_import(engine, job.id);
  return begun;
}

Result<Item> describe_import(JobEngine& engine, const Item& request) {
  STATOR_ASSIGN_OR_RETURN(const Job job,
                          find_job(engine, kImportJobs, text_of(request, "ImportArn")));
  engine.catalog->wait_for_change();  // the table of an import that has ended
  return import_description(engine, job);
}

Result<Item> list_imports(JobEngine& engine, const Item& request) {
  const std::string arn = text_of(request, "TableArn");
  auto listed = list_jobs(
      engine, kImportJobs, request, "PageSize", "ImportSummaryList",
      [&](const Item& record) {
        return arn.empty() || table_arn(engine, text_of(record, "Table")) == arn;
      },
      [&](const Job& job) { return summary_of(engine, job); });
  engine.catalog->wait_for_change();  // the tables of imports that have ended
  return listed;
}

}  // namespace

const Operation kImportTable{shapes::kImportTable, import_table};
const Operation kDescribeImport{shapes::kImportArn, describe_import};
const Operation kListImports{shapes::kListImports, list_imports};

}  // namespace stator::admin
