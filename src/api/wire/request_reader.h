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

// Reads an object of strings, such as ExpressionAttributeNames, into `out.*member`.
template <auto member, class T>
void set_names(Reader& reader, Json json, T& out) {
  out.*member = reader.names(json);
}

// Parses `json` into a Draft, which is T or derived from T. `table` lists its members. Then
// `complete` converts the draft's own members to members of T; it can report errors through the
// reader, and is not called after values of a wrong JSON type.
// A request without errors is returned before check_parameters(): the caller validates it.
// Otherwise returns one error. It can list several violations, in the order of `table`, with those
// that only add_constraints() detects.
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
    // The reader made the placeholders of legacy parameters: errors in them would mean nothing to
    // the client.
    constexpr bool kHasLegacy = requires { request.legacy; };
    bool legacy = false;
    if constexpr (kHasLegacy) legacy = request.legacy;
    std::array<std::string_view, N> order;
    std::ranges::transform(table, order.begin(), &Member<Draft>::name);
    reader.constraints().sort_by(order);
    if (reader.reports_value() && !legacy) STATOR_RETURN_IF_ERROR(check_parameters(request));
    STATOR_RETURN_IF_ERROR(reader.result());
  }
  return T(std::move(draft));
}

template <class T, std::size_t N>
Result<T> read_document(std::string_view json, const Member<T> (&table)[N]) {
  return read_document<T>(json, table, [](Reader&, T&) {});
}

}  // namespace stator::wire
