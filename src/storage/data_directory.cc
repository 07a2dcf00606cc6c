// SPDX-License-Identifier: Apache-2.0
#include "storage/data_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

namespace stator {
namespace {

constexpr const char* kMarkerName = "STATOR";
constexpr std::string_view kFormatLine = "stator data directory, format 1\n";
constexpr std::string_view kFormatStart = "stator data directory, format ";

Failure io_failure(const std::string& doing, const std::filesystem::path& path, int error) {
  return fail(Code::kIo, fmt::format("cannot {} '{}': {}; check its permissions and the space left",
                                     doing, path.string(), std::strerror(error)));
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Result<void> sync_directory(const std::filesystem::path& path) {
  const int directory = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return io_failure("open", path, errno);
  const int synced = fsync(directory);
  const int error = errno;
  close(directory);
  if (synced != 0) return io_failure("sync", path, error);
  return {};
}

Result<void> check_marker(const std::filesystem::path& marker) {
  std::ifstream file(marker);
  std::string line(128, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(file.gcount()));
  if (line == kFormatLine) return {};
  if (line.starts_with(kFormatStart)) {
    return fail(Code::kCorruption,
                fmt::format("'{}' was written by a newer version of Stator; use that one",
                            marker.parent_path().string()));
  }
  return fail(Code::kCorruption,
              fmt::format("'{}' is damaged; restore the directory from a copy", marker.string()));
}

}  // namespace

Result<void> mark_data_directory(const std::filesystem::path& path) {
  const std::filesystem::path marker = path / kMarkerName;
  const std::filesystem::path unfinished = path / "STATOR.new";
  const int descriptor = open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) return io_failure("create", unfinished, errno);
  const bool written = write_all(descriptor, kFormatLine) && fsync(descriptor) == 0;
  const int error = errno;
  close(descriptor);
  if (!written) return io_failure("write", unfinished, error);
  if (rename(unfinished.c_str(), marker.c_str()) != 0) return io_failure("create", marker, errno);
  return sync_directory(path);
}

Result<void> prepare_data_directory(const std::filesystem::path& path, bool create_if_missing) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) {
    return fail(Code::kIo, fmt::format("'{}' is no directory; choose another", path.string()));
  }
  if (!std::filesystem::exists(status)) {
    if (!create_if_missing) {
      return fail(Code::kIo, fmt::format("there is no data directory '{}'", path.string()));
    }
    std::filesystem::create_directories(path, error);
    if (error) return io_failure("create", path, error.value());
    STATOR_CHECK_OK(sync_directory(std::filesystem::absolute(path).parent_path()));
  }
  const std::filesystem::path marker = path / kMarkerName;
  if (std::filesystem::exists(marker, error)) return check_marker(marker);
  if (error) return io_failure("read", path, error.value());
  const bool unfinished = std::filesystem::exists(path / "STATOR.new", error);
  if (!unfinished && !std::filesystem::is_empty(path, error)) {
    return fail(Code::kCorruption,
                fmt::format("'{}' holds files but is no Stator data directory; choose an empty one",
                            path.string()));
  }
  if (error) return io_failure("read", path, error.value());
  return mark_data_directory(path);
}

}  // namespace stator
