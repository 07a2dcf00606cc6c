// SPDX-License-Identifier: Apache-2.0
#include "power_loss/lossy_file_system.h"

#include <rocksdb/system_clock.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <utility>

namespace stator::test {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

constexpr uint64_t kSectorBytes = 512;

std::string directory_of(const std::string& name) {
  return std::filesystem::path(name).parent_path().lexically_normal().string();
}

IOStatus moved(const std::string& from, const std::string& to) {
  std::error_code error;
  std::filesystem::rename(from, to, error);
  return error ? IOStatus::IOError(error.message()) : IOStatus::OK();
}

// RocksDB's diagnostic log is opened in another way and contains no data.
bool is_information(const std::string& name) {
  return std::filesystem::path(name).filename().string().starts_with("LOG");
}

bool is_manifest(const std::string& name) {
  return std::filesystem::path(name).filename().string().starts_with("MANIFEST");
}

class ImpatientClock final : public rocksdb::SystemClockWrapper {
 public:
  ImpatientClock() : SystemClockWrapper(rocksdb::SystemClock::Default()) {}
  const char* Name() const override { return "ImpatientClock"; }
  void SleepForMicroseconds(int pause) override {
    constexpr int kLongest = 1'000;
    SystemClockWrapper::SleepForMicroseconds(std::min(pause, kLongest));
  }
};

class LossyEnv final : public rocksdb::EnvWrapper {
 public:
  explicit LossyEnv(const std::shared_ptr<LossyFileSystem>& files)
      : EnvWrapper(rocksdb::NewCompositeEnv(files)) {
    file_system_ = files;
    system_clock_ = std::make_shared<ImpatientClock>();
  }
  const char* Name() const override { return "LossyEnv"; }
};

}  // namespace

std::unique_ptr<rocksdb::Env> make_env_on(const std::shared_ptr<LossyFileSystem>& files) {
  return std::make_unique<LossyEnv>(files);
}

class LossyFileSystem::Writable final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  Writable(std::unique_ptr<rocksdb::FSWritableFile> file, std::string name, ContentsPtr contents,
           LossyFileSystem& system)
      : FSWritableFileOwnerWrapper(std::move(file)),
        name_(std::move(name)),
        contents_(std::move(contents)),
        system_(system) {}

  // Only zeros after the end, which later bytes replace.
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            IODebugContext* debug) override {
    const std::lock_guard lock(system_.mutex_);
    IOStatus status = system_.permit(FileChange::kZero, name_);
    if (status.ok()) status = target()->PositionedAppend(data, offset, options, debug);
    if (status.ok()) contents_->zeroed = std::max(contents_->zeroed, offset + data.size());
    return status;
  }
  IOStatus PositionedAppend(const Slice& data, uint64_t offset, const IOOptions& options,
                            const rocksdb::DataVerificationInfo& /*info*/,
                            IODebugContext* debug) override {
    return PositionedAppend(data, offset, options, debug);
  }
  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    const std::lock_guard lock(system_.mutex_);
    IOStatus permitted = system_.permit(FileChange::kAppend, name_);
    // A disk without enough space writes a part.
    const std::size_t bytes = permitted.ok() ? data.size() : data.size() / 2;
    if (!permitted.ok() && !permitted.IsNoSpace()) return permitted;
    const IOStatus status = target()->Append(Slice(data.data(), bytes), options, debug);
    if (status.ok()) contents_->bytes += bytes;
    return permitted.ok() ? status : permitted;
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& /*info*/, IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  // Does not sync the real disk. Records the synced size instead.
  IOStatus Sync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    const std::lock_guard lock(system_.mutex_);
    IOStatus permitted = system_.permit(FileChange::kSync, name_);
    if (permitted.ok()) {
      contents_->synced_bytes = contents_->bytes;
      contents_->synced_zeroed = contents_->zeroed;
    }
    return permitted;
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return Sync(options, debug);
  }
  IOStatus Truncate(uint64_t bytes, const IOOptions& options, IODebugContext* debug) override {
    const std::lock_guard lock(system_.mutex_);
    const IOStatus status = target()->Truncate(bytes, options, debug);
    if (status.ok())
      *contents_ = {.bytes = bytes, .synced_bytes = std::min(bytes, contents_->synced_bytes)};
    return status;
  }

 private:
  const std::string name_;
  const ContentsPtr contents_;
  LossyFileSystem& system_;
};

class LossyFileSystem::Directory final : public rocksdb::FSDirectoryWrapper {
 public:
  Directory(std::unique_ptr<rocksdb::FSDirectory> directory, std::string name,
            LossyFileSystem& system)
      : FSDirectoryWrapper(std::move(directory)), name_(std::move(name)), system_(system) {}

  IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*debug*/) override {
    const std::lock_guard lock(system_.mutex_);
    IOStatus permitted = system_.permit(FileChange::kSyncDirectory, name_);
    if (permitted.ok()) system_.unsynced_entries_.erase(name_);
    return permitted;
  }
  IOStatus FsyncWithDirOptions(const IOOptions& options, IODebugContext* debug,
                               const rocksdb::DirFsyncOptions& /*what*/) override {
    return Fsync(options, debug);
  }

 private:
  const std::string name_;
  LossyFileSystem& system_;
};

LossyFileSystem::LossyFileSystem(std::filesystem::path attic)
    : FileSystemWrapper(rocksdb::FileSystem::Default()), attic_(std::move(attic)) {}

IOStatus LossyFileSystem::GetFreeSpace(const std::string&, const rocksdb::IOOptions&,
                                       uint64_t* free, rocksdb::IODebugContext*) {
  const std::lock_guard lock(mutex_);
  const bool full = fault_ && has_failed_ && fault_->status.ok();
  *free = full ? 0 : 1UL << 40;
  return IOStatus::OK();
}

void LossyFileSystem::fail_power_after(uint64_t changes) {
  const std::lock_guard lock(mutex_);
  changes_left_ = changes;
}

void LossyFileSystem::kill_process_after(uint64_t changes) {
  fail_power_after(changes);
  kills_ = true;
}

void LossyFileSystem::fail(Fault fault) {
  const std::lock_guard lock(mutex_);
  fault_ = std::move(fault);
  has_failed_ = false;
}

void LossyFileSystem::mend() {
  const std::lock_guard lock(mutex_);
  fault_.reset();
}

bool LossyFileSystem::has_failed() const {
  const std::lock_guard lock(mutex_);
  return has_failed_;
}

IOStatus LossyFileSystem::permit(FileChange change, const std::string& name) {
  if (changes_left_) {
    if (*changes_left_ == 0 && kills_) raise(SIGKILL);
    if (*changes_left_ == 0) return IOStatus::IOError("the power has failed, says the test");
    --*changes_left_;
  }
  if (!fault_ || fault_->change != change || name.find(fault_->part) == name.npos) return {};
  if (fault_->after > 0) {
    --fault_->after;
    return {};
  }
  has_failed_ = true;
  IOStatus status = fault_->status;
  if (!fault_->lasting) fault_.reset();
  return status;
}

LossyFileSystem::ContentsPtr LossyFileSystem::contents_of(const std::string& name) {
  ContentsPtr& contents = contents_[name];
  if (contents == nullptr) {
    std::error_code error;
    const uint64_t bytes = std::filesystem::file_size(name, error);
    contents = std::make_shared<Contents>();
    if (!error) *contents = {.bytes = bytes, .synced_bytes = bytes};
  }
  return contents;
}

// Moves the file at `name`, if there is one, to a place where undo() finds it.
IOStatus LossyFileSystem::displace(const std::string& name, Entry& entry) {
  if (!std::filesystem::exists(name)) return {};
  entry.displaced_contents = contents_of(name);
  entry.displaced = (attic_ / std::to_string(displaced_++)).string();
  contents_.erase(name);
  return moved(name, *entry.displaced);
}

IOStatus LossyFileSystem::NewWritableFile(const std::string& name,
                                          const rocksdb::FileOptions& options,
                                          std::unique_ptr<rocksdb::FSWritableFile>* file,
                                          IODebugContext* debug) {
  const std::lock_guard lock(mutex_);
  IOStatus status = permit(FileChange::kCreate, name);
  Entry entry{.change = FileChange::kCreate, .name = name};
  if (status.ok()) status = displace(name, entry);
  if (status.ok()) status = FileSystemWrapper::NewWritableFile(name, options, file, debug);
  if (!status.ok()) return status;
  unsynced_entries_[directory_of(name)].push_back(std::move(entry));
  *file = std::make_unique<Writable>(std::move(*file), name, contents_of(name), *this);
  return status;
}

IOStatus LossyFileSystem::ReopenWritableFile(const std::string& name,
                                             const rocksdb::FileOptions& options,
                                             std::unique_ptr<rocksdb::FSWritableFile>* file,
                                             IODebugContext* debug) {
  if (!std::filesystem::exists(name)) return NewWritableFile(name, options, file, debug);
  const std::lock_guard lock(mutex_);
  const ContentsPtr contents = contents_of(name);
  const IOStatus status = FileSystemWrapper::ReopenWritableFile(name, options, file, debug);
  if (status.ok()) *file = std::make_unique<Writable>(std::move(*file), name, contents, *this);
  return status;
}

IOStatus LossyFileSystem::ReuseWritableFile(const std::string& /*name*/,
                                            const std::string& /*old_name*/,
                                            const rocksdb::FileOptions& /*options*/,
                                            std::unique_ptr<rocksdb::FSWritableFile>* /*file*/,
                                            IODebugContext* /*debug*/) {
  return IOStatus::NotSupported("files written over are not modelled");
}

IOStatus LossyFileSystem::NewDirectory(const std::string& name, const IOOptions& options,
                                       std::unique_ptr<rocksdb::FSDirectory>* directory,
                                       IODebugContext* debug) {
  const IOStatus status = FileSystemWrapper::NewDirectory(name, options, directory, debug);
  if (!status.ok()) return status;
  *directory = std::make_unique<Directory>(
      std::move(*directory), (std::filesystem::path(name) / "").parent_path().lexically_normal(),
      *this);
  return status;
}

IOStatus LossyFileSystem::DeleteFile(const std::string& name, const IOOptions& options,
                                     IODebugContext* debug) {
  if (is_information(name)) return FileSystemWrapper::DeleteFile(name, options, debug);
  const std::lock_guard lock(mutex_);
  IOStatus status = permit(FileChange::kDelete, name);
  if (!status.ok()) return status;
  if (!std::filesystem::exists(name)) return IOStatus::NotFound(name);
  Entry entry{.change = FileChange::kDelete, .name = name};
  status = displace(name, entry);
  if (status.ok()) unsynced_entries_[directory_of(name)].push_back(std::move(entry));
  return status;
}

IOStatus LossyFileSystem::RenameFile(const std::string& from, const std::string& to,
                                     const IOOptions& options, IODebugContext* debug) {
  if (is_information(from)) return FileSystemWrapper::RenameFile(from, to, options, debug);
  const std::lock_guard lock(mutex_);
  IOStatus status = permit(FileChange::kRename, to);
  Entry entry{.change = FileChange::kRename, .name = to, .from = from};
  if (status.ok()) status = displace(to, entry);
  if (status.ok()) status = moved(from, to);
  if (!status.ok()) return status;
  contents_[to] = contents_of(from);
  contents_.erase(from);
  unsynced_entries_[directory_of(to)].push_back(std::move(entry));
  return status;
}

// ---- Power failure

void LossyFileSystem::drop_unsynced(std::mt19937_64& random) {
  const std::lock_guard lock(mutex_);
  for (auto& [directory, entries] : unsynced_entries_) {
    for (auto kept = random() % (entries.size() + 1); entries.size() > kept; entries.pop_back()) {
      undo(entries.back());
    }
  }
  unsynced_entries_.clear();
  for (const auto& [name, contents] : contents_) {
    if (std::filesystem::exists(name)) damage(name, *contents, random);
  }
  contents_.clear();
}

void LossyFileSystem::undo(const Entry& entry) {
  if (entry.change == FileChange::kRename) {
    moved(entry.name, entry.from).PermitUncheckedError();
    contents_[entry.from] = std::exchange(contents_[entry.name], nullptr);
  } else if (entry.change == FileChange::kCreate) {
    std::filesystem::remove(entry.name);
  }
  contents_.erase(entry.name);
  if (!entry.displaced) return;
  moved(*entry.displaced, entry.name).PermitUncheckedError();
  contents_[entry.name] = entry.displaced_contents;
}

// Keeps any length between the synced and the written one, followed by the synced zeros, and
// replaces any later sector by other bytes. RocksDB's MANIFEST is only truncated, because RocksDB
// does not open it with a garbled end. File systems whose files grow after their data do not cause
// one (ext4 with ordered data, XFS, btrfs).
void LossyFileSystem::damage(const std::string& name, const Contents& contents,
                             std::mt19937_64& random) {
  if (contents.synced_bytes >= contents.bytes) return;
  const uint64_t unsynced = contents.bytes - contents.synced_bytes;
  const uint64_t left = random() % (unsynced + 1);
  std::filesystem::resize_file(name, contents.synced_bytes + left);
  if (contents.synced_zeroed > contents.synced_bytes + left) {
    std::filesystem::resize_file(name, contents.synced_zeroed);
  }
  if (left == 0 || is_manifest(name) || random() % 4 == 0) return;
  const uint64_t bytes = std::min<uint64_t>(left, 1 + random() % kSectorBytes);
  const uint64_t at = random() % 2 == 0 ? left - bytes : random() % (left - bytes + 1);
  std::string garbage(bytes, '\0');
  if (random() % 2 == 0)
    std::ranges::generate(garbage, [&] { return static_cast<char>(random()); });
  std::fstream file(name, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(contents.synced_bytes + at));
  file.write(garbage.data(), static_cast<std::streamsize>(garbage.size()));
}

}  // namespace stator::test
