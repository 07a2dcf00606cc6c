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

// kValidation: `text` after "One or more parameter values were invalid: ".
Failure invalid(std::string_view text);

Result<void> check_stream(const StreamSpecification& stream);

// Checks the constraints of AWS's model of the API. Errors: kValidation.
template <class T>
Result<void> check_constraints(const T& request) {
  Constraints constraints;
  add_constraints(request, constraints);
  return constraints.result();
}

// Fails with kValidation if `empty`. `path` and `value`, such as "[]", are for the message. The
// member's other constraints are checked elsewhere.
Result<void> check_not_empty(bool empty, std::string_view path, std::string_view value);

// Rejects placeholders without an expression. `absent` is the list of missing expressions for the
// message, such as "FilterExpression is null".
Result<void> check_placeholders(bool has_expression, const std::optional<Names>& names,
                                const std::optional<Values>& values = {},
                                std::string_view absent = {}, Layer layer = Layer::kOlder);
// Returns the message about values without an expression. It does not list the missing ones with
// Layer::kCounted.
std::string values_without_expression(Layer layer, std::string_view absent);

}  // namespace stator
