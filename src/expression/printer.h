// SPDX-License-Identifier: Apache-2.0
// Prints trees as text that parses to the same tree, for tests and messages.
#pragma once

#include <string>

#include "expression/tree.h"

namespace stator::expression {

std::string print(const ConditionNode& node);
std::string print(const UpdateTree& tree);
std::string print(const ProjectionTree& paths);
std::string print(const Path& path);
std::string print(const Operand& operand);

// The form of paths and values in DynamoDB's messages: "[a, b, [2]]", "{S:text}".
std::string describe(const Path& path);
std::string describe(const AttributeValue& value);

}  // namespace stator::expression
