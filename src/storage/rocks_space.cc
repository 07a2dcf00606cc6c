// SPDX-License-Identifier: Apache-2.0
#include "storage/rocks_space.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/listener.h>
#include <rocksdb/options.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "storage/data_directory.h"

namespace stator {
namespace {

constexpr uint64_t kMb = 1UL << 20;
constexpr const char* kBallastName = "ballast";

// What table files of so many unflushed bytes take at most: keys and values, index and filters.
constexpr uint64_t flushed_bytes(uint64_t unflushed) {
  return unflushed + unflushed / 4;
}

// In the log, in a table file, and in the next level until the compaction ends.
constexpr uint64_t written_bytes(uint64_t bytes) {
  return 3 * bytes;
}

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using Flag = std::shared_ptr<std::atomic<bool>>;

class WatchedLog final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  WatchedLog(std::unique_ptr<rocksdb::FSWritableFile> file, Flag failed)
      : FSWritableFileOwnerWrapper(std::move(file)), failed_(std::move(failed)) {}
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  IODebugContext* debug) override {
    return watch(target()->Append(data, options, debug));
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& info, IODebugContext* debug) override {
    return watch(target()->Append(data, options, info, debug));
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return watch(target()->Sync(options, debug));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return watch(target()->Fsync(options, debug));
  }

 private:
  IOStatus watch(IOStatus status) {
    if (!status.ok()) *failed_ = true;
    return status;
  }
  const Flag failed_;
};

class WatchedLogFiles final : public rocksdb::FileSystemWrapper {
 public:
  WatchedLogFiles(const std::shared_ptr<rocksdb::FileSystem>& base, uint64_t bytes, Flag failed)
      : FileSystemWrapper(base), bytes_(bytes), failed_(std::move(failed)) {}
  const char* Name() const override { return "WatchedLogFiles"; }
  IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           IODebugContext* debug) override {
    IOStatus status = FileSystemWrapper::NewWritableFile(name, options, file, debug);
    if (!status.ok() || !name.ends_with(".log")) return status;
    // Other errors: the file system cannot allocate in advance.
    status = (*file)->Allocate(0, bytes_, options.io_options, debug);
    if (status.IsNoSpace()) {
      file->reset();
      return status;
    }
    *failed_ = false;  // of the newest log, the only one that is written
    *file = std::make_unique<WatchedLog>(std::move(*file), failed_);
    return IOStatus::OK();
  }

 private:
  const uint64_t bytes_;
  const Flag failed_;
};

class WatchedLogEnv final : public rocksdb::EnvWrapper {
 public:
  WatchedLogEnv(rocksdb::Env& base, uint64_t bytes, Flag failed) : EnvWrapper(&base) {
    file_system_ =
        std::make_shared<WatchedLogFiles>(base.GetFileSystem(), bytes, std::move(failed));
    system_clock_ = base.GetSystemClock();
  }
  const char* Name() const override { return "WatchedLogEnv"; }
};

}  // namespace

class RocksSpace::Listener final : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override {
    if (!error->IsNoSpace()) return;
    ran_out = true;
    // A new log could not be created. Nothing is buffered for the old one: each write empties it.
    if (reason == rocksdb::BackgroundErrorReason::kMemTable) {
      *error = rocksdb::Status(*error, rocksdb::Status::Severity::kHardError);
    }
  }

  // RocksDB's own recovery looks every five seconds, and would be in the way of resume().
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status /*error*/,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }

  std::atomic<bool> ran_out = false;
};

RocksSpace::Sizes RocksSpace::sizes_for(uint64_t disk_bytes, const RocksStoreOptions& options) {
  Sizes sizes;
  sizes.write_buffer_bytes = std::min<uint64_t>(options.write_buffer_bytes,
                                                std::clamp(disk_bytes / 1024, 1 * kMb, 64 * kMb));
  sizes.base_bytes = std::clamp(disk_bytes / 16, 2 * kMb, 16 * kMb);
  sizes.reserve_bytes = options.reserve_bytes != 0
                            ? options.reserve_bytes
                            : 4 * sizes.write_buffer_bytes + sizes.base_bytes;
  return sizes;
}

RocksSpace::RocksSpace(rocksdb::Env& env, const RocksStoreOptions& options)
    : env_(env),
      path_(options.path),
      sizes_([&] {
        std::error_code error;
        const auto space = std::filesystem::space(options.path, error);
        return sizes_for(error ? UINT64_MAX : space.capacity, options);
      }()),
      listener_(std::make_shared<Listener>()),
      log_failed_(std::make_shared<std::atomic<bool>>(false)) {}

RocksSpace::~RocksSpace() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (reclaimer_.joinable()) reclaimer_.join();
}

std::shared_ptr<rocksdb::EventListener> RocksSpace::listener() const {
  return listener_;
}

std::unique_ptr<rocksdb::Env> RocksSpace::environment() const {
  return std::make_unique<WatchedLogEnv>(env_, sizes_.base_bytes / 4, log_failed_);
}

uint64_t RocksSpace::free_bytes() const {
  uint64_t free = 0;
  // A file system that does not tell has no known limit.
  return env_.GetFreeSpace(path_.string(), &free).ok() ? free : UINT64_MAX / 4;
}

uint64_t RocksSpace::unflushed_bytes() const {
  uint64_t bytes = 0;
  db_->GetIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &bytes);
  return bytes;
}

uint64_t RocksSpace::ballast_bytes() const {
  struct stat status{};
  if (stat((path_ / kBallastName).c_str(), &status) != 0) return 0;
  return static_cast<uint64_t>(status.st_blocks) * 512;
}

bool RocksSpace::set_ballast(uint64_t bytes) const {
  const std::filesystem::path path = path_ / kBallastName;
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) return false;
  const auto size = static_cast<off_t>(bytes);
  bool done = false;
  if (bytes < ballast_bytes()) {
    done = ftruncate(file, size) == 0;
  } else {
    done = fallocate(file, 0, 0, size) == 0;
  }
  close(file);
  return done;
}

// Gives up ballast until so many bytes are free, if there is enough of it.
bool RocksSpace::give_up_to_free(uint64_t bytes) {
  const std::lock_guard lock(ballast_mutex_);
  const uint64_t free = free_bytes();
  if (free >= bytes) return true;
  const uint64_t ballast = ballast_bytes();
  const uint64_t missing = bytes - free;
  if (ballast < missing) return false;
  return set_ballast(ballast - missing);
}

Result<void> RocksSpace::prepare_opening(uint64_t log_bytes) {
  const uint64_t needed = flushed_bytes(log_bytes) + sizes_.base_bytes / 2;
  if (give_up_to_free(needed)) return {};
  return fail(Code::kIo, fmt::format("the disk of '{}' is full: opening it needs {} MB free; free "
                                     "that much and try again",
                                     path_.string(), needed / kMb + 1));
}

void RocksSpace::opened(rocksdb::DB& db) {
  db_ = &db;
}

uint64_t RocksSpace::covered_bytes() const {
  return sizes_.base_bytes + flushed_bytes(unflushed_bytes());
}

void RocksSpace::restore_ballast() {
  const std::lock_guard lock(ballast_mutex_);
  const uint64_t covered = covered_bytes();
  const uint64_t ballast = ballast_bytes();
  if (ballast >= covered) return;
  const uint64_t free = free_bytes();
  const uint64_t left = sizes_.base_bytes / 4;
  // In steps, as each one takes time.
  const uint64_t missing = covered + sizes_.write_buffer_bytes / 4 - ballast;
  if (free > left) set_ballast(ballast + std::min(missing, free - left));
}

RocksSpace::Admission RocksSpace::admit(uint64_t bytes, bool frees) {
  restore_ballast();
  const uint64_t covered = covered_bytes();
  const uint64_t available = free_bytes() + ballast_bytes();
  if (available >= sizes_.reserve_bytes + covered + written_bytes(bytes)) {
    return Admission::kAdmitted;
  }
  const uint64_t least = covered - sizes_.base_bytes / 2 + written_bytes(bytes);
  const bool can_free =
      frees && available >= least && give_up_to_free(written_bytes(bytes) + sizes_.base_bytes / 4);
  return can_free ? Admission::kAdmittedToFree : Admission::kRefused;
}

bool RocksSpace::has_room() const {
  return free_bytes() + ballast_bytes() >= sizes_.reserve_bytes + covered_bytes();
}

bool RocksSpace::ran_out() const {
  return listener_->ran_out;
}

// RocksDB begins a new log only if the old one's rows are in memory.
bool RocksSpace::is_stuck() const {
  uint64_t rows = 0;
  db_->GetIntProperty(rocksdb::DB::Properties::kNumEntriesActiveMemTable, &rows);
  return *log_failed_ && rows == 0;
}

bool RocksSpace::resume() {
  if (is_stuck()) return false;
  if (!give_up_to_free(flushed_bytes(unflushed_bytes()) + sizes_.base_bytes / 2)) return false;
  listener_->ran_out = false;
  const bool resumed = db_->Resume().ok();
  if (!resumed) listener_->ran_out = true;
  return resumed;
}

void RocksSpace::reclaim_soon() {
  const std::lock_guard lock(mutex_);
  wanted_ = true;
  if (!reclaimer_.joinable()) reclaimer_ = std::thread([this] { reclaim(); });
  wake_.notify_all();
}

void RocksSpace::reclaim() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return wanted_ || stopping_; });
    if (stopping_) return;
    wanted_ = false;
    lock.unlock();
    rocksdb::CompactRangeOptions options;
    options.exclusive_manual_compaction = false;
    options.canceled = &stopping_;
    give_up_to_free(flushed_bytes(unflushed_bytes()) + sizes_.base_bytes / 2);
    if (db_->Flush(rocksdb::FlushOptions()).ok()) {
      db_->CompactRange(options, nullptr, nullptr).PermitUncheckedError();
    }
    lock.lock();
  }
}

}  // namespace stator
