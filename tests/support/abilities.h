// SPDX-License-Identifier: Apache-2.0
// Detects features that the endpoint of STATOR_TEST_ENDPOINT lacks. Our own backends have all.
#pragma once

#include <string>

namespace stator::test {

enum class Ability {
  kTransactions,
  kStreams,
  kTimeToLive,
  kMultiAttributeKeys,
  kUnitsOfTransactions,  // counts them, twice those of other requests
  kUnitsOfIndexes,
  kUnitsOfEmptyReads,
};

// Empty where the home has it, otherwise the reason for which a test is skipped.
std::string lack_of(Ability ability);

}  // namespace stator::test

// Skips the test where the endpoint lacks what it is about.
#define STATOR_NEEDS(ability) \
  if (const std::string lack = ::stator::test::lack_of(ability); !lack.empty()) GTEST_SKIP() << lack
