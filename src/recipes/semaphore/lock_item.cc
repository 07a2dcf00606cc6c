// SPDX-License-Identifier: Apache-2.0
#include "recipes/semaphore/lock_item.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "recipes/common/keys.h"
#include "recipes/common/requests.h"

namespace stator::recipes {
namespace {

using std::chrono::milliseconds;

constexpr const char* kSortKeyValue = "LOCK";

std::optional<LockEntry> parse_entry(const Item& item, const EntryKind& kind,
                                     std::string_view attribute, const AttributeValue& value) {
  const std::string id(attribute.substr(std::string_view(kind.map).size()));
  const Map* map = value.get_if<Map>();
  const auto number = int64_in(item, kind.number + id);
  if (map == nullptr || !number) return std::nullopt;
  const auto beat = int64_in(*map, "beat");
  const auto lease_ms = int64_in(*map, "lease_ms");
  if (!beat || !lease_ms || *lease_ms < 1 || *lease_ms > kMaxLease.count()) return std::nullopt;
  LockEntry entry{.who = {.owner = id,
                          .user = {},
                          .fence = Fence{*number},
                          .lease = milliseconds(*lease_ms),
                          .acquired_at = {},
                          .renewed_at = {}},
                  .beat = *beat};
  if (const std::string* user = text_in(*map, "user")) entry.who.user = *user;
  if (const std::string* since = text_in(*map, "since")) {
    if (const auto at = Time::parse(*since)) entry.who.renewed_at = entry.who.acquired_at = *at;
  }
  if (const auto renewed_ms = int64_in(*map, "renewed_ms")) {
    entry.who.renewed_at = Time(std::chrono::sys_time<milliseconds>(milliseconds(*renewed_ms)));
  }
  return entry;
}

std::optional<std::vector<LockEntry>> parse_entries(const Item& item, const EntryKind& kind) {
  std::vector<LockEntry> entries;
  const std::string_view prefix(kind.map);
  for (auto at = item.lower_bound(prefix); at != item.end() && at->first.starts_with(prefix);
       ++at) {
    auto entry = parse_entry(item, kind, at->first, at->second);
    if (!entry) return std::nullopt;
    entries.push_back(std::move(*entry));
  }
  if (int64_in(item, kind.count) != static_cast<int64_t>(entries.size())) return std::nullopt;
  std::ranges::sort(entries, {}, [](const LockEntry& entry) { return entry.who.fence; });
  return entries;
}

const LockEntry* find(const std::vector<LockEntry>& entries, std::string_view id) {
  const auto found =
      std::ranges::find_if(entries, [&](const LockEntry& entry) { return entry.who.owner == id; });
  return found == entries.end() ? nullptr : &*found;
}

std::vector<LockHolder> holders_of(std::vector<LockEntry> entries) {
  std::vector<LockHolder> holders;
  holders.reserve(entries.size());
  for (LockEntry& entry : entries) holders.push_back(std::move(entry.who));
  return holders;
}

}  // namespace

std::string LockTable::key_of(std::string_view name) const {
  return options.prefix + escape(name);
}

std::optional<std::string> LockTable::name_of(std::string_view key) const {
  if (!key.starts_with(options.prefix)) return std::nullopt;
  return unescape(key.substr(options.prefix.size()));
}

Item LockTable::item_key(const std::string& key) const {
  Item item{{options.partition_key, key}};
  if (!options.sort_key.empty()) item.emplace(options.sort_key, kSortKeyValue);
  return item;
}

const LockEntry* StoredLock::holder(std::string_view id) const {
  return find(holders, id);
}
const LockEntry* StoredLock::waiter(std::string_view id) const {
  return find(waiters, id);
}

std::optional<StoredLock> parse_lock(const Item& item) {
  const auto permits = int64_in(item, "permits");
  const auto fence = int64_in(item, "fence");
  if (!permits || *permits < 1 || *permits > kMaxPermits || !fence) return std::nullopt;
  auto holders = parse_entries(item, kHolder);
  auto waiters = parse_entries(item, kWaiter);
  if (!holders || !waiters) return std::nullopt;
  return StoredLock{.permits = *permits,
                    .fence = *fence,
                    .holders = std::move(*holders),
                    .waiters = std::move(*waiters),
                    .released = int64_in(item, "released"),
                    .broken = int64_in(item, "broken")};
}

LockState lock_state(std::string name, StoredLock lock) {
  return {.name = std::move(name),
          .permits = static_cast<int>(lock.permits),
          .fence = Fence{lock.fence},
          .holders = holders_of(std::move(lock.holders)),
          .waiters = holders_of(std::move(lock.waiters))};
}

Failure no_lock() {
  return fail(Code::kConflict, "the item at this key is not a lock");
}

Result<std::optional<StoredLock>> read_lock(const LockTable& table, const std::string& key) {
  const GetItemRequest get{
      .table = table.options.table, .key = table.item_key(key), .consistent_read = true};
  STATOR_ASSIGN_OR_RETURN(
      const GetItemResult found,
      with_retries(table.options.retry, table.time, [&] { return table.client.get_item(get); }));
  if (!found.item) return std::optional<StoredLock>();
  auto lock = parse_lock(*found.item);
  if (!lock) return no_lock();
  return lock;
}

Result<std::optional<Item>> item_of_refusal(const LockTable& table, const std::string& key,
                                            const Error& error) {
  return refused_item(table.client, table.options.table, table.item_key(key), item_in(error));
}

// ---- LockUpdate

void LockUpdate::append(std::string& list, const char* separator, const std::string& clause) {
  if (!list.empty()) list += separator;
  list += clause;
}

std::string LockUpdate::name(const std::string& attribute) {
  for (const auto& [placeholder, known] : names_) {
    if (known == attribute) return placeholder;
  }
  std::string placeholder = fmt::format("#n{}", names_.size());
  names_.emplace(placeholder, attribute);
  return placeholder;
}

std::string LockUpdate::value(AttributeValue value) {
  std::string placeholder = fmt::format(":v{}", values_.size());
  values_.emplace(placeholder, std::move(value));
  return placeholder;
}

void LockUpdate::count(const EntryKind& kind, int delta) {
  (kind == kHolder ? held_delta_ : waiting_delta_) += delta;
}

void LockUpdate::enter(const EntryKind& kind, const std::string& id,
                       const AcquireOptions& options) {
  Map map{{"beat", 1}, {"lease_ms", options.lease.count()}, {"since", table_.time.now().text()}};
  if (!options.user.empty()) map.emplace("user", options.user);
  const std::string number = name(kind.number + id);
  set(name(kind.map + id) + " = " + value(std::move(map)));
  const std::string zero = value(0);
  const std::string one = value(1);
  for (const std::string& counter : {number, std::string("fence")}) {
    set(fmt::format("{} = if_not_exists(fence, {}) + {}", counter, zero, one));
  }
  require(fmt::format("attribute_not_exists({})", number));
  count(kind, 1);
}

void LockUpdate::leave(const EntryKind& kind, const std::string& id, int64_t number) {
  const std::string attribute = name(kind.number + id);
  remove(attribute);
  remove(name(kind.map + id));
  require(attribute + " = " + value(number));
  count(kind, -1);
}

void LockUpdate::beat(const EntryKind& kind, const std::string& id, int64_t number, int64_t beat,
                      milliseconds lease) {
  const Time now = table_.time.now();
  const std::string map = name(kind.map + id);
  const std::string next = value(beat);
  set(map + ".beat = " + next);
  set(map + ".lease_ms = " + value(lease.count()));
  set(map + ".renewed_ms = " + value(now.unix_seconds() * 1'000 + now.subsecond_ns() / 1'000'000));
  require(name(kind.number + id) + " = " + value(number));
  require(map + ".beat < " + next);
}

void LockUpdate::require_beat(const EntryKind& kind, const std::string& id, int64_t beat) {
  require(name(kind.map + id) + ".beat = " + value(beat));
}

void LockUpdate::require_permits(int permits) {
  const std::string wanted = value(permits);
  set("permits = " + wanted);
  require("permits = " + wanted);
}

UpdateItemRequest LockUpdate::request(ReturnValues return_values) {
  for (const auto& [kind, delta] : {std::pair(kHolder, held_delta_), {kWaiter, waiting_delta_}}) {
    if (delta == 0 && !or_absent_) continue;
    set(fmt::format("{0} = if_not_exists({0}, {1}) + {2}", kind.count, value(0), value(delta)));
  }
  std::string condition = conditions_;
  if (or_absent_) {
    condition = fmt::format("attribute_not_exists({}) OR ({})", name(table_.options.partition_key),
                            conditions_);
  }
  UpdateItemRequest request{.table = table_.options.table,
                            .key = table_.item_key(key_),
                            .update = "SET " + sets_,
                            .condition = std::move(condition),
                            .values = std::move(values_),
                            .return_values = return_values,
                            .on_condition_failure = ReturnValuesOnConditionCheckFailure::kAllOld};
  if (!removes_.empty()) *request.update += " REMOVE " + removes_;
  if (!names_.empty()) request.names = std::move(names_);
  return request;
}

}  // namespace stator::recipes
