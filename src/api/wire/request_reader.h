// SPDX-License-Identifier: Apache-2.0
// Shared parts of the readers of requests.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "api/json/json_reader.h"
#include "api/model/constraints.h"
#include "api/validation/validate.h"
#include "api/wire/wire.h"

namespace stator::wire {

// {"#n": "name"}
template <auto member, class T>
void set_names(Reader& reader, Json json, T& out) {
  out.*member = reader.names(json);
}

// Reads T by `table`, which describes T or a draft derived from it. Then `complete` converts the
// draft's additional members into members of T. Violations are reported in the order of the table.
template <class T, class Draft, std::size_t N, class F>
Result<T> read_document(std::string_view json, const Member<Draft> (&table)[N], F complete) {
  STATOR_ASSIGN_OR_RETURN(const Document document, Document::parse(json));
  Draft draft;
  Reader reader(kLayerOf<T>);
  reader.members(document.root(), table, draft);
  if (!reader.failed()) complete(reader, draft);
  if (!reader.sound()) {
    const T& request = draft;
    if (!reader.failed()) add_constraints(request, reader.constraints());
    // Placeholders made from legacy parameters do not count as the request's own.
    constexpr bool kHasLegacy = requires { request.legacy; };
    bool legacy = false;
    if constexpr (kHasLegacy) legacy = request.legacy;
    std::array<std::string_view, N> order;
    std::ranges::transform(table, order.begin(), &Member<Draft>::name);
    reader.constraints().sort_by(order);
    if (reader.tells_value() && !legacy) STATOR_RETURN_IF_ERROR(check_parameters(request));
    STATOR_RETURN_IF_ERROR(reader.result());
  }
  return T(std::move(draft));
}

template <class T, std::size_t N>
Result<T> read_document(std::string_view json, const Member<T> (&table)[N]) {
  return read_document<T>(json, table, [](Reader&, T&) {});
}

}  // namespace stator::wire
