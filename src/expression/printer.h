// SPDX-License-Identifier: Apache-2.0
// Trees back to text: what parses again to the same tree. For tests and for messages.
#pragma once

#include <string>

#include "expression/tree.h"

namespace stator::expression {

std::string print(const ConditionNode& node);
std::string print(const UpdateTree& tree);
std::string print(const ProjectionTree& paths);
std::string print(const Path& path);
std::string print(const Operand& operand);

// As the service names paths and values in messages: "[a, b, [2]]", "{S:text}".
std::string describe(const Path& path);
std::string describe(const AttributeValue& value);

}  // namespace stator::expression
