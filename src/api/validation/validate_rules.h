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

// Rejects a stream without a view type, and a view type without a stream, with these messages.
// Errors: kValidation.
Result<void> check_stream(const StreamSpecification& stream, std::string_view without_view,
                          std::string_view with_view);

// Checks the constraints of AWS's model of the API. Errors: kValidation.
template <class T>
Result<void> check_constraints(const T& request) {
  Constraints constraints;
  add_constraints(request, constraints);
  return constraints.result();
}

// Rejects placeholders without an expression. `absent` is the list of missing expressions for the
// message, such as "FilterExpression is null".
Result<void> check_placeholders(bool has_expression, const std::optional<Names>& names,
                                const std::optional<Values>& values = {},
                                std::string_view absent = {}, Layer layer = Layer::kOlder);
// Returns the message about values without an expression. It contains `absent`, except with
// Layer::kCounted.
std::string values_without_expression(Layer layer, std::string_view absent);

}  // namespace stator
