// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"

#include <algorithm>
#include <utility>

#include "engine/admin/administration.h"
#include "engine/background/ticker.h"
#include "engine/background/worker.h"
#include "engine/errors/messages.h"
#include "engine/errors/service_errors.h"
#include "engine/items/item_operations.h"
#include "engine/items/token_sweep.h"
#include "engine/jobs/backup_job.h"
#include "engine/jobs/bulk_put_job.h"
#include "engine/jobs/export_job.h"
#include "engine/jobs/import_job.h"
#include "engine/jobs/job_engine.h"
#include "engine/jobs/job_records.h"
#include "engine/jobs/restore_job.h"
#include "engine/query/query_operations.h"
#include "engine/schema/backfill.h"
#include "engine/schema/schema_operations.h"
#include "engine/schema/ttl_sweeper.h"
#include "engine/streams/stream_operations.h"

namespace stator {

struct Engine::Impl : JobEngine {
  using JobEngine::JobEngine;

  Worker maintenance;  // runs maintain() periodically
  Ticker ticker;       // heartbeats, and the start of maintenance
};

namespace {

bool has_expiring_items(const CatalogSnapshot& snapshot) {
  return std::ranges::any_of(snapshot.tables,
                             [](const auto& table) { return table.second->expiry() != nullptr; });
}

// Starts the jobs that no other engine is running.
Result<void> resume(JobEngine& engine) {
  STATOR_RETURN_IF_ERROR(engine.leases.look(engine.now_ms()));
  resume_backfills(engine);
  STATOR_RETURN_IF_ERROR(resume_backups(engine));
  STATOR_RETURN_IF_ERROR(resume_restores(engine));
  STATOR_RETURN_IF_ERROR(admin::resume_jobs(engine, admin::kImportJobs, start_import));
  STATOR_RETURN_IF_ERROR(admin::resume_jobs(engine, admin::kExportJobs, start_export));
  return admin::resume_jobs(engine, admin::kBulkJobs, start_bulk_puts);
}

// Other processes can have enabled TTL, changed policies or stopped since the last run.
void maintain(JobEngine& engine) {
  // Failures are repeated by the next run.
  const auto snapshot = engine.catalog->newest_snapshot();
  if (engine.catalog->refusal()) return engine.leases.release();
  if (engine.is_shared) static_cast<void>(resume(engine));
  if (snapshot && engine.is_shared) {
    static_cast<void>(engine.resource_policies.refresh(**snapshot));
    if (has_expiring_items(**snapshot)) start_sweeping(engine);
  }
  if (engine.vector_cache) engine.vector_cache->drop_idle();
  engine.catalog->share_counters();
  engine.catalog->erase_dropped();
  engine.catalog->maintain_logs(engine.now_ms());
  erase_expired_backups(engine);
  erase_expired_bulk_operations(engine);
  start_token_sweep(engine.jobs, *engine.store, *engine.options.clock, engine.token_sweep);
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::open(std::unique_ptr<TransactStore> store,
                                             const EngineOptions& options) {
  auto impl = std::make_unique<Impl>(std::move(store), options);
  STATOR_ASSIGN_OR_RETURN(impl->catalog, Catalog::open(*impl->store, impl->jobs));
  // From here on, an error destroys the engine in its usual order: workers first.
  std::unique_ptr<Engine> engine(new Engine(std::move(impl)));
  Impl& parts = *engine->impl_;
  STATOR_RETURN_IF_ERROR(resume(parts));
  const auto snapshot = parts.catalog->snapshot();
  if (has_expiring_items(*snapshot)) start_sweeping(parts);
  STATOR_RETURN_IF_ERROR(parts.resource_policies.refresh(*snapshot));
  parts.ticker.start(options.maintenance_interval, [&parts] {
    parts.leases.send_heartbeats();  // not on the maintenance thread: a trim can outlast a lease
    parts.maintenance.post([&parts] { maintain(parts); });
  });
  return engine;
}

void Engine::run_maintenance() {
  impl_->leases.send_heartbeats();
  maintain(*impl_);
  impl_->jobs.retry_now();
}

Engine::Engine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Engine::~Engine() {
  impl_->sweeper.stop();
  impl_->ticker.stop();
  impl_->jobs.stop();
  impl_->in_flight.wait_until_empty();
  impl_->maintenance.stop();
  impl_->leases.release();
  // Transactions with an old definition would not save the counters.
  if (impl_->is_shared) static_cast<void>(impl_->catalog->refresh());
  impl_->catalog->save_counters();
}

Result<CreateTableResult> Engine::create_table(const CreateTableRequest& request) {
  return stator::create_table(*impl_, request);
}

Result<DescribeTableResult> Engine::describe_table(const DescribeTableRequest& request) {
  return stator::describe_table(*impl_, request);
}

Result<ListTablesResult> Engine::list_tables(const ListTablesRequest& request) {
  return stator::list_tables(*impl_, request);
}

Result<DeleteTableResult> Engine::delete_table(const DeleteTableRequest& request) {
  return stator::delete_table(*impl_, request);
}

Result<UpdateTableResult> Engine::update_table(const UpdateTableRequest& request) {
  return stator::update_table(*impl_, request);
}

Result<UpdateTimeToLiveResult> Engine::update_time_to_live(const UpdateTimeToLiveRequest& request) {
  return stator::update_time_to_live(*impl_, request);
}

Result<DescribeTimeToLiveResult> Engine::describe_time_to_live(
    const DescribeTimeToLiveRequest& request) {
  return stator::describe_time_to_live(*impl_, request);
}

void Engine::get_item(const GetItemRequest& request, Done<GetItemResponse> done) {
  stator::get_item(*impl_, request, std::move(done));
}

void Engine::query(const QueryRequest& request, Done<PageResponse> done) {
  stator::query(*impl_, request, std::move(done));
}

void Engine::scan(const ScanRequest& request, Done<PageResponse> done) {
  stator::scan(*impl_, request, std::move(done));
}

void Engine::get_item_result(const GetItemRequest& request, Done<GetItemResult> done) {
  stator::get_item(*impl_, request, std::move(done));
}

void Engine::query_result(const QueryRequest& request, Done<PageResult> done) {
  stator::query(*impl_, request, std::move(done));
}

void Engine::scan_result(const ScanRequest& request, Done<PageResult> done) {
  stator::scan(*impl_, request, std::move(done));
}

void Engine::search_vectors(const SearchVectorsRequest& request, Done<SearchVectorsResponse> done) {
  stator::search_vectors(*impl_, request, std::move(done));
}

void Engine::batch_get_item(const BatchGetItemRequest& request, Done<BatchGetItemResponse> done) {
  stator::batch_get_item(*impl_, request, std::move(done));
}

void Engine::transact_get_items(const TransactGetItemsRequest& request,
                                Done<TransactGetItemsResponse> done) {
  stator::transact_get_items(*impl_, request, std::move(done));
}

void Engine::put_item(const PutItemRequest& request, Done<WriteResponse> done) {
  stator::put_item(*impl_, request, std::move(done));
}

void Engine::update_item(const UpdateItemRequest& request, Done<WriteResponse> done) {
  stator::update_item(*impl_, request, std::move(done));
}

void Engine::delete_item(const DeleteItemRequest& request, Done<WriteResponse> done) {
  stator::delete_item(*impl_, request, std::move(done));
}

void Engine::batch_write_item(const BatchWriteItemRequest& request,
                              Done<BatchWriteItemResult> done) {
  stator::batch_write_item(*impl_, request, std::move(done));
}

void Engine::transact_write_items(const TransactWriteItemsRequest& request,
                                  Done<TransactWriteItemsResult> done) {
  stator::transact_write_items(*impl_, request, std::move(done));
}

void Engine::execute_statement(const ExecuteStatementRequest& request,
                               Done<StatementResponse> done) {
  stator::execute_statement(*impl_, request, std::move(done));
}

void Engine::batch_execute_statement(const BatchExecuteStatementRequest& request,
                                     Done<BatchExecuteStatementResult> done) {
  stator::batch_execute_statement(*impl_, request, std::move(done));
}

void Engine::execute_transaction(const ExecuteTransactionRequest& request,
                                 Done<ExecuteTransactionResult> done) {
  stator::execute_transaction(*impl_, request, std::move(done));
}

Result<ListStreamsResult> Engine::list_streams(const ListStreamsRequest& request) {
  return stator::list_streams(*impl_, request);
}

Result<DescribeStreamResult> Engine::describe_stream(const DescribeStreamRequest& request) {
  return stator::describe_stream(*impl_, request);
}

Result<GetShardIteratorResult> Engine::get_shard_iterator(const GetShardIteratorRequest& request) {
  return stator::get_shard_iterator(*impl_, request);
}

void Engine::get_records(const GetRecordsRequest& request, Done<GetRecordsResponse> done) {
  stator::get_records(*impl_, request, std::move(done));
}

std::size_t Engine::sweep_expired() {
  return stator::sweep_expired(*impl_);
}

// Some of the operations use only rows of records, whose commits and reads compare no version.
Result<Item> Engine::administer(const admin::Operation& operation, const Item& request) {
  if (impl_->is_shared) STATOR_RETURN_IF_ERROR(impl_->catalog->newest_snapshot());
  auto response = operation.run(*impl_, request);
  if (!response) return Failure(service_error(std::move(response).error()));
  return response;
}

StoreHealth Engine::health() const {
  if (const auto reason = impl_->catalog->refusal()) return {.writable = false, .reason = *reason};
  return impl_->store->health();
}

EngineStats Engine::stats() const {
  const JobRunner::Stats jobs = impl_->jobs.stats();
  const auto& cache = impl_->vector_cache;
  return {.tables = impl_->catalog->snapshot()->tables.size(),
          .jobs = jobs.jobs,
          .failing_jobs = jobs.failing,
          .oldest_job = jobs.oldest,
          .vector_cache_bytes = cache ? cache->bytes() : 0,
          .vector_cache_bytes_max = cache ? cache->bytes_max() : 0,
          .vector_graph_rows = cache ? cache->rows_in_graphs() : 0,
          .vector_graph_builds = cache ? cache->builds() : 0};
}

JobEngine& Engine::parts() {
  return *impl_;
}

bool Engine::is_shared() const {
  return impl_->is_shared;
}

TransactStore& Engine::store() {
  return *impl_->store;
}

}  // namespace stator
