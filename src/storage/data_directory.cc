// SPDX-License-Identifier: Apache-2.0
#include "storage/data_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace stator {
namespace {

constexpr const char* kMarkerName = "STATOR";
constexpr const char* kUnfinishedName = "STATOR.new";
constexpr std::string_view kFormatLine = "stator data directory, format 1\n";
constexpr std::string_view kFormatStart = "stator data directory, format ";

Result<void> check_marker(const std::filesystem::path& marker) {
  std::ifstream file(marker);
  std::string line(128, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(file.gcount()));
  if (line == kFormatLine) return {};
  if (line.starts_with(kFormatStart)) {
    line.erase(0, kFormatStart.size());
    return fail(Code::kCorruption,
                fmt::format("'{}' has directory format {}; this version of Stator reads format 1",
                            marker.parent_path().string(), line.substr(0, line.find('\n'))));
  }
  return fail(Code::kCorruption,
              fmt::format("'{}' is damaged; restore the directory from a copy", marker.string()));
}

// A directory with only this file, or with a database that is not marked yet, is unfinished.
Result<void> write_unfinished(const std::filesystem::path& path) {
  const std::filesystem::path unfinished = path / kUnfinishedName;
  const Descriptor file(open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.get() < 0) return directory_failure("create", unfinished, errno);
  if (!write_all(file.get(), kFormatLine) || fsync(file.get()) != 0) {
    return directory_failure("write", unfinished, errno);
  }
  return sync_directory(path);
}

// The descriptors that hold locks. fork() copies them, and the copies would keep the locks while
// the child runs.
class LockDescriptors {
 public:
  static LockDescriptors& instance() {
    static LockDescriptors* const all = new LockDescriptors;
    return *all;
  }

  void add(int descriptor) {
    const std::lock_guard lock(mutex_);
    descriptors_.push_back(descriptor);
  }
  // Does nothing if fork() has closed the descriptor in this process.
  void close_one(int descriptor) {
    const std::lock_guard lock(mutex_);
    if (std::erase(descriptors_, descriptor) == 0) return;
    flock(descriptor, LOCK_UN);  // a new child might not have closed its copy yet
    close(descriptor);
  }
  uint64_t forks() const { return forks_.load(std::memory_order_relaxed); }

 private:
  LockDescriptors() {
    pthread_atfork([] { instance().mutex_.lock(); }, [] { instance().mutex_.unlock(); },
                   [] { instance().after_fork(); });
  }
  void after_fork() {
    for (const int descriptor : descriptors_) close(descriptor);
    descriptors_.clear();
    ++forks_;
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::vector<int> descriptors_;
  std::atomic<uint64_t> forks_ = 0;  // since the first process
};

}  // namespace

Result<void> mark_data_directory(const std::filesystem::path& path) {
  STATOR_RETURN_IF_ERROR(write_unfinished(path));
  const std::filesystem::path marker = path / kMarkerName;
  if (rename((path / kUnfinishedName).c_str(), marker.c_str()) != 0) {
    return directory_failure("create", marker, errno);
  }
  return sync_directory(path);
}

DataDirectory::DataDirectory(DataDirectory&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      fresh_(other.fresh_),
      forks_(other.forks_) {}

DataDirectory::DataDirectory(int descriptor)
    : descriptor_(descriptor), forks_(LockDescriptors::instance().forks()) {
  if (descriptor >= 0) LockDescriptors::instance().add(descriptor);
}

DataDirectory::~DataDirectory() {
  if (descriptor_ >= 0) LockDescriptors::instance().close_one(descriptor_);
}

Result<void> DataDirectory::check_process() const {
  if (LockDescriptors::instance().forks() == forks_) return {};
  return fail(Code::kIo, "cannot use a data directory after fork(); open it in the child process");
}

Result<DataDirectory> DataDirectory::open(const std::filesystem::path& path,
                                          bool create_if_missing) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) {
    return fail(Code::kIo, fmt::format("'{}' is not a directory; choose another", path.string()));
  }
  if (!std::filesystem::exists(status)) {
    if (!create_if_missing) {
      return fail(Code::kIo, fmt::format("data directory '{}' does not exist", path.string()));
    }
    STATOR_RETURN_IF_ERROR(make_directories(path));
  }
  DataDirectory directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.descriptor_ < 0) return directory_failure("open", path, errno);
  if (flock(directory.descriptor_, LOCK_EX | LOCK_NB) != 0) {
    return fail(
        Code::kLocked,
        fmt::format("the data directory '{}' is in use by another process; stop that one or "
                    "choose another directory",
                    path.string()));
  }
  const std::filesystem::path marker = path / kMarkerName;
  if (std::filesystem::exists(marker, error)) {
    STATOR_RETURN_IF_ERROR(check_marker(marker));
    return directory;
  }
  if (error) return directory_failure("read", path, error.value());
  if (!std::filesystem::exists(path / kUnfinishedName, error) &&
      !std::filesystem::is_empty(path, error)) {
    return fail(
        Code::kCorruption,
        fmt::format("'{}' has files but is not a Stator data directory; choose an empty one",
                    path.string()));
  }
  if (error) return directory_failure("read", path, error.value());
  if (!create_if_missing) {
    return fail(Code::kIo, fmt::format("'{}' contains no data", path.string()));
  }
  STATOR_RETURN_IF_ERROR(write_unfinished(path));
  directory.fresh_ = true;
  return directory;
}

}  // namespace stator
