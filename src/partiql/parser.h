// SPDX-License-Identifier: Apache-2.0
// Parses a statement's text into its tree; checks only the syntax.
//
// Grammar: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.html
// Errors: kValidation with DynamoDB's message.
#pragma once

#include <string_view>

#include "partiql/tree.h"
#include "stator/result.h"

namespace stator::partiql {

Result<Statement> parse(std::string_view text);

}  // namespace stator::partiql
