// SPDX-License-Identifier: Apache-2.0
// The word that a mistyped one probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stator::cli {

// The word of `words` with the fewest characters to insert, delete, replace or swap; the first of
// several. Empty if that is more than a third of `typed`.
std::string nearest(std::string_view typed, const std::vector<std::string>& words);

}  // namespace stator::cli
