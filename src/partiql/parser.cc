// SPDX-License-Identifier: Apache-2.0
#include "partiql/parser.h"

#include <fmt/format.h>

#include "partiql/messages.h"
#include "partiql/term_parser.h"

namespace stator::partiql {
namespace {

constexpr std::string_view kExpectedReturning =
    "Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element.";
constexpr std::string_view kStarAlone =
    "Other expressions may not be present in the select list when '*' is used without dot "
    "notation.";

Failure ill_formed(std::string text) {
  return fail(Code::kValidation, std::move(text));
}

class Parser : private TermParser {
 public:
  using TermParser::TermParser;

  Result<Statement> run() {
    STATOR_ASSIGN_OR_RETURN(Statement statement, parse_statement());
    take_symbol(";");
    if (!is_end()) return not_well_formed(message::kLeftover);
    statement.parameters = parameters();
    return statement;
  }

 private:
  Result<Statement> parse_statement() {
    if (take_keyword("select")) return parse_select();
    if (take_keyword("insert")) return parse_insert();
    if (take_keyword("update")) return parse_update();
    if (take_keyword("delete")) return parse_delete();
    if (take_keyword("from")) return parse_from_first();
    if (take_keyword("exists")) return parse_exists();
    if (is_keyword("create") || is_keyword("drop")) {
      const std::string verb = take().text == "create" ? "Create" : "Drop";
      const std::string what = is_keyword("index") ? "Index" : "Table";
      return ill_formed(fmt::format(message::kUnsupportedOperation, verb + what));
    }
    if (is_keyword("exec")) return ill_formed(fmt::format(message::kUnsupportedOperation, "Exec"));
    STATOR_ASSIGN_OR_RETURN(const Term term, parse_expression());
    take_symbol(";");
    if (!is_end()) return not_well_formed(message::kLeftover);
    return ill_formed(fmt::format(message::kUnsupportedOperation, operation_of(term)));
  }

  static std::string_view operation_of(const Term& term) {
    switch (term.kind) {
      case TermKind::kPath:
        return term.path.size() == 1 ? "VariableReference" : "Path";
      case TermKind::kIs:
        return "IsType";
      case TermKind::kParameter:
        return "Parameter";
      case TermKind::kList:
      case TermKind::kBag:
        return "Seq";
      case TermKind::kStruct:
        return "Struct";
      case TermKind::kCall:
      case TermKind::kOperator:
      case TermKind::kBetween:
      case TermKind::kIn:
        return "NAry";
      default:
        return "Literal";
    }
  }

  Failure from_in_expression() override {
    take();
    auto statement = parse_from_first();
    if (!statement) return failure_of(std::move(statement));
    return not_well_formed(message::kUnexpectedKeyword);
  }

  // ---- Clauses

  // "table", "table"."index"
  Result<std::vector<std::string>> parse_source() {
    std::vector<std::string> parts;
    do {
      if (!is_name()) return not_well_formed(message::kPathDot);
      if (head().text.empty()) return ill_formed(message::kEmptyPathPart);
      parts.push_back(take().text);
    } while (take_symbol("."));
    return parts;
  }

  Result<std::vector<std::string>> parse_written_source() {
    if (!is_name()) return not_well_formed(message::kExpectedPath);
    return parse_source();
  }

  Result<void> refuse_alias() {
    if (is_name() || is_keyword("as")) return ill_formed(message::kAliasing);
    return {};
  }

  Result<void> parse_where(Statement& statement) {
    if (!take_keyword("where")) return {};
    STATOR_ASSIGN_OR_RETURN(statement.where, parse_expression());
    return {};
  }

  // SET path = value, path = value … REMOVE path …
  Result<void> parse_assignments(Statement& statement) {
    while (is_keyword("set") || is_keyword("remove")) {
      const bool sets = take().text == "set";
      do {
        if (!is_name()) return not_well_formed(message::kExpectedPath);
        Assignment assignment;
        STATOR_ASSIGN_OR_RETURN(assignment.target, parse_path());
        if (sets) {
          if (head().kind != TokenKind::kOperator || head().text != "=") {
            return not_well_formed("Expected '=' for assignment");
          }
          take();
          STATOR_ASSIGN_OR_RETURN(assignment.value, parse_expression());
        }
        statement.assignments.push_back(std::move(assignment));
      } while (sets && take_symbol(","));
    }
    if (statement.assignments.empty()) return not_well_formed(message::kExpectedManipulation);
    return {};
  }

  Result<void> parse_returning(Statement& statement) {
    if (!take_keyword("returning")) return {};
    Returning returning;
    if (!is_keyword("all") && !is_keyword("modified")) return not_well_formed(kExpectedReturning);
    returning.modified = take().text == "modified";
    if (!is_keyword("new") && !is_keyword("old")) return not_well_formed(kExpectedReturning);
    returning.fresh = take().text == "new";
    if (is_end()) return not_well_formed(message::kUnexpectedTerm);
    if (head().kind != TokenKind::kOperator || head().text != "*") {
      return ill_formed(message::kReturningStar);
    }
    take();
    if (is_symbol(",")) return ill_formed(message::kReturningMany);
    statement.returning = returning;
    return {};
  }

  // ---- SELECT

  Result<void> parse_columns(Statement& statement) {
    if (is_keyword("distinct")) {
      return ill_formed(fmt::format(message::kUnsupportedToken, "DISTINCT"));
    }
    if (is_keyword("value") || is_keyword("pivot")) return ill_formed(message::kSelectValue);
    take_keyword("all");
    if (is_keyword("from")) return not_well_formed("Cannot have empty SELECT list");
    if (is_star()) {
      take();
      return is_symbol(",") ? Result<void>(not_well_formed(kStarAlone)) : Result<void>();
    }
    do {
      if (is_star()) return not_well_formed(kStarAlone);
      auto column = parse_expression();
      if (!column) {
        // a.* would return a map's attributes as attributes of the item.
        const bool unpivot = column.error().message.starts_with("Unpivot path component");
        if (unpivot) return ill_formed(message::kHierarchy);
        return failure_of(std::move(column));
      }
      statement.columns.push_back(std::move(*column));
      STATOR_RETURN_IF_ERROR(refuse_alias());
    } while (take_symbol(","));
    return {};
  }

  bool is_star() const { return head().kind == TokenKind::kOperator && head().text == "*"; }

  Result<void> parse_order(Statement& statement) {
    if (!take_keyword("order")) return {};
    if (!take_keyword("by")) {
      return not_well_formed(fmt::format(message::kExpectedToken, "BY keyword"));
    }
    do {
      OrderTerm order;
      STATOR_ASSIGN_OR_RETURN(order.term, parse_expression());
      order.descending = take_keyword("desc");
      if (!order.descending) take_keyword("asc");
      statement.order.push_back(std::move(order));
    } while (take_symbol(","));
    return {};
  }

  Result<void> refuse_clauses() {
    if (take_keyword("group"))
      return ill_formed(fmt::format(message::kUnsupportedClause, "GROUP BY"));
    for (const auto& [word, name] : {std::pair{"having", "HAVING"}, std::pair{"limit", "LIMIT"}}) {
      if (!take_keyword(word)) continue;
      STATOR_ASSIGN_OR_RETURN(const Term term, parse_expression());
      return ill_formed(fmt::format(message::kUnsupportedClause, name) + " at " +
                        to_string(term.at));
    }
    return {};
  }

  Result<Statement> parse_select() {
    Statement statement{.kind = StatementKind::kSelect};
    STATOR_RETURN_IF_ERROR(parse_columns(statement));
    if (!take_keyword("from")) return not_well_formed("Expected FROM after SELECT list");
    if (!is_name()) {
      STATOR_RETURN_IF_ERROR(parse_expression());
      return ill_formed(message::kFromSource);
    }
    STATOR_ASSIGN_OR_RETURN(statement.source, parse_source());
    STATOR_RETURN_IF_ERROR(refuse_alias());
    if (is_symbol(",")) return ill_formed(message::kOneSource);
    STATOR_RETURN_IF_ERROR(parse_where(statement));
    STATOR_RETURN_IF_ERROR(refuse_clauses());
    STATOR_RETURN_IF_ERROR(parse_order(statement));
    STATOR_RETURN_IF_ERROR(refuse_clauses());
    return statement;
  }

  Result<Statement> parse_exists() {
    STATOR_RETURN_IF_ERROR(expect_symbol("(", "LEFT_PAREN"));
    if (!take_keyword("select")) return not_well_formed("Expected SELECT");
    STATOR_ASSIGN_OR_RETURN(Statement statement, parse_select());
    STATOR_RETURN_IF_ERROR(expect_symbol(")", "RIGHT_PAREN"));
    statement.kind = StatementKind::kExists;
    return statement;
  }

  // ---- Writes

  Result<Statement> parse_insert() {
    Statement statement{.kind = StatementKind::kInsert};
    if (!take_keyword("into")) return not_well_formed(message::kUnexpectedKeyword);
    STATOR_ASSIGN_OR_RETURN(statement.source, parse_written_source());
    if (!take_keyword("value")) {
      STATOR_RETURN_IF_ERROR(parse_expression());
      if (!is_end()) return not_well_formed(message::kLeftover);
      return ill_formed(fmt::format(message::kUnsupportedOperation, "InsertOp"));
    }
    STATOR_ASSIGN_OR_RETURN(statement.item, parse_expression());
    STATOR_RETURN_IF_ERROR(parse_returning(statement));
    if (statement.returning) return ill_formed(message::kReturningInsert);
    return statement;
  }

  Result<Statement> parse_update() {
    Statement statement{.kind = StatementKind::kUpdate};
    STATOR_ASSIGN_OR_RETURN(statement.source, parse_written_source());
    STATOR_RETURN_IF_ERROR(refuse_alias());
    STATOR_RETURN_IF_ERROR(parse_assignments(statement));
    STATOR_RETURN_IF_ERROR(parse_where(statement));
    STATOR_RETURN_IF_ERROR(parse_returning(statement));
    return statement;
  }

  // FROM table WHERE condition SET …: an update with its clauses in another order.
  Result<Statement> parse_from_first() {
    Statement statement{.kind = StatementKind::kUpdate};
    STATOR_ASSIGN_OR_RETURN(statement.source, parse_written_source());
    STATOR_RETURN_IF_ERROR(refuse_alias());
    STATOR_RETURN_IF_ERROR(parse_where(statement));
    STATOR_RETURN_IF_ERROR(parse_assignments(statement));
    STATOR_RETURN_IF_ERROR(parse_returning(statement));
    return statement;
  }

  Result<Statement> parse_delete() {
    Statement statement{.kind = StatementKind::kDelete};
    if (!take_keyword("from")) return not_well_formed("Expected FROM after DELETE");
    STATOR_ASSIGN_OR_RETURN(statement.source, parse_written_source());
    STATOR_RETURN_IF_ERROR(refuse_alias());
    STATOR_RETURN_IF_ERROR(parse_where(statement));
    STATOR_RETURN_IF_ERROR(parse_returning(statement));
    return statement;
  }
};

}  // namespace

Result<Statement> parse(std::string_view text) {
  STATOR_ASSIGN_OR_RETURN(std::vector<Token> tokens, tokenize(text));
  return Parser(std::move(tokens)).run();
}

}  // namespace stator::partiql
