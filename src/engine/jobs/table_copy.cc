// SPDX-License-Identifier: Apache-2.0
#include "engine/jobs/table_copy.h"

#include <utility>

#include "engine/items/index_maintenance.h"

namespace stator {
namespace {

std::string moved_key(std::string_view key, SpaceId to) {
  std::string moved;
  append_big_endian(moved, to);
  moved.append(key.substr(moved.size()));
  return moved;
}

}  // namespace

RowCopy::RowCopy(JobLease& lease, const CopyPlan& plan, std::unique_ptr<ReadView> state)
    : lease_(lease),
      state_(std::move(state)),
      plan_(plan),
      source_(lease.store(), plan_.from, plan_.commit_version, plan_.after,
              ChangedRows::default_bytes(), state_.get()) {}

Result<JobState> RowCopy::step(Progress progress) {
  if (batch_.empty()) {
    STATOR_ASSIGN_OR_RETURN(auto next, source_.next());
    if (!next) return JobState::kDone;
    batch_ = std::move(*next);
  }
  if (batch_.empty()) return JobState::kMore;
  STATOR_RETURN_IF_ERROR(write(progress));
  for (const PastItem& row : batch_) {
    ++items_;
    bytes_ += static_cast<int64_t>(item_size_bytes(ItemView(row.item)));
  }
  batch_.clear();
  return JobState::kMore;
}

Result<void> RowCopy::write(Progress progress) const {
  Batch batch;
  for (const PastItem& row : batch_) {
    batch.put(moved_key(row.row_key, plan_.to), row.item);
    if (plan_.indexed != nullptr) {
      auto changes = index_changes(*plan_.indexed, {}, ItemView(row.item));
      apply_index_changes(changes, batch);
    }
  }
  progress(batch, batch_.back().row_key);
  return lease_.write(std::move(batch), plan_.indexed ? plan_.indexed->schema() : SchemaVersions());
}

}  // namespace stator
