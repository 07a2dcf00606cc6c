// SPDX-License-Identifier: Apache-2.0
// UpdateTimeToLive, DescribeTimeToLive, and the sweep that deletes expired items.
#include "engine/schema/ttl_sweeper.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "api/validation/validate.h"
#include "engine/errors/messages.h"
#include "engine/errors/service_errors.h"
#include "engine/items/write_action.h"
#include "engine/rows/stored_key.h"
#include "engine/schema/backfill.h"
#include "engine/schema/schema_operations.h"

namespace stator {
namespace {

// Items that are read and deleted at the same time; limited so that a sweep does not fill the
// store's queue.
constexpr std::size_t kDeletionsAtOnce = 64;

// Waits for the results of a group of deletions.
class Deletions {
 public:
  explicit Deletions(std::size_t count) : pending_(count) {}

  void done(const Result<WriteEffect>& effect) {
    const std::lock_guard lock(mutex_);
    if (!effect) failed_ = true;
    if (effect && effect->before && !effect->leaves_item) ++deleted_;
    if (--pending_ == 0) all_done_.notify_all();
  }
  // Returns no value if a deletion failed.
  std::optional<std::size_t> wait() {
    std::unique_lock lock(mutex_);
    all_done_.wait(lock, [this] { return pending_ == 0; });
    return failed_ ? std::nullopt : std::optional(deleted_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_done_;
  std::size_t pending_;
  std::size_t deleted_ = 0;
  bool failed_ = false;
};

class TableSweep {
 public:
  TableSweep(SchemaEngine& engine, TablePtr table) : engine_(engine), table_(std::move(table)) {}

  std::size_t run() {
    SweepCursor& cursor = table_->sweep_cursor();
    const int64_t now_ms = engine_.now_ms();
    // Other processes write without lowering this cursor, and can stop before they sweep.
    const int64_t taken = cursor.take();
    const int64_t from = engine_.is_shared && taken != INT64_MAX ? 0 : taken;
    std::vector<RangeRead> left = expired_rows(*table_->expiry(), from, now_ms);
    std::size_t deleted = 0;
    while (!left.empty()) {
      auto read = read_queue(*engine_.store, left, kDeletionsAtOnce);
      const auto count = read ? erase(read->keys) : std::nullopt;
      if (!count) {  // the next sweep tries again from here
        cursor.lower(first_second(left));
        return deleted;
      }
      deleted += *count;
      left = std::move(read->rest);
    }
    // If the clock was set back, the seconds until `from` have already been swept.
    if (from != INT64_MAX) cursor.lower(std::max(from, now_ms / 1000 + 1));
    return deleted;
  }

 private:
  static int64_t first_second(const std::vector<RangeRead>& ranges) {
    const auto begin = [](const RangeRead& range) { return queue_time(range.range.begin); };
    return static_cast<int64_t>(begin(*std::ranges::min_element(ranges, {}, begin)));
  }

  // Returns no value if the store fails.
  std::optional<std::size_t> erase(const std::vector<std::string>& queue_keys) {
    auto actions = deletions_of(queue_keys);
    if (!actions) return std::nullopt;
    Deletions deletions(actions->size() + 1);
    for (WriteAction& action : *actions) {
      write_one(
          engine_, std::move(action),
          [&](const WriteAction&, const Result<WriteEffect>& effect) { deletions.done(effect); });
    }
    deletions.done(WriteEffect());
    return deletions.wait();
  }

  // Items that no longer exist have no deletion.
  Result<std::vector<WriteAction>> deletions_of(const std::vector<std::string>& queue_keys) const {
    std::vector<std::string> row_keys;
    for (const std::string& queue_key : queue_keys) {
      if (const auto row = read_queue_row(queue_key)) row_keys.emplace_back(row->row_key);
    }
    std::vector<WriteAction> actions;
    STATOR_RETURN_IF_ERROR(
        read_and_wait(*engine_.store, {.keys = row_keys},
                      [&](std::size_t, std::string_view key, std::string_view value) {
                        actions.push_back(deletion_of(key, ItemView(value)));
                        return true;
                      }));
    return actions;
  }

  WriteAction deletion_of(std::string_view row_key, ItemView item) const {
    WriteAction action{.action = TransactAction::kDelete, .table = table_};
    action.row_key = row_key;
    action.key = decode_item(ItemView(stored_key(item, table_->key())));
    action.by_service = true;
    action.expired_at_ms = engine_.now_ms();
    return action;
  }

  SchemaEngine& engine_;
  TablePtr table_;
};

Result<void> change(const TimeToLiveSpecification& wanted, TableDefinition& definition) {
  const auto refuse = [](std::string message) {
    return fail(Code::kValidation, std::move(message));
  };
  const bool enabled = definition.expiry.has_value();
  if (enabled && wanted.attribute != definition.expiry->attribute) {
    return refuse(messages::ttl_on_other_attribute(definition.expiry->attribute));
  }
  if (enabled && definition.is_unfinished(definition.expiry->space)) {
    return refuse(messages::kTtlChanging);
  }
  if (wanted.enabled == enabled) {
    return refuse(enabled ? messages::kTtlEnabled : messages::kTtlDisabled);
  }
  definition.expiry.reset();
  if (wanted.enabled) definition.expiry = ExpiryQueue{.attribute = wanted.attribute, .space = 0};
  return {};
}

}  // namespace

std::size_t sweep_expired(SchemaEngine& engine) {
  std::size_t deleted = 0;
  const auto snapshot = engine.catalog->newest_snapshot();
  if (!snapshot) return 0;  // the next sweep tries again
  for (const auto& [name, table] : (*snapshot)->tables) {
    if (table->expiry() != nullptr) deleted += TableSweep(engine, table).run();
  }
  return deleted;
}

void start_sweeping(SchemaEngine& engine) {
  engine.sweeper.start(engine.options.sweep_interval, [&engine] { sweep_expired(engine); });
}

Result<UpdateTimeToLiveResult> update_time_to_live(SchemaEngine& engine,
                                                   const UpdateTimeToLiveRequest& request) {
  STATOR_RETURN_IF_ERROR(validate(request));
  auto versions = engine.catalog->update(
      request.table, engine.now_ms(),
      [&](TableDefinition& definition) { return change(request.specification, definition); },
      [&engine](const std::string& table, SpaceId space) { start_backfill(engine, table, space); });
  if (!versions) return Failure(service_error(std::move(versions).error()));
  if (request.specification.enabled) start_sweeping(engine);
  return UpdateTimeToLiveResult{request.specification};
}

Result<DescribeTimeToLiveResult> describe_time_to_live(const EngineCore& engine,
                                                       const DescribeTimeToLiveRequest& request) {
  STATOR_RETURN_IF_ERROR(validate(request));
  STATOR_ASSIGN_OR_RETURN(const auto snapshot, engine.catalog->newest_snapshot());
  const TablePtr* table = snapshot->find(request.table);
  if (table == nullptr) {
    return fail(Code::kResourceNotFound, messages::table_not_found(request.table));
  }
  const ExpiryQueue* queue = (*table)->expiry();
  if (queue == nullptr) return DescribeTimeToLiveResult();
  const bool complete = !(*table)->definition().is_unfinished(queue->space);
  return DescribeTimeToLiveResult{
      .status = complete ? TimeToLiveStatus::kEnabled : TimeToLiveStatus::kEnabling,
      .attribute = queue->attribute};
}

}  // namespace stator
