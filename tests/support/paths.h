// SPDX-License-Identifier: Apache-2.0
// Where the sources and the programs of this build are. Only paths.cc is compiled with their paths,
// so that ccache finds the other objects of the tests in every clone.
#pragma once

#include <string>

namespace stator::test {

// Absolute paths.
std::string source_path(const std::string& relative);
std::string build_path(const std::string& relative);
std::string stator_binary();

}  // namespace stator::test
