// SPDX-License-Identifier: Apache-2.0
#include "engine/items/request_expressions.h"

#include <fmt/format.h>

#include "api/model/messages.h"
#include "api/validation/attribute_check.h"
#include "engine/items/key_checks.h"

namespace stator {

Result<Placeholders> checked_placeholders(const std::optional<Names>& names,
                                          const std::optional<Values>& values, Layer layer) {
  Placeholders placeholders(names ? &*names : nullptr, values ? &*values : nullptr);
  STATOR_RETURN_IF_ERROR(placeholders.validate());
  if (!values) return placeholders;
  for (const auto& [key, value] : *values) {
    if (auto checked = check_value(value, layer); !checked) {
      if (layer != Layer::kOlder) return failure_of(std::move(checked));
      return fail(Code::kValidation,
                  fmt::format(messages::kInvalidExpressionValue, checked.error().message, key));
    }
  }
  return placeholders;
}

Result<std::optional<ProjectionExpression>> parse_projection(
    const Table* table, const std::optional<std::string>& projection,
    const std::optional<Names>& names, bool legacy, Layer layer) {
  std::optional<ProjectionExpression> parsed;
  if (!projection) return parsed;
  STATOR_ASSIGN_OR_RETURN(Placeholders placeholders, checked_placeholders(names, {}, layer));
  STATOR_ASSIGN_OR_RETURN(
      parsed, ProjectionExpression::parse(*projection, placeholders, limits_of(legacy, layer)));
  STATOR_RETURN_IF_ERROR(placeholders.check_all_used());
  if (table != nullptr)
    STATOR_RETURN_IF_ERROR(check_keys_unopened(*table, parsed->opened_attributes()));
  return parsed;
}

}  // namespace stator
