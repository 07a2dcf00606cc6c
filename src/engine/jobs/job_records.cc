// SPDX-License-Identifier: Apache-2.0
#include "engine/jobs/job_records.h"

#include <algorithm>

#include "base/hex.h"
#include "engine/catalog/records.h"
#include "engine/core/arns.h"
#include "engine/errors/admin_messages.h"

namespace stator::admin {
namespace {

constexpr int64_t kTokenLifeMs = 8LL * 3600 * 1000;

// Page tokens have DynamoDB's form: lower-case hexadecimal, at least 112 digits.
constexpr std::size_t kTokenBytes = 56;

std::string page_token(const JobKind& kind, std::string text) {
  text.insert(0, kind.path);
  text.resize(kTokenBytes, ' ');
  return hex(text);
}

}  // namespace

const JobKind kImportJobs{.record = RecordKind::kImport,
                          .path = "/import/",
                          .not_found = Code::kImportNotFound,
                          .name = "Import",
                          .name_lower = "import"};
const JobKind kExportJobs{.record = RecordKind::kExport,
                          .path = "/export/",
                          .not_found = Code::kExportNotFound,
                          .name = "Export",
                          .name_lower = "export"};

const JobKind kBulkJobs{.record = RecordKind::kBulk,
                        .path = "/bulk-operation/",
                        .not_found = Code::kResourceNotFound,
                        .name = "Bulk operation",
                        .name_lower = "bulk operation",
                        .token_ends_with_start = true};

std::string job_arn(const JobEngine& engine, const JobKind& kind, std::string_view table,
                    std::string_view id) {
  return table_arn(engine, table).append(kind.path).append(id);
}

Result<Job> find_job(const JobEngine& engine, const JobKind& kind, const std::string& arn) {
  const std::size_t at = arn.rfind(kind.path);
  const auto parts = parse_table_arn(engine, arn);
  if (at == std::string::npos) {
    return fail(Code::kValidation, messages::invalid_job_arn(kind.name));
  }
  if (!parts) {
    if (parts.error().code == Code::kAccessDenied) return Failure(parts.error());
    return fail(kind.not_found, messages::job_of_other_region(kind.name, kind.name_lower));
  }
  Job job{.id = arn.substr(at + kind.path.size()), .record = {}};
  if (!job.id.empty()) {
    STATOR_ASSIGN_OR_RETURN(job.record,
                            Records(*engine.store).get(record_key(kind.record, job.id)));
  }
  if (job.record.empty() || job_arn(engine, kind, text_of(job.record, "Table"), job.id) != arn) {
    return fail(kind.not_found, messages::job_not_found(kind.name, arn));
  }
  return job;
}

Result<void> check_token(const JobEngine& engine, const JobKind& kind, const Item& request,
                         std::optional<Job>& earlier) {
  earlier.reset();
  if (!request.contains("ClientToken")) return {};
  STATOR_ASSIGN_OR_RETURN(auto records, Records(*engine.store).list(kind.record));
  for (auto& [id, record] : records) {
    const Item& asked = map_of(record, "Request");
    const std::string_view from = kind.token_ends_with_start ? "StartedMs" : "EndedMs";
    const bool alive =
        !record.contains(from) || engine.now_ms() - integer_of(record, from) < kTokenLifeMs;
    if (alive && asked.contains("ClientToken") &&
        text_of(asked, "ClientToken") == text_of(request, "ClientToken")) {
      earlier = Job{.id = id, .record = std::move(record)};
      return fail(Code::kAlreadyExists, "the token has begun a job");
    }
  }
  return {};
}

Result<Item> list_jobs(const JobEngine& engine, const JobKind& kind, const Item& request,
                       std::string_view size_member, std::string_view member,
                       FunctionRef<bool(const Item& record)> wanted,
                       FunctionRef<Item(const Job& job)> summary) {
  constexpr int64_t kPage = 10;
  const auto most = static_cast<std::size_t>(integer_of(request, size_member, kPage));
  const std::string after = text_of(request, "NextToken");
  STATOR_ASSIGN_OR_RETURN(auto records, Records(*engine.store).list(kind.record));
  auto next = records.rbegin();
  if (!after.empty()) {
    next = std::find_if(records.rbegin(), records.rend(), [&](const auto& record) {
      return page_token(kind, record.first) == after;
    });
    if (next == records.rend()) {
      return fail(Code::kValidation, messages::invalid_page_token(after));
    }
    ++next;
  }
  Item page;
  List summaries;
  std::string last;
  for (; next != records.rend(); ++next) {
    const auto& [id, record] = *next;
    if (!wanted(record)) continue;
    if (summaries.size() == most) {
      page["NextToken"] = page_token(kind, last);
      break;
    }
    summaries.emplace_back(summary({.id = id, .record = record}));
    last = id;
  }
  page[std::string(member)] = std::move(summaries);
  return page;
}

JobFailure internal_failure(const Error& error) {
  return {.code = "InternalServerError", .message = error.message};
}

JobFailure no_such_bucket() {
  return {.code = "S3NoSuchBucket", .message = messages::kNoSuchBucket};
}

JobFailure bucket_access_denied() {
  return {.code = "S3AccessDenied", .message = messages::kBucketAccessDenied};
}

JobFailure failure_for(const Error& error) {
  switch (error.code) {
    case Code::kNotFound:
      return no_such_bucket();
    case Code::kAccessDenied:
      return bucket_access_denied();
    case Code::kLimitExceeded:
      return {.code = "S3TooManyObjects", .message = messages::kTooManyObjects};
    case Code::kInvalidArgument:
      return {.code = "KmsNotFoundException", .message = error.message};
    case Code::kResourceNotFound:
      return {.code = "ResourceNotFoundException", .message = error.message};
    default:
      return internal_failure(error);
  }
}

std::string job_name(const JobKind& kind, std::string_view id) {
  return std::string(kind.name_lower).append(" ").append(id);
}

void describe_failure(const JobEngine& engine, const JobKind& kind, const Job& job,
                      Item& described) {
  if (job.record.contains("EndedMs")) return;
  const auto error = engine.jobs.failure(job_name(kind, job.id));
  if (!error) return;
  const JobFailure failure = internal_failure(*error);
  described["FailureCode"] = failure.code;
  described["FailureMessage"] = failure.message;
}

void end_job(Item& record, int64_t now_ms, const std::optional<JobFailure>& failure) {
  record["Status"] = failure ? "FAILED" : "COMPLETED";
  record["EndedMs"] = now_ms;
  if (!failure) return;
  record["FailureCode"] = failure->code;
  record["FailureMessage"] = failure->message;
}

Result<void> resume_jobs(JobEngine& engine, const JobKind& kind, StartJob start) {
  STATOR_ASSIGN_OR_RETURN(const auto records, Records(*engine.store).list(kind.record));
  for (const auto& [id, record] : records) {
    if (is_open_job(record) && is_free(engine, kind.record, id)) start(engine, id);
  }
  return {};
}

void copy_members(const Item& from, std::initializer_list<std::string_view> members, Item& to) {
  for (const std::string_view member : members) {
    if (const auto found = from.find(member); found != from.end())
      to.insert_or_assign(found->first, found->second);
  }
}

}  // namespace stator::admin
