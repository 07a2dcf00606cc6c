// SPDX-License-Identifier: Apache-2.0
// Constraints: violations of the API model, gathered so that one message names all of them, as
// "2 validation errors detected: Value 'x' at 'keySchema.1.member.keyType' failed to satisfy …".
// What is wrong with the request's own table name is reported alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "stator/requests.h"
#include "stator/statements.h"
#include "stator/streams.h"

namespace stator {

class Constraints {
 public:
  // `value` is printed in quotes; `path` is the service's, e.g. "keySchema.1.member.keyType".
  void violated(std::string_view value, std::string_view path, std::string_view constraint);
  void missing(std::string_view path);  // Value null at …: must not be null

  void length(std::string_view value, std::string_view path, std::size_t least, std::size_t most);
  void range(int64_t value, std::string_view path, int64_t least, int64_t most);
  // A list's or a map's size; `value` stands for its content.
  void count(std::size_t count, std::string_view path, std::size_t least, std::size_t most,
             std::string_view value = "[]");
  // As violated, by the layer that quotes no values and writes members as the request does.
  void violated_unquoted(std::string_view path, std::string_view constraint);
  // A table's or an index's name: 3 to 255 of the characters a-z, A-Z, 0-9, '_', '-', '.'.
  void resource_name(std::string_view value, std::string_view path, std::size_t least = 3);

  // A table's name or ARN where its items are read or written. No table has a name of one or two
  // characters, but none is refused here for that.
  void table_name(std::string_view value, std::string_view path);

  // 'tableName' itself, of an operation on items and of one on tables. Empty: it was not given,
  // unless it was already found to be too short.
  void used_table(std::string_view value);
  void managed_table(std::string_view value);

  bool empty() const { return !table_required_ && own_table_.count == 0 && rest_.count == 0; }
  Result<void> result() const;

 private:
  struct Violations {
    std::size_t count = 0;
    std::string text;
  };

  // Where a violation at `path` is told; null where enough are.
  Violations* violations_at(std::string_view path);

  bool table_required_ = false;
  Violations own_table_;
  Violations rest_;
};

// What the model demands of a request, over and above the types of its members.
void add_constraints(const CreateTableRequest& request, Constraints& constraints);
void add_constraints(const DescribeTableRequest& request, Constraints& constraints);
void add_constraints(const ListTablesRequest& request, Constraints& constraints);
void add_constraints(const DeleteTableRequest& request, Constraints& constraints);
void add_constraints(const UpdateTableRequest& request, Constraints& constraints);
void add_constraints(const UpdateTimeToLiveRequest& request, Constraints& constraints);
void add_constraints(const DescribeTimeToLiveRequest& request, Constraints& constraints);
void add_constraints(const PutItemRequest& request, Constraints& constraints);
void add_constraints(const GetItemRequest& request, Constraints& constraints);
void add_constraints(const UpdateItemRequest& request, Constraints& constraints);
void add_constraints(const DeleteItemRequest& request, Constraints& constraints);
void add_constraints(const QueryRequest& request, Constraints& constraints);
void add_constraints(const ScanRequest& request, Constraints& constraints);
void add_constraints(const BatchGetItemRequest& request, Constraints& constraints);
void add_constraints(const BatchWriteItemRequest& request, Constraints& constraints);
void add_constraints(const TransactWriteItemsRequest& request, Constraints& constraints);
void add_constraints(const TransactGetItemsRequest& request, Constraints& constraints);
void add_constraints(const ExecuteStatementRequest& request, Constraints& constraints);
void add_constraints(const BatchExecuteStatementRequest& request, Constraints& constraints);
void add_constraints(const ExecuteTransactionRequest& request, Constraints& constraints);
void add_constraints(const ListStreamsRequest& request, Constraints& constraints);
void add_constraints(const DescribeStreamRequest& request, Constraints& constraints);
void add_constraints(const GetShardIteratorRequest& request, Constraints& constraints);
void add_constraints(const GetRecordsRequest& request, Constraints& constraints);

}  // namespace stator
