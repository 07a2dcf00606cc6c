// SPDX-License-Identifier: Apache-2.0
#include "cli/suggestion.h"

#include <algorithm>

namespace stator::cli {
namespace {

// Optimal string alignment.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> edits(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        edits[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = a[i - 1] == b[j - 1] ? 0 : 1;
      edits[i][j] =
          std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
    }
  }
  return edits[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view typed, const std::vector<std::string>& words) {
  constexpr std::size_t kTypedMax = 64;
  if (typed.size() > kTypedMax) return "";
  std::string best;
  std::size_t best_distance = typed.size() / 3 + 1;
  for (const std::string& word : words) {
    const std::size_t edits = distance(typed, word);
    if (edits >= best_distance) continue;
    best = word;
    best_distance = edits;
  }
  return best;
}

}  // namespace stator::cli
