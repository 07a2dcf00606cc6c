// SPDX-License-Identifier: Apache-2.0
// A store in memory for tests, whose operations a test can make fail and observe.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "storage/stores.h"
#include "support/forwarding_store.h"

namespace stator::test {

// Selects the operations of the store that fail, and records scans. It applies only on threads
// other than the one that created it, which makes the requests.
//
// Thread safety: every method can be called from any thread at once.
class Faults {
 public:
  // With `only`, counts only scans within that range.
  void fail_at(int operation, Error error, std::optional<KeyRange> only = {}) {
    const std::lock_guard lock(mutex_);
    next_ = 0;
    at_ = operation;
    only_ = std::move(only);
    error_ = std::move(error);
  }
  void fail_all(Error error) { fail_at(-1, std::move(error)); }
  void mend() { fail_at(INT32_MAX, {}); }
  // Whether the operation was reached.
  bool has_failed() const {
    const std::lock_guard lock(mutex_);
    return next_ > at_;
  }

  // The ranges within `range` whose scans began since the last call.
  std::vector<KeyRange> take_scans(const KeyRange& range) {
    const std::lock_guard lock(mutex_);
    std::vector<KeyRange> scans = std::exchange(scans_, {});
    std::erase_if(scans, [&](const KeyRange& scan) { return !is_within(scan, range); });
    return scans;
  }

  // The number of rows of `range` that requests read in scans since watch().
  void watch(KeyRange range) {
    const std::lock_guard lock(mutex_);
    watched_ = std::move(range);
    watched_rows_ = 0;
  }
  std::size_t watched_rows() const {
    const std::lock_guard lock(mutex_);
    return watched_rows_;
  }
  void see(std::string_view key) {
    if (std::this_thread::get_id() != requests_) return;
    const std::lock_guard lock(mutex_);
    if (key >= watched_.begin && key < watched_.end) ++watched_rows_;
  }

  // An operation that scans these ranges.
  Result<void> next(std::span<const RangeRead> scans = {}) {
    if (std::this_thread::get_id() == requests_) return {};
    const std::lock_guard lock(mutex_);
    for (const RangeRead& scan : scans) scans_.push_back(scan.range);
    if (only_ && std::ranges::none_of(scans, [this](const RangeRead& scan) {
          return is_within(scan.range, *only_);
        })) {
      return {};
    }
    const int operation = next_++;
    if (operation == at_ || at_ < 0) return Failure(error_);
    return {};
  }

 private:
  static bool is_within(const KeyRange& scan, const KeyRange& range) {
    return scan.begin >= range.begin && scan.end <= range.end;
  }

  const std::thread::id requests_ = std::this_thread::get_id();
  mutable std::mutex mutex_;
  int next_ = 0;
  int at_ = INT32_MAX;
  std::optional<KeyRange> only_;
  Error error_;
  std::vector<KeyRange> scans_;
  KeyRange watched_;
  std::size_t watched_rows_ = 0;
};

class FaultyView final : public ReadView {
 public:
  FaultyView(ReadView& inner, Faults& faults) : inner_(inner), faults_(faults) {}
  FaultyView(std::unique_ptr<ReadView> inner, Faults& faults)
      : owned_(std::move(inner)), inner_(*owned_), faults_(faults) {}
  Result<bool> get(std::string_view key, ValueVisitor visit) override {
    STATOR_RETURN_IF_ERROR(faults_.next());
    return inner_.get(key, visit);
  }
  Result<void> scan(const RangeRead& range, RowVisitor visit) override {
    STATOR_RETURN_IF_ERROR(faults_.next(std::span(&range, 1)));
    return inner_.scan(range, [&](std::string_view key, std::string_view value) {
      faults_.see(key);
      return visit(key, value);
    });
  }

 private:
  std::unique_ptr<ReadView> owned_;
  ReadView& inner_;
  Faults& faults_;
};

// A store of one process, whose reads complete on the calling thread.
class FaultyStore final : public ForwardingStore, private LocalViews {
 public:
  // `faults` must outlive it.
  explicit FaultyStore(Faults& faults, std::shared_ptr<TransactStore> inner = make_memory_store())
      : ForwardingStore(std::move(inner)), faults_(faults) {}
  Result<std::unique_ptr<ReadView>> view() override {
    STATOR_RETURN_IF_ERROR(faults_.next());
    STATOR_ASSIGN_OR_RETURN(auto view, inner_->local_views()->view());
    return std::make_unique<FaultyView>(std::move(view), faults_);
  }
  Result<NumberedView> numbered_view() override {
    STATOR_RETURN_IF_ERROR(faults_.next());
    STATOR_ASSIGN_OR_RETURN(auto numbered, inner_->local_views()->numbered_view());
    numbered.view = std::make_unique<FaultyView>(std::move(numbered.view), faults_);
    return numbered;
  }
  LocalViews* local_views() override { return this; }
  void observe(CommitObserver* observer) override { inner_->local_views()->observe(observer); }
  void transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                SchemaVersions expected) override {
    if (auto passed = faults_.next(); !passed) return done(refused(std::move(passed)));
    inner_->transact(keys, std::move(decide), std::move(done), expected);
  }
  void write(Batch batch, CommitDone done, SchemaVersions expected) override {
    if (auto passed = faults_.next(); !passed) return done(refused(std::move(passed)));
    inner_->write(std::move(batch), std::move(done), expected);
  }
  void read(const ReadRequest& request, ReadVisitor visit, ReadDone done) override {
    if (auto passed = faults_.next(request.ranges); !passed) return done(std::move(passed));
    inner_->read(
        request,
        [&](std::size_t part, std::string_view key, std::string_view value) {
          if (part >= request.keys.size()) faults_.see(key);
          return visit(part, key, value);
        },
        std::move(done));
  }
  void with_view(ViewBody body, ReadDone done) override {
    if (auto passed = faults_.next(); !passed) return done(std::move(passed));
    inner_->with_view(
        [&](ReadView& view) {
          FaultyView faulty(view, faults_);
          return body(faulty);
        },
        std::move(done));
  }
  Result<void> drop_range(const KeyRange& range) override {
    STATOR_RETURN_IF_ERROR(faults_.next());
    return inner_->drop_range(range);
  }

 private:
  static CommitResult refused(Result<void> failed) {
    return {.outcome = CommitOutcome::kUnavailable, .error = std::move(failed).error()};
  }

  Faults& faults_;
};

}  // namespace stator::test
