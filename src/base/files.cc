// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace stator {
namespace {

Failure directory_failure(const char* doing, const std::filesystem::path& path) {
  return fail(Code::kIo, std::string("cannot ") + doing + " '" + path.string() + "': " +
                             std::strerror(errno) + "; check its permissions and the space left");
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
  if (directory.get() < 0) return directory_failure("open", path);
  if (fsync(directory.get()) != 0) return directory_failure("sync", path);
  return {};
}

}  // namespace stator
