// SPDX-License-Identifier: Apache-2.0
// Suggests a word for a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stator::cli {

// The word with the smallest edit distance from `typed` (insertions, deletions, replacements,
// swaps), the first of several. Empty if the distance is more than a third of the length of
// `typed`.
std::string nearest(std::string_view typed, const std::vector<std::string>& words);

}  // namespace stator::cli
