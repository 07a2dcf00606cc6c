// SPDX-License-Identifier: Apache-2.0
#include "engine/table_copy.h"

#include "engine/index_maintenance.h"

namespace stator {
namespace {

std::string moved_key(std::string_view key, SpaceId to) {
  std::string moved;
  append_big_endian(moved, to);
  moved.append(key.substr(moved.size()));
  return moved;
}

}  // namespace

Result<CopiedRows> copy_rows(Engine::Impl& engine, ReadView& view, const CopyPlan& plan,
                             CopyProgress progress) {
  CopiedRows copied;
  PastItems items(view, plan.from, plan.stamp, plan.after);
  while (true) {
    if (engine.jobs.stopping()) return fail(Code::kCancelled, "the engine stops");
    STATOR_TRY(const std::vector<PastItem> batch, items.next());
    if (batch.empty()) return copied;
    STATOR_TRY(const auto transaction, engine.store->begin());
    for (const PastItem& row : batch) {
      const ItemView item(row.item);
      transaction->put(moved_key(row.row_key, plan.to), row.item);
      if (plan.indexed != nullptr) {
        apply_index_changes(index_changes(*plan.indexed, {}, item), *transaction);
      }
      ++copied.items;
      copied.bytes += static_cast<int64_t>(item_size_bytes(item));
    }
    progress(*transaction, batch.back().row_key);
    CommitResult result = commit_and_wait(*transaction);
    if (result.outcome != CommitOutcome::kCommitted) return Failure(std::move(result.error));
  }
}

}  // namespace stator
