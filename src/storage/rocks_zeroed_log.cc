// SPDX-License-Identifier: Apache-2.0
#include "storage/rocks_zeroed_log.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <array>
#include <utility>

namespace stator {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

constexpr uint64_t kZeroedBytes = 256UL << 10;
// The sync of a larger write gains less than its zeros cost.
constexpr std::size_t kSmallBytes = 64UL << 10;
constexpr std::array<char, 32UL << 10> kZeros{};

class ZeroedLog final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  ZeroedLog(std::unique_ptr<rocksdb::FSWritableFile> file, OpenLogs::Size size)
      : FSWritableFileOwnerWrapper(std::move(file)), size_(std::move(size)) {}
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  IODebugContext* debug) override {
    return appended(data.size(), target()->Append(data, options, debug), options, debug);
  }
  IOStatus Append(const rocksdb::Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& info, IODebugContext* debug) override {
    return appended(data.size(), target()->Append(data, options, info, debug), options, debug);
  }
  IOStatus Close(const IOOptions& options, IODebugContext* debug) override {
    // If the zeros stay, they only take space.
    if (zeroed_to_ > 0 && !has_failed_)
      target()->Truncate(*size_, options, debug).PermitUncheckedError();
    return target()->Close(options, debug);
  }

 private:
  IOStatus appended(std::size_t bytes, IOStatus status, const IOOptions& options,
                    IODebugContext* debug) {
    if (!status.ok()) has_failed_ = true;  // a part can be written
    if (has_failed_) return status;
    const uint64_t end = *size_ += bytes;
    if (end <= zeroed_to_ || bytes > kSmallBytes) return status;
    for (uint64_t at = end; at < end + kZeroedBytes; at += kZeros.size()) {
      const IOStatus written =
          target()->PositionedAppend({kZeros.data(), kZeros.size()}, at, options, debug);
      if (!written.ok()) break;
      zeroed_to_ = at + kZeros.size();
    }
    return status;
  }

  const OpenLogs::Size size_;
  uint64_t zeroed_to_ = 0;
  bool has_failed_ = false;
};

}  // namespace

OpenLogs::Size OpenLogs::add(const std::string& name) {
  Size size = std::make_shared<std::atomic<uint64_t>>(0);
  const std::lock_guard lock(mutex_);
  std::erase_if(sizes_, [](const auto& entry) { return entry.second.expired(); });
  sizes_[name] = size;
  return size;
}

std::optional<uint64_t> OpenLogs::size_of(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = sizes_.find(name);
  const Size size = found == sizes_.end() ? nullptr : found->second.lock();
  return size == nullptr ? std::nullopt : std::optional<uint64_t>(*size);
}

bool gains_from_zeros(const std::filesystem::path& directory) {
  struct statfs system{};
  if (statfs(directory.c_str(), &system) != 0) return false;
  const auto type = static_cast<uint32_t>(system.f_type);
  return type == EXT4_SUPER_MAGIC || type == XFS_SUPER_MAGIC;
}

std::unique_ptr<rocksdb::FSWritableFile> make_zeroed_log(
    std::unique_ptr<rocksdb::FSWritableFile> file, OpenLogs::Size size) {
  return std::make_unique<ZeroedLog>(std::move(file), std::move(size));
}

}  // namespace stator
