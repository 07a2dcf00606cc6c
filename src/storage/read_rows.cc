// SPDX-License-Identifier: Apache-2.0
#include "storage/read_rows.h"

namespace stator {

Result<void> read_rows(ReadView& view, const ReadRequest& request, ReadVisitor visit) {
  bool more = true;
  std::size_t part = 0;
  for (const std::string& key : request.keys) {
    STATOR_RETURN_IF_ERROR(
        view.get(key, [&](std::string_view value) { more = visit(part, key, value); }));
    if (!more) return {};
    ++part;
  }
  for (const RangeRead& range : request.ranges) {
    STATOR_RETURN_IF_ERROR(view.scan(range, [&](std::string_view key, std::string_view value) {
      return more = visit(part, key, value);
    }));
    if (!more) return {};
    ++part;
  }
  return {};
}

}  // namespace stator
