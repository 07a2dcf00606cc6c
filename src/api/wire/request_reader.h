// SPDX-License-Identifier: Apache-2.0
// read_document(): reads the JSON of a request. The files request_reader_*.cc define the members of
// the requests, and implement read_request() (wire.h) with it.
//
// Thread safety: any thread.
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

// Reads a request of type T from `json`. `table`: the members of the JSON object, in the order in
// which DynamoDB reports their violations.
//
// A Draft is a T, or a T with the members that T has no place for, such as legacy parameters. After
// all members are read, `complete` translates those into members of T; it reports errors through
// the reader. It is not called if a member has a wrong JSON type.
//
// The caller must validate() the returned request.
// Errors: one, the first in DynamoDB's order: kSerialization for malformed JSON and for wrong JSON
// types; kValidation for all violations of the model in one message, including those that only
// add_constraints() finds; kValidation for parameters; kValidation for an invalid attribute value.
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
    // The translation made the placeholders of a legacy request. The client has not sent them, so
    // errors in them are not reported.
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
