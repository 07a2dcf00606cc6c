// SPDX-License-Identifier: Apache-2.0
// A map of versioned values. A view has the sequence number at which it was opened, and reads the
// newest version of each key up to that number. The next commit of a key drops its versions that no
// view can reach. Commits apply under the lock and are acknowledged immediately. Readers leave the
// lock while a large value is processed, so that commits do not wait for background threads.
#include <map>
#include <mutex>
#include <ranges>
#include <set>
#include <shared_mutex>
#include <utility>
#include <variant>

#include "storage/batch.h"
#include "storage/lock_table.h"
#include "storage/read_rows.h"
#include "storage/schema_rows.h"
#include "storage/split_range.h"
#include "storage/stores.h"

namespace stator {
namespace {

constexpr uint64_t kNewest = UINT64_MAX;         // as a sequence number: the newest rows
constexpr std::size_t kLargeBytes = 16UL << 10;  // of a value

// A large value can outlive its row, for readers that have left the lock.
using LargeValue = std::shared_ptr<const std::string>;
using Value = std::variant<std::monostate, std::string, LargeValue>;  // monostate: erased

Value stored(std::optional<std::string> value) {
  if (!value) return {};
  if (value->size() < kLargeBytes) return std::move(*value);
  return std::make_shared<const std::string>(std::move(*value));
}

std::string_view text_of(const Value& value) {
  const auto* small = std::get_if<std::string>(&value);
  return small != nullptr ? std::string_view(*small) : *std::get<LargeValue>(value);
}

struct Version {
  uint64_t sequence = 0;
  Value value;
};
using Versions = std::vector<Version>;  // oldest first
using Rows = std::map<std::string, Versions, std::less<>>;

const Value* newest_up_to(const Versions& versions, uint64_t sequence) {
  for (const Version& version : versions | std::views::reverse) {
    if (version.sequence > sequence) continue;
    return std::holds_alternative<std::monostate>(version.value) ? nullptr : &version.value;
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
            get_at(keys[i], kNewest, [&](std::string_view value) { rows[i] = value; }));
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
      const Value* value = row == rows_.end() ? nullptr : newest_up_to(row->second, kNewest);
      return value == nullptr ? 0 : schema_version_in(text_of(*value));
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
    std::shared_lock lock(mutex_);
    const auto row = rows_.find(key);
    const Value* value = row == rows_.end() ? nullptr : newest_up_to(row->second, sequence);
    if (value == nullptr) return false;
    if (const auto* small = std::get_if<std::string>(value)) {
      visit(*small);
    } else {
      const auto kept = std::get<LargeValue>(*value);
      lock.unlock();
      visit(*kept);
    }
    return true;
  }

  // All rows are of one state, also with kNewest.
  void scan_at(uint64_t sequence, const RangeRead& read, RowVisitor visit) {
    const KeyRange& range = read.range;
    if (!range.end.empty() && range.end <= range.begin) return;
    std::optional<View> view;  // before the lock, so that it is destroyed after it
    std::shared_lock lock(mutex_);
    const bool forward = read.direction == Direction::kForward;
    const auto begin_of = [&] { return rows_.lower_bound(range.begin); };
    const auto end_of = [&] {
      return range.end.empty() ? rows_.end() : rows_.lower_bound(range.end);
    };
    Rows::iterator begin = begin_of();  // of the rows that were not visited
    Rows::iterator end = end_of();
    while (begin != end) {
      const Rows::iterator row = forward ? begin++ : --end;
      const Value* value = newest_up_to(row->second, sequence);
      if (value == nullptr) continue;
      if (const auto* small = std::get_if<std::string>(value)) {
        if (!visit(row->first, *small)) return;
        continue;
      }
      if (sequence == kNewest) sequence = view.emplace(*this, lock).sequence();
      const std::string key = row->first;
      const auto kept = std::get<LargeValue>(*value);
      lock.unlock();
      if (!visit(key, *kept)) return;
      lock.lock();
      begin = forward ? rows_.upper_bound(key) : begin_of();
      end = forward ? end_of() : rows_.lower_bound(key);
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
      row->second.push_back({sequence_, stored(std::move(write.value))});
      if (!prune(row->first, row->second)) stale_.insert(row->first);
    }
    const uint64_t oldest = oldest_view();
    if (std::exchange(pruned_up_to_, oldest) < oldest) prune_stale();
    return {.sequence = sequence_};
  }

  // Keeps the versions of its state until it is destroyed.
  class View {
   public:
    explicit View(MemoryStore& store) : View(store, std::shared_lock(store.mutex_)) {}
    // Requires the store's lock here; the destructor must run without it.
    View(MemoryStore& store, const std::shared_lock<std::shared_mutex>& /*held*/)
        : store_(store), sequence_(store.sequence_) {
      const std::lock_guard views(store_.views_mutex_);
      store_.views_.insert(sequence_);
    }
    View(const View&) = delete;
    View& operator=(const View&) = delete;
    ~View() {
      const std::shared_lock lock(store_.mutex_);
      const std::lock_guard views(store_.views_mutex_);
      store_.views_.erase(store_.views_.find(sequence_));
    }
    uint64_t sequence() const { return sequence_; }

   private:
    MemoryStore& store_;
    const uint64_t sequence_;
  };

 private:
  uint64_t oldest_view() const { return views_.empty() ? sequence_ : *views_.begin(); }

  // Drops the versions of a row that no view can reach. Returns true if nothing is left to drop
  // later.
  bool prune(const std::string& key, Versions& versions) {
    const uint64_t oldest = oldest_view();
    std::size_t first = versions.size() - 1;
    while (first > 0 && versions[first].sequence > oldest) --first;
    versions.erase(versions.begin(), versions.begin() + static_cast<std::ptrdiff_t>(first));
    if (versions.size() > 1 || versions[0].sequence > oldest) return false;
    if (std::holds_alternative<std::monostate>(versions[0].value)) rows_.erase(rows_.find(key));
    return true;
  }

  void prune_stale() {
    for (const std::string& key : std::exchange(stale_, {})) {
      const auto row = rows_.find(key);
      if (row != rows_.end() && !prune(row->first, row->second)) stale_.insert(key);
    }
  }

  LockTable locks_;
  mutable std::shared_mutex mutex_;
  Rows rows_;
  std::mutex views_mutex_;  // under a shared lock of mutex_
  std::multiset<uint64_t> views_;
  SchemaRows schemas_;
  std::set<std::string> stale_;  // keys with versions kept for views
  uint64_t pruned_up_to_ = 0;    // the oldest view when stale_ was last pruned
  uint64_t sequence_ = 0;
  uint64_t last_commit_version_ = 0;
  CommitObserver* observer_ = nullptr;
};

// The rows as of a sequence number.
class MemoryReadView : public ReadView {
 public:
  MemoryReadView(MemoryStore& store, uint64_t sequence) : store_(store), sequence_(sequence) {}

  Result<bool> get(std::string_view key, ValueVisitor visit) override {
    return store_.get_at(key, sequence_, visit);
  }
  Result<void> scan(const RangeRead& range, RowVisitor visit) override {
    store_.scan_at(sequence_, range, visit);
    return {};
  }

 private:
  MemoryStore& store_;
  const uint64_t sequence_;
};

class MemorySnapshot final : private MemoryStore::View, public MemoryReadView {
 public:
  explicit MemorySnapshot(MemoryStore& store)
      : View(store), MemoryReadView(store, View::sequence()) {}
  using View::sequence;
};

void MemoryStore::read(const ReadRequest& request, ReadVisitor visit, ReadDone done) {
  if (needs_state(request)) {
    MemorySnapshot view(*this);
    done(read_rows(view, request, visit));
  } else {
    MemoryReadView view(*this, kNewest);
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
