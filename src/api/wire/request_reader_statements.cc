// SPDX-License-Identifier: Apache-2.0
#include "api/wire/request_reader.h"

namespace stator::wire {
namespace {

void set_batch_parameters(Reader& reader, Json json, BatchStatement& out) {
  out.parameters_fault = reader.fault_of(
      [&] { set_attribute_values<&BatchStatement::parameters>(reader, json, out); });
}

constexpr Member<ExecuteStatementRequest> kExecuteStatement[] = {
    {"Statement", set_text<&ExecuteStatementRequest::statement>, true},
    {"Parameters", set_attribute_values<&ExecuteStatementRequest::parameters>},
    {"ConsistentRead", set_boolean<&ExecuteStatementRequest::consistent_read>},
    {"NextToken", set_text<&ExecuteStatementRequest::next_token>},
    {"Limit", set_integer<&ExecuteStatementRequest::limit>},
    {"ReturnValuesOnConditionCheckFailure",
     set_enum<&ExecuteStatementRequest::on_condition_failure>},
    {"ReturnConsumedCapacity", set_enum<&ExecuteStatementRequest::return_capacity>},
};

constexpr Member<BatchStatement> kBatchStatement[] = {
    {"Statement", set_text<&BatchStatement::statement>, true},
    {"Parameters", set_batch_parameters},
    {"ConsistentRead", set_boolean<&BatchStatement::consistent_read>},
    {"ReturnValuesOnConditionCheckFailure", set_enum<&BatchStatement::on_condition_failure>},
};

constexpr Member<BatchExecuteStatementRequest> kBatchExecuteStatement[] = {
    {"Statements", set_list<&BatchExecuteStatementRequest::statements, kBatchStatement>, true},
    {"ReturnConsumedCapacity", set_enum<&BatchExecuteStatementRequest::return_capacity>},
};

constexpr Member<ParameterizedStatement> kParameterizedStatement[] = {
    {"Statement", set_text<&ParameterizedStatement::statement>, true},
    {"Parameters", set_attribute_values<&ParameterizedStatement::parameters>},
    {"ReturnValuesOnConditionCheckFailure",
     set_enum<&ParameterizedStatement::on_condition_failure>},
};

constexpr Member<ExecuteTransactionRequest> kExecuteTransaction[] = {
    {"ClientRequestToken", set_text<&ExecuteTransactionRequest::client_request_token>},
    {"ReturnConsumedCapacity", set_enum<&ExecuteTransactionRequest::return_capacity>},
    {"TransactStatements",
     set_list<&ExecuteTransactionRequest::statements, kParameterizedStatement>, true},
};

}  // namespace

template <>
Result<ExecuteStatementRequest> read_request(std::string_view json) {
  return read_document(json, kExecuteStatement);
}

template <>
Result<BatchExecuteStatementRequest> read_request(std::string_view json) {
  return read_document(json, kBatchExecuteStatement);
}

template <>
Result<ExecuteTransactionRequest> read_request(std::string_view json) {
  return read_document(json, kExecuteTransaction);
}

}  // namespace stator::wire
