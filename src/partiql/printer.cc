// SPDX-License-Identifier: Apache-2.0
#include "partiql/printer.h"

#include <fmt/format.h>

namespace stator::partiql {
namespace {

std::string quoted(std::string_view text, char quote) {
  std::string result(1, quote);
  for (const char c : text) {
    if (c == quote) result += quote;
    result += c;
  }
  return result + quote;
}

std::string print_path(const expression::Path& path) {
  std::string text;
  for (const expression::PathStep& step : path) {
    if (const auto* name = std::get_if<expression::PathName>(&step)) {
      if (!text.empty()) text += '.';
      text += quoted(name->text, '"');
    } else {
      text += fmt::format("[{}]", std::get<uint32_t>(step));
    }
  }
  return text;
}

std::string join(const std::vector<Term>& terms, std::string_view separator) {
  std::string text;
  for (const Term& term : terms) {
    if (!text.empty()) text += separator;
    text += print(term);
  }
  return text;
}

std::string print_struct(const Term& term) {
  std::string text = "{";
  for (std::size_t i = 0; i + 1 < term.parts.size(); i += 2) {
    if (i > 0) text += ", ";
    text += print(term.parts[i]) + ": " + print(term.parts[i + 1]);
  }
  return text + "}";
}

std::string print_operator(const Term& term) {
  if (term.parts.size() == 1) return "(" + term.text + " " + print(term.parts[0]) + ")";
  return "(" + join(term.parts, " " + term.text + " ") + ")";
}

// Prints the operand of IN without parentheses, which would make it a list.
std::string print_sequence(const Term& term) {
  if (term.kind != TermKind::kOperator) return print(term);
  const std::string sign = term.text + " " + print(term.parts.back());
  return term.parts.size() == 1 ? sign : print_sequence(term.parts[0]) + " " + sign;
}

std::string_view type_word(std::string_view type) {
  if (type == "DOUBLE_PRECISION") return "DOUBLE PRECISION";
  if (type == "CHARACTER_VARYING") return "CHARACTER VARYING";
  if (type.starts_with("INTEGER") && type.size() > 7) {
    return type == "INTEGER2" ? "INT2" : type == "INTEGER4" ? "INT4" : "INT8";
  }
  return type;
}

std::string print_source(const std::vector<std::string>& source) {
  std::string text;
  for (const std::string& part : source) {
    if (!text.empty()) text += '.';
    text += quoted(part, '"');
  }
  return text;
}

std::string print_assignments(const std::vector<Assignment>& assignments) {
  std::string text;
  for (const Assignment& assignment : assignments) {
    text += assignment.value ? " SET " : " REMOVE ";
    text += print(assignment.target);
    if (assignment.value) text += " = " + print(*assignment.value);
  }
  return text;
}

std::string print_select(const Statement& statement) {
  std::string text = "SELECT ";
  text += statement.columns.empty() ? "*" : join(statement.columns, ", ");
  text += " FROM " + print_source(statement.source);
  if (statement.where) text += " WHERE " + print(*statement.where);
  std::string_view separator = " ORDER BY ";
  for (const OrderTerm& order : statement.order) {
    text += separator;
    text += print(order.term);
    if (order.descending) text += " DESC";
    separator = ", ";
  }
  return text;
}

}  // namespace

std::string print(const Term& term) {
  const std::string_view no = term.negated ? "NOT " : "";
  switch (term.kind) {
    case TermKind::kPath:
      return print_path(term.path);
    case TermKind::kString:
      return quoted(term.text, '\'');
    case TermKind::kIon:
      return quoted(term.text, '`');
    case TermKind::kParameter:
      return "?";
    case TermKind::kList:
      return "[" + join(term.parts, ", ") + "]";
    case TermKind::kBag:
      return "<<" + join(term.parts, ", ") + ">>";
    case TermKind::kStruct:
      return print_struct(term);
    case TermKind::kCall:
      return term.text + "(" + join(term.parts, ", ") + ")";
    case TermKind::kOperator:
      return print_operator(term);
    case TermKind::kIs:
      return fmt::format("({} IS {}{})", print(term.parts[0]), no, type_word(term.text));
    case TermKind::kBetween:
      return fmt::format("({} {}BETWEEN {} AND {})", print(term.parts[0]), no, print(term.parts[1]),
                         print(term.parts[2]));
    case TermKind::kIn:
      return fmt::format("({} {}IN {})", print(term.parts[0]), no, print_sequence(term.parts[1]));
    default:
      return term.text;
  }
}

std::string print(const Statement& statement) {
  std::string text;
  switch (statement.kind) {
    case StatementKind::kSelect:
      return print_select(statement);
    case StatementKind::kExists:
      return "EXISTS(" + print_select(statement) + ")";
    case StatementKind::kInsert:
      return "INSERT INTO " + print_source(statement.source) + " VALUE " + print(*statement.item);
    case StatementKind::kUpdate:
      text = "UPDATE " + print_source(statement.source) + print_assignments(statement.assignments);
      break;
    case StatementKind::kDelete:
      text = "DELETE FROM " + print_source(statement.source);
      break;
  }
  if (statement.where) text += " WHERE " + print(*statement.where);
  if (statement.returning) {
    text += statement.returning->modified ? " RETURNING MODIFIED" : " RETURNING ALL";
    text += statement.returning->fresh ? " NEW *" : " OLD *";
  }
  return text;
}

}  // namespace stator::partiql
