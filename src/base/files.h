// SPDX-License-Identifier: Apache-2.0
// Files: descriptors that close themselves, complete writes, durable directories.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "stator/result.h"

namespace stator {

// Owns a descriptor. Negative: it owns none.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();

  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

// Writes all bytes. Returns false on failure, with the reason in errno.
bool write_all(int descriptor, std::string_view bytes);

// Makes the names in a directory durable. Errors: kIo.
Result<void> sync_directory(const std::filesystem::path& path);

}  // namespace stator
