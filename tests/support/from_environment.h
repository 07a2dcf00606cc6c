// SPDX-License-Identifier: Apache-2.0
// Reads numbers from the environment that repeat a test (a seed) or extend it (rounds).
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <random>
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

struct Seeds {
  uint64_t first;
  uint64_t count;
};

// The seeds of a simulation's histories. STATOR_SEED repeats one of them. Otherwise they are always
// the same `count`, so that a change that fails has caused the failure. They are others if
// STATOR_SEED is `random`, or if the variable `count_name` sets their number, as `make soak` does.
inline Seeds seeds_from_environment(const char* count_name, uint64_t count) {
  const char* const seed = std::getenv("STATOR_SEED");
  const bool is_random =
      seed != nullptr ? std::string_view(seed) == "random" : std::getenv(count_name) != nullptr;
  if (is_random) return {std::random_device{}(), number_from_environment(count_name, count)};
  return {number_from_environment("STATOR_SEED", 1),
          number_from_environment(count_name, seed != nullptr ? 1 : count)};
}

}  // namespace stator::test
