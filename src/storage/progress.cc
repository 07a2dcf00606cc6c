// SPDX-License-Identifier: Apache-2.0
// Two slots are written in turn, so that one of them is always complete.
#include "storage/progress.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "storage/data_directory.h"
#include "storage/rocks_log.h"

namespace stator {
namespace {

constexpr std::size_t kSlotBytes = 512;  // one sector: a disk writes it completely or not at all
constexpr std::size_t kBootBytes = 36;

struct Slot {
  std::array<char, 8> magic = {'S', 'T', 'A', 'T', 'O', 'R', 'P', '1'};
  uint64_t serial = 0;
  uint64_t last_row = 0;
  uint64_t commit_versions_end = 0;
  std::array<char, kBootBytes> boot = {};
  uint32_t synced = 0;
  uint32_t checksum = 0;  // of all members before it
};
static_assert(sizeof(Slot) == 80 && offsetof(Slot, checksum) == 72);

uint32_t checksum_of(const Slot& slot) {
  return crc32c({reinterpret_cast<const char*>(&slot), offsetof(Slot, checksum)});
}

bool is_whole(const Slot& slot) {
  return slot.magic == Slot().magic && slot.checksum == checksum_of(slot);
}

Failure progress_failure(const char* doing, const std::filesystem::path& path, int error) {
  return fail(Code::kIo,
              fmt::format("could not {} '{}': {}", doing, path.string(), std::strerror(error)));
}

using Bytes = std::array<char, 2 * kSlotBytes>;

// Zeros if the file does not exist. What the disk cannot read is wrong bytes.
Result<Bytes> read_bytes(const std::filesystem::path& path) {
  Bytes bytes{};
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0 && errno == ENOENT) return bytes;
  if (file.get() < 0) return progress_failure("open", path, errno);
  if (pread(file.get(), bytes.data(), bytes.size(), 0) < 0) {
    if (errno != EIO) return progress_failure("read", path, errno);
    bytes.fill('x');
  }
  return bytes;
}

std::optional<Slot> newest_in(const Bytes& bytes) {
  std::optional<Slot> newest;
  for (std::size_t at = 0; at < bytes.size(); at += kSlotBytes) {
    Slot slot;
    std::memcpy(&slot, bytes.data() + at, sizeof(slot));
    if (is_whole(slot) && (!newest || slot.serial > newest->serial)) newest = slot;
  }
  return newest;
}

}  // namespace

std::string boot_id() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  id.resize(std::min(id.size(), kBootBytes));
  return id;
}

Result<ProgressFile> ProgressFile::open(const std::filesystem::path& path) {
  ProgressFile file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644), path);
  if (file.descriptor_.get() < 0) return progress_failure("create", path, errno);
  STATOR_ASSIGN_OR_RETURN(const Bytes bytes, read_bytes(path));
  if (const auto newest = newest_in(bytes)) {
    file.writes_ = newest->serial;
    return file;
  }
  // Allocates the blocks now, so that a full disk does not stop later writes.
  const Bytes empty{};
  if (pwrite(file.descriptor_.get(), empty.data(), empty.size(), 0) != ssize_t{empty.size()}) {
    return progress_failure("write", path, errno);
  }
  STATOR_RETURN_IF_ERROR(file.sync());
  STATOR_RETURN_IF_ERROR(sync_directory(path.parent_path()));
  return file;
}

Result<std::optional<Progress>> ProgressFile::read(const std::filesystem::path& path) {
  STATOR_ASSIGN_OR_RETURN(const Bytes bytes, read_bytes(path));
  const auto newest = newest_in(bytes);
  if (!newest) {
    if (bytes == Bytes{}) return std::nullopt;
    return fail(Code::kCorruption,
                fmt::format("'{}' has wrong bytes, so the last acknowledged write is not known",
                            path.string()));
  }
  return Progress{
      .last_row = newest->last_row,
      .commit_versions_end = newest->commit_versions_end,
      .synced = newest->synced != 0,
      .boot = std::string(newest->boot.data(), strnlen(newest->boot.data(), newest->boot.size()))};
}

Result<void> ProgressFile::write(const Progress& progress) {
  Slot slot{.serial = ++writes_,
            .last_row = progress.last_row,
            .commit_versions_end = progress.commit_versions_end,
            .synced = progress.synced ? 1U : 0U};
  std::memcpy(slot.boot.data(), progress.boot.data(), std::min(progress.boot.size(), kBootBytes));
  slot.checksum = checksum_of(slot);
  const auto offset = static_cast<off_t>(writes_ % 2 * kSlotBytes);
  if (pwrite(descriptor_.get(), &slot, sizeof(slot), offset) != ssize_t{sizeof(slot)}) {
    return progress_failure("write", path_, errno);
  }
  return {};
}

Result<void> ProgressFile::sync() {
  if (fdatasync(descriptor_.get()) != 0) return progress_failure("sync", path_, errno);
  return {};
}

bool ProgressFile::is_deleted() const {
  struct stat status{};
  return fstat(descriptor_.get(), &status) == 0 && status.st_nlink == 0;
}

}  // namespace stator
