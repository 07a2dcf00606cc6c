// SPDX-License-Identifier: Apache-2.0
// A map of versioned values. A view has the sequence number at which it was opened, and reads the
// newest version of each key up to that number. The next commit of a key drops its versions that no
// view can reach. Commits apply under the lock and are acknowledged immediately.
#include <map>
#include <mutex>
#include <ranges>
#include <set>
#include <shared_mutex>
#include <utility>

#include "storage/batch.h"
#include "storage/lock_table.h"
#include "storage/read_rows.h"
#include "storage/schema_rows.h"
#include "storage/split_range.h"
#include "storage/stores.h"

namespace stator {
namespace {

struct Version {
  uint64_t sequence = 0;
  std::optional<std::string> value;  // absent: erased
};
using Versions = std::vector<Version>;  // oldest first

const std::string* newest_up_to(const Versions& versions, uint64_t sequence) {
  for (const Version& version : versions | std::views::reverse) {
    if (version.sequence <= sequence) return version.value ? &*version.value : nullptr;
  }
  return nullptr;
}

class MemoryStore final : public TransactStore, private LocalViews {
 public:
  StoreCapabilities capabilities() const override { return {.key_bytes_max = 64UL << 10}; }
  StoreHealth health() const override { return {}; }
  void transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                SchemaVersions expected) override {
    CommitResult result;
    {
      const LockTable::Guard guard = locks_.lock(keys);
      GuardedValues values(keys.size());
      const GuardedRows rows = values.rows();
      for (std::size_t i = 0; i < keys.size(); ++i) {
        static_cast<void>(
            get_at(keys[i], UINT64_MAX, [&](std::string_view value) { rows[i] = value; }));
      }
      result = commit(decide(rows), expected);
    }
    done(std::move(result));
  }
  void write(Batch batch, CommitDone done, SchemaVersions expected) override {
    CommitResult result;
    {
      const LockTable::Guard guard = locks_.lock(batch);
      result = commit(std::move(batch), expected);
    }
    done(std::move(result));
  }
  Result<std::shared_ptr<const SchemaRow>> schema_row(std::string_view key) override {
    const std::unique_lock lock(mutex_);
    return schemas_.lend(key, [&](const std::string& of) -> Result<uint64_t> {
      const auto row = rows_.find(of);
      const std::string* value =
          row == rows_.end() ? nullptr : newest_up_to(row->second, UINT64_MAX);
      return value == nullptr ? 0 : schema_version_in(*value);
    });
  }
  Result<uint64_t> schema_version(const SchemaRow& row) override { return row.newest(); }
  void read(const ReadRequest& request, ReadVisitor visit, ReadDone done) override;
  void with_view(ViewBody body, ReadDone done) override;
  Result<std::unique_ptr<ReadView>> view() override;
  Result<NumberedView> numbered_view() override;
  LocalViews* local_views() override { return this; }
  void observe(CommitObserver* observer) override {
    const std::unique_lock lock(mutex_);
    observer_ = observer;
  }
  Result<LogPosition> safe_position() override {
    const std::shared_lock lock(mutex_);
    return LogPosition{last_commit_version_ + 1};
  }

  Result<std::vector<KeyRange>> split_ranges(const KeyRange& range, std::size_t parts) override {
    return split_by_hash(range, parts);
  }
  Result<void> drop_range(const KeyRange& range) override {
    if (!range.end.empty() && range.end <= range.begin) return {};
    const std::unique_lock lock(mutex_);
    const auto end = range.end.empty() ? rows_.end() : rows_.lower_bound(range.end);
    rows_.erase(rows_.lower_bound(range.begin), end);
    return {};
  }
  Result<bool> get_at(std::string_view key, uint64_t sequence, ValueVisitor visit) {
    const std::shared_lock lock(mutex_);
    const auto row = rows_.find(key);
    const std::string* value = row == rows_.end() ? nullptr : newest_up_to(row->second, sequence);
    if (value == nullptr) return false;
    visit(*value);
    return true;
  }

  void scan_at(uint64_t sequence, const RangeRead& read, RowVisitor visit) {
    const std::shared_lock lock(mutex_);
    const KeyRange& range = read.range;
    auto row = rows_.lower_bound(range.begin);
    auto end = range.end.empty() ? rows_.end() : rows_.lower_bound(range.end);
    if (!range.end.empty() && range.end <= range.begin) return;
    const auto show = [&](const auto& at) {
      const std::string* value = newest_up_to(at->second, sequence);
      return value == nullptr || visit(at->first, *value);
    };
    if (read.direction == Direction::kForward) {
      while (row != end && show(row)) ++row;
    } else {
      while (end != row) {
        --end;
        if (!show(end)) return;
      }
    }
  }

  CommitResult commit(Batch batch, SchemaVersions expected) {
    std::unique_lock lock(mutex_, std::defer_lock);
    if (!batch.empty()) lock.lock();
    if (!SchemaRows::are_newest(expected)) return schema_changed();
    if (batch.empty()) return {};
    schemas_.note(batch);
    ++sequence_;
    batch.assign_commit_versions(last_commit_version_);
    if (observer_ != nullptr) observer_->on_commit(sequence_, batch.writes());
    for (Write& write : batch.writes()) {
      const auto row = rows_.try_emplace(std::move(write.key)).first;
      row->second.push_back({sequence_, std::move(write.value)});
      if (!prune(row->first, row->second)) stale_.insert(row->first);
    }
    if (views_.empty()) prune_stale();
    return {.sequence = sequence_};
  }

  uint64_t open_view() {
    const std::unique_lock lock(mutex_);
    views_.insert(sequence_);
    return sequence_;
  }
  void close_view(uint64_t sequence) {
    const std::unique_lock lock(mutex_);
    views_.erase(views_.find(sequence));
  }

 private:
  // Drops the versions of a row that no view can reach. Returns true if nothing is left to drop
  // later.
  bool prune(const std::string& key, Versions& versions) {
    const uint64_t oldest_view = views_.empty() ? sequence_ : *views_.begin();
    std::size_t first = versions.size() - 1;
    while (first > 0 && versions[first].sequence > oldest_view) --first;
    versions.erase(versions.begin(), versions.begin() + static_cast<std::ptrdiff_t>(first));
    if (versions.size() > 1 || versions[0].sequence > oldest_view) return false;
    if (!versions[0].value) rows_.erase(rows_.find(key));
    return true;
  }

  void prune_stale() {
    for (const std::string& key : std::exchange(stale_, {})) {
      const auto row = rows_.find(key);
      if (row != rows_.end()) prune(row->first, row->second);
    }
  }

  LockTable locks_;
  mutable std::shared_mutex mutex_;
  std::map<std::string, Versions, std::less<>> rows_;
  std::multiset<uint64_t> views_;
  SchemaRows schemas_;
  std::set<std::string> stale_;  // keys with versions kept for views
  uint64_t sequence_ = 0;
  uint64_t last_commit_version_ = 0;
  CommitObserver* observer_ = nullptr;
};

// The rows as of a sequence number. With kNewest, the newest rows; they do not change within a
// call.
class MemoryReadView : public ReadView {
 public:
  static constexpr uint64_t kNewest = UINT64_MAX;

  MemoryReadView(MemoryStore& store, uint64_t sequence) : store_(store), sequence_(sequence) {}

  Result<bool> get(std::string_view key, ValueVisitor visit) override {
    return store_.get_at(key, sequence_, visit);
  }
  Result<void> scan(const RangeRead& range, RowVisitor visit) override {
    store_.scan_at(sequence_, range, visit);
    return {};
  }
  uint64_t sequence() const { return sequence_; }

 protected:
  MemoryStore& store_;
  const uint64_t sequence_;
};

// Keeps the versions that it needs until it is destroyed.
class MemorySnapshot final : public MemoryReadView {
 public:
  explicit MemorySnapshot(MemoryStore& store) : MemoryReadView(store, store.open_view()) {}
  MemorySnapshot(const MemorySnapshot&) = delete;
  MemorySnapshot& operator=(const MemorySnapshot&) = delete;
  ~MemorySnapshot() override { store_.close_view(sequence_); }
};

void MemoryStore::read(const ReadRequest& request, ReadVisitor visit, ReadDone done) {
  if (needs_state(request)) {
    MemorySnapshot view(*this);
    done(read_rows(view, request, visit));
  } else {
    MemoryReadView view(*this, MemoryReadView::kNewest);
    done(read_rows(view, request, visit));
  }
}

void MemoryStore::with_view(ViewBody body, ReadDone done) {
  Result<void> result;
  {
    MemorySnapshot view(*this);
    result = body(view);
  }
  done(std::move(result));
}

Result<std::unique_ptr<ReadView>> MemoryStore::view() {
  return std::make_unique<MemorySnapshot>(*this);
}

Result<NumberedView> MemoryStore::numbered_view() {
  auto view = std::make_unique<MemorySnapshot>(*this);
  const uint64_t sequence = view->sequence();
  return NumberedView{.view = std::move(view), .sequence = sequence};
}

}  // namespace

std::unique_ptr<TransactStore> make_memory_store() {
  return std::make_unique<MemoryStore>();
}

}  // namespace stator
