// SPDX-License-Identifier: Apache-2.0
// JobLease: the right to run a job, if several processes share the store.
//
// A lease is a row of the catalog with the holder, a fencing token and a heartbeat counter. Each
// commit of the job reads the row, and writes nothing if another engine has acquired the lease. An
// engine acquires a free lease, or one whose row has not changed for kJobLeaseMs of the engine's
// own clock. A longer time between two checks counts as kLeaseLookMs. Clocks of two machines are
// never compared. docs/formats/catalog.md. A store of one process has no such rows; its engine
// holds every lease.
//
// Thread safety: any thread can call send_heartbeat(), the job's thread the other methods.
// Blocking: methods that return a Result or a CommitResult wait for the store.
// Errors: the store's; kCorruption for a damaged row; kHeld after the lease is lost.
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

// How long a lease lasts without a heartbeat. Heartbeats renew it: one per
// EngineOptions::maintenance_interval (by default 60 s), which must be several times shorter.
inline constexpr int64_t kJobLeaseMs = 5LL * 60 * 1000;
// The time between two checks counts as at most this; see JobLeases::look().
inline constexpr int64_t kLeaseLookMs = 60LL * 1000;

inline constexpr std::size_t kLeaseHolderBytes = 16;

struct LeaseRow {
  // Random, different for each acquisition. Zeros: the lease is free.
  std::string holder = std::string(kLeaseHolderBytes, '\0');
  uint64_t fence = 0;       // fencing token: the number of acquisitions
  uint64_t heartbeats = 0;  // the number that were sent

  bool is_held() const { return holder.find_first_not_of('\0') != std::string::npos; }
};
std::string encode_lease(const LeaseRow& row);
Result<LeaseRow> decode_lease(std::string_view value);

// The rows of a job that its lease needs.
struct LeasedWork {
  std::string key;      // of the lease's row
  std::string row_key;  // of the row that describes the job; if it is absent, the job has ended
  std::function<bool(std::string_view row)> is_open;  // whether that row's job has not ended
};
// The key of the lease of the job that the row `row_key`, a record or a backfill, describes.
std::string lease_key(std::string_view row_key);
// For a backup, restore, import, export or bulk put; see is_open_job() in records.h.
LeasedWork record_work(const std::string& record_key);
LeasedWork backfill_work(const std::string& table, SpaceId space);

class JobLease {
 public:
  // `seen`: the lease's row when it was free or expired. The store must outlive the lease.
  JobLease(TransactStore& store, LeasedWork work, std::optional<std::string> seen);

  // Acquires the lease if its row is absent or unchanged and the job has not ended. Otherwise the
  // lease is lost.
  Result<void> take();
  bool is_held() const { return state_ == State::kHeld; }
  bool is_lost() const { return state_ == State::kLost; }
  const std::string& key() const { return work_.key; }
  // The fencing token of this acquisition; 0 on a store of one process.
  uint64_t fence() const { return fence_; }
  TransactStore& store() const { return store_; }

  // Like commit_change(). If the lease is lost, `change` does not run and nothing is written.
  template <class Change>
  auto commit(std::span<const std::string> keys, Change change, SchemaVersions expected = {});
  // Like transact_and_wait(). If the lease is lost, `decide` does not run and nothing is written.
  CommitResult transact(std::span<const std::string> keys, FunctionRef<Batch(GuardedRows)> decide,
                        SchemaVersions expected = {});
  // Commits a batch, regardless of the values of its keys, unless the lease is lost.
  Result<void> write(Batch batch, SchemaVersions expected = {});
  // Fails if the lease is lost. Writes nothing.
  Result<void> confirm();
  // Adds the deletion of the lease to the last commit of the job.
  void end_in(Batch& batch) const;

  // Sends a heartbeat, so that other engines do not acquire the lease.
  Result<void> send_heartbeat();
  // Frees the lease, so that another engine can acquire it at once.
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

// commit_change(), or JobLease::commit() if `lease` is not null.
template <class Change>
auto commit_change_by(JobLease* lease, TransactStore& store, std::span<const std::string> keys,
                      Change change) {
  return lease != nullptr ? lease->commit(keys, std::move(change))
                          : commit_change(store, keys, std::move(change));
}

}  // namespace stator
