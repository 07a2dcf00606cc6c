// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace stator::test {

// Returns the bytes of a file; none if it cannot be read.
inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the bytes of a file up to the last one that is not zero.
inline std::string read_without_zeros(const std::filesystem::path& path) {
  std::string bytes = read_file(path);
  bytes.resize(bytes.find_last_not_of('\0') + 1);
  return bytes;
}

}  // namespace stator::test
