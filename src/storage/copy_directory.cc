// SPDX-License-Identifier: Apache-2.0
// Files are copied with plain reads and writes. If the copy shared blocks with the original, it
// would share their damage too.
#include "storage/copy_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>
#include <vector>

#include "storage/data_directory.h"

namespace stator {
namespace {

constexpr std::size_t kBufferBytes = 1UL << 20;

Descriptor open_file(const std::filesystem::path& path, int flags) {
  return Descriptor(open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0644));
}

struct Listed {
  std::filesystem::path path;
  uint64_t bytes = 0;
};

// RocksDB's diagnostic log (LOG) and its lock are not data.
Result<std::vector<Listed>> files_in(const std::filesystem::path& directory) {
  std::vector<Listed> files;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name == "LOCK" || name.starts_with("LOG")) continue;
    const auto status = entry->symlink_status(error);
    if (error || !std::filesystem::is_regular_file(status)) continue;
    files.push_back({.path = entry->path(), .bytes = entry->file_size(error)});
  }
  if (error) return directory_failure("read", directory, error.value());
  return files;
}

}  // namespace

Result<void> copy_file(const std::filesystem::path& from, const std::filesystem::path& to,
                       FunctionRef<void(std::size_t)> copied) {
  const Descriptor source = open_file(from, O_RDONLY);
  if (source.get() < 0) return directory_failure("read", from, errno);
  const Descriptor target = open_file(to, O_WRONLY | O_CREAT | O_EXCL);
  if (target.get() < 0) return directory_failure("create", to, errno);
  std::vector<char> buffer(kBufferBytes);
  for (;;) {
    const ssize_t size = read(source.get(), buffer.data(), buffer.size());
    if (size < 0) return directory_failure("read", from, errno);
    if (size == 0) break;
    const auto count = static_cast<std::size_t>(size);
    if (!write_all(target.get(), {buffer.data(), count}))
      return directory_failure("write", to, errno);
    copied(count);
  }
  if (fsync(target.get()) != 0) return directory_failure("write", to, errno);
  return {};
}

Result<void> copy_data_directory(const std::filesystem::path& from, const std::filesystem::path& to,
                                 BytesVisitor progress) {
  STATOR_ASSIGN_OR_RETURN(const DataDirectory locked, DataDirectory::open(from, false));
  STATOR_ASSIGN_OR_RETURN(const std::vector<Listed> files, files_in(from / kDatabaseName));
  std::error_code error;
  for (const auto& made : {to, to / kDatabaseName}) {
    if (!std::filesystem::create_directory(made, error)) {
      return directory_failure("create", made, error ? error.value() : EEXIST);
    }
  }
  uint64_t total_bytes = 0;
  for (const Listed& file : files) total_bytes += file.bytes;
  uint64_t done_bytes = 0;
  for (const Listed& file : files) {
    STATOR_RETURN_IF_ERROR(
        copy_file(file.path, to / kDatabaseName / file.path.filename(), [&](std::size_t bytes) {
          done_bytes += bytes;
          progress(done_bytes, total_bytes);
        }));
  }
  STATOR_RETURN_IF_ERROR(sync_directory(to / kDatabaseName));
  return mark_data_directory(to);
}

Result<void> rename_directory(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno == EEXIST) {
      return fail(Code::kAlreadyExists,
                  fmt::format("'{}' exists already; choose another directory", to.string()));
    }
    return directory_failure("create", to, errno);
  }
  return sync_directory(std::filesystem::absolute(to).parent_path());
}

}  // namespace stator
