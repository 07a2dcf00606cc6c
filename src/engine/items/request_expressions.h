// SPDX-License-Identifier: Apache-2.0
// Checks a request's placeholders, and parses its expressions.
#pragma once

#include <optional>
#include <string>

#include "api/model/layer.h"
#include "engine/catalog/table.h"
#include "expression/expression.h"

namespace stator {

inline ExpressionLimits limits_of(bool legacy, Layer layer) {
  if (legacy) return ExpressionLimits::kLifted;
  return layer == Layer::kOlder ? ExpressionLimits::kEnforcedWithSize : ExpressionLimits::kEnforced;
}

// Borrows both arguments. Errors: kValidation for invalid placeholders and invalid attribute
// values.
Result<Placeholders> checked_placeholders(const std::optional<Names>& names,
                                          const std::optional<Values>& values, Layer layer);

// Absent if there is no projection. If the table does not exist, pass null: then the keys are not
// checked. Errors: kValidation.
Result<std::optional<ProjectionExpression>> parse_projection(
    const Table* table, const std::optional<std::string>& projection,
    const std::optional<Names>& names, bool legacy, Layer layer);

}  // namespace stator
