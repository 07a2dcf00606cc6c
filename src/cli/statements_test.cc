// SPDX-License-Identifier: Apache-2.0
#include "cli/statements.h"

#include <gmock/gmock.h>

namespace stator::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Statements, AreSeparatedBySemicolons) {
  EXPECT_THAT(split_statements(" SELECT 1 ;\n\nSELECT 2;; "), ElementsAre("SELECT 1", "SELECT 2"));
  EXPECT_THAT(split_statements("one"), ElementsAre("one"));
  EXPECT_THAT(split_statements(" ; \n"), IsEmpty());
}

TEST(Statements, KeepSemicolonsInQuotes) {
  EXPECT_THAT(split_statements("a = 'x;''y;' AND \"b;\" = 1; c"),
              ElementsAre("a = 'x;''y;' AND \"b;\" = 1", "c"));
  EXPECT_THAT(split_statements("a = 'not closed; b"), ElementsAre("a = 'not closed; b"));
}

}  // namespace
}  // namespace stator::cli
