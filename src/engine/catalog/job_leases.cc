// SPDX-License-Identifier: Apache-2.0
#include "engine/catalog/job_leases.h"

#include <algorithm>
#include <utility>

#include "engine/catalog/catalog_rows.h"

namespace stator {

Result<void> JobLeases::look(int64_t now_ms) {
  if (!is_shared_) return {};
  std::map<std::string, Seen> seen;
  const std::string begin = catalog_row_key(CatalogRow::kLease);
  STATOR_RETURN_IF_ERROR(read_range(store_, {.range = {.begin = begin, .end = prefix_end(begin)}},
                                    [&](std::string_view key, std::string_view row) {
                                      seen.emplace(key, Seen{.row = std::string(row)});
                                      return true;
                                    }));
  const std::lock_guard lock(mutex_);
  const int64_t passed_ms = std::clamp<int64_t>(now_ms - looked_ms_, 0, kLeaseLookMs);
  for (auto& [key, now] : seen) {
    const auto before = seen_.find(key);
    if (before == seen_.end() || before->second.row != now.row) continue;
    now.unchanged_ms = before->second.unchanged_ms + passed_ms;
  }
  seen_ = std::move(seen);
  looked_ms_ = now_ms;
  return {};
}

bool JobLeases::is_free(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  if (own_.contains(key)) return false;
  const auto seen = seen_.find(key);
  if (seen == seen_.end()) return true;
  const auto row = decode_lease(seen->second.row);
  if (!row) return false;
  return !row->is_held() || seen->second.unchanged_ms >= kJobLeaseMs;
}

std::shared_ptr<JobLease> JobLeases::begin(LeasedWork work) {
  const std::lock_guard lock(mutex_);
  std::optional<std::string> row;
  if (const auto seen = seen_.find(work.key); seen != seen_.end()) row = seen->second.row;
  auto lease = std::make_shared<JobLease>(store_, std::move(work), std::move(row));
  if (is_shared_) own_.emplace(lease->key(), lease);
  return lease;
}

// A later job can have the same key, for example if a table is restored, dropped and restored
// again. So the lease is compared by identity.
void JobLeases::end(const JobLease& lease) {
  const std::lock_guard lock(mutex_);
  std::erase_if(own_, [&](const auto& own) { return own.second.get() == &lease; });
}

std::vector<std::shared_ptr<JobLease>> JobLeases::held() const {
  std::vector<std::shared_ptr<JobLease>> held;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, lease] : own_) {
    if (lease->is_held()) held.push_back(lease);
  }
  return held;
}

void JobLeases::send_heartbeats() {
  for (const auto& lease : held()) static_cast<void>(lease->send_heartbeat());
}

void JobLeases::release() {
  for (const auto& lease : held()) static_cast<void>(lease->release());
}

}  // namespace stator
