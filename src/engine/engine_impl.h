// SPDX-License-Identifier: Apache-2.0
// What the engine's operation families share.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "engine/catalogue.h"
#include "engine/engine.h"
#include "engine/jobs.h"
#include "engine/resource_policies.h"
#include "engine/ticker.h"
#include "engine/token_sweep.h"
#include "engine/worker.h"

namespace stator {

struct Engine::Impl {
  Impl(std::unique_ptr<Store> the_store, const EngineOptions& the_options)
      : store(std::move(the_store)),
        options(the_options),
        resource_policies(*store),
        jobs(options.report, options.retry_delay) {}

  // In the order in which they need each other: the store goes last.
  std::unique_ptr<Store> store;
  EngineOptions options;
  ResourcePolicies resource_policies;
  Worker housekeeping;  // Engine::tend() without being told
  TokenSweepState token_sweep;
  Jobs jobs;  // whatever takes long: copies, imports, exports, index fills, counts
  std::atomic<int64_t> last_job_ms{0};  // by which the last backup, import or export is named
  std::mutex backups;                   // held while one is deleted, or begins to be restored
  Gate writes;                          // those under way
  std::unique_ptr<Catalogue> catalogue;
  Ticker sweeper;  // deletes what has expired
  Ticker ticker;   // what time asks for

  int64_t now_ms() const { return options.clock->unix_ms(); }
};

// The table that an operation on data names; kResourceNotFound.
Result<TablePtr> find_table(const CatalogueSnapshot& snapshot, std::string_view name);

// Starts to erase the expired tokens, unless that is under way.
void start_token_sweep(Engine::Impl& engine);

// UpdateTable.
Result<TableVersions> change_table(Engine::Impl& engine, const UpdateTableRequest& request);

std::string table_arn(const Engine::Impl& engine, std::string_view table);
// Of a stream by its creation: "2015-05-11T21:21:33.291".
std::string stream_label(int64_t created_ms);
std::string stream_arn(const Engine::Impl& engine, std::string_view table, int64_t created_ms);

// An error of the store as the service would answer it.
Error service_error(Error error);
// What a commit that did not apply is answered with. Not for kConflict.
Error service_error(CommitResult result);

// TransactionCanceledException; one reason an action, in their order.
Failure transaction_cancelled(std::vector<CancellationReason> reasons);

}  // namespace stator
