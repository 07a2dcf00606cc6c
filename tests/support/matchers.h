// SPDX-License-Identifier: Apache-2.0
// Matchers for Result: EXPECT_THAT(result, IsOk()), EXPECT_THAT(result, FailsWith(code, "text")).
#pragma once

#include <gmock/gmock.h>

#include <string>

#include "stator/result.h"

namespace stator::test {

// NOLINTBEGIN(readability-identifier-naming): matchers are named as GoogleMock's own.
MATCHER(IsOk, "is a success") {
  if (arg) return true;
  *result_listener << code_name(arg.error().code) << ": " << arg.error().message;
  return false;
}

// The error has this code, and a message that contains `text`.
MATCHER_P2(FailsWith, code, text,
           std::string("fails with ") + code_name(code) + " and \"" + text + "\"") {
  if (arg) {
    *result_listener << "succeeded";
    return false;
  }
  *result_listener << code_name(arg.error().code) << ": " << arg.error().message;
  return arg.error().code == code && arg.error().message.find(text) != std::string::npos;
}
// NOLINTEND(readability-identifier-naming)

}  // namespace stator::test
