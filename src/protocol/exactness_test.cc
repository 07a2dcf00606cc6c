// SPDX-License-Identifier: Apache-2.0
// Which check of a request fires first, and its exact text, as tables of requests and answers.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

#include "protocol/operations.h"
#include "storage/stores.h"
#include "support/matchers.h"
#include "support/must.h"

namespace stator::protocol {
namespace {

using test::must;

struct Kept {
  std::optional<Result<std::string>>* answer;
  void operator()(Result<std::string> given) { *answer = std::move(given); }
};

class Exactness : public ::testing::Test {
 protected:
  Exactness() {
    must(ask("CreateTable", R"({"TableName":"Tab","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"p","KeyType":"HASH"}]})"));
    must(ask("CreateTable", R"({"TableName":"Two","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"},
          {"AttributeName":"s","AttributeType":"N"},{"AttributeName":"l","AttributeType":"S"},
          {"AttributeName":"g","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"p","KeyType":"HASH"},
                     {"AttributeName":"s","KeyType":"RANGE"}],
        "LocalSecondaryIndexes":[{"IndexName":"local","Projection":{"ProjectionType":"KEYS_ONLY"},
          "KeySchema":[{"AttributeName":"p","KeyType":"HASH"},
                       {"AttributeName":"l","KeyType":"RANGE"}]}],
        "GlobalSecondaryIndexes":[{"IndexName":"global","Projection":{"ProjectionType":"KEYS_ONLY"},
          "KeySchema":[{"AttributeName":"g","KeyType":"HASH"}]}]})"));
  }

  Result<std::string> ask(std::string_view name, std::string_view json) {
    std::optional<Result<std::string>> answer;
    const auto run = Operations<Kept>::find(name);
    if (run == nullptr) return fail(Code::kUnknownOperation, "");
    run({.engine = *engine_, .waiting = nullptr}, json, Kept{&answer});
    return answer ? *answer : fail(Code::kInternalServerError, "no answer");
  }

  struct Case {
    std::string_view operation;
    std::string_view request;
    std::string_view message;
  };
  void expect_refusals(std::initializer_list<Case> cases, Code code = Code::kValidation) {
    for (const Case& one : cases) {
      const auto answer = ask(one.operation, one.request);
      ASSERT_FALSE(answer) << one.operation << " " << one.request;
      EXPECT_EQ(answer.error().code, code) << one.operation << " " << one.request;
      EXPECT_EQ(answer.error().message, one.message) << one.operation << " " << one.request;
    }
  }

  std::unique_ptr<Engine> engine_ = must(Engine::open(make_memory_store()));
};

// For every operation on items: absent, empty, wrong characters, too long; alone, whatever else is
// wrong.
TEST_F(Exactness, TheTableNameIsJudgedFirstAndAlone) {
  for (const std::string_view name :
       {"GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan"}) {
    const std::string rest = R"("ReturnConsumedCapacity":"WRONG","Item":{"p":{}},"Key":{"p":{}})";
    const std::string start = "1 validation error detected: Value ";
    const std::pair<std::string, std::string> names[] = {
        {"", start + "null at 'tableName' failed to satisfy constraint: Member must not be null"},
        {R"("TableName":null,)",
         start + "null at 'tableName' failed to satisfy constraint: Member must not be null"},
        {R"("TableName":"",)", start +
                                   "'' at 'tableName' failed to satisfy constraint: Member must "
                                   "have length greater than or equal to 1"},
        {R"("TableName":"x!",)", start + "'x!' at 'tableName' failed to satisfy constraint: Member "
                                         "must satisfy regular expression pattern: "
                                         "[a-zA-Z0-9_.-]+"},
    };
    for (const auto& [member, message] : names) {
      std::string request = "{";
      request.append(member).append(rest).append("}");
      expect_refusals({{name, request, message}});
    }
  }
}

TEST_F(Exactness, TheNameOfATableToManageHasTextsOfItsOwn) {
  for (const std::string_view name : {"CreateTable", "DescribeTable", "DeleteTable"}) {
    expect_refusals({
        {name, R"({"BillingMode":"WRONG"})",
         "The parameter 'TableName' is required but was not present in the request"},
        {name, R"({"TableName":"","KeySchema":[]})",
         "1 validation error detected: Value '' at 'tableName' failed to satisfy constraint: "
         "Member must have length greater than or equal to 1"},
        {name, R"({"TableName":"ab","KeySchema":[]})",
         "1 validation error detected: Value 'ab' at 'tableName' failed to satisfy constraint: "
         "Member must have length greater than or equal to 3"},
        {name, R"({"TableName":"x!"})",
         "2 validation errors detected: Value 'x!' at 'tableName' failed to satisfy constraint: "
         "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; Value 'x!' at "
         "'tableName' failed to satisfy constraint: Member must have length greater than or equal "
         "to 3"},
    });
  }
}

TEST_F(Exactness, WrongJsonTypesComeBeforeEverythingElse) {
  expect_refusals(
      {
          {"PutItem", R"({"Item":{"a":{"N":1}}})", "NUMBER_VALUE cannot be converted to String"},
          {"PutItem", R"({"TableName":"","Item":{"a":{"SS":[]},"b":{"S":true}}})",
           "TRUE_VALUE cannot be converted to String"},
          {"PutItem", R"({"TableName":"Tab","Item":{"a":"b"}})",
           "Unexpected value type in payload"},
          {"PutItem", R"({"TableName":"Tab","Item":"a"})", "Unexpected field type"},
          {"PutItem", R"({"Expected":[]})",
           "Unrecognized collection type java.util.Map<java.lang.String, "
           "com.amazonaws.dynamodb.v20120810.ExpectedAttributeValue>"},
          {"PutItem", R"({"Expected":{"a":{"Value":1}}})", "Unexpected field type"},
          {"PutItem", R"({"Expected":{"a":{"Exists":"perhaps"}}})",
           "Unexpected token received from parser"},
          {"UpdateItem", R"({"AttributeUpdates":{"a":[]}})",
           "Unrecognized collection type class "
           "com.amazonaws.dynamodb.v20120810.AttributeValueUpdate"},
          {"Query", R"({"Limit":"1"})", "STRING_VALUE cannot be converted to Integer"},
          {"Query", R"({"Limit":[]})", "Unrecognized collection type class java.lang.Integer"},
          {"Scan", R"({"ConsistentRead":2.5})", "DECIMAL_VALUE cannot be converted to Boolean"},
          {"Scan", R"({"ScanFilter":{"a":{"AttributeValueList":{}}}})",
           "Start of structure or map found where not expected"},
          {"BatchGetItem", R"({"RequestItems":{"Tab":{"Keys":["a"]}}})",
           "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to "
           "class java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl "
           "and java.lang.Class are in module java.base of loader 'bootstrap')"},
          {"BatchGetItem", R"({"RequestItems":{"Tab":[]}})",
           "Unrecognized collection type class "
           "com.amazonaws.dynamodb.v20120810.KeysAndAttributes"},
          {"CreateTable", R"({"ProvisionedThroughput":[]})",
           "Unrecognized collection type class "
           "com.amazonaws.dynamodb.v20120810.ProvisionedThroughput"},
          {"CreateTable", R"({"KeySchema":[[]]})",
           "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.KeySchemaElement"},
          {"CreateTable", R"({"ProvisionedThroughput":{"ReadCapacityUnits":true}})",
           "TRUE_VALUE cannot be converted to Long"},
          {"DescribeTable", "[]", "Start of list found where not expected"},
          {"DescribeTable", "{", ""},
          {"DescribeTable", "", ""},
          {"PutItem", "{\"TableName\":\"\xff\"}", ""},
      },
      Code::kSerialization);
}

TEST_F(Exactness, ViolationsOfTheModelAreGatheredBeforeValuesAreLookedAt) {
  expect_refusals({
      {"PutItem", R"({"TableName":"Tab","Item":{"a":{}},"ReturnValues":"hi"})",
       "1 validation error detected: Value 'hi' at 'returnValues' failed to satisfy constraint: "
       "Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"},
      {"PutItem", R"({"TableName":"Tab"})",
       "1 validation error detected: Value null at 'item' failed to satisfy constraint: Member "
       "must not be null"},
      {"GetItem", R"({"TableName":"Tab","AttributesToGet":[]})",
       "2 validation errors detected: Value null at 'key' failed to satisfy constraint: Member "
       "must not be null; Value '[]' at 'attributesToGet' failed to satisfy constraint: Member "
       "must have length greater than or equal to 1"},
      {"Query", R"({"TableName":"Tab","Select":"a","Limit":0})",
       "2 validation errors detected: Value 'a' at 'select' failed to satisfy constraint: Member "
       "must satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, "
       "ALL_PROJECTED_ATTRIBUTES]; Value at 'Limit' failed to satisfy constraint: Member must "
       "have value greater than or equal to 1"},
      {"Scan", R"({"TableName":"Tab","IndexName":"a!","Limit":0,"Segment":-1,"TotalSegments":0})",
       "5 validation errors detected: Value 'a!' at 'indexName' failed to satisfy constraint: "
       "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; Value 'a!' at "
       "'indexName' failed to satisfy constraint: Member must have length greater than or equal to "
       "3; Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than "
       "or equal to 1; Value '-1' at 'segment' failed to satisfy constraint: Member must have "
       "value greater than or equal to 0; Value '0' at 'totalSegments' failed to satisfy "
       "constraint: Member must have value greater than or equal to 1"},
      {"ListTables", R"({"Limit":101,"ExclusiveStartTableName":"a"})",
       "2 validation errors detected: Value 'a' at 'exclusiveStartTableName' failed to satisfy "
       "constraint: Member must have length greater than or equal to 3; Value '101' at 'limit' "
       "failed to satisfy constraint: Member must have value less than or equal to 100"},
      {"BatchGetItem", "{}", "The requestItems parameter is required for BatchGetItem"},
      {"BatchWriteItem", R"({"RequestItems":{}})",
       "The requestItems parameter is required for BatchWriteItem"},
      {"BatchGetItem", R"({"RequestItems":{"Tab":{"Keys":[]}}})",
       "1 validation error detected: Value at 'RequestItems.Tab.member.Keys' failed to satisfy "
       "constraint: Member must have length greater than or equal to 1"},
      {"BatchWriteItem", R"({"RequestItems":{"Tab":[]}})",
       "1 validation error detected: Value '{Tab=[]}' at 'requestItems' failed to satisfy "
       "constraint: Map value must satisfy constraint: [Member must have length less than or "
       "equal to 25, Member must have length greater than or equal to 1]"},
      {"TransactWriteItems", R"({"TransactItems":[]})",
       "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: "
       "Member must have length greater than or equal to 1"},
      {"TransactGetItems", R"({"TransactItems":[{"Get":{"Key":{}}}]})",
       "1 validation error detected: Value null at 'transactItems.1.member.get.tableName' failed "
       "to satisfy constraint: Member must not be null"},
      {"TransactWriteItems", R"({"TransactItems":[{"Update":{"TableName":"Tab","Key":{}}}]})",
       "1 validation error detected: Value null at 'transactItems.1.member.update.updateExpression'"
       " failed to satisfy constraint: Member must not be null"},
  });
}

TEST_F(Exactness, ParametersAreJudgedBeforeValues) {
  const std::string_view mixed =
      "Can not use both expression and non-expression parameters in the same request: "
      "Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}";
  expect_refusals({
      {"PutItem", R"({"TableName":"Tab","Item":{"a":{}},"Expected":{"a":{}},
        "ExpressionAttributeNames":{},"ConditionExpression":""})",
       mixed},
      {"DeleteItem", R"({"TableName":"Tab","Key":{"a":{}},"Expected":{"a":{}},
        "ConditionExpression":""})",
       mixed},
      {"PutItem", R"({"TableName":"Tab","Item":{"a":{}},"Expected":{"a":{}},
        "ExpressionAttributeNames":{},"ExpressionAttributeValues":{}})",
       "ExpressionAttributeNames can only be specified when using expressions"},
      {"PutItem", R"({"TableName":"Tab","Item":{"a":{}},"Expected":{"a":{}},
        "ExpressionAttributeValues":{}})",
       "ExpressionAttributeValues can only be specified when using expressions: "
       "ConditionExpression is null"},
      {"UpdateItem", R"({"TableName":"Tab","Key":{"a":{}},"ExpressionAttributeValues":{}})",
       "ExpressionAttributeValues can only be specified when using expressions: UpdateExpression "
       "and ConditionExpression are null"},
      {"Query", R"({"TableName":"Tab","ExclusiveStartKey":{"a":{}},
        "QueryFilter":{},"KeyConditions":{},"FilterExpression":""})",
       "Can not use both expression and non-expression parameters in the same request: "
       "Non-expression parameters: {QueryFilter} Expression parameters: {FilterExpression}"},
      {"PutItem", R"({"TableName":"Tab","Item":{"a":{}},"ReturnValues":"ALL_NEW"})",
       "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
      {"PutItem", R"({"TableName":"Gone","Item":{"a":{"S":"b"}},"ReturnValues":"ALL_NEW"})",
       "ReturnValues can only be ALL_OLD or NONE"},
      {"PutItem", R"({"TableName":"Gone","Item":{"a":{"S":"b"}},"Expected":{"a":{}}})",
       "One or more parameter values were invalid: Value must be provided when Exists is null for "
       "Attribute: a"},
      {"Scan", R"({"TableName":"Gone","ExclusiveStartKey":{"a":{}},"FilterExpression":""})",
       "The provided starting key is invalid: Supplied AttributeValue is empty, must contain "
       "exactly one of the supported datatypes"},
      {"Scan", R"({"TableName":"Gone","Segment":0,"FilterExpression":""})",
       "The TotalSegments parameter is required but was not present in the request when Segment "
       "parameter is present"},
  });
}

TEST_F(Exactness, ExpressionsAreJudgedBeforeTheTableIsLookedFor) {
  expect_refusals({
      {"GetItem", R"({"TableName":"Gone","Key":{},"ProjectionExpression":"!!!"})",
       "Invalid ProjectionExpression: Syntax error; token: \"!\", near: \"!!\""},
      {"GetItem", R"({"TableName":"Gone","Key":{},"ProjectionExpression":"a, #a"})",
       "Invalid ProjectionExpression: An expression attribute name used in the document path is "
       "not defined; attribute name: #a"},
      {"PutItem", R"({"TableName":"Gone","Item":{},"ConditionExpression":""})",
       "Invalid ConditionExpression: The expression can not be empty;"},
      {"UpdateItem", R"({"TableName":"Gone","Key":{},"UpdateExpression":"INVALID SYNTAX HERE"})",
       "Invalid UpdateExpression: Syntax error; token: \"INVALID\", near: \"INVALID SYNTAX\""},
      {"Query", R"({"TableName":"Gone","KeyConditionExpression":"a"})",
       "Invalid KeyConditionExpression: Syntax error; token: \"<EOF>\", near: \"a\""},
      {"Query", R"({"TableName":"Two","IndexName":"none","KeyConditionExpression":""})",
       "Invalid KeyConditionExpression: The expression can not be empty;"},
      {"Scan", R"({"TableName":"Gone","FilterExpression":"a ="})",
       "Invalid FilterExpression: Syntax error; token: \"<EOF>\", near: \"=\""},
      {"BatchGetItem", R"({"RequestItems":{"Gone":{"Keys":[{}],"ProjectionExpression":"a b"}}})",
       "Invalid ProjectionExpression: Syntax error; token: \"b\", near: \"a b\""},
      {"TransactGetItems",
       R"({"TransactItems":[{"Get":{"TableName":"Gone","Key":{},"ProjectionExpression":"!!!"}}]})",
       "Invalid ProjectionExpression: Syntax error; token: \"!\", near: \"!!\""},
      {"TransactWriteItems", R"({"TransactItems":[{"Delete":{"TableName":"Gone","Key":{},
        "ConditionExpression":"a"}}]})",
       "Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \"a\""},
  });
  expect_refusals(
      {
          {"GetItem", R"({"TableName":"Gone","Key":{}})", "Requested resource not found"},
          {"Query", R"({"TableName":"Gone","KeyConditionExpression":"a = :a",
        "ExpressionAttributeValues":{":a":{"S":"b"}}})",
           "Requested resource not found"},
          {"DescribeTable", R"({"TableName":"Gone"})",
           "Requested resource not found: Table: Gone not found"},
      },
      Code::kResourceNotFound);
}

TEST_F(Exactness, KeysAreJudgedLast) {
  const std::string_view schema = "The provided key element does not match the schema";
  expect_refusals({
      {"GetItem", R"({"TableName":"Tab","Key":{}})", schema},
      {"UpdateItem", R"({"TableName":"Tab","Key":{"p":{"N":"1"}},"UpdateExpression":"REMOVE p"})",
       schema},
      {"UpdateItem", R"({"TableName":"Tab","Key":{"p":{"S":"a"}},"UpdateExpression":"REMOVE p"})",
       "One or more parameter values were invalid: Cannot update attribute p. This attribute is "
       "part of the key"},
      {"PutItem", R"({"TableName":"Two","Item":{"p":{"S":"a"}}})",
       "One or more parameter values were invalid: Missing the key s in the item"},
      {"PutItem", R"({"TableName":"Two","Item":{"p":{"S":"a"},"s":{"S":"b"}}})",
       "One or more parameter values were invalid: Type mismatch for key s expected: N actual: S"},
      {"TransactGetItems", R"({"TransactItems":[
        {"Get":{"TableName":"Tab","Key":{"p":{"S":"a"}}}},
        {"Get":{"TableName":"Tab","Key":{"p":{"S":"a"}}}}]})",
       "Transaction request cannot include multiple operations on one item"},
      {"BatchGetItem", R"({"RequestItems":{"Tab":{"Keys":[{"p":{"S":"a"}},{"p":{"S":"a"}}]}}})",
       "Provided list of item keys contains duplicates"},
      {"Query", R"({"TableName":"Two","IndexName":"none","KeyConditionExpression":"a = :a",
        "ExpressionAttributeValues":{":a":{"S":"b"}}})",
       "The table does not have the specified index: none"},
  });
}

TEST_F(Exactness, UpdatedImagesAreFragments) {
  must(ask("PutItem", R"({"TableName":"Tab","Item":{"p":{"S":"a"},"l":{"L":[{"N":"1"}]},
    "m":{"M":{"x":{"N":"1"},"y":{"N":"2"}}}}})"));
  const auto update = [&](std::string_view values, std::string_view expression) {
    std::string request = R"({"TableName":"Tab","Key":{"p":{"S":"a"}},"ReturnValues":")";
    request.append(values).append(R"(","UpdateExpression":")").append(expression).append("\"");
    if (expression.find(':') != std::string_view::npos) {
      request += R"(,"ExpressionAttributeValues":{":v":{"N":"7"}})";
    }
    return must(ask("UpdateItem", request + "}"));
  };
  EXPECT_EQ(update("UPDATED_NEW", "SET l[9] = :v"), R"({"Attributes":{"l":{"L":[{"N":"7"}]}}})");
  EXPECT_EQ(update("UPDATED_NEW", "SET m.x = :v"), R"({"Attributes":{"m":{"M":{"x":{"N":"7"}}}}})");
  EXPECT_EQ(update("UPDATED_OLD", "SET m.x = :v"), R"({"Attributes":{"m":{"M":{"x":{"N":"7"}}}}})");
  EXPECT_EQ(update("UPDATED_NEW", "REMOVE m.y"), "{}");
  EXPECT_EQ(update("UPDATED_OLD", "SET n = :v"), "{}");
}

TEST_F(Exactness, CapacityIsTheServices) {
  const auto ask_capacity = [&](std::string_view operation, std::string_view request) {
    const std::string answer = must(ask(operation, request));
    return answer.substr(std::min(answer.find("\"ConsumedCapacity\""), answer.size()));
  };
  const std::string put = R"({"TableName":"Two","ReturnConsumedCapacity":"INDEXES","Item":
    {"p":{"S":"a"},"s":{"N":"1"},"l":{"S":"l"},"g":{"S":"g"}}})";
  EXPECT_EQ(ask_capacity("PutItem", put),
            R"("ConsumedCapacity":{"TableName":"Two","CapacityUnits":3.0,)"
            R"("Table":{"CapacityUnits":1.0},)"
            R"("LocalSecondaryIndexes":{"local":{"CapacityUnits":1.0}},)"
            R"("GlobalSecondaryIndexes":{"global":{"CapacityUnits":1.0}}}})");
  // The same item again changes no index; a moved key of one costs two writes.
  EXPECT_EQ(ask_capacity("PutItem", put),
            R"("ConsumedCapacity":{"TableName":"Two","CapacityUnits":1.0,)"
            R"("Table":{"CapacityUnits":1.0}}})");
  const std::string_view move = R"({"TableName":"Two","ReturnConsumedCapacity":"TOTAL",
    "Key":{"p":{"S":"a"},"s":{"N":"1"}},"UpdateExpression":"SET g = :g",
    "ExpressionAttributeValues":{":g":{"S":"h"}}})";
  EXPECT_EQ(ask_capacity("UpdateItem", move),
            R"("ConsumedCapacity":{"TableName":"Two","CapacityUnits":3.0}})");
  // A transaction doubles the table's part alone.
  EXPECT_EQ(
      ask_capacity("TransactWriteItems", R"({"ReturnConsumedCapacity":"INDEXES",
    "TransactItems":[{"Put":{"TableName":"Two","Item":
    {"p":{"S":"b"},"s":{"N":"1"},"g":{"S":"g"}}}}]})"),
      R"("ConsumedCapacity":[{"TableName":"Two","CapacityUnits":3.0,"WriteCapacityUnits":3.0,)"
      R"("Table":{"CapacityUnits":2.0,"WriteCapacityUnits":2.0},)"
      R"("GlobalSecondaryIndexes":{"global":{"CapacityUnits":1.0,"WriteCapacityUnits":1.0}}}]})");
  EXPECT_EQ(
      ask_capacity("TransactGetItems", R"({"ReturnConsumedCapacity":"TOTAL",
    "TransactItems":[{"Get":{"TableName":"Tab","Key":{"p":{"S":"none"}}}}]})"),
      R"("ConsumedCapacity":[{"TableName":"Tab","CapacityUnits":2.0,"ReadCapacityUnits":2.0}]})");
  EXPECT_EQ(ask_capacity("GetItem", R"({"ReturnConsumedCapacity":"TOTAL","TableName":"Tab",
    "Key":{"p":{"S":"none"}}})"),
            R"("ConsumedCapacity":{"TableName":"Tab","CapacityUnits":0.5}})");
  EXPECT_EQ(ask_capacity("GetItem", R"({"ReturnConsumedCapacity":"NONE","TableName":"Tab",
    "Key":{"p":{"S":"none"}}})"),
            "");
}

TEST_F(Exactness, SpellingsOfSdksAreRead) {
  EXPECT_EQ(must(ask("UpdateItem", R"j({"TableName":"Tab","Key":{"p":{"S":"go"}},
    "ConditionExpression":"(attribute_not_exists (#0)) AND (attribute_not_exists (#1))",
    "UpdateExpression":"SET #0 = :0\nREMOVE #1\n","ReturnValues":"UPDATED_NEW",
    "ExpressionAttributeNames":{"#0":"a","#1":"b"},
    "ExpressionAttributeValues":{":0":{"S":"x"}}})j")),
            R"({"Attributes":{"a":{"S":"x"}}})");
}

TEST_F(Exactness, SchemasOfTablesAreJudgedInOrder) {
  expect_refusals({
      {"CreateTable", R"({"TableName":"New","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"p","KeyType":"HASH"},
                     {"AttributeName":"p","KeyType":"RANGE"}]})",
       "Invalid KeySchema: Some index key attribute have no definition"},
      {"CreateTable", R"({"TableName":"New","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"},
          {"AttributeName":"q","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"p","KeyType":"RANGE"},
                     {"AttributeName":"p","KeyType":"HASH"}]})",
       "Both the Hash Key and the Range Key element in the KeySchema have the same name"},
      {"CreateTable", R"({"TableName":"New","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"q","KeyType":"RANGE"},
                     {"AttributeName":"r","KeyType":"RANGE"}]})",
       "1 validation error detected: Value '[KeySchemaElement(attributeName=p, keyType=HASH), "
       "KeySchemaElement(attributeName=q, keyType=RANGE), KeySchemaElement(attributeName=r, "
       "keyType=RANGE)]' at 'keySchema' failed to satisfy constraint: Member must have length less "
       "than or equal to 2"},
      {"CreateTable", R"({"TableName":"New","BillingMode":"PAY_PER_REQUEST",
        "AttributeDefinitions":[{"AttributeName":"q","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"p","KeyType":"HASH"}]})",
       "One or more parameter values were invalid: Some index key attributes are not defined in "
       "AttributeDefinitions. Keys: [p], AttributeDefinitions: [q]"},
  });
}

TEST_F(Exactness, PlaceholdersAreThereAndNamed) {
  expect_refusals({
      {"Query", R"({"TableName":"Tab","FilterExpression":":v = :v","ExpressionAttributeNames":{},
        "KeyConditions":{"p":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"a"}]}},
        "ExpressionAttributeValues":{":v":{"S":"a"}}})",
       "ExpressionAttributeNames must not be empty"},
      {"Query", R"({"TableName":"Tab","FilterExpression":"a = b","ExpressionAttributeValues":{},
        "KeyConditions":{"p":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"a"}]}}})",
       "ExpressionAttributeValues must not be empty"},
      {"Scan", R"({"TableName":"Tab","FilterExpression":"#n = #n",
        "ExpressionAttributeNames":{"#n":null}})",
       "ExpressionAttributeNames contains invalid value: null for key #n"},
  });
}

}  // namespace
}  // namespace stator::protocol
