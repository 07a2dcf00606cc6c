// SPDX-License-Identifier: Apache-2.0
// prefix_end: the end of the range of strings that start with a prefix.
#pragma once

#include <string>
#include <string_view>

namespace stator {

// The least byte string greater than every string that starts with `prefix`; empty if none exists.
inline std::string prefix_end(std::string_view prefix) {
  while (!prefix.empty() && prefix.back() == '\xFF') prefix.remove_suffix(1);
  std::string end(prefix);
  if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return end;
}

}  // namespace stator
