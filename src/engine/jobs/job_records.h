// SPDX-License-Identifier: Apache-2.0
// Common parts of imports, exports and bulk operations: jobs with an id, a record and an ARN, and
// lists of jobs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/admin/document.h"
#include "engine/catalog/records.h"
#include "engine/core/arns.h"
#include "engine/jobs/job_engine.h"

namespace stator::admin {

struct JobKind {
  RecordKind record = RecordKind::kImport;
  std::string_view path;  // "/import/", after the table's ARN
  Code not_found = Code::kImportNotFound;
  std::string_view name;               // "Import"
  std::string_view name_lower;         // "import"
  bool token_ends_with_start = false;  // a token expires 8 hours after the job's start, not its end
};
// NOLINTBEGIN(readability-identifier-naming): constants, whose initial values are in the source.
extern const JobKind kImportJobs;
extern const JobKind kExportJobs;
extern const JobKind kBulkJobs;
// NOLINTEND(readability-identifier-naming)

struct Job {
  std::string id;
  Item record;
};

std::string job_arn(const JobEngine& engine, const JobKind& kind, std::string_view table,
                    std::string_view id);

// Finds the job that an ARN names. Errors: kValidation and kAccessDenied for invalid ARNs,
// JobKind::not_found.
Result<Job> find_job(const JobEngine& engine, const JobKind& kind, const std::string& arn);

// Fails if the token of the request started a job that is in progress or ended in the last eight
// hours (for some kinds: that started in the last eight hours), and sets `earlier` to that job.
// Otherwise, and for a request without a token, it succeeds and `earlier` is absent.
Result<void> check_token(const JobEngine& engine, const JobKind& kind, const Item& request,
                         std::optional<Job>& earlier);

// Returns a page of the jobs that `wanted` selects, newest first, as summaries in `member`.
Result<Item> list_jobs(const JobEngine& engine, const JobKind& kind, const Item& request,
                       std::string_view size_member, std::string_view member,
                       FunctionRef<bool(const Item& record)> wanted,
                       FunctionRef<Item(const Job& job)> summary);

// The failure of a job, as its description shows it.
struct JobFailure {
  std::string code;
  std::string message;
};
JobFailure internal_failure(const Error& error);
JobFailure no_such_bucket();
JobFailure bucket_access_denied();
// The failure of a job that was abandoned because of `error`.
JobFailure failure_for(const Error& error);
// The name of a job in JobEngine::jobs.
std::string job_name(const JobKind& kind, std::string_view id);
// Adds the error of the job's last step to a description, while the job is IN_PROGRESS and retried.
void describe_failure(const JobEngine& engine, const JobKind& kind, const Job& job,
                      Item& described);
// Sets the end of the job in its record: failed, or completed if there is no failure.
void end_job(Item& record, int64_t now_ms, const std::optional<JobFailure>& failure);

// Starts the jobs that no engine is working on.
using StartJob = void (*)(JobEngine& engine, const std::string& id);
Result<void> resume_jobs(JobEngine& engine, const JobKind& kind, StartJob start);

// Copies those of the members that `from` has.
void copy_members(const Item& from, std::initializer_list<std::string_view> members, Item& to);

}  // namespace stator::admin
