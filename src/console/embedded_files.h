// SPDX-License-Identifier: Apache-2.0
// The files of the console, as the build compressed them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace stator::console {

struct EmbeddedFile {
  std::string_view name;  // without a directory
  std::string_view hash;  // of the content, hexadecimal
  std::size_t size_bytes;
  std::span<const unsigned char> gzipped;
};

std::span<const EmbeddedFile> embedded_files();

}  // namespace stator::console
