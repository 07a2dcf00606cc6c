// SPDX-License-Identifier: Apache-2.0
#include "storage/rocks_committer.h"

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include <utility>

#include "base/wait_permit.h"

namespace stator {
namespace {

// Maximum size of one write. The first batch in it must not wait for a huge last one.
constexpr std::size_t kGroupBytesMax = 8UL << 20;
constexpr std::chrono::milliseconds kLookInterval{100};
constexpr uint64_t kLookBytes = 1UL << 20;
constexpr uint64_t kReservedVersions = 1UL << 16;
constexpr std::chrono::seconds kQuiet{1};  // without writes, until the progress file is synced
constexpr const char* kDiskFull =
    "the disk is full; only deletes are accepted until there is free space";
constexpr const char* kStuck =
    "the disk is full; writes are rejected until the data directory is reopened";
constexpr const char* kFailed =
    "the disk failed after it was full; writes are rejected until the data directory is reopened";
constexpr const char* kDeleted =
    "the data directory was deleted; writes are rejected until it is reopened";
constexpr const char* kReading = "the data directory is open for reading only";

CommitResult refused(const Error& error) {
  return {CommitOutcome::kUnavailable, error};
}

}  // namespace

RocksCommitter::RocksCommitter(OpenedDatabase& opened, const RocksStoreOptions& options)
    : opened_(opened),
      db_(*opened.db),
      space_(*opened.space),
      sync_(options.durability == Durability::kSync),
      queue_bytes_max_(options.queue_bytes_max),
      last_commit_version_(db_.GetLatestSequenceNumber()),
      written_commit_version_(last_commit_version_) {
  if (!opened.file) failure_ = {.code = Code::kIo, .message = kReading};
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

void RocksCommitter::between_writes(FunctionRef<void(uint64_t)> look) {
  {
    std::unique_lock lock(mutex_);
    ++looking_;
    idle_.wait(lock, [this] { return !writing_; });
    --looking_;
    look(written_sequence_);
  }
  wake_.notify_one();
}

void RocksCommitter::observe(CommitObserver* observer) {
  between_writes([&](uint64_t) { observer_ = observer; });
}

StoreHealth RocksCommitter::health() const {
  const std::lock_guard lock(mutex_);
  if (failure_) return {.writable = false, .reason = failure_->message};
  if (full_ && !space_.has_room()) return {.writable = false, .reason = kDiskFull};
  return {};
}

StoreStats RocksCommitter::stats() const {
  const std::lock_guard lock(mutex_);
  return {.commits = commits_,
          .commit_groups = groups_,
          .syncs = syncs_,
          .queued_commits = queue_.size(),
          .queued_bytes = queued_bytes_,
          .queued_bytes_max = queue_bytes_max_};
}

uint64_t RocksCommitter::written_commit_version() const {
  const std::lock_guard lock(mutex_);
  return written_commit_version_;
}

std::optional<CommitResult> RocksCommitter::commit(Batch batch, uint64_t seen, CommitDone& done,
                                                   FunctionRef<void()> queued,
                                                   SchemaVersions expected) {
  auto waiting = std::make_unique<Waiting>(
      Waiting{.sequence = 0, .batch = std::move(batch), .done = std::move(done)});
  const std::size_t bytes = waiting->batch.bytes();
  std::unique_lock lock(mutex_);
  std::optional<CommitResult> at_once;
  if (failure_) {
    at_once = refused(*failure_);
  } else if (!SchemaRows::are_newest(expected)) {
    at_once = schema_changed();
  } else if (seen > 0 && seen <= lost_up_to_) {
    at_once = {CommitOutcome::kConflict, {.code = Code::kIo, .message = "what it read was lost"}};
  } else if (waiting->batch.empty() && seen <= written_sequence_) {
    at_once.emplace();
  } else if (is_full_for(waiting->batch)) {
    at_once = refused({.code = Code::kIo, .message = kDiskFull});
  } else if (queued_bytes_ > 0 && queued_bytes_ + bytes > queue_bytes_max_) {
    at_once = refused({.code = Code::kThrottling,
                       .message = "too many writes are waiting for the disk; try again later"});
  }
  if (at_once) {
    done = std::move(waiting->done);
    return at_once;
  }
  // An empty batch is queued after the batches that it has read: the queue is in order.
  waiting->sequence = waiting->batch.empty() ? last_sequence_ : ++last_sequence_;
  waiting->batch.assign_commit_versions(last_commit_version_);
  waiting->last_commit_version = last_commit_version_;
  schemas_.note(waiting->batch);
  enter(*waiting);
  queued_bytes_ += bytes;
  queue_.push_back(std::move(waiting));
  queued();
  if (writing_ || queue_.size() > 1) return std::nullopt;
  if (alone_ && looking_ == 0 && WaitPermit::covers(WaitFor::kDisk)) {
    write_next(lock);
  } else {
    lock.unlock();
    wake_.notify_one();
  }
  return std::nullopt;
}

Result<std::shared_ptr<const SchemaRow>> RocksCommitter::schema_row(std::string_view key) {
  const std::lock_guard lock(mutex_);
  return schemas_.lend(key, [this](const std::string& of) -> Result<uint64_t> {
    const auto queued = newest_.find(of);
    if (queued == newest_.end()) return read_schema_version(of);
    const std::optional<std::string>& value = queued->second.write->value;
    return value ? schema_version_in(*value) : 0;
  });
}

Result<uint64_t> RocksCommitter::read_schema_version(const std::string& key) const {
  rocksdb::PinnableSlice value;
  const rocksdb::Status status = db_.Get({}, db_.DefaultColumnFamily(), key, &value);
  if (status.IsNotFound()) return 0;
  if (!status.ok()) return read_failure(status);
  return schema_version_in({value.data(), value.size()});
}

// The map's keys refer to the newest batches, which outlive the older ones.
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
    if (!given_up_.empty()) {
      const auto given_up = std::exchange(given_up_, {});
      lock.unlock();
      for (const GivenUp& one : given_up) one.batch->done(refused(one.error));
      lock.lock();
    } else if (!writing_ && looking_ == 0 && !queue_.empty()) {
      write_next(lock);
      lock.lock();
    } else if (stopping_ && queue_.empty()) {
      return;
    } else {
      await_work(lock);
    }
  }
}

// Writes the next group, and acknowledges it after it has released the lock. If the memory does not
// suffice, the process ends: it is not known what was written.
void RocksCommitter::write_next(std::unique_lock<std::mutex>& lock) noexcept {
  writing_ = true;
  const Group group = take_group();
  CommitObserver* const observer = observer_;
  lock.unlock();
  const CommitResult result = write_durably(group, observer);
  lock.lock();
  writing_ = false;
  commits_ += group.size();
  ++groups_;
  const auto writes = [](const auto& waiting) { return !waiting->batch.empty(); };
  if (sync_ && std::ranges::any_of(group, writes)) ++syncs_;
  alone_ = group.size() == 1 && queue_.empty();
  written_at_ = std::chrono::steady_clock::now();
  const bool was_quiet = std::exchange(progress_synced_, !sync_);
  if (looking_ > 0) idle_.notify_all();
  if (result.outcome == CommitOutcome::kCommitted) {
    retire(group);
  } else {
    give_up(result);
  }
  const bool wake = !queue_.empty() || !given_up_.empty() || stopping_ || (sync_ && was_quiet);
  lock.unlock();
  if (wake) wake_.notify_one();
  for (const auto& waiting : group) {
    CommitResult own = result;
    own.sequence = waiting->sequence;
    waiting->done(std::move(own));
  }
}

// Called with the lock held. After a pause in writes, the log no longer proves that its last record
// was acknowledged, so the progress file must be durable.
void RocksCommitter::await_work(std::unique_lock<std::mutex>& lock) {
  if (progress_synced_ || stopping_) return wake_.wait(lock);
  if (writing_) {  // maybe on a thread that does not come here
    wake_.wait_for(lock, kQuiet);
    return;
  }
  const auto quiet_from = written_at_ + kQuiet;
  if (wake_.wait_until(lock, quiet_from) != std::cv_status::timeout || progress_synced_ ||
      writing_ || written_at_ + kQuiet != quiet_from) {
    return;
  }
  progress_synced_ = true;
  lock.unlock();
  const auto synced = opened_.file->sync();
  lock.lock();
  if (synced) return;
  progress_synced_ = false;
  if (writing_) return;
  // Tries again after another pause. The operating system can have dropped what it could not write.
  static_cast<void>(opened_.file->write(opened_.progress));
  written_at_ = std::chrono::steady_clock::now();
}

// While the disk is full, puts are rejected before they are queued, so that deletes can proceed.
bool RocksCommitter::is_full_for(const Batch& batch) {
  if (full_ && !batch.frees_space()) full_ = !space_.has_room();
  return full_ && !batch.frees_space();
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
  const auto each_row = [&group](auto call) {
    for (const auto& waiting : group) {
      for (const Write& write : waiting->batch.writes()) call(write.key);
    }
  };
  each_row([this](const std::string& key) { opened_.rows->begin_change(key); });
  const rocksdb::Status written = db_.Write(options, &together);
  each_row([this](const std::string& key) { opened_.rows->end_change(key); });
  return written;
}

void RocksCommitter::retire(const Group& group) {
  for (const auto& waiting : group) {
    queued_bytes_ -= waiting->batch.bytes();
    written_sequence_ = waiting->sequence;
    written_commit_version_ = waiting->last_commit_version;
    for (const Write& write : waiting->batch.writes()) {
      const auto found = newest_.find(write.key);
      if (found != newest_.end() && found->second.sequence <= waiting->sequence) {
        newest_.erase(found);
      }
    }
  }
}

// Batches that are queued after a group can depend on it. They were not written.
void RocksCommitter::give_up(const CommitResult& result) {
  const bool is_stuck = space_.is_stuck();
  if (is_stuck && space_.ran_out()) {
    // The write's own error can say that the store will resume, but a flush can be lost after it.
    failure_ = {.code = Code::kIo, .message = why_full()};
  } else if (opened_.file->is_deleted()) {
    failure_ = {.code = Code::kIo, .message = kDeleted};
  } else if (is_stuck || (result.outcome == CommitOutcome::kUnknown && !space_.ran_out())) {
    failure_ = result.error;
  } else {
    full_ = true;
  }
  for (auto& waiting : queue_) given_up_.push_back({std::move(waiting), result.error});
  queue_.clear();
  newest_.clear();
  schemas_.read_again([this](const std::string& key) { return read_schema_version(key); });
  queued_bytes_ = 0;
  lost_up_to_ = written_sequence_ = last_sequence_;
  last_commit_version_ = written_commit_version_;
}

const char* RocksCommitter::why_full() const {
  if (space_.disk_failed()) return kFailed;
  return space_.is_stuck() ? kStuck : kDiskFull;
}

Result<RocksSpace::Admission> RocksCommitter::admit(const Group& group) {
  if (space_.ran_out() && !space_.resume()) return fail(Code::kIo, why_full());
  uint64_t bytes = 0;
  bool frees = true;
  for (const auto& waiting : group) {
    bytes += waiting->batch.bytes();
    frees = frees && waiting->batch.frees_space();
  }
  // Between two checks, fewer bytes are written than the smallest reserve.
  const auto now = std::chrono::steady_clock::now();
  admitted_bytes_ += bytes;
  if (now - looked_ < kLookInterval && admitted_bytes_ < kLookBytes) {
    return RocksSpace::Admission::kAdmitted;
  }
  if (opened_.file->is_deleted()) return fail(Code::kIo, kDeleted);
  const RocksSpace::Admission admission = space_.admit(bytes, frees);
  {
    const std::lock_guard lock(mutex_);
    full_ = admission != RocksSpace::Admission::kAdmitted;
  }
  if (admission == RocksSpace::Admission::kRefused) return fail(Code::kIo, why_full());
  if (admission == RocksSpace::Admission::kAdmitted) {
    looked_ = now;
    admitted_bytes_ = 0;
  }
  return admission;
}

// Makes the progress file durable, if it does not exclude commit versions up to `last` from reuse.
Result<void> RocksCommitter::reserve_commit_versions(uint64_t last) {
  if (sync_ || last < opened_.progress.commit_versions_end) return {};
  Progress reserved = opened_.progress;
  reserved.commit_versions_end = last + kReservedVersions;
  STATOR_RETURN_IF_ERROR(opened_.file->write(reserved));
  STATOR_RETURN_IF_ERROR(opened_.file->sync());
  opened_.progress = reserved;
  return {};
}

CommitResult RocksCommitter::write_durably(const Group& group, CommitObserver* observer) {
  const auto admitted = admit(group);
  if (!admitted) return refused(admitted.error());
  if (auto reserved = reserve_commit_versions(group.back()->last_commit_version); !reserved) {
    return refused(reserved.error());
  }
  if (observer != nullptr) {
    for (const auto& waiting : group) {
      observer->on_commit(waiting->sequence, waiting->batch.writes());
    }
  }
  const rocksdb::Status status = write(group);
  if (status.ok()) {
    // After the write, because a compaction that began before it would not include its deletes.
    if (*admitted == RocksSpace::Admission::kAdmittedToFree) space_.reclaim_soon();
    opened_.progress.last_row = db_.GetLatestSequenceNumber();
    static_cast<void>(opened_.file->write(opened_.progress));
    return {};
  }
  if (space_.is_stuck() || (!status.IsNoSpace() && !space_.ran_out())) {
    // The log can contain the failed write, so it can appear after a restart.
    return {CommitOutcome::kUnknown,
            {.code = Code::kIo,
             .message = "a write to the disk failed; writes are rejected until the data directory "
                        "is reopened: " +
                        status.ToString()}};
  }
  looked_ = {};
  if (space_.resume()) return refused({.code = Code::kIo, .message = kDiskFull});
  return {CommitOutcome::kUnknown,
          {.code = Code::kIo, .message = std::string(why_full()) + ": " + status.ToString()}};
}

}  // namespace stator
