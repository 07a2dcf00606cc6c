// SPDX-License-Identifier: Apache-2.0
// ByteSource: bytes in order, from a file, from memory, unfolded from gzip or zstd.
//
// Memory: a buffer's worth, whatever the bytes claim to unfold to.
// Errors: kIo; kCorruption for compressed bytes that are damaged, cut off, or unfold to more than
// data does.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "stator/result.h"
#include "transfer/formats.h"

namespace stator::transfer {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // How many bytes it put into `buffer`, which is not empty; 0: the end.
  virtual Result<std::size_t> read(std::span<char> buffer) = 0;
};

// A regular file; no symbolic link.
Result<std::unique_ptr<ByteSource>> open_file(const std::filesystem::path& path);
std::unique_ptr<ByteSource> bytes_of(std::string bytes);
// gzip and zstd may have several members, one behind the other.
Result<std::unique_ptr<ByteSource>> unfolded(std::unique_ptr<ByteSource> source,
                                             Compression compression);

}  // namespace stator::transfer
