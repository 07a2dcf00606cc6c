// SPDX-License-Identifier: Apache-2.0
// Checks that the validations of several operations (validate_*.cc) share.
//
// Thread safety: any thread. Errors: kValidation with DynamoDB's message.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/model/constraints.h"
#include "api/model/layer.h"
#include "stator/requests.h"

namespace stator {

// Returns the error "One or more parameter values were invalid: " and `text`.
Failure invalid(std::string_view text);

// Rejects an enabled stream without a view type, and a disabled one with a view type. The texts are
// for invalid().
Result<void> check_stream(const StreamSpecification& stream, std::string_view without_view,
                          std::string_view with_view);

// Checks the constraints of AWS's model of the API, such as lengths, patterns and required members.
template <class T>
Result<void> check_constraints(const T& request) {
  Constraints constraints;
  add_constraints(request, constraints);
  return constraints.result();
}

// Rejects ExpressionAttributeNames and -Values without an expression that could use them, and
// invalid names. `absent` is a part of the message for values: the expressions that are missing,
// such as "FilterExpression is null".
Result<void> check_placeholders(bool has_expression, const std::optional<Names>& names,
                                const std::optional<Values>& values = {},
                                std::string_view absent = {}, Layer layer = Layer::kOlder);
// Returns that message for values. With Layer::kCounted, it does not contain `absent`.
std::string values_without_expression(Layer layer, std::string_view absent);

}  // namespace stator
