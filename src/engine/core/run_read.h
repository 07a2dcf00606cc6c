// SPDX-License-Identifier: Apache-2.0
// Runs the reads of operations without blocking the calling thread on a network.
//
// A store of one process completes a read within the call, so the state of the operation is on the
// stack. On a shared store, the state is on the heap until the read is complete. `done` then runs
// on a thread of the store or the engine. A failure that an old table definition caused is repeated
// (current_tables.h).
// Lifetime: borrowed arguments must live until `done` has run.
#pragma once

#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "engine/core/current_tables.h"
#include "engine/core/engine_core.h"
#include "engine/errors/service_errors.h"

namespace stator {

template <class Read>
Result<typename Read::Response> finish_read(Read& read, Result<void> outcome) {
  if (!outcome) return Failure(service_error(std::move(outcome).error()));
  return read.finish();
}

// A read of a shared store, until it is complete.
template <class Read, class... Args>
class PendingRead {
 public:
  using Response = typename Read::Response;

  PendingRead(EngineCore& engine, Done<Response> done, Args&&... args)
      : engine_(engine),
        pass_(engine.in_flight),
        done_(std::move(done)),
        args_(std::forward<Args>(args)...) {}

  static void start(std::unique_ptr<PendingRead> mine, Catalog::SnapshotPtr snapshot) {
    PendingRead& pending = *mine;
    std::apply([&](auto&... args) { pending.read_.emplace(args...); }, pending.args_);
    pending.snapshot_ = std::move(snapshot);
    ++pending.attempts_;
    if (auto prepared = pending.read_->prepare(pending.engine_, *pending.snapshot_); !prepared) {
      return complete(std::move(mine), failure_of(std::move(prepared)));
    }
    pending.read_->read(pending.engine_, [mine = std::move(mine)](Result<void> outcome) mutable {
      auto result = finish_read(*mine->read_, std::move(outcome));
      complete(std::move(mine), std::move(result));
    });
  }

 private:
  static bool is_in_doubt(const Result<Response>& result) {
    if constexpr (requires { Read::has_failed(*result); }) {
      return !result || Read::has_failed(*result);
    } else {
      return !result;
    }
  }

  static void complete(std::unique_ptr<PendingRead> mine, Result<Response> result) {
    PendingRead& pending = *mine;
    if (!is_in_doubt(result)) return pending.done_(std::move(result));
    pending.engine_.blocking.post([mine = std::move(mine), result = std::move(result)]() mutable {
      confirm(std::move(mine), std::move(result));
    });
  }

  static void confirm(std::unique_ptr<PendingRead> mine, Result<Response> result) {
    PendingRead& pending = *mine;
    const bool behind = !result && result.error().code == kBehind;
    auto newer = snapshot_after_failure(pending.engine_, pending.snapshot_->version, behind,
                                        pending.attempts_);
    if (!newer) return pending.done_(failure_of(std::move(newer)));
    if (*newer == nullptr) return pending.done_(std::move(result));
    start(std::move(mine), std::move(*newer));
  }

  EngineCore& engine_;
  InFlightOperations::Pass pass_;  // released last
  Done<Response> done_;
  std::tuple<Args...> args_;  // from which each attempt constructs its Read
  Catalog::SnapshotPtr snapshot_;
  std::optional<Read> read_;  // borrows from the snapshot
  int attempts_ = 0;
};

template <class Read>
Result<typename Read::Response> read_within_call(EngineCore& engine, Read read) {
  const auto snapshot = engine.catalog->snapshot();
  STATOR_RETURN_IF_ERROR(read.prepare(engine, *snapshot));
  std::optional<Result<void>> outcome;
  read.read(engine, [&outcome](Result<void> result) { outcome.emplace(std::move(result)); });
  STATOR_CHECK(outcome.has_value());
  return finish_read(read, std::move(*outcome));
}

// Runs one read of the store. `Read` is constructed from `args` and keeps the operation's state:
//   using Response;
//   Result<void> prepare(const EngineCore&, const CatalogSnapshot&);  // may borrow both
//   void read(EngineCore&, ReadDone);  // calls the store once, with visitors in the state
//   Result<Response> finish();
//   static bool has_failed(const Response&);  // if a response can contain failures; or absent
// On a shared store, a failed attempt is repeated with the newest snapshot; each attempt constructs
// another Read from copies of the arguments.
// Errors: those of prepare() and finish(); the store's, as DynamoDB's errors.
template <class Read, class... Args>
void run_read(EngineCore& engine, Done<typename Read::Response>&& done, Args&&... args) {
  if (!engine.is_shared) {
    done(read_within_call<Read>(engine, Read(std::forward<Args>(args)...)));
    return;
  }
  using Pending = PendingRead<Read, Args...>;
  Pending::start(std::make_unique<Pending>(engine, std::move(done), std::forward<Args>(args)...),
                 engine.catalog->snapshot());
}

}  // namespace stator
