// SPDX-License-Identifier: Apache-2.0
// How operations reach their tables and run their reads without blocking the calling thread.
//
// A store of one process completes a read within the call, so the state of the operation is on the
// stack. Several processes can share a store that reads over a network. Then the state is on the
// heap until the read is complete, and `done` runs on a thread of the store or of the engine.
// Lifetime: what an operation borrows must live until `done` has run; on a store of one process
// until the call returns.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "engine/core/engine_core.h"
#include "engine/errors/service_errors.h"

namespace stator {

// Whether a snapshot has the tables (names or ARNs) that `name_of` returns for each item.
template <class Items, class NameOf = std::identity>
bool has_all_tables(const CatalogSnapshot& snapshot, const Items& items, NameOf name_of = {}) {
  return std::ranges::all_of(items, [&](const auto& item) {
    return snapshot.find(std::invoke(name_of, item)) != nullptr;
  });
}

// Calls `next` with a Result<Catalog::SnapshotPtr>: the current snapshot, or the newest one if
// `has_tables` denies that the current one has every table and other processes can have created
// them. `next` runs on the calling thread, or on the one that may block to load the newest
// snapshot. It must not block.
template <class HasTables, class Next>
void with_tables(EngineCore& engine, const HasTables& has_tables, Next next) {
  auto current = engine.catalog->snapshot();
  if (!engine.is_shared || has_tables(*current)) {
    next(Result<Catalog::SnapshotPtr>(std::move(current)));
    return;
  }
  engine.blocking.post(
      [&engine, pass = InFlightOperations::Pass(engine.in_flight),
       next = std::move(next)]() mutable { next(engine.catalog->newest_snapshot()); });
}

// A read of a shared store, until it is complete.
template <class Read>
struct PendingRead {
  template <class... Args>
  PendingRead(EngineCore& the_engine, Done<typename Read::Response> the_done, Args&&... args)
      : engine(the_engine),
        pass(the_engine.in_flight),
        done(std::move(the_done)),
        read(std::forward<Args>(args)...) {}

  EngineCore& engine;
  InFlightOperations::Pass pass;  // released last
  Done<typename Read::Response> done;
  Read read;
  Catalog::SnapshotPtr snapshot = {};  // of which `read` borrows
};

template <class Read>
Result<typename Read::Response> finish_read(Read& read, Result<void> outcome) {
  if (!outcome) return Failure(service_error(std::move(outcome).error()));
  return read.finish();
}

template <class Read>
void start_read(std::unique_ptr<PendingRead<Read>> under_way,
                Result<Catalog::SnapshotPtr> snapshot) {
  PendingRead<Read>& pending = *under_way;
  if (!snapshot) return pending.done(failure_of(std::move(snapshot)));
  pending.snapshot = std::move(*snapshot);
  if (auto prepared = pending.read.prepare(pending.engine, *pending.snapshot); !prepared) {
    return pending.done(failure_of(std::move(prepared)));
  }
  pending.read.read(pending.engine,
                    [under_way = std::move(under_way)](Result<void> outcome) mutable {
                      const auto mine = std::move(under_way);
                      mine->done(finish_read(mine->read, std::move(outcome)));
                    });
}

template <class Read>
Result<typename Read::Response> read_within_call(EngineCore& engine, Read read) {
  const auto snapshot = engine.catalog->snapshot();
  STATOR_RETURN_IF_ERROR(read.prepare(engine, *snapshot));
  std::optional<Result<void>> outcome;
  read.read(engine, [&outcome](Result<void> result) { outcome.emplace(std::move(result)); });
  STATOR_CHECK(outcome.has_value());
  return finish_read(read, std::move(*outcome));
}

// Runs one read of the store. `Read` is made of `args` and keeps the state of the operation:
//   using Response;
//   bool has_tables(const CatalogSnapshot&) const;  // false: a newer snapshot may have more
//   Result<void> prepare(const EngineCore&, const CatalogSnapshot&);  // may borrow both
//   void read(EngineCore&, ReadDone);  // the one call of the store, with visitors in the state
//   Result<Response> finish();
// Errors: those of prepare() and finish(), and those of the store as the service has them.
template <class Read, class... Args>
void run_read(EngineCore& engine, Done<typename Read::Response>&& done, Args&&... args) {
  if (!engine.is_shared) {
    done(read_within_call<Read>(engine, Read(std::forward<Args>(args)...)));
    return;
  }
  auto pending =
      std::make_unique<PendingRead<Read>>(engine, std::move(done), std::forward<Args>(args)...);
  const Read& read = pending->read;
  with_tables(
      engine, [&read](const CatalogSnapshot& snapshot) { return read.has_tables(snapshot); },
      [pending = std::move(pending)](Result<Catalog::SnapshotPtr> snapshot) mutable {
        start_read(std::move(pending), std::move(snapshot));
      });
}

}  // namespace stator
