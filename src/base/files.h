// SPDX-License-Identifier: Apache-2.0
// Files: an owning file descriptor, complete writes, durable directories, errors of system calls.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "stator/result.h"

namespace stator {

// Owns a file descriptor and closes it when destroyed. A negative descriptor means none.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(Descriptor&& other) noexcept : descriptor_(other.release()) {}
  // `other` closes the previous descriptor.
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Descriptor();

  int get() const { return descriptor_; }
  // The caller closes it.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

// Writes all bytes to a blocking descriptor, without syncing. Returns false on failure, with the
// reason in errno; some bytes might have been written.
bool write_all(int descriptor, std::string_view bytes);

// Syncs a directory, so that files created, renamed or deleted in it remain so after a power
// failure. Their contents are not synced. Errors: kIo.
Result<void> sync_directory(const std::filesystem::path& path);
// Creates a directory and its missing parents, all durable. Errors: kIo.
Result<void> make_directories(const std::filesystem::path& path);

// The error of a system call on a file: "could not open 'x': No such file or directory". `doing` is
// a verb, `error` an errno. Codes: kNotFound; kAccessDenied if another attempt cannot succeed until
// someone changes the file or its directories; otherwise kIo, such as for a full disk.
Failure file_failure(std::string_view doing, const std::filesystem::path& path, int error);
// The same for a data directory and its files, always with kIo: "cannot open 'x': Permission
// denied; check its permissions and the space left".
Failure directory_failure(std::string_view doing, const std::filesystem::path& path, int error);

}  // namespace stator
