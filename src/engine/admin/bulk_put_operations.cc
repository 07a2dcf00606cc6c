// SPDX-License-Identifier: Apache-2.0
// StartBulkPutItems, DescribeBulkOperation, ListBulkOperations, CancelBulkOperation.
#include <algorithm>

#include "engine/admin/support.h"
#include "engine/core/arns.h"
#include "engine/errors/admin_messages.h"
#include "engine/errors/messages.h"
#include "engine/jobs/bulk_put_job.h"
#include "engine/jobs/job_records.h"

namespace stator::admin {
namespace {

constexpr int kBulkOperationsMax = 50;  // in progress, as of imports

std::string arn_of_bulk(const JobEngine& engine, const Job& job) {
  return job_arn(engine, kBulkJobs, text_of(job.record, "Table"), job.id);
}

Item bulk_summary(const JobEngine& engine, const Job& job) {
  Item summary{{"BulkOperationArn", arn_of_bulk(engine, job)},
               {"BulkOperationStatus", text_of(job.record, "Status")},
               {"StartTime", seconds(integer_of(job.record, "StartedMs"))}};
  if (job.record.contains("EndedMs")) {
    summary["EndTime"] = seconds(integer_of(job.record, "EndedMs"));
  }
  return summary;
}

// Returns the bytes per index as the API lists them, and adds them to `total`.
Item index_usage(const Item& bytes_of, const char* member, int64_t& total) {
  Item usage;
  for (const auto& [index, bytes] : bytes_of) {
    usage.emplace(index, Item{{member, bytes}});
    total += integer_of(bytes_of, index);
  }
  return usage;
}

Item usage_of(const Item& record) {
  int64_t total = integer_of(record, "TableBytes");
  Item usage{{"TableName", text_of(record, "Table")}, {"Table", Item{{"BulkPutBytes", total}}}};
  for (const auto& [member, from] : {std::pair{"LocalSecondaryIndexes", "LocalIndexBytes"},
                                     std::pair{"GlobalSecondaryIndexes", "GlobalIndexBytes"}}) {
    if (record.contains(from)) {
      usage.emplace(member, index_usage(map_of(record, from), "BulkPutBytes", total));
    }
  }
  if (record.contains("VectorIndexBytes")) {
    int64_t vector_bytes = 0;  // the API's total excludes them
    usage.emplace("VectorIndexes", index_usage(map_of(record, "VectorIndexBytes"),
                                               "BulkPutVectorBytes", vector_bytes));
  }
  usage["BulkPutBytes"] = total;
  return usage;
}

Item bulk_description(const JobEngine& engine, const Job& job) {
  const Item& record = job.record;
  Item described = bulk_summary(engine, job);
  copy_members(map_of(record, "Request"),
               {"ClientToken", "InputS3Configuration", "OutputS3Configuration",
                "MaxWriteRequestUnits", "PerformanceTier"},
               described);
  copy_members(record, {"FailureCode", "FailureMessage"}, described);
  described["TableDetails"] =
      List{Item{{"TableName", text_of(record, "Table")}, {"TableId", text_of(record, "TableId")}}};
  described["ProcessedItemCount"] = integer_of(record, "Processed");
  described["FailedItemCount"] = integer_of(record, "Failed");
  described["ProcessedInputBytes"] =
      integer_of(record, "DoneBytes") + integer_of(record, "ObjectBytes");
  if (record.contains("TotalBytes")) {
    described["TotalInputBytes"] = integer_of(record, "TotalBytes");
  }
  described["BulkOperationUsage"] = List{usage_of(record)};
  return Item{{"BulkOperationDescription", std::move(described)}};
}

// The request with the defaults that DynamoDB includes in descriptions.
Item completed_bulk(const JobEngine& engine, Item request) {
  Item input = map_of(request, "InputS3Configuration");
  input.emplace("S3BucketOwner", engine.options.account);
  input.emplace("InputCompressionType", "NONE");
  request["InputS3Configuration"] = std::move(input);
  Item output = map_of(request, "OutputS3Configuration");
  output.emplace("S3BucketOwner", engine.options.account);
  request["OutputS3Configuration"] = std::move(output);
  request.emplace("PerformanceTier", "STANDARD");
  return request;
}

Result<void> check_output(const Item& request) {
  const Item& output = map_of(request, "OutputS3Configuration");
  if (!output.contains("S3Bucket")) return fail(Code::kValidation, messages::kNoOutputBucket);
  if (list_of(output, "OutputType").empty()) {
    return fail(Code::kValidation, messages::kNoOutputType);
  }
  if (output.contains("S3SseKmsKeyId") && text_of(output, "S3SseAlgorithm") != "KMS") {
    return fail(Code::kValidation, messages::kKeyWithoutKms);
  }
  return {};
}

// Errors: kResourceInUse while an index is being created.
Result<void> check_indexes(const Table& table) {
  const TableDefinition& definition = table.definition();
  for (const Index& index : table.indexes()) {
    if (definition.is_unfinished(index.key.space)) {
      return fail(Code::kResourceInUse, messages::index_being_created(index.definition.name));
    }
  }
  for (const VectorIndex& index : table.vector_indexes()) {
    if (!index.complete) {
      return fail(Code::kResourceInUse, messages::index_being_created(index.definition.name));
    }
  }
  return {};
}

Result<void> check_count(const JobEngine& engine) {
  STATOR_ASSIGN_OR_RETURN(const auto records, Records(*engine.store).list(RecordKind::kBulk));
  const auto open =
      std::ranges::count_if(records, [](const auto& record) { return is_open_job(record.second); });
  if (open < kBulkOperationsMax) return {};
  return fail(Code::kLimitExceeded, messages::kTooManyBulkOperations);
}

Result<Item> start_bulk(JobEngine& engine, const Item& asked) {
  STATOR_RETURN_IF_ERROR(check_output(asked));
  std::optional<Job> earlier;
  const auto is_first = [&]() -> Result<void> {
    STATOR_RETURN_IF_ERROR(check_token(engine, kBulkJobs, asked, earlier));
    return check_count(engine);
  };
  const auto respond_again = [&]() -> Result<Item> {
    if (map_of(earlier->record, "Asked") != asked) {
      return fail(Code::kIdempotentParameterMismatch, messages::kBulkConflict);
    }
    return bulk_description(engine, *earlier);
  };
  if (auto first = is_first(); !first) {
    if (earlier) return respond_again();
    return failure_of(std::move(first));
  }
  STATOR_ASSIGN_OR_RETURN(const TablePtr table, find_resource(engine, text_of(asked, "TableName")));
  STATOR_RETURN_IF_ERROR(check_indexes(*table));
  const int64_t now_ms = engine.now_ms();
  Job job{.id = engine.job_ids.next(now_ms),
          .record = Item{{"Table", table->name()},
                         {"TableId", table->definition().id},
                         {"Asked", asked},
                         {"Request", completed_bulk(engine, asked)},
                         {"Status", "IN_PROGRESS"},
                         {"StartedMs", now_ms}}};
  // Runs in the order of all catalog changes.
  const auto may_begin = [&]() -> Result<void> {
    STATOR_RETURN_IF_ERROR(is_first());
    const TablePtr* now = engine.catalog->snapshot()->find(table->name());
    if (now != nullptr && (*now)->definition().id == table->definition().id) return {};
    return fail(Code::kResourceNotFound, messages::table_not_found(table->name()));
  };
  const auto begun = engine.catalog->begin_pinned(record_key(RecordKind::kBulk, job.id), job.record,
                                                  {}, may_begin);
  if (earlier) return respond_again();
  STATOR_RETURN_IF_ERROR(begun);
  start_bulk_puts(engine, job.id);
  return bulk_description(engine, job);
}

bool is_listed(const JobEngine& engine, const Item& record) {
  return engine.now_ms() - integer_of(record, "StartedMs") < kBulkLifeMs;
}

Result<Job> find_bulk(const JobEngine& engine, const Item& request) {
  const std::string arn = text_of(request, "BulkOperationArn");
  STATOR_ASSIGN_OR_RETURN(Job job, find_job(engine, kBulkJobs, arn));
  if (is_open_job(job.record) || is_listed(engine, job.record)) return job;
  return fail(Code::kResourceNotFound, messages::job_not_found(kBulkJobs.name, arn));
}

Result<Item> describe_bulk(JobEngine& engine, const Item& request) {
  STATOR_ASSIGN_OR_RETURN(const Job job, find_bulk(engine, request));
  return bulk_description(engine, job);
}

Result<Item> list_bulk(JobEngine& engine, const Item& request) {
  return list_jobs(
      engine, kBulkJobs, request, "MaxResults", "BulkOperationsSummaryList",
      [&](const Item& record) { return is_listed(engine, record); },
      [&](const Job& job) { return bulk_summary(engine, job); });
}

// The job reads the new status when it next commits.
Result<Item> cancel_bulk(JobEngine& engine, const Item& request) {
  STATOR_ASSIGN_OR_RETURN(const Job job, find_bulk(engine, request));
  const auto cancel = [&](Item& record) -> Result<void> {
    if (!is_open_job(record)) {
      return fail(Code::kValidation, messages::bulk_operation_ended(text_of(record, "Status")));
    }
    record["Status"] = "CANCELLING";
    return {};
  };
  STATOR_RETURN_IF_ERROR(
      Records(*engine.store).change(record_key(RecordKind::kBulk, job.id), cancel));
  return Item{{"BulkOperationArn", arn_of_bulk(engine, job)},
              {"BulkOperationStatus", "CANCELLING"}};
}

}  // namespace

const Operation kStartBulkPutItems{shapes::kStartBulkPutItems, start_bulk};
const Operation kDescribeBulkOperation{shapes::kBulkOperationArn, describe_bulk};
const Operation kListBulkOperations{shapes::kListBulkOperations, list_bulk};
const Operation kCancelBulkOperation{shapes::kBulkOperationArn, cancel_bulk};

}  // namespace stator::admin
