// SPDX-License-Identifier: Apache-2.0
#include "support/paths.h"

namespace stator::test {

std::string source_path(const std::string& relative) {
  return STATOR_SOURCE_DIRECTORY "/" + relative;
}

std::string build_path(const std::string& relative) {
  return STATOR_BUILD_DIRECTORY "/" + relative;
}

std::string stator_binary() {
  return build_path("stator");
}

}  // namespace stator::test
