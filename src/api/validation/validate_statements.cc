// SPDX-License-Identifier: Apache-2.0
// Validates requests in PartiQL. The model does not describe the statements' text.
#include "api/validation/attribute_check.h"
#include "api/validation/validate.h"
#include "api/validation/validate_rules.h"
#include "fmt/format.h"

namespace stator {
namespace {

constexpr std::size_t kStatementCharactersMax = 8192;
constexpr std::size_t kNextTokenCharactersMax = 32768;
constexpr std::size_t kBatchStatementsMax = 25;
constexpr std::size_t kTransactStatementsMax = 100;
constexpr std::size_t kStatementTokenCharactersMax = 36;
constexpr std::size_t kParametersMax = kStatementCharactersMax;

template <class T>
void add_statement(const T& statement, const std::string& path, Constraints& constraints) {
  constraints.length(statement.statement, path + "statement", 1, kStatementCharactersMax);
  if (statement.parameters) {
    constraints.count(statement.parameters->size(), path + "parameters", 1, kParametersMax,
                      statement.parameters->empty() ? "[]" : "[...]");
  }
}

template <class T>
void add_statements(const std::vector<T>& statements, std::string_view name, std::size_t count_max,
                    Constraints& constraints) {
  constraints.count(statements.size(), name, 1, count_max, statements.empty() ? "[]" : "[...]");
  std::size_t place = 0;
  for (const T& statement : statements) {
    add_statement(statement, fmt::format("{}.{}.member.", name, ++place), constraints);
  }
}

}  // namespace

void add_constraints(const ExecuteStatementRequest& request, Constraints& constraints) {
  add_statement(request, "", constraints);
  if (request.next_token) {
    constraints.length(*request.next_token, "nextToken", 1, kNextTokenCharactersMax);
  }
  if (request.limit) {
    constraints.range(*request.limit, "limit", 1, std::numeric_limits<int64_t>::max());
  }
}

void add_constraints(const BatchExecuteStatementRequest& request, Constraints& constraints) {
  add_statements(request.statements, "statements", kBatchStatementsMax, constraints);
}

void add_constraints(const ExecuteTransactionRequest& request, Constraints& constraints) {
  add_statements(request.statements, "transactStatements", kTransactStatementsMax, constraints);
  if (request.client_request_token) {
    constraints.length(*request.client_request_token, "clientRequestToken", 1,
                       kStatementTokenCharactersMax);
  }
}

Result<void> validate(const ExecuteStatementRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  return check_text(request.statement);
}

Result<void> validate(const BatchExecuteStatementRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  for (const BatchStatement& statement : request.statements) {
    STATOR_RETURN_IF_ERROR(check_text(statement.statement));
  }
  return {};
}

Result<void> validate(const ExecuteTransactionRequest& request) {
  STATOR_RETURN_IF_ERROR(check_constraints(request));
  for (const ParameterizedStatement& statement : request.statements) {
    STATOR_RETURN_IF_ERROR(check_text(statement.statement));
  }
  return {};
}

}  // namespace stator
