// SPDX-License-Identifier: Apache-2.0
#include "storage/rocks_committer.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

namespace stator {
namespace {

// What one write gathers at most, so that the first batch in it does not wait for a huge last one.
constexpr std::size_t kGroupBytesMax = 8UL << 20;

CommitResult refused(const Error& error) {
  return {CommitOutcome::kUnavailable, error};
}

}  // namespace

RocksCommitter::RocksCommitter(rocksdb::DB& db, bool sync, std::size_t queue_bytes_max)
    : db_(db), sync_(sync), queue_bytes_max_(queue_bytes_max), thread_([this] { run(); }) {}

RocksCommitter::~RocksCommitter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

std::optional<RocksCommitter::Queued> RocksCommitter::find(std::string_view key) const {
  const std::lock_guard lock(mutex_);
  const auto found = newest_.find(key);
  if (found == newest_.end()) return std::nullopt;
  return found->second;
}

StoreHealth RocksCommitter::health() const {
  const std::lock_guard lock(mutex_);
  if (failure_) return {.writable = false, .reason = failure_->message};
  return {};
}

void RocksCommitter::commit(Batch batch, uint64_t seen, CommitDone done,
                            FunctionRef<void()> queued) {
  std::unique_lock lock(mutex_);
  std::optional<CommitResult> at_once;
  if (batch.empty() && seen <= written_sequence_) {
    at_once.emplace();
  } else if (failure_) {
    at_once = refused(*failure_);
  } else if (!batch.empty() && queued_bytes_ > 0 &&
             queued_bytes_ + batch.bytes() > queue_bytes_max_) {
    at_once = refused({.code = Code::kThrottling,
                       .message = "too many writes are waiting for the disk; try again later"});
  }
  if (at_once) {
    lock.unlock();
    queued();
    done(std::move(*at_once));
    return;
  }
  // An empty batch takes its turn behind what it saw: the queue is in order.
  const uint64_t sequence = batch.empty() ? last_sequence_ : ++last_sequence_;
  for (const Write& write : batch.writes()) newest_[write.key] = {sequence, write.value};
  queued_bytes_ += batch.bytes();
  const bool idle = queue_.empty();
  queue_.push_back({sequence, std::move(batch), std::move(done)});
  queued();
  lock.unlock();
  if (idle) wake_.notify_one();
}

void RocksCommitter::run() {
  for (;;) {
    std::deque<Waiting> group;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      for (std::size_t bytes = 0; !queue_.empty() && bytes < kGroupBytesMax;) {
        bytes += queue_.front().batch.bytes();
        group.push_back(std::move(queue_.front()));
        queue_.pop_front();
      }
    }
    if (const auto error = write(group)) {
      fail_all(std::move(group), *error);
      continue;
    }
    retire(group);
    for (Waiting& waiting : group) waiting.done({});
  }
}

std::optional<Error> RocksCommitter::write(const std::deque<Waiting>& group) {
  rocksdb::WriteBatch together;
  for (const Waiting& waiting : group) {
    for (const Write& write : waiting.batch.writes()) {
      const rocksdb::Status added =
          write.value ? together.Put(write.key, *write.value) : together.Delete(write.key);
      if (!added.ok()) return Error{Code::kIo, "cannot gather a write: " + added.ToString()};
    }
  }
  if (together.Count() == 0) return std::nullopt;
  rocksdb::WriteOptions options;
  options.sync = sync_;
  const rocksdb::Status status = db_.Write(options, &together);
  if (status.ok()) return std::nullopt;
  return Error{Code::kIo, "the disk refused a write, so no more are taken: " + status.ToString()};
}

void RocksCommitter::retire(const std::deque<Waiting>& group) {
  const std::lock_guard lock(mutex_);
  for (const Waiting& waiting : group) {
    queued_bytes_ -= waiting.batch.bytes();
    written_sequence_ = waiting.sequence;
    for (const Write& write : waiting.batch.writes()) {
      const auto found = newest_.find(write.key);
      if (found != newest_.end() && found->second.sequence <= written_sequence_) {
        newest_.erase(found);
      }
    }
  }
}

// The log may hold what was being written, so that it can be there after a restart. What is queued
// behind it may have been built on it and was not written at all.
void RocksCommitter::fail_all(std::deque<Waiting> group, const Error& error) {
  std::deque<Waiting> behind;
  {
    const std::lock_guard lock(mutex_);
    failure_ = error;
    behind.swap(queue_);
    newest_.clear();
    queued_bytes_ = 0;
  }
  for (Waiting& waiting : group) waiting.done({CommitOutcome::kUnknown, error});
  for (Waiting& waiting : behind) waiting.done(refused(error));
}

}  // namespace stator
