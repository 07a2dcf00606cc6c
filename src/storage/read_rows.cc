// SPDX-License-Identifier: Apache-2.0
#include "storage/read_rows.h"

namespace stator {

Result<void> read_rows(ReadView& view, const ReadRequest& request, ReadVisitor visit) {
  bool more = true;
  STATOR_RETURN_IF_ERROR(view.get_many(
      request.keys, [&](std::size_t part, std::string_view key, std::string_view value) {
        return more = visit(part, key, value);
      }));
  if (!more) return {};
  std::size_t part = request.keys.size();
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
