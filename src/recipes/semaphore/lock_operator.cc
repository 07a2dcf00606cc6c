// SPDX-License-Identifier: Apache-2.0
// Operations for operators: listing holders and expired ones, revoking and changing permits.
#include <algorithm>
#include <utility>

#include "recipes/common/cursor.h"
#include "recipes/common/keys.h"
#include "recipes/common/requests.h"
#include "recipes/semaphore/lock_semaphore.h"

namespace stator {

using namespace recipes;

namespace {

constexpr std::size_t kBreaksOfARequest = 50;

// Applies the filter to the state; false if nothing is left.
bool narrow(LockState& state, const LockFilter& filter, Time now) {
  const bool all = !filter.user && !filter.expired && !filter.overdue;
  std::erase_if(state.holders, [&](const LockHolder& holder) {
    return (filter.user && holder.user != *filter.user) || (filter.expired && !holder.expired()) ||
           (filter.overdue && !holder.overdue(now));
  });
  return !state.holders.empty() || (!state.waiters.empty() && all);
}

ScanRequest scan_of(const LockTable& table) {
  ScanRequest scan{.table = table.options.table,
                   .filter = "attribute_type(fence, :number) AND (held > :zero OR waiting > :zero)",
                   .values = Values{{":number", "N"}, {":zero", 0}},
                   .consistent_read = true};
  if (table.options.prefix.empty()) return scan;
  *scan.filter += " AND begins_with(#pk, :prefix)";
  scan.names = Names{{"#pk", table.options.partition_key}};
  scan.values->emplace(":prefix", table.options.prefix);
  return scan;
}

}  // namespace

Result<LockState> Semaphore::state(const LockName& name) {
  const LockTable& table = *state_->table;
  STATOR_RETURN_IF_ERROR(check_lock(table, name));
  const std::string key = table.key_of(name.text);
  STATOR_ASSIGN_OR_RETURN(auto lock, read_lock(table, key));
  if (!lock) return LockState{.name = name.text};
  state_->sightings.note(key, *lock);
  LockState state = lock_state(name.text, std::move(*lock));
  state_->sightings.judge(key, state);
  return state;
}

Result<Page<LockState>> Semaphore::list(const LockFilter& filter, const PageOptions& page) {
  const LockTable& table = *state_->table;
  STATOR_RETURN_IF_ERROR(check_lock_table(table));
  STATOR_RETURN_IF_ERROR(check_limit("limit", page.limit));
  const CursorSeal seal{
      .key = {},
      .question = {"locks", table.options.table, table.options.prefix,
                   filter.user ? "=" + *filter.user : std::string(),
                   filter.expired ? "expired" : "all", filter.overdue ? "overdue" : "all"}};
  const Time now = table.time.now();
  ScanRequest scan = scan_of(table);
  if (!page.cursor.empty()) {
    STATOR_ASSIGN_OR_RETURN(const auto parts, read_cursor(seal, page.cursor, 1));
    scan.exclusive_start_key = table.item_key(parts[0]);
  }
  Page<LockState> found;
  for (;;) {
    STATOR_ASSIGN_OR_RETURN(PageResult read, with_retries(table.options.retry, table.time,
                                                          [&] { return table.client.scan(scan); }));
    for (const Item& item : read.items) {
      const std::string* key = text_in(item, table.options.partition_key);
      auto name = key != nullptr ? table.name_of(*key) : std::nullopt;
      auto lock = parse_lock(item);
      if (!name || !lock) continue;  // another kind of item
      state_->sightings.note(*key, *lock, Sightings::Interest::kInList);
      LockState state = lock_state(std::move(*name), std::move(*lock));
      state_->sightings.judge(*key, state);
      if (!narrow(state, filter, now)) continue;
      if (found.items.size() == static_cast<std::size_t>(page.limit)) {
        found.next = make_cursor(seal, {table.key_of(found.items.back().name)});
        return found;
      }
      found.items.push_back(std::move(state));
    }
    if (!read.last_evaluated_key) return found;
    scan.exclusive_start_key = std::move(read.last_evaluated_key);
  }
}

Result<Fence> Semaphore::break_lock(const LockName& name, const std::optional<std::string>& owner) {
  const LockTable& table = *state_->table;
  STATOR_RETURN_IF_ERROR(check_lock(table, name));
  const std::string key = table.key_of(name.text);
  bool found_any = false;
  for (int changes = 0; changes < table.options.retry.max_attempts;) {
    STATOR_ASSIGN_OR_RETURN(auto lock, read_lock(table, key));
    if (!lock) return fail(Code::kNotFound, name.text + " was never held");
    std::erase_if(lock->holders,
                  [&](const LockEntry& entry) { return owner && entry.who.owner != *owner; });
    const bool last = lock->holders.size() <= kBreaksOfARequest;
    if (!last) lock->holders.resize(kBreaksOfARequest);
    found_any = found_any || !lock->holders.empty();
    if (owner && !found_any) return fail(Code::kNotFound, *owner + " does not hold " + name.text);

    LockUpdate update(table, key);
    for (const LockEntry& entry : lock->holders) {
      update.leave(kHolder, entry.who.owner, to_int64(entry.who.fence));
    }
    const std::string next = update.value(lock->fence + 1);
    update.set("fence = " + next);
    update.set("broken = " + next);
    update.require("fence = " + update.value(lock->fence));
    const UpdateItemRequest request = update.request(ReturnValues::kNone);
    const auto written = with_retries(table.options.retry, table.time,
                                      [&] { return table.client.update_item(request); });
    if (!written) {
      if (written.error().code != Code::kConditionalCheckFailed) return Failure(written.error());
      ++changes;  // another client changed the item, or our own attempt did
      continue;
    }
    LockBell::ring(table, key);
    if (last) return Fence{lock->fence + 1};
  }
  return fail(Code::kTransactionConflict, name.text + " changes hands too fast");
}

Result<void> Semaphore::set_permits(const LockName& name, int permits) {
  const LockTable& table = *state_->table;
  STATOR_RETURN_IF_ERROR(check_lock(table, name));
  STATOR_RETURN_IF_ERROR(check_permits(permits));
  LockUpdate update(table, table.key_of(name.text));
  update.set("permits = " + update.value(permits));
  update.require("attribute_exists(permits)");
  const UpdateItemRequest request = update.request(ReturnValues::kNone);
  const auto written = with_retries(table.options.retry, table.time,
                                    [&] { return table.client.update_item(request); });
  if (written) return {};
  if (written.error().code != Code::kConditionalCheckFailed) return Failure(written.error());
  return fail(Code::kNotFound, name.text + " was never held");
}

std::optional<LockState> Semaphore::state_in(const Error& error) {
  if (error.code != Code::kHeld && error.code != Code::kTimeout &&
      error.code != Code::kLimitsDisagree) {
    return std::nullopt;
  }
  const Item* item = item_in(error);
  auto lock = item != nullptr ? parse_lock(*item) : std::nullopt;
  return lock ? std::optional(lock_state({}, std::move(*lock))) : std::nullopt;
}

}  // namespace stator
