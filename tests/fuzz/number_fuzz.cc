// SPDX-License-Identifier: Apache-2.0
// Two texts as numbers: canonical text reads back, key bytes order as the numbers do, sums undo.
#include <cstdlib>

#include "stator/value.h"
#include "value/key.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = text.find(' ');
  const auto a = stator::Number::parse(text.substr(0, cut));
  if (!a) return 0;
  require(*stator::Number::parse(a->to_string()) == *a);
  require(stator::number_from_key(stator::number_key(*a)) == *a);
  const auto b = stator::Number::parse(cut == std::string_view::npos ? "1" : text.substr(cut + 1));
  if (!b) return 0;
  require((stator::number_key(*a) < stator::number_key(*b)) == (*a < *b));
  if (const auto sum = a->plus(*b)) {
    const auto back = sum->minus(*b);
    require(!back || *back == *a);
  }
  return 0;
}
