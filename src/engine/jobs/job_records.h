// SPDX-License-Identifier: Apache-2.0
// What imports, exports and bulk operations share: jobs that have an id, a record and an ARN, and
// are listed.
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
  std::string_view path;  // "/import/", behind the table's ARN
  Code not_found = Code::kImportNotFound;
  std::string_view name;               // "Import"
  std::string_view name_lower;         // "import"
  bool token_ends_with_start = false;  // its life counts from the start of the job, not its end
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

// kValidation, kAccessDenied, and the kind's own code, as the service answers such ARNs.
Result<Job> find_job(const JobEngine& engine, const JobKind& kind, const std::string& arn);

// Fails if the token of the request began a job that is under way or ended in the last eight hours
// (of some kinds: that began in the last eight hours), and sets `earlier` to that job; otherwise
// `earlier` is absent. A request without a token passes.
Result<void> check_token(const JobEngine& engine, const JobKind& kind, const Item& request,
                         std::optional<Job>& earlier);

// A page, the newest first: what `summary` makes of the records that are wanted, in `member`.
Result<Item> list_jobs(const JobEngine& engine, const JobKind& kind, const Item& request,
                       std::string_view size_member, std::string_view member,
                       FunctionRef<bool(const Item& record)> wanted,
                       FunctionRef<Item(const Job& job)> summary);

// Why a job failed, as its description tells.
struct JobFailure {
  std::string code;
  std::string message;
};
JobFailure internal_failure(const Error& error);
JobFailure no_such_bucket();
JobFailure bucket_access_denied();
// Why a job ends that was abandoned.
JobFailure failure_for(const Error& error);
// The name of a job in JobEngine::jobs.
std::string job_name(const JobKind& kind, std::string_view id);
// Adds to a description why the job's last step failed; it is IN_PROGRESS and tried again.
void describe_failure(const JobEngine& engine, const JobKind& kind, const Job& job,
                      Item& described);
// Ends the job in its record: completed, where nothing failed.
void end_job(Item& record, int64_t now_ms, const std::optional<JobFailure>& failure);

// Starts the jobs that no engine works on.
using StartJob = void (*)(JobEngine& engine, const std::string& id);
Result<void> resume_jobs(JobEngine& engine, const JobKind& kind, StartJob start);

// Adds those members of `from` that are there.
void copy_members(const Item& from, std::initializer_list<std::string_view> members, Item& to);

}  // namespace stator::admin
