// SPDX-License-Identifier: Apache-2.0
#include "storage/rocks_committer.h"

#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/write_batch.h>

#include <iterator>
#include <utility>

namespace stator {
namespace {

// What one write gathers at most, so that the first batch in it does not wait for a huge last one.
constexpr std::size_t kGroupBytesMax = 8UL << 20;
constexpr std::chrono::milliseconds kLookInterval{100};
constexpr const char* kFull = "the disk is full, so no writes are taken until there is room";

CommitResult refused(const Error& error) {
  return {CommitOutcome::kUnavailable, error};
}

}  // namespace

RocksCommitter::RocksCommitter(rocksdb::DB& db, const RocksStoreOptions& options)
    : db_(db),
      sync_(options.durability == Durability::kSync),
      queue_bytes_max_(options.queue_bytes_max),
      reserve_bytes_(options.reserve_bytes),
      last_stamp_(db.GetLatestSequenceNumber()),
      written_stamp_(last_stamp_) {
  for (std::thread& thread : threads_) thread = std::thread([this] { run(); });
}

RocksCommitter::~RocksCommitter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

std::optional<RocksCommitter::Queued> RocksCommitter::find(std::string_view key) const {
  const std::lock_guard lock(mutex_);
  const auto found = newest_.find(key);
  if (found == newest_.end()) return std::nullopt;
  return Queued{found->second.sequence, found->second.write->value};
}

StoreHealth RocksCommitter::health() const {
  const std::lock_guard lock(mutex_);
  if (failure_) return {.writable = false, .reason = failure_->message};
  if (full_ && !has_room()) return {.writable = false, .reason = kFull};
  return {};
}

void RocksCommitter::commit(Batch batch, uint64_t seen, CommitDone done,
                            FunctionRef<void()> queued) {
  auto waiting = std::make_unique<Waiting>(
      Waiting{.sequence = 0, .batch = std::move(batch), .done = std::move(done)});
  const std::size_t bytes = waiting->batch.bytes();
  std::unique_lock lock(mutex_);
  std::optional<CommitResult> at_once;
  if (failure_) {
    at_once = refused(*failure_);
  } else if (seen > 0 && seen <= lost_up_to_) {
    at_once = {CommitOutcome::kConflict, {.code = Code::kIo, .message = "what it read was lost"}};
  } else if (waiting->batch.empty() && seen <= written_sequence_) {
    at_once.emplace();
  } else if (queued_bytes_ > 0 && queued_bytes_ + bytes > queue_bytes_max_) {
    at_once = refused({.code = Code::kThrottling,
                       .message = "too many writes are waiting for the disk; try again later"});
  }
  if (at_once) {
    lock.unlock();
    queued();
    waiting->done(std::move(*at_once));
    return;
  }
  // An empty batch takes its turn behind what it saw: the queue is in order.
  waiting->sequence = waiting->batch.empty() ? last_sequence_ : ++last_sequence_;
  waiting->batch.stamp(last_stamp_);
  waiting->last_stamp = last_stamp_;
  enter(*waiting);
  queued_bytes_ += bytes;
  queue_.push_back(std::move(waiting));
  queued();
  const bool wake = !writing_ && queue_.size() == 1;
  lock.unlock();
  if (wake) wake_.notify_one();
}

// The map's keys are those of the newest batches, which outlive the older ones.
void RocksCommitter::enter(const Waiting& waiting) {
  for (const Write& write : waiting.batch.writes()) {
    const Newest newest{.sequence = waiting.sequence, .write = &write};
    const auto [entry, is_new] = newest_.try_emplace(write.key, newest);
    if (is_new) continue;
    auto node = newest_.extract(entry);
    node.key() = write.key;
    node.mapped() = newest;
    newest_.insert(std::move(node));
  }
}

void RocksCommitter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (writing_ || queue_.empty()) {
      if (stopping_ && queue_.empty()) return;
      wake_.wait(lock);
      continue;
    }
    writing_ = true;
    const Group group = take_group();
    lock.unlock();
    const CommitResult result = write_durably(group);
    lock.lock();
    writing_ = false;
    Group behind;
    if (result.outcome == CommitOutcome::kCommitted) {
      full_ = false;
      retire(group);
    } else {
      behind = give_up(result);
    }
    const bool more = !queue_.empty() || stopping_;
    lock.unlock();
    if (more) wake_.notify_one();
    for (const auto& waiting : group) waiting->done(result);
    for (const auto& waiting : behind) waiting->done(refused(result.error));
    lock.lock();
  }
}

RocksCommitter::Group RocksCommitter::take_group() {
  Group group;
  for (std::size_t bytes = 0; !queue_.empty() && bytes < kGroupBytesMax;) {
    bytes += queue_.front()->batch.bytes();
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return group;
}

rocksdb::Status RocksCommitter::write(const Group& group) const {
  std::size_t bytes = 0;
  for (const auto& waiting : group) bytes += waiting->batch.bytes();
  rocksdb::WriteBatch together(bytes);
  for (const auto& waiting : group) {
    for (const Write& write : waiting->batch.writes()) {
      const rocksdb::Status added =
          write.value ? together.Put(write.key, *write.value) : together.Delete(write.key);
      if (!added.ok()) return added;
    }
  }
  if (together.Count() == 0) return rocksdb::Status::OK();
  rocksdb::WriteOptions options;
  options.sync = sync_;
  return db_.Write(options, &together);
}

void RocksCommitter::retire(const Group& group) {
  for (const auto& waiting : group) {
    queued_bytes_ -= waiting->batch.bytes();
    written_sequence_ = waiting->sequence;
    written_stamp_ = waiting->last_stamp;
    for (const Write& write : waiting->batch.writes()) {
      const auto found = newest_.find(write.key);
      if (found != newest_.end() && found->second.sequence <= waiting->sequence) {
        newest_.erase(found);
      }
    }
  }
}

// What is queued behind a group may have been built on it, and was not written at all.
RocksCommitter::Group RocksCommitter::give_up(const CommitResult& result) {
  if (result.outcome == CommitOutcome::kUnknown) {
    failure_ = result.error;
  } else {
    full_ = true;
  }
  Group behind(std::make_move_iterator(queue_.begin()), std::make_move_iterator(queue_.end()));
  queue_.clear();
  newest_.clear();
  queued_bytes_ = 0;
  lost_up_to_ = written_sequence_ = last_sequence_;
  last_stamp_ = written_stamp_;
  return behind;
}

bool RocksCommitter::has_room() const {
  uint64_t free = 0;
  const rocksdb::Status status = db_.GetEnv()->GetFreeSpace(db_.GetName(), &free);
  return !status.ok() || free >= reserve_bytes_;
}

CommitResult RocksCommitter::write_durably(const Group& group) {
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_ >= kLookInterval) {
    if (!has_room()) return refused({.code = Code::kIo, .message = kFull});
    looked_ = now;
  }
  const rocksdb::Status status = write(group);
  if (status.ok()) return {};
  // The log may hold what was being written, so that it can be there after a restart.
  return {CommitOutcome::kUnknown,
          {.code = Code::kIo,
           .message = "the disk refused a write, so no more are taken until the data is opened "
                      "anew: " +
                      status.ToString()}};
}

}  // namespace stator
