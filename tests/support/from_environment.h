// SPDX-License-Identifier: Apache-2.0
// Reads numbers from the environment that repeat a test (a seed) or extend it (rounds).
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace stator::test {

// Returns `otherwise` if the variable is not set. A value that is not a number ends the test.
inline uint64_t number_from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr) return otherwise;
  const std::string_view digits(text);
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc() || end != digits.end()) throw std::invalid_argument(name);
  return number;
}

}  // namespace stator::test
