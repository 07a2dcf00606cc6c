// SPDX-License-Identifier: Apache-2.0
// A request's placeholders, checked, and what its expressions are parsed with.
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

// Borrows both. kValidation for keys that are no placeholders and values that no attribute may
// have.
Result<Placeholders> checked_placeholders(const std::optional<Names>& names,
                                          const std::optional<Values>& values, Layer layer);

// kValidation; absent where no projection is given. A null table, which is one that was not found,
// leaves the keys unchecked.
Result<std::optional<ProjectionExpression>> parse_projection(
    const Table* table, const std::optional<std::string>& projection,
    const std::optional<Names>& names, bool legacy, Layer layer);

}  // namespace stator
