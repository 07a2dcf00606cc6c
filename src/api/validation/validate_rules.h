// SPDX-License-Identifier: Apache-2.0
// Rules shared by the validation of several operations.
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

// Checks that a member is not empty; its other constraints are checked elsewhere.
Result<void> check_not_empty(bool empty, std::string_view path, std::string_view value);

// Rejects placeholders without an expression. `absent` lists the missing expressions:
// "FilterExpression is null"; empty if at least one is present.
Result<void> check_placeholders(bool has_expression, const std::optional<Names>& names,
                                const std::optional<Values>& values = {},
                                std::string_view absent = {}, Layer layer = Layer::kOlder);
// For writes of one item, the message does not list the missing expressions.
std::string values_without_expression(Layer layer, std::string_view absent);

}  // namespace stator
