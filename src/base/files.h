// SPDX-License-Identifier: Apache-2.0
// Files: descriptors that close themselves, complete writes, durable directories.
#pragma once

#include <filesystem>
#include <string_view>
#include <utility>

#include "stator/result.h"

namespace stator {

// Owns a descriptor; a negative one is none.
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

// Writes all bytes. False on failure: errno holds the reason.
bool write_all(int descriptor, std::string_view bytes);

// Makes the names in a directory durable. kIo.
Result<void> sync_directory(const std::filesystem::path& path);

}  // namespace stator
