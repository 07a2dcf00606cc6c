// SPDX-License-Identifier: Apache-2.0
#include "storage/rocks_space_env.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/listener.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "storage/rocks_zeroed_log.h"

namespace stator {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using State = std::shared_ptr<SpaceState>;

// While there is much free space, a file can grow by this much before it is checked again.
constexpr uint64_t kRoomBytes = 256UL << 10;

// Per thread: the purpose of the table that it creates next, and whether its job began.
thread_local bool table_for_compaction = false;
thread_local bool flush_began = false;

class SpaceFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  // The file has space for `room` bytes.
  SpaceFile(std::unique_ptr<rocksdb::FSWritableFile> file, State state, Ballast::For what,
            bool is_log, uint64_t room)
      : FSWritableFileOwnerWrapper(std::move(file)),
        state_(std::move(state)),
        what_(what),
        is_log_(is_log),
        reserved_(room),
        room_(room) {}
  // Allocates in advance, in units of whole write buffers.
  void PrepareWrite(std::size_t offset, std::size_t bytes, const IOOptions& options,
                    IODebugContext* debug) override {
    if (has_plenty_) target()->PrepareWrite(offset, bytes, options, debug);
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  IODebugContext* debug) override {
    const auto room = make_room(data.size());
    return watch(target()->Append(data, options, debug));
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& info, IODebugContext* debug) override {
    const auto room = make_room(data.size());
    return watch(target()->Append(data, options, info, debug));
  }
  // For zeros after the end, which must not take space that others need.
  IOStatus PositionedAppend(const rocksdb::Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* debug) override {
    if (!has_plenty_ && offset + data.size() > reserved_) return IOStatus::NoSpace();
    return target()->PositionedAppend(data, offset, options, debug);
  }
  using FSWritableFileOwnerWrapper::PositionedAppend;
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return watch(target()->Sync(options, debug));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return watch(target()->Fsync(options, debug));
  }

 private:
  std::unique_lock<std::mutex> make_room(uint64_t bytes) {
    if (bytes <= room_) {
      room_ -= bytes;
      return {};
    }
    auto lock = state_->ballast.make_room(bytes, what_);
    has_plenty_ = !lock;
    room_ = has_plenty_ ? kRoomBytes : 0;
    return lock;
  }
  IOStatus watch(IOStatus status) {
    if (!status.ok() && is_log_) state_->log_failed = true;
    return status;
  }

  const State state_;
  const Ballast::For what_;
  const bool is_log_;
  const uint64_t reserved_;
  uint64_t room_;
  bool has_plenty_ = false;  // at the last check
};

// RocksDB's diagnostic log, `LOG`. An error in writing it would abort the process (an assertion in
// Debian's build), so this file omits entries while the disk is full.
class NotesFile final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  explicit NotesFile(std::unique_ptr<rocksdb::FSWritableFile> file)
      : FSWritableFileOwnerWrapper(std::move(file)) {}
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  IODebugContext* debug) override {
    target()->Append(data, options, debug).PermitUncheckedError();
    return IOStatus::OK();
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& info, IODebugContext* debug) override {
    target()->Append(data, options, info, debug).PermitUncheckedError();
    return IOStatus::OK();
  }
  IOStatus Flush(const IOOptions& options, IODebugContext* debug) override {
    target()->Flush(options, debug).PermitUncheckedError();
    return IOStatus::OK();
  }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    target()->Close(options, debug).PermitUncheckedError();
    return IOStatus::OK();
  }
};

class SpaceFiles final : public rocksdb::FileSystemWrapper {
 public:
  SpaceFiles(const std::shared_ptr<rocksdb::FileSystem>& base, State state, uint64_t log_bytes,
             bool zeroed)
      : FileSystemWrapper(base), state_(std::move(state)), log_bytes_(log_bytes), zeroed_(zeroed) {}
  const char* Name() const override { return "SpaceFiles"; }
  IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           IODebugContext* debug) override {
    IOStatus status = FileSystemWrapper::NewWritableFile(name, options, file, debug);
    if (!status.ok()) return status;
    if (std::filesystem::path(name).filename().string().starts_with("LOG")) {
      *file = std::make_unique<NotesFile>(std::move(*file));
      return status;
    }
    const bool compacts = name.ends_with(".sst") && table_for_compaction;
    const bool is_log = name.ends_with(".log");
    uint64_t room = 0;
    if (is_log) {
      const auto lock = state_->ballast.make_room(log_bytes_, Ballast::For::kAnything);
      // Other errors mean that the file system cannot allocate in advance.
      status = (*file)->Allocate(0, log_bytes_, options.io_options, debug);
      if (status.IsNoSpace()) {
        file->reset();
        return status;
      }
      if (status.ok()) room = log_bytes_;
      state_->log_failed = false;  // only the newest log is written
    }
    *file = std::make_unique<SpaceFile>(
        std::move(*file), state_, compacts ? Ballast::For::kWhatCanWait : Ballast::For::kAnything,
        is_log, room);
    if (is_log && zeroed_) *file = make_zeroed_log(std::move(*file), open_logs_.add(name));
    return IOStatus::OK();
  }
  // A copy of an open log ends there.
  IOStatus GetFileSize(const std::string& name, const IOOptions& options, uint64_t* bytes,
                       IODebugContext* debug) override {
    const std::optional<uint64_t> written = open_logs_.size_of(name);
    if (!written) return FileSystemWrapper::GetFileSize(name, options, bytes, debug);
    *bytes = *written;
    return IOStatus::OK();
  }
  // Uses files of this file system. FileSystemWrapper would use those of the wrapped one.
  IOStatus NewLogger(const std::string& name, const IOOptions& options,
                     std::shared_ptr<rocksdb::Logger>* logger, IODebugContext* debug) override {
    // NOLINTNEXTLINE(bugprone-parent-virtual-call): on purpose
    return FileSystem::NewLogger(name, options, logger, debug);
  }
  IOStatus DeleteFile(const std::string& name, const IOOptions& options,
                      IODebugContext* debug) override {
    const IOStatus status = FileSystemWrapper::DeleteFile(name, options, debug);
    state_->ballast.restore();
    return status;
  }

 private:
  const State state_;
  const uint64_t log_bytes_;
  const bool zeroed_;
  OpenLogs open_logs_;
};

// A flush in RocksDB's thread pool.
struct FlushJob {
  void (*function)(void*);
  void* argument;
  void (*cancel)(void*);
  State state;
};

void run_flush(void* argument) {
  const std::unique_ptr<FlushJob> job(static_cast<FlushJob*>(argument));
  flush_began = false;
  job->function(job->argument);
  job->state->flushes.ended(!flush_began && job->state->ran_out);
}

void cancel_flush(void* argument) {
  const std::unique_ptr<FlushJob> job(static_cast<FlushJob*>(argument));
  if (job->cancel != nullptr) job->cancel(job->argument);
  job->state->flushes.ended(false);
}

class SpaceEnv final : public rocksdb::EnvWrapper {
 public:
  SpaceEnv(rocksdb::Env& base, State state, uint64_t log_bytes, bool zeroed)
      : EnvWrapper(&base), state_(std::move(state)) {
    file_system_ = std::make_shared<SpaceFiles>(base.GetFileSystem(), state_, log_bytes, zeroed);
    system_clock_ = base.GetSystemClock();
  }
  const char* Name() const override { return "SpaceEnv"; }
  rocksdb::Status GetFileSize(const std::string& name, uint64_t* bytes) override {
    return file_system_->GetFileSize(name, {}, bytes, nullptr);
  }
  // Only flushes have this priority and a tag.
  void Schedule(void (*function)(void*), void* argument, Priority priority, void* tag,
                void (*cancel)(void*)) override {
    if (priority != HIGH || tag == nullptr) {
      EnvWrapper::Schedule(function, argument, priority, tag, cancel);
      return;
    }
    state_->flushes.scheduled();
    auto job = std::make_unique<FlushJob>(FlushJob{function, argument, cancel, state_});
    EnvWrapper::Schedule(run_flush, job.release(), priority, tag, cancel_flush);
  }

 private:
  const State state_;
};

class SpaceListener final : public rocksdb::EventListener {
 public:
  explicit SpaceListener(State state) : state_(std::move(state)) {}

  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* error) override {
    if (!error->IsNoSpace()) return;
    if (reason == rocksdb::BackgroundErrorReason::kCompaction) {
      // No reason to stop. RocksDB can forget to repeat it; see RocksSpace::opened().
      *error = rocksdb::Status::OK();
      compaction_ended(true);
      return;
    }
    state_->ran_out = true;
    // A new log could not be created. Nothing is buffered for the old one, because each write
    // flushes it.
    if (reason == rocksdb::BackgroundErrorReason::kMemTable) {
      *error = rocksdb::Status(*error, rocksdb::Status::Severity::kHardError);
    }
  }

  // RocksDB's own recovery retries every five seconds, and would interfere with resume().
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status /*error*/,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }

  void OnCompactionCompleted(rocksdb::DB* /*db*/,
                             const rocksdb::CompactionJobInfo& compaction) override {
    if (compaction.status.ok()) compaction_ended(false);
  }
  void OnTableFileCreationStarted(const rocksdb::TableFileCreationBriefInfo& table) override {
    table_for_compaction = table.reason == rocksdb::TableFileCreationReason::kCompaction;
  }
  void OnFlushBegin(rocksdb::DB* /*db*/, const rocksdb::FlushJobInfo& /*flush*/) override {
    flush_began = true;
  }

 private:
  void compaction_ended(bool ran_out) {
    state_->compaction_ran_out = ran_out;
    ++state_->compactions;
    state_->compactions.notify_all();
  }

  const State state_;
};

}  // namespace

void FlushJobs::scheduled() {
  const std::lock_guard lock(mutex_);
  ++scheduled_;
}

void FlushJobs::ended(bool is_forgotten) {
  const std::lock_guard lock(mutex_);
  forgotten_ = forgotten_ || is_forgotten;
  --scheduled_;
  none_.notify_all();
}

bool FlushJobs::forgot_one() {
  std::unique_lock lock(mutex_);
  none_.wait(lock, [this] { return scheduled_ == 0; });
  return forgotten_;
}

std::unique_ptr<rocksdb::Env> make_space_env(rocksdb::Env& base, std::shared_ptr<SpaceState> state,
                                             uint64_t log_bytes, bool zeroed) {
  return std::make_unique<SpaceEnv>(base, std::move(state), log_bytes, zeroed);
}

std::shared_ptr<rocksdb::EventListener> make_space_listener(std::shared_ptr<SpaceState> state) {
  return std::make_shared<SpaceListener>(std::move(state));
}

}  // namespace stator
