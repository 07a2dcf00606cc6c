// SPDX-License-Identifier: Apache-2.0
// Constraints: violations of the API model, gathered so that one message names all of them, as
// "2 validation errors detected: Value 'x' at 'keySchema.1.member.keyType' failed to satisfy …".
// A violation by the request's own table name is reported alone, unless the request lacks the item
// or the key that it is about: that is found by an older layer of the service, which joins all.
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
  // `value` is printed in quotes; `path` is the service's, e.g. "keySchema.1.member.keyType".
  // `current` is the text of the service's current layer, if that differs.
  void violated(std::string_view value, std::string_view path, std::string_view constraint,
                std::string_view current = {});
  void missing(std::string_view path);  // Value null at …: must not be null

  // In characters, that is, in Unicode's code points.
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

  // A whole message that replaces those of all other members, other than the table's name.
  void report_alone(std::string message);
  // Sorts the violations by the members that they are about: names as the model has them.
  void sort_by(std::span<const std::string_view> members);

  bool empty() const { return !table_required_ && own_table_.empty() && rest_.empty(); }
  Result<void> result() const;

 private:
  struct Violation {
    std::string path;
    std::string text;
    std::string current;  // empty: as `text`
  };
  using Violations = std::vector<Violation>;

  // Adds nothing once enough are known.
  void add(std::string_view path, std::string text, std::string_view current = {});

  bool table_required_ = false;
  bool lacks_subject_ = false;  // no 'item' or 'key'
  std::optional<std::string> alone_;
  Violations own_table_;
  Violations rest_;
};

// "1 validation error detected: …", as the service counts what it finds in a write of one item.
std::string counted(std::string_view message);

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
