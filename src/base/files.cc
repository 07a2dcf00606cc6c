// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

namespace stator {
namespace {

Code code_of(int error) {
  switch (error) {
    case ENOENT:
      return Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR:
    case ENXIO:
      return Code::kAccessDenied;
    default:
      return Code::kIo;
  }
}

}  // namespace

Descriptor::~Descriptor() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

Result<void> sync_directory(const std::filesystem::path& path) {
  const Descriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) return directory_failure("open", path, errno);
  if (fsync(directory.get()) != 0) return directory_failure("sync", path, errno);
  return {};
}

Result<void> make_directories(const std::filesystem::path& path) {
  std::error_code error;
  std::vector<std::filesystem::path> missing;
  for (auto at = std::filesystem::absolute(path).lexically_normal();
       !std::filesystem::exists(at, error) && at.has_relative_path(); at = at.parent_path()) {
    if (at.has_filename()) missing.push_back(at);
  }
  std::filesystem::create_directories(path, error);
  if (error) return directory_failure("create", path, error.value());
  for (const auto& made : missing) STATOR_RETURN_IF_ERROR(sync_directory(made.parent_path()));
  return {};
}

Failure directory_failure(std::string_view doing, const std::filesystem::path& path, int error) {
  return fail(Code::kIo, std::string("cannot ").append(doing) + " '" + path.string() + "': " +
                             std::strerror(error) + "; check its permissions and the space left");
}

Failure file_failure(std::string_view doing, const std::filesystem::path& path, int error) {
  return fail(code_of(error), std::string("could not ")
                                  .append(doing)
                                  .append(" '")
                                  .append(path.string())
                                  .append("': ")
                                  .append(std::strerror(error)));
}

}  // namespace stator
