// SPDX-License-Identifier: Apache-2.0
// Rules that the validation of several operations shares.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/model/constraints.h"
#include "api/model/layer.h"
#include "stator/requests.h"

namespace stator {

Failure invalid(std::string_view text);  // "One or more parameter values were invalid: " before it

Result<void> check_stream(const StreamSpecification& stream);

// The model's constraints.
template <class T>
Result<void> check_constraints(const T& request) {
  Constraints constraints;
  add_constraints(request, constraints);
  return constraints.result();
}

// A member that must not be empty, where the constraints of the rest are looked at elsewhere.
Result<void> check_not_empty(bool empty, std::string_view path, std::string_view value);

// Placeholders without an expression that could use them. `absent` names the expressions that are
// not there: "FilterExpression is null"; empty where one of them is.
Result<void> check_placeholders(bool has_expression, const std::optional<Names>& names,
                                const std::optional<Values>& values = {},
                                std::string_view absent = {}, Layer layer = Layer::kOlder);
// Writes of one item do not say which expressions are absent.
std::string values_without_expression(Layer layer, std::string_view absent);

}  // namespace stator
