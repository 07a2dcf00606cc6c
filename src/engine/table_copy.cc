// SPDX-License-Identifier: Apache-2.0
#include "engine/table_copy.h"

#include "engine/index_maintenance.h"

namespace stator {
namespace {

// Of one transaction, so that it does not fill the store's queue.
constexpr std::size_t kBatchRows = 256;
constexpr std::size_t kBatchBytes = 1UL << 20;

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
  KeyRange range = space_range(plan.from);
  if (!plan.after.empty()) range.begin = plan.after + '\0';
  for (bool more = true; more;) {
    if (engine.jobs.stopping()) return fail(Code::kCancelled, "the engine stops");
    STATOR_TRY(const auto transaction, engine.store->begin());
    std::string last;
    std::size_t rows = 0;
    std::size_t bytes = 0;
    more = false;
    STATOR_CHECK_OK(view.scan({.range = range, .expected_rows = kBatchRows},
                              [&](std::string_view key, std::string_view value) {
                                const ItemView item(value);
                                transaction->put(moved_key(key, plan.to), value);
                                if (plan.indexed != nullptr) {
                                  apply_index_changes(index_changes(*plan.indexed, {}, item),
                                                      *transaction);
                                }
                                ++copied.items;
                                copied.bytes += static_cast<int64_t>(item_size_bytes(item));
                                last = key;
                                bytes += value.size();
                                more = ++rows == kBatchRows || bytes >= kBatchBytes;
                                return !more;
                              }));
    if (rows == 0) break;
    progress(*transaction, last);
    CommitResult result = commit_and_wait(*transaction);
    if (result.outcome != CommitOutcome::kCommitted) return Failure(std::move(result.error));
    range.begin = last + '\0';
  }
  return copied;
}

}  // namespace stator
