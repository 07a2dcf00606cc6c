// SPDX-License-Identifier: Apache-2.0
// Several PartiQL statements in one text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stator::cli {

// The statements between semicolons, without white space around them and without empty ones.
// Semicolons in 'text' and "names" do not separate.
std::vector<std::string> split_statements(std::string_view text);

}  // namespace stator::cli
