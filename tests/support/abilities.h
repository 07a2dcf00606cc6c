// SPDX-License-Identifier: Apache-2.0
// Detects features that the endpoint of STATOR_TEST_ENDPOINT lacks. Stator's own backends have all
// of them.
#pragma once

#include <string>

namespace stator::test {

enum class Ability {
  kTransactions,
  kStreams,
  kTimeToLive,
  kMultiAttributeKeys,
  kUnitsOfTransactions,  // counts them, as twice those of other requests
  kUnitsOfIndexes,
  kUnitsOfEmptyReads,
};

// Returns an empty string if the home has the ability. Otherwise returns the reason to skip a test.
std::string lack_of(Ability ability);

}  // namespace stator::test

// Skips the test if the endpoint lacks the ability.
#define STATOR_NEEDS(ability) \
  if (const std::string lack = ::stator::test::lack_of(ability); !lack.empty()) GTEST_SKIP() << lack
