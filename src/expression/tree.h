// SPDX-License-Identifier: Apache-2.0
// The tree of an expression. The parser makes it, the binder completes it, evaluation reads it.
//
// Depth is bounded by kNestingMax, so recursion over a tree is safe.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "stator/value.h"

namespace stator::expression {

inline constexpr int kNestingMax = 200;  // of parentheses, NOT and function arguments
inline constexpr std::size_t kPathStepsMax = 32;

// A name as written ("a", "#n"); after binding the attribute's name.
struct PathName {
  std::string text;
  bool operator==(const PathName&) const = default;
};
using PathStep = std::variant<PathName, uint32_t>;  // an attribute, or an element of a list
using Path = std::vector<PathStep>;                 // begins with a name

enum class OperandKind { kPath, kValue, kSize, kIfNotExists, kListAppend, kPlus, kMinus };

struct Operand {
  OperandKind kind = OperandKind::kPath;
  Path path;                      // kPath
  std::string token;              // kValue: ":v"
  AttributeValue value;           // kValue, bound
  std::string encoded;            // kValue, bound: the value in binary form
  std::vector<Operand> operands;  // of functions and arithmetic
};

enum class Comparator { kEqual, kNotEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

enum class ConditionKind {
  kAnd,  // two or more children
  kOr,   // two or more children
  kNot,  // one child
  kCompare,
  kBetween,  // operand, lower, upper
  kIn,       // operand, then candidates
  kAttributeExists,
  kAttributeNotExists,
  kAttributeType,
  kBeginsWith,
  kContains,
};

struct ConditionNode {
  ConditionKind kind = ConditionKind::kCompare;
  Comparator comparator = Comparator::kEqual;
  std::vector<ConditionNode> children;
  std::vector<Operand> operands;
};

struct UpdateAction {
  std::size_t position = 0;  // among the expression's tokens
  Path path;
  Operand operand;  // of SET, ADD and DELETE
};

struct UpdateTree {
  std::vector<UpdateAction> sets;
  std::vector<UpdateAction> removes;
  std::vector<UpdateAction> adds;
  std::vector<UpdateAction> deletes;
};

using ProjectionTree = std::vector<Path>;

// A value that a projection returns under a separate name, at the top level of the item.
struct ProjectionColumn {
  Path path;
  std::string name;
};

// "=", "<>", …
const char* comparator_text(Comparator comparator);
// "attribute_exists", …, "BETWEEN", "IN", "AND", "OR", "NOT"; empty for kCompare.
const char* condition_name(ConditionKind kind);
// "size", "if_not_exists", "list_append", "+", "-"; empty for paths and values.
const char* operand_name(OperandKind kind);

}  // namespace stator::expression
