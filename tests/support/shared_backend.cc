// SPDX-License-Identifier: Apache-2.0
// A commit locks its keys, compares versions, gets its commit versions, and applies its rows some
// time later. So commits of different keys can become visible in another order than that of their
// commit versions.
#include "support/shared_backend.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "storage/schema_rows.h"

namespace stator::test {

class SharedBackend::View final : public ReadView {
 public:
  explicit View(const Rows& rows) : rows_(rows) {}

  Result<bool> get(std::string_view key, ValueVisitor visit) override {
    const auto row = rows_.find(key);
    if (row == rows_.end()) return false;
    visit(*row->second.value);
    return true;
  }
  Result<void> scan(const RangeRead& read, RowVisitor visit) override {
    const KeyRange& range = read.range;
    if (!range.end.empty() && range.end <= range.begin) return {};
    auto row = rows_.lower_bound(range.begin);
    auto end = range.end.empty() ? rows_.end() : rows_.lower_bound(range.end);
    if (read.direction == Direction::kForward) {
      while (row != end && visit(row->first, *row->second.value)) ++row;
    } else {
      while (end != row && visit(std::prev(end)->first, *std::prev(end)->second.value)) --end;
    }
    return {};
  }

 private:
  const Rows& rows_;
};

bool SharedBackend::happens(int in_a_thousand) {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(random_() % 1000) < in_a_thousand;
}

void SharedBackend::back_off(uint64_t steps) {
  if (wait_) return wait_(SharedWait::kNetwork);
  for (uint64_t i = 0; i < steps; ++i) std::this_thread::yield();
}

void SharedBackend::delay(SharedWait where) {
  if (wait_) return wait_(where);
  uint64_t steps = 0;
  {
    const std::lock_guard lock(mutex_);
    steps = random_() % 8;
  }
  for (uint64_t i = 0; i < steps; ++i) std::this_thread::yield();
}

std::vector<SharedBackend::Versioned> SharedBackend::get(std::span<const std::string> keys) {
  delay();
  std::vector<Versioned> found(keys.size());
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (const auto row = rows_.find(keys[i]); row != rows_.end()) found[i] = row->second;
  }
  return found;
}

// Without one_state, rows can change between the reads of two parts.
Result<void> SharedBackend::read(const ReadRequest& request, ReadVisitor visit) {
  bool more = true;
  const auto visit_part = [&](const ReadRequest& part, std::size_t first) -> Result<void> {
    delay();
    const std::lock_guard lock(mutex_);
    View view(rows_);
    return read_rows(view, part, [&](std::size_t at, std::string_view key, std::string_view value) {
      return more = visit(first + at, key, value);
    });
  };
  if (!needs_state(request)) {
    for (std::size_t i = 0; more && i < request.keys.size(); ++i) {
      STATOR_RETURN_IF_ERROR(visit_part({.keys = request.keys.subspan(i, 1)}, i));
    }
    for (std::size_t i = 0; more && i < request.ranges.size(); ++i) {
      STATOR_RETURN_IF_ERROR(
          visit_part({.ranges = request.ranges.subspan(i, 1)}, request.keys.size() + i));
    }
    return {};
  }
  return visit_part(request, 0);
}

// Runs on a copy of all rows, so that others can commit while `body` runs.
Result<void> SharedBackend::with_view(ViewBody body) {
  delay();
  Rows rows;
  {
    const std::lock_guard lock(mutex_);
    rows = rows_;
  }
  View view(rows);
  return body(view);
}

uint64_t SharedBackend::new_id() {
  const std::lock_guard lock(mutex_);
  return ++last_id_;
}

SharedBackend::Outcome SharedBackend::commit(Request request) {
  delay();
  if (happens(500)) deliver_one();
  if (happens(faults_.conflicts)) return {.reply = Reply::kConflict};
  if (happens(faults_.late)) {
    const std::lock_guard lock(mutex_);
    late_.push_back(std::move(request));
    return {.reply = Reply::kLost};
  }
  const Outcome outcome = execute(std::move(request));
  if (happens(faults_.lost_replies)) return {.reply = Reply::kLost};
  return outcome;
}

// Commits that expect a schema's version share its lock. One that changes the version waits for
// them.
bool SharedBackend::must_wait(const Request& request, const std::set<std::string>& keys) const {
  return std::ranges::any_of(keys, [&](const auto& key) { return locked_.contains(key); }) ||
         std::ranges::any_of(request.schemas,
                             [&](const Guard& schema) { return locked_.contains(schema.key); }) ||
         std::ranges::any_of(request.batch.writes(),
                             [&](const Write& write) { return expected_.contains(write.key); });
}

SharedBackend::Outcome SharedBackend::execute(Request request) {
  std::set<std::string> keys;
  for (const Guard& guard : request.guards) keys.insert(guard.key);
  // No two commits have the same versioned rows. Their keys are those that a number changes.
  Batch numbered = request.batch;
  uint64_t number = 0;
  numbered.assign_commit_versions(number);
  for (std::size_t i = 0; i < numbered.writes().size(); ++i) {
    const std::string& key = request.batch.writes()[i].key;
    if (numbered.writes()[i].key == key) keys.insert(key);
  }

  std::unique_lock lock(mutex_);
  while (must_wait(request, keys)) {
    if (!wait_) {
      unlocked_.wait(lock);
      continue;
    }
    lock.unlock();
    wait_(SharedWait::kDatabase);
    lock.lock();
  }
  for (const Guard& schema : request.schemas) {
    const auto row = rows_.find(schema.key);
    if ((row == rows_.end() ? 0 : schema_version_in(*row->second.value)) != schema.version) {
      return {.reply = Reply::kSchemaChanged};
    }
  }
  for (const Guard& guard : request.guards) {
    const auto row = rows_.find(guard.key);
    if ((row == rows_.end() ? 0 : row->second.version) != guard.version) {
      return {.reply = Reply::kConflict};
    }
  }
  locked_.insert(keys.begin(), keys.end());
  for (const Guard& schema : request.schemas) expected_.insert(schema.key);
  const auto open = commit_versions_open_.insert(last_commit_version_ + 1);
  request.batch.assign_commit_versions(last_commit_version_);
  lock.unlock();
  delay(SharedWait::kDatabase);
  if (!wait_ && happens(faults_.slow)) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  lock.lock();
  const auto [entry, is_first] =
      outcomes_.try_emplace(request.id, Outcome{.sequence = last_version_ + 1});
  std::vector<std::optional<std::string>> replaced;
  if (is_first) {
    ++last_version_;
    for (const std::string& key : request.reported) {
      const auto row = rows_.find(key);
      replaced.push_back(row == rows_.end() ? std::nullopt : row->second.value);
    }
    for (Write& write : request.batch.writes()) {
      if (write.value) {
        rows_.insert_or_assign(std::move(write.key),
                               Versioned{last_version_, std::move(write.value)});
      } else {
        rows_.erase(write.key);
      }
    }
  }
  commit_versions_open_.erase(open);
  for (const std::string& key : keys) locked_.erase(key);
  for (const Guard& schema : request.schemas) expected_.erase(expected_.find(schema.key));
  unlocked_.notify_all();
  Outcome outcome = entry->second;
  outcome.replaced = std::move(replaced);
  return outcome;
}

std::optional<SharedBackend::Outcome> SharedBackend::settle(uint64_t id) {
  delay();
  if (happens(faults_.outages)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return outcomes_.try_emplace(id, Outcome{.reply = Reply::kConflict}).first->second;
}

LogPosition SharedBackend::safe_position() {
  const std::lock_guard lock(mutex_);
  return LogPosition{commit_versions_open_.empty() ? last_commit_version_ + 1
                                                   : *commit_versions_open_.begin()};
}

void SharedBackend::drop_range(const KeyRange& range) {
  const std::lock_guard lock(mutex_);
  if (!range.end.empty() && range.end <= range.begin) return;
  const auto end = range.end.empty() ? rows_.end() : rows_.lower_bound(range.end);
  rows_.erase(rows_.lower_bound(range.begin), end);
}

void SharedBackend::deliver_one() {
  Request request;
  {
    const std::lock_guard lock(mutex_);
    if (late_.empty()) return;
    std::swap(late_[random_() % late_.size()], late_.back());
    request = std::move(late_.back());
    late_.pop_back();
  }
  execute(std::move(request));
}

void SharedBackend::deliver_late() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (late_.empty()) return;
    }
    deliver_one();
  }
}

}  // namespace stator::test
