// SPDX-License-Identifier: Apache-2.0
// DynamoDB's messages for errors that depend on a table. AWS changes their wording occasionally.
#pragma once

#include <string>
#include <string_view>

namespace stator::messages {

inline constexpr const char* kConditionFailed = "The conditional request failed";
inline constexpr const char* kResourceNotFound = "Requested resource not found";
inline constexpr const char* kDeletionProtected =
    "Resource cannot be deleted as it is currently protected against deletion. Disable deletion "
    "protection first.";
inline constexpr const char* kLocalReplica =
    "Cannot add, delete, or update the local region through ReplicaUpdates. Use CreateTable, "
    "DeleteTable, or UpdateTable as required.";
inline constexpr const char* kKeyDoesNotMatch =
    "The provided key element does not match the schema";
inline constexpr const char* kHashKeyTooLong =
    "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size "
    "limit of2048 bytes";
inline constexpr const char* kRangeKeyTooLong =
    "One or more parameter values were invalid: Aggregated size of all range keys has exceeded "
    "the size limit of 1024 bytes";
inline constexpr const char* kCollectionTooLarge = "Collection size exceeded.";
inline constexpr const char* kItemTooLarge = "Item size has exceeded the maximum allowed size";
inline constexpr const char* kUpdatedIndexKeyType =
    "The update expression attempted to update the secondary index key to unsupported type";
inline constexpr const char* kUpdatedIndexKeyEmpty =
    "One or more parameter values are not valid. The update expression attempted to update a "
    "secondary index key to a value that is not supported. The AttributeValue for a key attribute "
    "cannot contain an empty ";  // "string value." or "binary value."
inline constexpr const char* kDuplicateKeys = "Provided list of item keys contains duplicates";
inline constexpr const char* kRepeatedTransactionItem =
    "Transaction request cannot include multiple operations on one item";
inline constexpr const char* kTransactionTooLarge =
    "Transaction request size exceeds the maximum allowed size of 4 MB";
inline constexpr const char* kIdempotentMismatch =
    "The request uses the same client token as a previous, but non-identical request. Do not "
    "reuse a client token with different requests, unless the requests are identical";
inline constexpr const char* kConsistentGlobalIndex =
    "Consistent reads are not supported on global secondary indexes";
inline constexpr const char* kStartKeyInvalid = "The provided starting key is invalid";
inline constexpr const char* kStartKeySize =
    "Exclusive Start Key must have same size as table's key schema";
inline constexpr const char* kStartKeyOutside =
    "The provided starting key is outside query boundaries based on provided conditions";
inline constexpr const char* kStartKeyPredicate =
    "The provided starting key does not match the range key predicate";
inline constexpr const char* kDuplicateItem = "Duplicate primary key exists in table";
inline constexpr const char* kWhereLacksKey =
    "Where clause does not contain a mandatory equality on all key attributes";
inline constexpr const char* kOverlappingBranches =
    "Overlapping conditions with range keys are not supported in where clause";
inline constexpr const char* kConsistentStatementIndex =
    "Strongly consistent read is not supported on Global Secondary Indexes";
inline constexpr const char* kMultiAttributeIndex =
    "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or "
    "multi-attribute RANGE keys.";
inline constexpr const char* kNoSuchStatementIndex = "The table does not have the specified index";
inline constexpr const char* kOrderWithoutKey =
    "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY "
    "clause.";
inline constexpr const char* kInvalidNextToken = "Invalid NextToken";
inline constexpr const char* kExistsShape =
    "EXISTS() must contain a single item read with additional condition";
inline constexpr const char* kMixedBatch =
    "Read and write requests together in the same batch is not supported.";
inline constexpr const char* kMixedTransaction =
    "ExecuteTransaction API does not support both read and write operations in the same request.";
inline constexpr const char* kIndexInTransaction =
    "Reads on indices are not supported within transactions.";
inline constexpr const char* kReturningInTransaction =
    "RETURNING clause is not supported in ExecuteTransaction.";
inline constexpr const char* kTableName =
    "Table name should be within the length [3, 255] and only contain 'a-z', 'A-Z', '0-9', '-', "
    "'_', '.'.";
inline constexpr const char* kTransactionConflict = "Transaction is ongoing for the item";
inline constexpr const char* kTooBusy =
    "The request was denied due to request throttling. Try again.";

inline constexpr const char* kTtlEnabled = "TimeToLive is already enabled";
inline constexpr const char* kTtlDisabled = "TimeToLive is already disabled";
inline constexpr const char* kTtlChanging =
    "Time to live has been modified multiple times within a fixed interval";

inline std::string statement_key_type(std::string_view attribute) {
  return "Key attribute's data type should match its data type in table's schema: Key " +
         std::string(attribute);
}
inline std::string statement_key_missing(std::string_view attribute) {
  return "Key attribute should be present in the item: Key " + std::string(attribute);
}
inline std::string statement_key_twice(std::string_view attribute) {
  return "Multiple conditions on same key " + std::string(attribute) +
         ". Only single item Update/Insert/Delete are supported";
}
inline std::string statement_order(std::string_view attribute) {
  return "Variable reference " + std::string(attribute) +
         " in ORDER BY clause must be part of the primary key";
}
inline std::string select_without_key(std::string_view operation) {
  return "Select statements within " + std::string(operation) +
         " must specify the primary key in the where clause.";
}
inline std::string in_transaction_statement(std::size_t place, std::string_view text) {
  return "Validation failed in TransactStatements[" + std::to_string(place) +
         "]: " + std::string(text);
}

inline std::string stream_enabled(std::string_view table) {
  return "Table already has an enabled stream: TableName: " + std::string(table);
}
inline std::string no_stream(std::string_view table) {
  return "Table has no stream to disable: TableName: " + std::string(table);
}
inline constexpr const char* kTooManyStreams =
    "Subscriber limit exceeded: a table has at most 100 streams within 24 hours";
inline constexpr const char* kShardNotFound = "Requested resource not found: Shard does not exist";
inline constexpr const char* kTrimmed = "The data you are trying to access has been trimmed";
inline constexpr const char* kIteratorExpired =
    "The shard iterator has expired and can no longer be used to retrieve stream records. A shard "
    "iterator expires 15 minutes after it is retrieved using the GetShardIterator action.";
inline constexpr const char* kInvalidIterator = "Invalid ShardIterator";
inline constexpr const char* kInvalidSequenceNumber =
    "One or more parameter values were invalid: Invalid SequenceNumber";
inline constexpr const char* kTimestampInFuture =
    "One or more parameter values were invalid: Timestamp cannot be in the future";

inline std::string stream_not_found(std::string_view arn) {
  return "Requested resource not found: Stream: " + std::string(arn) + " not found";
}
inline std::string table_exists(std::string_view table) {
  return "Table already exists: " + std::string(table);
}
inline std::string table_being_created(std::string_view table) {
  return "Attempt to change a resource which is still in use: Table is being created: " +
         std::string(table);
}
inline std::string table_not_found(std::string_view table) {
  return "Requested resource not found: Table: " + std::string(table) + " not found";
}
inline std::string missing_key(std::string_view attribute) {
  return "One or more parameter values were invalid: Missing the key " + std::string(attribute) +
         " in the item";
}
inline std::string key_type_mismatch(std::string_view attribute, std::string_view expected,
                                     std::string_view actual) {
  return "One or more parameter values were invalid: Type mismatch for key " +
         std::string(attribute) + " expected: " + std::string(expected) +
         " actual: " + std::string(actual);
}
inline std::string empty_key(std::string_view attribute, std::string_view kind) {
  return "One or more parameter values are not valid. The AttributeValue for a key attribute "
         "cannot contain an empty " +
         std::string(kind) + " value. Key: " + std::string(attribute);
}
inline std::string index_key_type_mismatch(std::string_view attribute, std::string_view expected,
                                           std::string_view actual, std::string_view index) {
  return "One or more parameter values were invalid: Type mismatch for Index Key " +
         std::string(attribute) + " Expected: " + std::string(expected) +
         " Actual: " + std::string(actual) + " IndexName: " + std::string(index);
}
inline std::string empty_index_key(std::string_view attribute, std::string_view kind,
                                   std::string_view index) {
  return "One or more parameter values are not valid. A value specified for a secondary index key "
         "is not supported. The AttributeValue for a key attribute cannot contain an empty " +
         std::string(kind) + " value. IndexName: " + std::string(index) +
         ", IndexKey: " + std::string(attribute);
}
inline std::string key_update(std::string_view attribute) {
  return "One or more parameter values were invalid: Cannot update attribute " +
         std::string(attribute) + ". This attribute is part of the key";
}
inline std::string opened_key(std::string_view kind, std::string_view attribute) {
  return "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
         "allowed: " +
         std::string(kind) + ": " + std::string(attribute);
}
inline std::string no_such_index(std::string_view index) {
  return "The table does not have the specified index: " + std::string(index);
}
inline std::string no_vector(std::string_view attribute, std::string_view index) {
  return "One or more parameter values were invalid. Invalid type for parameter " +
         std::string(attribute) +
         ", Expected: 32-bit floating point number list IndexName: " + std::string(index);
}
inline std::string vector_element(std::string_view attribute, std::size_t place,
                                  std::string_view actual, std::string_view index) {
  return "One or more parameter values were invalid. Invalid type for parameter " +
         std::string(attribute) + "[" + std::to_string(place) +
         "], Expected: 32-bit floating point number, Actual: " + std::string(actual) +
         ". IndexName: " + std::string(index);
}
inline std::string vector_size(std::string_view attribute, std::size_t expected, std::size_t actual,
                               std::string_view index) {
  return "One or more parameter values were invalid. Invalid size for parameter " +
         std::string(attribute) + ", Expected: " + std::to_string(expected) +
         ", Actual: " + std::to_string(actual) + " IndexName: " + std::string(index);
}
inline std::string backfilling_vectors(std::string_view index) {
  return "Cannot search backfilling vector index: " + std::string(index);
}
inline std::string search_dimensions(std::size_t given, std::size_t wanted) {
  return "Input search vector dimension " + std::to_string(given) +
         " does not match vector index dimension " + std::to_string(wanted);
}
inline std::string not_in_search_schema(std::string_view attribute) {
  return "SearchConditionExpression must not contain any attributes that is not in SearchSchema. "
         "Invalid attribute: " +
         std::string(attribute);
}
inline constexpr const char* kNoSearchCondition =
    "SearchConditionExpression must be provided when SearchSchema has a HASH key";
// Stator's own text, because DynamoDB's is unknown.
inline constexpr const char* kSearchValueType =
    "One or more parameter values were invalid: Condition parameter type does not match schema "
    "type";
inline constexpr const char* kQueryOfVectors = "Query operation not supported on this index type.";
inline constexpr const char* kScanOfVectors = "Scan operation not supported on this index type";
inline std::string backfilling_index(std::string_view index) {
  return "Cannot read from backfilling global secondary index: " + std::string(index);
}
inline std::string index_being_created(std::string_view index) {
  return "Attempt to change a resource which is still in use: Index is being created: " +
         std::string(index);
}
inline std::string ttl_on_other_attribute(std::string_view attribute) {
  return "TimeToLive is active on a different AttributeName: current AttributeName is " +
         std::string(attribute);
}
inline std::string filter_on_key(std::string_view attribute, bool legacy) {
  return std::string(legacy ? "QueryFilter" : "Filter Expression") +
         " can only contain non-primary key attributes: Primary key attribute: " +
         std::string(attribute);
}
inline std::string select_all_on_index(std::string_view index) {
  return "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported "
         "for global secondary index " +
         std::string(index) + " because its projection type is not ALL";
}
inline std::string not_projected(std::string_view index, std::string_view attributes) {
  return "One or more parameter values were invalid: Global secondary index " + std::string(index) +
         " does not project [" + std::string(attributes) + "]";
}
inline std::string filter_not_projected(std::string_view index, std::string_view attributes) {
  return "One or more parameter values were invalid: Secondary index " + std::string(index) +
         " does not project one or more filter attributes: [" + std::string(attributes) + "]";
}
inline std::string start_key_segment(std::string_view total, std::string_view segment) {
  return "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use "
         "ExclusiveStartKey with correct Segment. TotalSegments: " +
         std::string(total) + " Segment: " + std::string(segment);
}

}  // namespace stator::messages
