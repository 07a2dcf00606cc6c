// SPDX-License-Identifier: Apache-2.0
// Trees back to text that parses to the same tree. For tests.
#pragma once

#include <string>

#include "partiql/tree.h"

namespace stator::partiql {

std::string print(const Term& term);
std::string print(const Statement& statement);

}  // namespace stator::partiql
