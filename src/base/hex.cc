// SPDX-License-Identifier: Apache-2.0
#include "base/hex.h"

namespace stator {

std::string hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    (text += kDigits[byte >> 4]) += kDigits[byte & 15];
  }
  return text;
}

}  // namespace stator
