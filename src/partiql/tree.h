// SPDX-License-Identifier: Apache-2.0
// The tree of a PartiQL statement: the parser's result and the planner's input.
//
// Depth is bounded by kDepthMax, so recursion over a tree is safe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "expression/tree.h"
#include "partiql/lexer.h"

namespace stator::partiql {

inline constexpr int kDepthMax = 200;

enum class TermKind {
  kPath,
  kString,
  kNumber,   // text as written, with its sign
  kBoolean,  // text "true" or "false"
  kNull,
  kMissing,
  kIon,
  kParameter,  // index
  kList,       // [..] and (.., ..)
  kBag,        // <<..>>
  kStruct,     // parts: key, value, key, value
  kCall,       // text: the function in lower case
  kOperator,   // text: "and" (2 or more parts), "or", "not", "=", "<>", "+", …; 1 part: unary
  kIs,         // text: the type, "MISSING" among them; negated or not
  kBetween,    // operand, lower, upper; negated or not
  kIn,         // operand, sequence; negated or not
};

struct Term {
  TermKind kind = TermKind::kNull;
  Position at = {};
  std::string text = {};
  expression::Path path = {};  // kPath
  std::size_t index = 0;       // kParameter: from 0
  bool negated = false;
  std::vector<Term> parts = {};
  int depth = 1;
};

struct OrderTerm {
  Term term;
  bool descending = false;
};

struct Assignment {  // SET path = value, or REMOVE path
  Term target;
  std::optional<Term> value;
};

struct Returning {
  bool modified = false;  // MODIFIED, otherwise ALL
  bool fresh = false;     // NEW, otherwise OLD
};

enum class StatementKind { kSelect, kInsert, kUpdate, kDelete, kExists };

struct Statement {
  StatementKind kind = StatementKind::kSelect;
  std::vector<std::string> source;  // the table, then the names after dots
  std::vector<Term> columns;        // SELECT; none: *
  std::optional<Term> where;
  std::vector<OrderTerm> order;
  std::optional<Term> item;  // INSERT
  std::vector<Assignment> assignments;
  std::optional<Returning> returning;
  std::size_t parameters = 0;
};

}  // namespace stator::partiql
