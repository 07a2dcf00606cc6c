// SPDX-License-Identifier: Apache-2.0
// Transactions: executes the calls of transact() and write().
//
// A transaction reads its keys, calls `decide`, and submits its batch to the committer with the
// versions that it read. After two conflicts it locks its keys before it reads them. A blind write
// that cannot get its locks soon waits for them on a connection for locked transactions.
// Thread safety: any thread.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/postgres/committer.h"
#include "storage/postgres/session.h"
#include "storage/postgres/worker_pool.h"
#include "storage/transact_store.h"

namespace stator::postgres {

class Transactions {
 public:
  // All of them must outlive it.
  Transactions(WorkerPool& reads, WorkerPool& locked, Committer& committer,
               std::chrono::milliseconds settle_timeout)
      : reads_(reads), locked_(locked), committer_(committer), settle_timeout_(settle_timeout) {}

  // See TransactStore.
  void transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                SchemaVersions expected);
  void transact_foreseen(std::span<const std::string> keys, Decide decide, CommitDone done,
                         SchemaVersions expected);
  void write(Batch batch, CommitDone done, SchemaVersions expected);

 private:
  struct Call;
  using CallPtr = std::unique_ptr<Call>;
  // The reads and the batch of a transaction; or its result, if it has already ended.
  struct Decided {
    std::optional<CommitResult> ended;
    Commit commit;
  };

  class FirstRead;

  static CallPtr call_of(std::span<const std::string> keys, Decide decide, CommitDone done,
                         SchemaVersions expected);
  void attempt(CallPtr call);
  void decide(CallPtr call, const Result<KeyRows>& rows);
  void submit(Commit commit, CallPtr call);
  template <class Step>
  static void post(WorkerPool& pool, CallPtr call, Step step);
  void try_again(CallPtr call);
  void run_locked(Session& session, CallPtr call);
  void run_blind(Session& session, Commit commit, CallPtr call);
  CommitResult run_single(Session& session, Connection& connection, CommitCall& call,
                          bool in_transaction);
  CommitResult try_locked(Session& session, Call& call);

  WorkerPool& reads_;
  WorkerPool& locked_;
  Committer& committer_;
  const std::chrono::milliseconds settle_timeout_;
};

}  // namespace stator::postgres
