// SPDX-License-Identifier: Apache-2.0
// ByteSource: sequential bytes from a file, from memory, or decompressed from gzip or zstd.
//
// Memory: one buffer, whatever decompressed size the input claims.
// Errors: those of file_failure(); kCorruption for compressed bytes that are damaged, truncated, or
// decompress to an implausible size.
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
  // Returns how many bytes it wrote to `buffer`, which must not be empty; 0: the end.
  virtual Result<std::size_t> read(std::span<char> buffer) = 0;
};

// Opens a regular file, not a symbolic link.
Result<std::unique_ptr<ByteSource>> open_file(const std::filesystem::path& path);
std::unique_ptr<ByteSource> bytes_of(std::string bytes);
// Decompresses. gzip and zstd input can have several consecutive members.
Result<std::unique_ptr<ByteSource>> unfolded(std::unique_ptr<ByteSource> source,
                                             Compression compression);

}  // namespace stator::transfer
