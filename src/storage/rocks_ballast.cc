// SPDX-License-Identifier: Apache-2.0
#include "storage/rocks_ballast.h"

#include <fcntl.h>
#include <rocksdb/env.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace stator {
namespace {

constexpr const char* kName = "ballast";
// Left free for small files that bypass the ballast, such as the progress file.
constexpr uint64_t kLeftBytes = 64UL << 10;
// More than RocksDB allocates in advance for a file, and more than one release.
constexpr uint64_t kPlentyBytes = 256UL << 20;

}  // namespace

Ballast::Ballast(rocksdb::Env& env, std::filesystem::path directory)
    : env_(env),
      path_(std::move(directory)),
      directory_(open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

uint64_t Ballast::bytes() const {
  struct stat status{};
  if (fstatat(directory_.get(), kName, &status, 0) != 0) return 0;
  return static_cast<uint64_t>(status.st_blocks) * 512;
}

uint64_t Ballast::free_bytes() const {
  uint64_t free = 0;
  // If the file system does not report free space, assumes no limit.
  return env_.GetFreeSpace(path_.string(), &free).ok() ? free : UINT64_MAX / 4;
}

// After a failure, the size is unchanged: callers check the free space.
void Ballast::resize(uint64_t from, uint64_t to) {
  const int create = is_created_ ? 0 : O_CREAT;
  const Descriptor file(openat(directory_.get(), kName, O_RDWR | create | O_CLOEXEC, 0644));
  if (file.get() < 0) return;
  is_created_ = true;
  const auto size = static_cast<off_t>(to);
  [[maybe_unused]] const int done =
      to < from ? ftruncate(file.get(), size) : fallocate(file.get(), 0, 0, size);
}

void Ballast::restore() {
  const std::lock_guard lock(mutex_);
  const uint64_t now = bytes();
  const uint64_t aim = aim_;
  if (now >= aim) return;
  const uint64_t free = free_bytes();
  if (free > kLeftBytes) resize(now, now + std::min(aim - now, free - kLeftBytes));
}

void Ballast::trim() {
  const std::lock_guard lock(mutex_);
  const uint64_t now = bytes();
  const uint64_t aim = aim_;
  if (now > aim) resize(now, aim);
}

std::unique_lock<std::mutex> Ballast::make_room(uint64_t bytes, For what) {
  const uint64_t wanted = bytes + kLeftBytes;
  std::unique_lock lock(mutex_, std::defer_lock);
  if (free_bytes() >= wanted + kPlentyBytes) return lock;
  lock.lock();
  const uint64_t free = free_bytes();
  if (free >= wanted) return lock;
  const uint64_t now = this->bytes();
  const uint64_t kept = what == For::kWhatCanWait ? kept_.load() : 0;
  if (now > kept) resize(now, now - std::min(now - kept, wanted - free));
  return lock;
}

}  // namespace stator
