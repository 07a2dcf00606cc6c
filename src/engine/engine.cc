// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <utility>

#include "engine/admin_jobs.h"
#include "engine/administration.h"
#include "engine/backfill.h"
#include "engine/backups.h"
#include "engine/engine_impl.h"
#include "engine/exports.h"
#include "engine/imports.h"
#include "engine/messages.h"
#include "engine/sweep.h"

namespace stator {
namespace {

void tend_all(Engine::Impl& engine) {
  engine.catalogue->tend_logs(engine.now_ms());
  erase_expired_backups(engine);
  start_token_sweep(engine);
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(std::unique_ptr<Store> store,
                                             const EngineOptions& options) {
  auto impl = std::make_unique<Impl>(std::move(store), options);
  STATOR_TRY(impl->catalogue, Catalogue::open(*impl->store, impl->jobs));
  // From here on it ends as an engine does, its workers first.
  std::unique_ptr<Engine> engine(new Engine(std::move(impl)));
  Impl& parts = *engine->impl_;
  resume_backfills(parts);
  STATOR_CHECK_OK(resume_copies(parts));
  STATOR_CHECK_OK(admin::resume_jobs(parts, admin::kImportJobs, start_import));
  STATOR_CHECK_OK(admin::resume_jobs(parts, admin::kExportJobs, start_export));
  const auto snapshot = parts.catalogue->snapshot();
  for (const auto& [name, table] : snapshot->tables) {
    if (table->expiry() != nullptr) start_sweeping(parts);
    STATOR_CHECK_OK(parts.resource_policies.refresh(*table));
  }
  parts.ticker.start(options.tend_interval,
                     [&parts] { parts.housekeeping.post([&parts] { tend_all(parts); }); });
  return engine;
}

void Engine::tend() {
  tend_all(*impl_);
  impl_->jobs.retry_now();
}

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Engine::~Engine() {
  impl_->sweeper.stop();
  impl_->ticker.stop();
  impl_->jobs.stop();
  impl_->writes.wait_until_empty();
  impl_->housekeeping.stop();
  impl_->catalogue->save_counters();
}

Result<Item> Engine::administer(const admin::Operation& operation, const Item& request) {
  auto answer = operation.run(*impl_, request);
  if (!answer) return Failure(service_error(std::move(answer).error()));
  return answer;
}

EngineStats Engine::stats() const {
  const Jobs::Stats jobs = impl_->jobs.stats();
  return {.tables = impl_->catalogue->snapshot()->tables.size(),
          .jobs = jobs.jobs,
          .failing_jobs = jobs.failing,
          .oldest_job = jobs.oldest};
}

Store& Engine::store() {
  return *impl_->store;
}

Result<TablePtr> find_table(const CatalogueSnapshot& snapshot, std::string_view name) {
  const TablePtr* table = snapshot.find(name);
  if (table == nullptr) return fail(Code::kResourceNotFound, messages::kResourceNotFound);
  return *table;
}

Error service_error(Error error) {
  switch (error.code) {
    case Code::kThrottling:
      return {.code = Code::kThrottling, .message = messages::kTooBusy};
    case Code::kIo:
    case Code::kCorruption:
    case Code::kUnavailable:
      return {.code = Code::kInternalServerError, .message = std::move(error.message)};
    default:
      return error;
  }
}

Error service_error(CommitResult result) {
  if (result.outcome == CommitOutcome::kUnknown) {
    return {.code = Code::kInternalServerError,
            .message = "The write may or may not have been applied: " + result.error.message};
  }
  if (result.outcome == CommitOutcome::kConflict) {
    return {.code = Code::kTransactionConflict, .message = messages::kTransactionConflict};
  }
  if (result.error.code == Code::kThrottling) return service_error(std::move(result.error));
  return {.code = Code::kInternalServerError, .message = std::move(result.error.message)};
}

Failure transaction_cancelled(std::vector<CancellationReason> reasons) {
  Error error{.code = Code::kTransactionCanceled, .message = cancellation_message(reasons)};
  error.detail =
      std::make_shared<const ErrorDetail>(ErrorDetail{.item = {}, .reasons = std::move(reasons)});
  return Failure(std::move(error));
}

}  // namespace stator
