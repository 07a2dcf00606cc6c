// SPDX-License-Identifier: Apache-2.0
// Constraints: collects violations of the API model into one message, such as
// "2 validation errors detected: Value 'x' at 'keySchema.1.member.keyType' failed to satisfy …".
// If the request's own table name is invalid, only that is reported. Exception: if the request also
// lacks its item or key, the older of DynamoDB's two layers (docs/COMPATIBILITY.md) responds, and
// all violations are joined.
// A member that is absent is reported once, as `Value null`: violations by the default value that
// stands for it, and by its own members, are ignored. So are repeated violations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stator/requests.h"
#include "stator/statements.h"
#include "stator/streams.h"

namespace stator {

class Constraints {
 public:
  // `value` is printed in quotes; `path` is in DynamoDB's form, "keySchema.1.member.keyType".
  // `current` is the message of DynamoDB's current layer, if it differs.
  void violated(std::string_view value, std::string_view path, std::string_view constraint,
                std::string_view current = {});
  // "Value null at …: must not be null", unless the member already violates something.
  void missing(std::string_view path);

  // Violated unless `value` has `least` to `most` Unicode code points; the bounds are included,
  // also below.
  void length(std::string_view value, std::string_view path, std::size_t least, std::size_t most);
  void range(int64_t value, std::string_view path, int64_t least, int64_t most);
  // The size of a list or a map, which is printed as `value`.
  void count(std::size_t count, std::string_view path, std::size_t least, std::size_t most,
             std::string_view value = "[]");
  // Like violated(), without the value and with the member's name as in the request ("TableName").
  void violated_unquoted(std::string_view path, std::string_view constraint);
  // The name of a table or an index: 3 to 255 characters of a-z, A-Z, 0-9, '_', '-', '.'. An empty
  // one violates the pattern too, after the length.
  void resource_name(std::string_view value, std::string_view path, std::size_t least = 3);

  // A table's name or ARN in an operation on items. Names of one or two characters are not rejected
  // here, although no table has one.
  void table_name(std::string_view value, std::string_view path);

  // The member 'tableName' of an operation on items (PutItem, Query), and of one on tables
  // (DescribeTable). Empty: missing, unless it was already found to be too short.
  void item_operation_table(std::string_view value);
  void table_operation_table(std::string_view value);

  // Makes result() return only `message`, unless the table's name is invalid.
  void report_alone(std::string message);
  // Sorts the violations by their members, in the order of `members` (names of the model).
  void sort_by(std::span<const std::string_view> members);

  bool empty() const { return !table_required_ && own_table_.empty() && rest_.empty(); }
  Result<void> result() const;

 private:
  struct Violation {
    std::string path;
    std::string text;
    std::string current;  // empty: as `text`
    bool missing = false;
  };
  using Violations = std::vector<Violation>;

  // Ignores violations beyond the maximum number, and those that earlier ones include.
  void add(std::string_view path, std::string text, std::string_view current = {},
           bool missing = false);

  bool table_required_ = false;
  bool lacks_subject_ = false;  // no 'item' or 'key'
  std::optional<std::string> alone_;
  Violations own_table_;
  Violations rest_;
};

// "1 validation error detected: …", DynamoDB's prefix for errors in a write of one item.
std::string counted(std::string_view message);

// Adds violations of the model's constraints, other than types of members.
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
void add_constraints(const SearchVectorsRequest& request, Constraints& constraints);
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
