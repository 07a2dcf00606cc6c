// SPDX-License-Identifier: Apache-2.0
// Common parts of the suites of Toggle, which run on each backend in each mode.
#pragma once

#include "stator/recipes/toggle.h"

#include <string>
#include <tuple>

#include "recipes/recipe_test.h"

namespace stator::test {

class ToggleSuite : public testing::TestWithParam<std::tuple<std::string, ToggleMode>> {
 protected:
  void SetUp() override {
    if (gated()) STATOR_NEEDS(Ability::kTransactions);
    bench.create(Toggle<bool>::table_definition(options()));
  }

  ToggleMode mode() const { return std::get<ToggleMode>(GetParam()); }
  bool gated() const { return mode() == ToggleMode::kGated; }
  ToggleOptions options() { return {.table = "Toggles", .mode = mode(), .time = &bench.time}; }
  Time now() { return bench.time.now(); }

  Bench bench{std::get<std::string>(GetParam())};
};

#define STATOR_TOGGLE_HOMES(suite, ...)                                                       \
  INSTANTIATE_TEST_SUITE_P(                                                                   \
      Homes, suite,                                                                           \
      testing::Combine(testing::ValuesIn(recipe_home_kinds()), testing::Values(__VA_ARGS__)), \
      [](const auto& test) {                                                                  \
        const bool gated = std::get<ToggleMode>(test.param) == ToggleMode::kGated;            \
        return std::get<std::string>(test.param) + (gated ? "Gated" : "OrderedLog");          \
      })

}  // namespace stator::test
