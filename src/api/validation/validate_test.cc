// SPDX-License-Identifier: Apache-2.0
#include "api/validation/validate.h"

#include <gtest/gtest.h>

#include <functional>

#include "api/model/test_samples.h"
#include "support/matchers.h"

namespace stator {
namespace {

using test::FailsWith;
using test::IsOk;

TEST(Validate, AcceptsTheSamples) {
  EXPECT_THAT(validate(test::full_put()), IsOk());
  EXPECT_THAT(validate(test::full_get()), IsOk());
  EXPECT_THAT(validate(test::full_update()), IsOk());
  EXPECT_THAT(validate(test::full_delete()), IsOk());
  EXPECT_THAT(validate(test::full_query()), IsOk());
  EXPECT_THAT(validate(test::full_scan()), IsOk());
  EXPECT_THAT(validate(test::full_batch_get()), IsOk());
  EXPECT_THAT(validate(test::full_batch_write()), IsOk());
  EXPECT_THAT(validate(test::full_transact_write()), IsOk());
  EXPECT_THAT(validate(test::full_transact_get()), IsOk());
  EXPECT_THAT(validate(ListTablesRequest{.limit = 100}), IsOk());
  EXPECT_THAT(validate(DescribeTableRequest{.table = "a-b_c.9"}), IsOk());
  EXPECT_THAT(validate(DescribeTableRequest{.table = "arn:aws:dynamodb:eu-west-1:1:table/Music"}),
              IsOk());
}

template <class Request>
struct Mistake {
  std::function<void(Request&)> make;
  std::string_view message;
};

// Makes each mistake in an otherwise valid request.
template <class Request>
void expect_refused(const Request& valid, const std::vector<Mistake<Request>>& mistakes) {
  ASSERT_THAT(validate(valid), IsOk());
  for (const Mistake<Request>& mistake : mistakes) {
    Request request = valid;
    mistake.make(request);
    EXPECT_THAT(validate(request), FailsWith(Code::kValidation, std::string(mistake.message)));
  }
}

AttributeValue nested(int depth) {
  AttributeValue value("x");
  for (int i = 0; i < depth; ++i) value = List{std::move(value)};
  return value;
}

TEST(Validate, RefusesTableNames) {
  expect_refused<GetItemRequest>(
      test::full_get(),
      {{[](auto& request) { request.table = ""; },
        "1 validation error detected: Value null at 'tableName' failed to satisfy constraint: "
        "Member must not be null"},
       {[](auto& request) { request.table = std::string(256, 'a'); },
        "Member must have length less than or equal to 255"},
       {[](auto& request) { request.table = "arn:aws:dynamodb:eu-west-1:1:table/a!"; },
        "Value 'a!' at 'tableName' failed to satisfy constraint"},
       {[](auto& request) { request.table = "a;"; },
        "1 validation error detected: Value 'a;' at 'tableName' failed to satisfy constraint: "
        "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"}});
  expect_refused<DescribeTableRequest>(
      {.table = "Table"},
      {{[](auto& request) { request.table = ""; },
        "The parameter 'TableName' is required but was not present in the request"},
       {[](auto& request) { request.table = "ab"; },
        "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: "
        "Member must have length greater than or equal to 3"},
       {[](auto& request) { request.table = "a;"; },
        "2 validation errors detected: Value 'a;' at 'tableName' failed to satisfy constraint: "
        "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; Value 'a;' at"}});
}

// Reads of a table whose name is too short fail later, because the table does not exist.
TEST(Validate, AcceptsShortTableNamesInReads) {
  EXPECT_THAT(validate(GetItemRequest{.table = "a", .key = {{"pk", "1"}}}), IsOk());
}

TEST(Validate, RefusesInvalidAttributeValues) {
  expect_refused<PutItemRequest>(
      test::full_put(),
      {{[](auto& request) { request.item["a"] = StringSet(); }, "An string set  may not be empty"},
       {[](auto& request) { request.item[""] = 1; }, "Empty attribute name"},
       {[](auto& request) { request.item["a"] = Map{{"", 1}}; }, "Empty attribute name"},
       {[](auto& request) { request.item[std::string(65'536, 'a')] = 1; },
        "Attribute name is too large, must be less than 65536 bytes"},
       {[](auto& request) { request.item["a"] = List{Map{{std::string(65'536, 'a'), 1}}}; },
        "Attribute name is too large, must be less than 65536 bytes"},
       {[](auto& request) { request.item["a"] = NumberSet(); }, "An number set  may not be empty"},
       {[](auto& request) { request.item["a"] = BinarySet(); }, "Binary sets should not be empty"},
       {[](auto& request) { request.item["a"] = List{StringSet({"b", "b"})}; },
        "Input collection [\"b\", \"b\"] contains duplicates."},
       {[](auto& request) { request.item["a"] = NumberSet({1, 1}); },
        "Input collection contains duplicates"},
       {[](auto& request) { request.item["a"] = BinarySet({Binary{"a"}, Binary{"a"}}); },
        "Input collection [\"YQ==\",\"YQ==\"]of type BS contains duplicates."},
       {[](auto& request) { request.item["a"] = nested(32); },
        "Nesting Levels have exceeded supported limits"},
       {[](auto& request) { request.item["a"] = "\xff"; }, "not valid UTF-8"},
       {[](auto& request) { request.item["\xff"] = 1; }, "not valid UTF-8"}});
  PutItemRequest deep = test::full_put();
  deep.item["a"] = nested(31);
  deep.item[std::string(65'535, 'a')] = Map{{std::string(65'535, 'b'), 1}};
  EXPECT_THAT(validate(deep), IsOk());
}

TEST(Validate, RefusesPlaceholdersWithoutExpressions) {
  expect_refused<PutItemRequest>(
      test::full_put(), {{[](auto& request) { request.condition.reset(); },
                          "ExpressionAttributeNames can only be specified when using expressions"},
                         {[](auto& request) {
                            request.condition.reset();
                            request.names.reset();
                          },
                          "1 validation error detected: ExpressionAttributeValues can only be "
                          "specified when using expressions"}});
  expect_refused<QueryRequest>(
      test::full_query(),
      {{[](auto& request) {
          request.key_condition.reset();
          request.filter.reset();
        },
        "ExpressionAttributeValues can only be specified when using expressions"}});
}

TEST(Validate, RejectsNamesThatAreNotUtf8) {
  expect_refused<UpdateItemRequest>(
      test::full_update(),
      {{[](auto& request) { (*request.names)["#n"] = "\xff"; }, "not valid UTF-8"}});
  CreateTableRequest table{.table = "Things",
                           .attributes = {{"\xff", ScalarType::kS}},
                           .key_schema = {{"\xff", KeyType::kHash}},
                           .billing_mode = BillingMode::kPayPerRequest};
  EXPECT_THAT(validate(table), FailsWith(Code::kValidation, "not valid UTF-8"));
  table.attributes[0].name = table.key_schema[0].name = "pk";
  ASSERT_THAT(validate(table), IsOk());
  table.tags = {{"team", "\xff"}};
  EXPECT_THAT(validate(table), FailsWith(Code::kValidation, "not valid UTF-8"));
  table.tags.clear();
  table.global_indexes = {{{.name = "Index", .key_schema = table.key_schema}}};
  (*table.global_indexes)[0].projection = {.type = ProjectionType::kInclude,
                                           .non_key_attributes = {"\xff"}};
  EXPECT_THAT(validate(table), FailsWith(Code::kValidation, "not valid UTF-8"));
}

TEST(Validate, RefusesReturnValuesThatOnlyUpdatesHave) {
  expect_refused<PutItemRequest>(
      test::full_put(), {{[](auto& request) { request.return_values = ReturnValues::kAllNew; },
                          "ReturnValues can only be ALL_OLD or NONE"}});
  expect_refused<DeleteItemRequest>(
      test::full_delete(),
      {{[](auto& request) { request.return_values = ReturnValues::kUpdatedOld; },
        "ReturnValues can only be ALL_OLD or NONE"}});
  UpdateItemRequest update = test::full_update();
  update.return_values = ReturnValues::kAllNew;
  EXPECT_THAT(validate(update), IsOk());
}

TEST(Validate, RefusesQueries) {
  expect_refused<QueryRequest>(
      test::full_query(),
      {{[](auto& request) { request.limit = 0; },
        "1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must "
        "have value greater than or equal to 1"},
       {[](auto& request) { request.index = "a"; }, "Value 'a' at 'indexName' failed"},
       {[](auto& request) { request.key_condition.reset(); },
        "Either the KeyConditions or KeyConditionExpression parameter must be specified"},
       {[](auto& request) { request.select = Select::kCount; },
        "Cannot specify the ProjectionExpression when choosing to get only the Count"},
       {[](auto& request) { request.select = Select::kAllAttributes; },
        "Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES"},
       {[](auto& request) {
          request.projection.reset();
          request.index.reset();
          request.select = Select::kAllProjectedAttributes;
        },
        "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"},
       {[](auto& request) { request.projection.reset(); },
        "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
        "SPECIFIC_ATTRIBUTES"}});
}

TEST(Validate, RefusesSegments) {
  expect_refused<ScanRequest>(
      test::full_scan(),
      {{[](auto& request) { request.total_segments.reset(); },
        "The TotalSegments parameter is required but was not present in the request when Segment "
        "parameter is present"},
       {[](auto& request) { request.segment.reset(); },
        "The Segment parameter is required but was not present in the request when parameter "
        "TotalSegments is present"},
       {[](auto& request) { request.segment = 4; },
        "must be less than parameter TotalSegments: Segment: 4 is not less than TotalSegments: 4"},
       {[](auto& request) { request.segment = -1; }, "Value '-1' at 'segment' failed"},
       {[](auto& request) { request.total_segments = 1'000'001; },
        "Member must have value less than or equal to 1000000"},
       {[](auto& request) { request.total_segments = 0; }, "Value '0' at 'totalSegments' failed"}});
}

TEST(Validate, CountsBatches) {
  expect_refused<BatchGetItemRequest>(
      test::full_batch_get(),
      {{[](auto& request) { request.items.clear(); },
        "1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: Member "
        "must have length greater than or equal to 1"},
       {[](auto& request) { request.items["Other"] = {.keys = {{{"pk", "a"}}}, .legacy = true}; },
        "Can not use both expression and non-expression parameters in the same request: "
        "Non-expression parameters: {AttributesToGet} Expression parameters: "
        "{ProjectionExpression}"},
       {[](auto& request) { request.items["Table"].keys.clear(); },
        "1 validation error detected: Value at 'RequestItems.Table.member.Keys' failed to satisfy "
        "constraint: Member must have length greater than or equal to 1"},
       {[](auto& request) { request.items["Table"].keys.resize(101); },
        "Member must have length less than or equal to 100"},
       {[](auto& request) { request.items["Table"].keys.resize(100); },
        "Too many items requested for the BatchGetItem call"},
       {[](auto& request) { request.items["x!"].keys.resize(1); }, "Map keys must satisfy"},
       {[](auto& request) { request.items["Table"].projection.reset(); },
        "ExpressionAttributeNames can only be specified when using expressions"}});
  expect_refused<BatchWriteItemRequest>(
      test::full_batch_write(),
      {{[](auto& request) { request.items.clear(); },
        "The requestItems parameter is required for BatchWriteItem"},
       {[](auto& request) { request.items["Table"].resize(26, {.put = Item{}}); },
        "1 validation error detected: Value '{Table=[...]}' at 'requestItems' failed to satisfy "
        "constraint: Map value must satisfy constraint: [Member must have length less than or "
        "equal to 25, Member must have length greater than or equal to 1]"},
       {[](auto& request) {
          request.items["Table"].resize(20, {.put = Item{}});
          request.items["Other"].resize(6, {.put = Item{}});
        },
        "Too many items requested for the BatchWriteItem call"},
       {[](auto& request) { request.items["Table"].emplace_back(); },
        "Supplied AttributeValue has more than one datatypes set"}});
}

TEST(Validate, MeasuresTokensInCharacters) {
  TransactWriteItemsRequest request = test::full_transact_write();
  request.client_request_token = "";
  for (int i = 0; i < 36; ++i) *request.client_request_token += "\xc3\xa9";
  EXPECT_THAT(validate(request), IsOk());
}

TEST(Validate, RefusesTransactions) {
  expect_refused<TransactWriteItemsRequest>(
      test::full_transact_write(),
      {{[](auto& request) { request.items.clear(); }, "at 'transactItems' failed"},
       {[](auto& request) { request.items.resize(101, request.items.front()); },
        "at 'transactItems' failed to satisfy constraint: Member must have length less than or "
        "equal to 100"},
       {[](auto& request) { request.client_request_token = std::string(37, 'x'); },
        "at 'clientRequestToken' failed to satisfy constraint: Member must have length less than "
        "or equal to 36"},
       {[](auto& request) {
          request.client_request_token = std::string(35, 'x') + "\xc3\xa9\xc3\xa9";
        },
        "at 'clientRequestToken' failed to satisfy constraint: Member must have length less than "
        "or equal to 36"},
       {[](auto& request) { request.client_request_token = ""; }, "at 'clientRequestToken' failed"},
       {[](auto& request) { request.items[0].condition.reset(); },
        "Value null at 'transactItems.1.member.conditionCheck.conditionExpression' failed"},
       {[](auto& request) { request.items[3].update.reset(); },
        "Value null at 'transactItems.4.member.update.updateExpression' failed"},
       {[](auto& request) { request.items[1].table = "x!"; },
        "at 'transactItems.2.member.put.tableName' failed"},
       {[](auto& request) { request.items[1].item["a"] = StringSet(); },
        "An string set  may not be empty"}});
  expect_refused<TransactGetItemsRequest>(
      test::full_transact_get(),
      {{[](auto& request) { request.items.clear(); }, "at 'transactItems' failed"},
       {[](auto& request) { request.items.resize(101, request.items.front()); },
        "at 'transactItems' failed"}});
}

// Provisioned, with both kinds of indexes.
CreateTableRequest valid_table() {
  CreateTableRequest request = test::full_create();
  request.vector_indexes.reset();  // only for on-demand tables
  request.on_demand_throughput.reset();
  request.global_indexes->front().on_demand_throughput.reset();
  return request;
}

TEST(Validate, RefusesTables) {
  expect_refused<CreateTableRequest>(
      valid_table(),
      {{[](auto& request) { request.table = "ab"; },
        "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: "
        "Member must have length greater than or equal to 3"},
       {[](auto& request) { request.table = "a b"; }, "Value 'a b' at 'tableName' failed"},
       {[](auto& request) { request.key_schema.clear(); }, "at 'keySchema' failed"},
       {[](auto& request) { request.key_schema.resize(3, {"pk"}); },
        "at 'keySchema' failed to satisfy constraint: Member must have length less than or equal "
        "to 2"},
       {[](auto& request) { request.key_schema[0].type = KeyType::kRange; },
        "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"},
       {[](auto& request) { request.key_schema[1].type = KeyType::kHash; },
        "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"},
       {[](auto& request) { request.key_schema[1].name = "pk"; },
        "Both the Hash Key and the Range Key element in the KeySchema have the same name"},
       {[](auto& request) { request.key_schema[1].name = "x"; },
        "Some index key attributes are not defined in AttributeDefinitions. Keys: [pk, x], "
        "AttributeDefinitions: [at, pk, sk]"},
       {[](auto& request) { request.attributes.push_back({"x"}); },
        "Some AttributeDefinitions are not used. AttributeDefinitions: [at, pk, sk, x], keys used: "
        "[at, pk, sk]"},
       {[](auto& request) { request.attributes.push_back({"pk"}); },
        "Attribute Name is duplicated: pk"},
       {[](auto& request) {
          request.local_indexes.reset();
          request.global_indexes.reset();
        },
        "Number of attributes in KeySchema does not exactly match number of attributes defined in "
        "AttributeDefinitions"},
       {[](auto& request) { request.tags.resize(51, {"key", "value"}); }, "at 'tags' failed"}});
}

TEST(Validate, RefusesBillingModes) {
  expect_refused<CreateTableRequest>(
      valid_table(),
      {{[](auto& request) { request.billing_mode = BillingMode::kPayPerRequest; },
        "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is "
        "PAY_PER_REQUEST"},
       {[](auto& request) { request.throughput.reset(); },
        "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is "
        "PROVISIONED"},
       {[](auto& request) { request.throughput->read = 0; },
        "Value '0' at 'provisionedThroughput.readCapacityUnits' failed to satisfy constraint: "
        "Member must have value greater than or equal to 1"},
       {[](auto& request) { request.throughput->write = 1'000'000'000'001; },
        "Given value 1000000000001 for WriteCapacityUnits is out of bounds"},
       {[](auto& request) { request.global_indexes->front().throughput.reset(); },
        "ProvisionedThroughput is not specified for index: Global"},
       {[](auto& request) {
          request.billing_mode = BillingMode::kPayPerRequest;
          request.throughput.reset();
        },
        "ProvisionedThroughput should not be specified for index: Global when BillingMode is "
        "PAY_PER_REQUEST"}});
}

TEST(Validate, RefusesIndexes) {
  expect_refused<CreateTableRequest>(
      valid_table(),
      {{[](auto& request) { request.local_indexes->clear(); },
        "List of LocalSecondaryIndexes is empty"},
       {[](auto& request) { request.global_indexes->clear(); },
        "List of GlobalSecondaryIndexes is empty"},
       {[](auto& request) { request.key_schema.pop_back(); },
        "Table KeySchema does not have a range key, which is required when specifying a "
        "LocalSecondaryIndex"},
       {[](auto& request) { request.local_indexes->front().key_schema.pop_back(); },
        "Index KeySchema does not have a range key for index: Local"},
       {[](auto& request) { request.local_indexes->front().key_schema[0].name = "sk"; },
        "Index KeySchema does not have the same leading hash key as table KeySchema for index: "
        "Local. index hash key: sk, table hash key: pk"},
       {[](auto& request) { request.global_indexes->front().name = "Local"; },
        "Duplicate index name: Local"},
       {[](auto& request) { request.local_indexes->resize(6, request.local_indexes->front()); },
        "Number of LocalSecondaryIndexes exceeds per-table limit of 5"},
       {[](auto& request) { request.global_indexes->resize(21, request.global_indexes->front()); },
        "GlobalSecondaryIndex count exceeds the per-table limit of 20"},
       {[](auto& request) { request.local_indexes->front().projection.non_key_attributes = {"x"}; },
        "ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified"},
       {[](auto& request) { request.global_indexes->front().projection.non_key_attributes = {}; },
        "ProjectionType is INCLUDE, but NonKeyAttributes is not specified"},
       {[](auto& request) {
          request.global_indexes->front().projection.non_key_attributes.resize(21, "n");
        },
        "at 'globalSecondaryIndexes.1.member.projection.nonKeyAttributes' failed to satisfy "
        "constraint: Member must have length less than or equal to 20"},
       {[](auto& request) {
          IndexDefinition index = request.global_indexes->front();
          index.projection.non_key_attributes.clear();
          for (int i = 0; i < 20; ++i) {
            index.projection.non_key_attributes.push_back("n" + std::to_string(i));
          }
          for (int i = 0; i < 6; ++i) {
            index.name = "Global" + std::to_string(i);
            request.global_indexes->push_back(index);
          }
        },
        "The total number of NonKeyAttributes exceeds the per-table limit of 100"},
       {[](auto& request) {
          request.global_indexes->front().key_schema = {{"at", KeyType::kRange}};
        },
        "The first KeySchemaElement is not a HASH key type"}});
}

TEST(Validate, GlobalIndexesHaveUpToFourAttributesOfEitherType) {
  CreateTableRequest request = valid_table();
  IndexDefinition& index = request.global_indexes->front();
  index.key_schema.clear();
  for (int i = 0; i < 8; ++i) {
    const std::string name = "k" + std::to_string(i);
    request.attributes.push_back({name, ScalarType::kS});
    index.key_schema.push_back({name, i < 4 ? KeyType::kHash : KeyType::kRange});
  }
  EXPECT_THAT(validate(request), IsOk());
  index.key_schema[4].type = KeyType::kHash;
  EXPECT_THAT(validate(request),
              FailsWith(Code::kValidation,
                        "The KeySchema exceeds the maximum allowed number of HASH key attributes"));
  index.key_schema[3].type = KeyType::kRange;
  index.key_schema[4].type = KeyType::kRange;
  EXPECT_THAT(
      validate(request),
      FailsWith(Code::kValidation,
                "The KeySchema exceeds the maximum allowed number of RANGE key attributes"));
  index.key_schema.back() = index.key_schema[1];
  EXPECT_THAT(validate(request),
              FailsWith(Code::kValidation,
                        "The KeySchema contains multiple key attributes with the same name"));
  index.key_schema.back() = {.name = "k7", .type = KeyType::kHash};
  EXPECT_THAT(validate(request),
              FailsWith(Code::kValidation,
                        "All HASH key attributes must precede RANGE key attributes in the "
                        "KeySchema"));
}

TEST(Validate, BoundsListTables) {
  EXPECT_THAT(validate(ListTablesRequest{.limit = 0}),
              FailsWith(Code::kValidation, "Value '0' at 'limit' failed"));
  EXPECT_THAT(validate(ListTablesRequest{.limit = 101}),
              FailsWith(Code::kValidation, "Member must have value less than or equal to 100"));
  EXPECT_THAT(validate(ListTablesRequest{.exclusive_start_table = "a"}),
              FailsWith(Code::kValidation, "at 'exclusiveStartTableName' failed"));
}

}  // namespace
}  // namespace stator
