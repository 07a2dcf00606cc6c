// SPDX-License-Identifier: Apache-2.0
// Requests in PartiQL, DynamoDB's dialect of SQL.
//
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.html
// Parameters replace the question marks of their statement, in order.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stator/requests.h"

namespace stator {

struct ExecuteStatementRequest {
  std::string statement;  // 1 to 8,192 characters
  std::optional<std::vector<AttributeValue>> parameters = {};
  bool consistent_read = false;
  std::optional<std::string> next_token = {};  // of the previous page of the same statement
  std::optional<int64_t> limit = {};           // items examined, 1 or more
  ReturnValuesOnConditionCheckFailure on_condition_failure =
      ReturnValuesOnConditionCheckFailure::kNone;
  ReturnConsumedCapacity return_capacity = ReturnConsumedCapacity::kNone;
};

struct BatchStatement {
  std::string statement;
  std::optional<std::vector<AttributeValue>> parameters = {};
  bool consistent_read = false;
  ReturnValuesOnConditionCheckFailure on_condition_failure =
      ReturnValuesOnConditionCheckFailure::kNone;
  // Set if parameters that were read as JSON are invalid; then only this statement fails.
  std::string parameters_fault = {};
};

struct BatchExecuteStatementRequest {  // 1 to 25, all reads or all writes
  std::vector<BatchStatement> statements;
  ReturnConsumedCapacity return_capacity = ReturnConsumedCapacity::kNone;
};

struct ParameterizedStatement {
  std::string statement;
  std::optional<std::vector<AttributeValue>> parameters = {};
  ReturnValuesOnConditionCheckFailure on_condition_failure =
      ReturnValuesOnConditionCheckFailure::kNone;
};

struct ExecuteTransactionRequest {  // 1 to 100, all reads or all writes; EXISTS(..) is a write
  std::vector<ParameterizedStatement> statements;
  std::optional<std::string> client_request_token = {};  // 1 to 36 characters
  ReturnConsumedCapacity return_capacity = ReturnConsumedCapacity::kNone;
};

// The error of one statement in a batch.
struct StatementError {
  std::string code;  // "ConditionalCheckFailed", "DuplicateItem", "ResourceNotFound",
                     // "ValidationError", …
  std::string message;
  std::optional<Item> item = {};  // of a failed condition, if requested
};

struct BatchStatementResult {
  std::optional<StatementError> error = {};
  std::string table = {};  // empty if the statement failed before its table was known
  std::optional<Item> item = {};
};

}  // namespace stator
