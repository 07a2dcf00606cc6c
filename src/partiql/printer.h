// SPDX-License-Identifier: Apache-2.0
// Prints trees as text that parses to the same tree, for tests.
#pragma once

#include <string>

#include "partiql/tree.h"

namespace stator::partiql {

std::string print(const Term& term);
std::string print(const Statement& statement);

}  // namespace stator::partiql
