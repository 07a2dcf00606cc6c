// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <utility>

#include "engine/admin/administration.h"
#include "engine/engine_impl.h"
#include "engine/errors/messages.h"
#include "engine/errors/service_errors.h"
#include "engine/items/token_sweep.h"
#include "engine/jobs/backups.h"
#include "engine/jobs/exports.h"
#include "engine/jobs/imports.h"
#include "engine/jobs/job_records.h"
#include "engine/schema/backfill.h"
#include "engine/schema/ttl_sweeper.h"

namespace stator {
namespace {

void maintain(Engine::Impl& engine) {
  engine.catalog->maintain_logs(engine.now_ms());
  erase_expired_backups(engine);
  start_token_sweep(engine.jobs, *engine.store, *engine.options.clock, engine.token_sweep);
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(std::unique_ptr<Store> store,
                                             const EngineOptions& options) {
  auto impl = std::make_unique<Impl>(std::move(store), options);
  STATOR_TRY(impl->catalog, Catalog::open(*impl->store, impl->jobs));
  // From here on it ends as an engine does, its workers first.
  std::unique_ptr<Engine> engine(new Engine(std::move(impl)));
  Impl& parts = *engine->impl_;
  resume_backfills(parts);
  STATOR_CHECK_OK(resume_copies(parts));
  STATOR_CHECK_OK(admin::resume_jobs(parts, admin::kImportJobs, start_import));
  STATOR_CHECK_OK(admin::resume_jobs(parts, admin::kExportJobs, start_export));
  const auto snapshot = parts.catalog->snapshot();
  for (const auto& [name, table] : snapshot->tables) {
    if (table->expiry() != nullptr) start_sweeping(parts);
    STATOR_CHECK_OK(parts.resource_policies.refresh(*table));
  }
  parts.ticker.start(options.maintenance_interval,
                     [&parts] { parts.housekeeping.post([&parts] { maintain(parts); }); });
  return engine;
}

void Engine::run_maintenance() {
  maintain(*impl_);
  impl_->jobs.retry_now();
}

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Engine::~Engine() {
  impl_->sweeper.stop();
  impl_->ticker.stop();
  impl_->jobs.stop();
  impl_->writes.wait_until_empty();
  impl_->retries.stop();
  impl_->housekeeping.stop();
  impl_->catalog->save_counters();
}

Result<Item> Engine::administer(const admin::Operation& operation, const Item& request) {
  auto answer = operation.run(*impl_, request);
  if (!answer) return Failure(service_error(std::move(answer).error()));
  return answer;
}

EngineStats Engine::stats() const {
  const JobRunner::Stats jobs = impl_->jobs.stats();
  return {.tables = impl_->catalog->snapshot()->tables.size(),
          .jobs = jobs.jobs,
          .failing_jobs = jobs.failing,
          .oldest_job = jobs.oldest};
}

Store& Engine::store() {
  return *impl_->store;
}

}  // namespace stator
