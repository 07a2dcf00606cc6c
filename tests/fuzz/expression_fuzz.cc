// SPDX-License-Identifier: Apache-2.0
// Any text as every kind of expression: no crash, and what parses prints to what parses again.
#include <cstdlib>

#include "expression/parser.h"
#include "expression/printer.h"

namespace {

template <class Parse>
void check(std::string_view text, Parse parse) {
  const auto tree = parse(text, stator::ExpressionLimits::kLifted);
  if (!tree) return;
  const std::string printed = stator::expression::print(*tree);
  const auto again = parse(printed, stator::ExpressionLimits::kLifted);
  if (!again || stator::expression::print(*again) != printed) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check(text, stator::expression::parse_condition);
  check(text, stator::expression::parse_update);
  check(text, stator::expression::parse_projection);
  return 0;
}
