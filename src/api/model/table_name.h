// SPDX-License-Identifier: Apache-2.0
// Requests name a table by its name or by its ARN.
#pragma once

#include <cstddef>
#include <string_view>

namespace stator {

// The text after ":table/" in an ARN; any other text is returned unchanged. In the ARN of an index
// or a stream, the table's name ends at the next '/'.
constexpr std::string_view table_name_in(std::string_view name_or_arn) {
  constexpr std::string_view kBeforeName = ":table/";
  const std::size_t at =
      name_or_arn.starts_with("arn:") ? name_or_arn.find(kBeforeName) : name_or_arn.npos;
  return at == name_or_arn.npos ? name_or_arn : name_or_arn.substr(at + kBeforeName.size());
}

}  // namespace stator
