// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/job_lease.h"

#include <array>

#include "base/random.h"
#include "engine/catalog/catalog_codec.h"
#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/records.h"

namespace stator {

std::string encode_lease(const LeaseRow& row) {
  std::string value = row.holder;
  append_big_endian(value, row.fence);
  append_big_endian(value, row.heartbeats);
  return value;
}

Result<LeaseRow> decode_lease(std::string_view value) {
  constexpr std::size_t kNumberBytes = sizeof(uint64_t);
  if (value.size() != kLeaseHolderBytes + 2 * kNumberBytes) {
    return fail(Code::kCorruption, "the lease of a job is damaged");
  }
  return LeaseRow{.holder = std::string(value.substr(0, kLeaseHolderBytes)),
                  .fence = read_big_endian(value.substr(kLeaseHolderBytes, kNumberBytes)),
                  .heartbeats = read_big_endian(value.substr(kLeaseHolderBytes + kNumberBytes))};
}

std::string lease_key(std::string_view row_key) {
  return catalog_row_key(CatalogRow::kLease, row_key.substr(kPartitionBytes));
}

LeasedWork record_work(const std::string& record_key) {
  return {.key = lease_key(record_key), .row_key = record_key, .is_open = [](std::string_view row) {
            return validate_item(row) && is_open_job(decode_item(ItemView(row)));
          }};
}

LeasedWork backfill_work(const std::string& table, SpaceId space) {
  return {.key = lease_key(catalog_row_key(CatalogRow::kBackfill, space)),
          .row_key = catalog_row_key(CatalogRow::kTable, table),
          .is_open = [space](std::string_view row) {
            const auto definition = decode_table(row);
            return definition && definition->is_unfinished(space);
          }};
}

JobLease::JobLease(TransactStore& store, LeasedWork work, std::optional<std::string> seen)
    : store_(store),
      is_shared_(store.capabilities().several_processes),
      work_(std::move(work)),
      seen_(std::move(seen)),
      holder_(random_bytes(kLeaseHolderBytes)),
      state_(is_shared_ ? State::kFree : State::kHeld) {}

Result<void> JobLease::take() {
  const std::array<std::string, 2> keys = {work_.key, work_.row_key};
  const auto take_row = [&](GuardedRows rows, Batch& batch) -> Result<uint64_t> {
    LeaseRow row;
    if (rows[0]) {
      STATOR_ASSIGN_OR_RETURN(row, decode_lease(*rows[0]));
    }
    // An earlier call with an unknown outcome took the lease.
    if (row.holder == holder_) return row.fence;
    const bool is_free = !rows[0] || rows[0] == seen_;
    if (!is_free || !rows[1] || !work_.is_open(*rows[1])) return 0;
    row.holder = holder_;
    ++row.fence;
    batch.put(work_.key, encode_lease(row));
    return row.fence;
  };
  STATOR_ASSIGN_OR_RETURN(fence_, commit_change(store_, keys, take_row));
  state_ = fence_ == 0 ? State::kLost : State::kHeld;
  return {};
}

// A lease that another engine has taken is never recovered.
Result<LeaseRow> JobLease::check(const std::optional<std::string>& row) {
  if (row) {
    STATOR_ASSIGN_OR_RETURN(LeaseRow lease, decode_lease(*row));
    if (lease.holder == holder_) return lease;
  }
  state_ = State::kLost;
  return fail(Code::kHeld, "another engine has taken the job");
}

CommitResult JobLease::transact(std::span<const std::string> keys,
                                FunctionRef<Batch(GuardedRows)> decide, SchemaVersions expected) {
  if (!is_shared_) return transact_and_wait(store_, keys, decide, expected);
  std::vector<std::string> guarded(keys.begin(), keys.end());
  guarded.push_back(work_.key);
  std::optional<Error> refused;
  const auto decide_held = [&](GuardedRows rows) {
    refused.reset();
    if (auto held = check(rows.back()); !held) {
      refused = std::move(held).error();
      return Batch();
    }
    return decide(rows.first(rows.size() - 1));
  };
  CommitResult result = transact_and_wait(store_, guarded, decide_held, expected);
  if (!refused) return result;
  return {.outcome = CommitOutcome::kUnavailable, .error = std::move(*refused)};
}

Result<void> JobLease::write(Batch batch, SchemaVersions expected) {
  if (!is_shared_) return write_or_fail(store_, std::move(batch), expected);
  const auto put_all = [&](GuardedRows, Batch& written) -> Result<void> {
    written = batch;
    return {};
  };
  return commit({}, put_all, expected);
}

Result<void> JobLease::confirm() {
  if (!is_shared_) return {};
  return commit({}, [](GuardedRows, Batch&) { return Result<void>(); });
}

void JobLease::end_in(Batch& batch) const {
  if (is_shared_) batch.erase(work_.key);
}

Result<void> JobLease::change_row(FunctionRef<void(LeaseRow& row)> change) {
  if (!is_shared_) return {};
  const std::array<std::string, 1> keys = {work_.key};
  return commit_change(store_, keys, [&](GuardedRows rows, Batch& batch) -> Result<void> {
    STATOR_ASSIGN_OR_RETURN(LeaseRow row, check(rows[0]));
    change(row);
    batch.put(work_.key, encode_lease(row));
    return {};
  });
}

Result<void> JobLease::send_heartbeat() {
  return change_row([](LeaseRow& row) { ++row.heartbeats; });
}

Result<void> JobLease::release() {
  return change_row([](LeaseRow& row) { row.holder = LeaseRow().holder; });
}

}  // namespace stator
