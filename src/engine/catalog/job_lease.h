// SPDX-License-Identifier: Apache-2.0
// JobLease: the right to work on a job, where several processes share the store.
//
// A lease is a row of the catalog: who holds it, how often it was taken, and a heartbeat. Each
// commit of the job reads the row and writes nothing if the lease was taken by another engine. An
// engine takes a lease that nobody holds, or one whose row it has seen unchanged for kJobLeaseMs
// by its own clock, in looks without a long interruption. The clocks of two machines are never
// compared. docs/formats/catalog.md. A store of one process has no such rows: its engine holds
// every lease.
//
// Thread safety: beat() may be called from any thread; the rest from the thread that has the job.
// Errors: the store's; kCorruption for a damaged row; kHeld once the lease is lost.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/catalog/catalog_commit.h"
#include "engine/rows/row_layout.h"
#include "storage/transact_store.h"

namespace stator {

// Several times the interval between two heartbeats, see EngineOptions::maintenance_interval.
inline constexpr int64_t kJobLeaseMs = 5LL * 60 * 1000;
// What the time between two looks counts for at most, see JobLeases::look().
inline constexpr int64_t kLeaseLookMs = 60LL * 1000;

inline constexpr std::size_t kLeaseHolderBytes = 16;

struct LeaseRow {
  // Random, another one each time that the lease is taken. Zeros: nobody holds it.
  std::string holder = std::string(kLeaseHolderBytes, '\0');
  uint64_t fence = 0;  // how often the lease was taken
  uint64_t beat = 0;   // how often the holder said that it is alive

  bool is_held() const { return holder.find_first_not_of('\0') != std::string::npos; }
};
std::string encode_lease(const LeaseRow& row);
Result<LeaseRow> decode_lease(std::string_view value);

// A job, as its lease sees it.
struct LeasedWork {
  std::string key;      // of the lease's row
  std::string row_key;  // of the row that says whether there still is something to do
  std::function<bool(std::string_view row)> is_open;  // whether it says so; absent rows do not
};
// The key of the lease of the job that the row `row_key` describes: a record or a backfill.
std::string lease_key(std::string_view row_key);
// Of a backup, restore, import, export or bulk put: see is_open_job() in records.h.
LeasedWork record_work(const std::string& record_key);
LeasedWork backfill_work(const std::string& table, SpaceId space);

class JobLease {
 public:
  // `seen`: the lease's row when it was found to be free. The store must outlive the lease.
  JobLease(TransactStore& store, LeasedWork work, std::optional<std::string> seen);

  // Takes the lease if its row is absent or still what was seen, and the job is open; otherwise it
  // is lost.
  Result<void> take();
  bool is_held() const { return state_ == State::kHeld; }
  bool is_lost() const { return state_ == State::kLost; }
  const std::string& key() const { return work_.key; }
  // How often the lease was taken, this time included; 0 on a store of one process.
  uint64_t fence() const { return fence_; }
  TransactStore& store() const { return store_; }

  // As commit_change(). If the lease is lost, `change` does not run and nothing is written.
  template <class Change>
  auto commit(std::span<const std::string> keys, Change change, SchemaVersions expected = {});
  // As transact_and_wait(). If the lease is lost, `decide` does not run and nothing is written.
  CommitResult transact(std::span<const std::string> keys, FunctionRef<Batch(GuardedRows)> decide,
                        SchemaVersions expected = {});
  // Commits a batch whatever its keys hold, unless the lease is lost.
  Result<void> write(Batch batch, SchemaVersions expected = {});
  // Fails if the lease is lost; writes nothing.
  Result<void> confirm();
  // Erases the lease with the last commit of the job.
  void end_in(Batch& batch) const;

  // Changes the row, so that other engines leave the job alone.
  Result<void> beat();
  // Lets another engine take the lease at once.
  Result<void> release();

 private:
  enum class State { kFree, kHeld, kLost };

  Result<LeaseRow> check(const std::optional<std::string>& row);
  Result<void> change_row(FunctionRef<void(LeaseRow& row)> change);

  TransactStore& store_;
  const bool is_shared_;
  const LeasedWork work_;
  const std::optional<std::string> seen_;
  const std::string holder_;
  uint64_t fence_ = 0;
  std::atomic<State> state_;
};

template <class Change>
auto JobLease::commit(std::span<const std::string> keys, Change change, SchemaVersions expected) {
  using Changed = std::invoke_result_t<Change&, GuardedRows, Batch&>;
  if (!is_shared_) return commit_change(store_, keys, std::move(change), expected);
  std::vector<std::string> guarded(keys.begin(), keys.end());
  guarded.push_back(work_.key);
  const auto change_held = [&](GuardedRows rows, Batch& batch) -> Changed {
    STATOR_RETURN_IF_ERROR(check(rows.back()));
    return change(rows.first(rows.size() - 1), batch);
  };
  return commit_change(store_, guarded, change_held, expected);
}

// commit_change(); by JobLease::commit() if a job makes the change and gives its lease.
template <class Change>
auto commit_change_by(JobLease* lease, TransactStore& store, std::span<const std::string> keys,
                      Change change) {
  return lease != nullptr ? lease->commit(keys, std::move(change))
                          : commit_change(store, keys, std::move(change));
}

}  // namespace stator
