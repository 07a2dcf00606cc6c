// SPDX-License-Identifier: Apache-2.0
// Tests which check of a request fails first, and its exact message.
#include "api/model/constraints.h"
#include "protocol/exactness_harness.h"
#include "support/matchers.h"

namespace stator::protocol {
namespace {

// A missing, empty or malformed table name is the only reported error, whatever else is wrong.
TEST_F(Exactness, TheTableNameIsCheckedFirstAndReportedAlone) {
  for (const std::string_view name :
       {"GetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan"}) {
    const std::string rest = R"("ReturnConsumedCapacity":"WRONG","Item":{"p":{}},"Key":{"p":{}})";
    const std::string start = "1 validation error detected: Value ";
    const std::string empty = name == "Scan" ? "'' at 'tableName'" : "at 'TableName'";
    const std::pair<std::string, std::string> names[] = {
        {"", start + "null at 'tableName' failed to satisfy constraint: Member must not be null"},
        {R"("TableName":null,)",
         start + "null at 'tableName' failed to satisfy constraint: Member must not be null"},
        {R"("TableName":"",)",
         start + empty +
             " failed to satisfy constraint: Member must have length greater than or equal to 1"},
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

TEST_F(Exactness, ManagementOperationsHaveTheirOwnTableNameMessages) {
  for (const std::string_view name : {"CreateTable", "DescribeTable", "DeleteTable"}) {
    expect_refusals({
        {name, R"({"BillingMode":"WRONG"})",
         "The parameter 'TableName' is required but was not present in the request"},
        {name, R"({"TableName":"","KeySchema":[]})",
         "2 validation errors detected: Value '' at 'tableName' failed to satisfy constraint: "
         "Member must have length greater than or equal to 3; Value '' at 'tableName' failed to "
         "satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"},
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

TEST_F(Exactness, EmptyNamesViolateTheirLengthAndTheirPattern) {
  const std::string length =
      " failed to satisfy constraint: Member must have length greater than or equal to 3";
  const std::string pattern =
      " failed to satisfy constraint: Member must satisfy regular expression pattern: "
      "[a-zA-Z0-9_.-]+";
  const std::string index = "Value '' at 'globalSecondaryIndexUpdates.1.member.create.indexName'";
  const std::string start = "Value '' at 'exclusiveStartTableName'";
  const std::string of_index = "Value '' at 'indexName'";
  expect_refusals({
      {"UpdateTable", R"({"TableName":"Tab","GlobalSecondaryIndexUpdates":[{"Create":{
        "IndexName":"","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],
        "Projection":{"ProjectionType":"ALL"}}}]})",
       "2 validation errors detected: " + index + length + "; " + index + pattern},
      {"Query", R"({"TableName":"Tab","IndexName":""})",
       "2 validation errors detected: " + of_index + length + "; " + of_index + pattern},
      {"ListTables", R"({"ExclusiveStartTableName":""})",
       "2 validation errors detected: " + start + pattern + "; " + start + length},
  });
}

// The text of a request's violations: each path's member must not be null.
std::string missing(std::initializer_list<std::string_view> paths) {
  std::string texts;
  for (const std::string_view path : paths) {
    if (!texts.empty()) texts += "; ";
    texts.append("Value null at '").append(path);
    texts += "' failed to satisfy constraint: Member must not be null";
  }
  return std::to_string(paths.size()) + " validation error" + (paths.size() == 1 ? "" : "s") +
         " detected: " + texts;
}

// No default value violates other constraints on top.
TEST_F(Exactness, AbsentMembersAreReportedOnce) {
  const std::string table = R"({"TableName":"Tab",)";
  const std::string keyed = R"({"TableName":"New","BillingMode":"PAY_PER_REQUEST",)"
                            R"("AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],)"
                            R"("KeySchema":[{"AttributeName":"p","KeyType":"HASH"}],)";
  const std::pair<std::string, std::string> tables[] = {
      {R"({"TableName":"New","AttributeDefinitions":[{}],
           "KeySchema":[{"AttributeName":"p","KeyType":"HASH"}]})",
       missing({"attributeDefinitions.1.member.attributeType",
                "attributeDefinitions.1.member.attributeName"})},
      {R"({"TableName":"New","KeySchema":[{}],
           "AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}]})",
       missing({"keySchema.1.member.attributeName", "keySchema.1.member.keyType"})},
      {R"({"TableName":"New"})", missing({"attributeDefinitions", "keySchema"})},
      {keyed + R"("ProvisionedThroughput":{}})",
       missing({"provisionedThroughput.writeCapacityUnits",
                "provisionedThroughput.readCapacityUnits"})},
      {keyed + R"("GlobalSecondaryIndexes":[{}]})",
       missing({"globalSecondaryIndexes.1.member.indexName",
                "globalSecondaryIndexes.1.member.keySchema",
                "globalSecondaryIndexes.1.member.projection"})},
      {keyed + R"("VectorIndexes":[{}]})",
       missing({"vectorIndexes.1.member.indexName", "vectorIndexes.1.member.vectorAttribute",
                "vectorIndexes.1.member.projection", "vectorIndexes.1.member.dimensions",
                "vectorIndexes.1.member.distanceFunction"})},
  };
  for (const auto& [request, message] : tables) {
    expect_refusals({{"CreateTable", request, message}});
  }
  const std::pair<std::string, std::string> changes[] = {
      {table + R"("AttributeDefinitions":[{}]})",
       missing({"attributeDefinitions.1.member.attributeType",
                "attributeDefinitions.1.member.attributeName"})},
      {table + R"("GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"global",
                  "ProvisionedThroughput":{}}}]})",
       missing(
           {"globalSecondaryIndexUpdates.1.member.update.provisionedThroughput.writeCapacityUnits",
            "globalSecondaryIndexUpdates.1.member.update.provisionedThroughput."
            "readCapacityUnits"})},
      {table + R"("GlobalSecondaryIndexUpdates":[{"Delete":{}}]})",
       missing({"globalSecondaryIndexUpdates.1.member.delete.indexName"})},
      {table + R"("VectorIndexUpdates":[{"Delete":{}}]})",
       missing({"vectorIndexUpdates.1.member.delete.indexName"})},
  };
  for (const auto& [request, message] : changes) {
    expect_refusals({{"UpdateTable", request, message}});
  }
  expect_refusals({
      {"UpdateTimeToLive", R"({"TableName":"Tab"})", missing({"timeToLiveSpecification"})},
      {"UpdateTimeToLive", R"({"TableName":"Tab","TimeToLiveSpecification":{}})",
       missing({"timeToLiveSpecification.attributeName", "timeToLiveSpecification.enabled"})},
      {"UpdateTimeToLive", R"({"TableName":"Tab","TimeToLiveSpecification":{"AttributeName":"",
                               "Enabled":true}})",
       "1 validation error detected: Value '' at 'timeToLiveSpecification.attributeName' failed to "
       "satisfy constraint: Member must have length greater than or equal to 1"},
      {"DescribeStream", "{}", missing({"streamArn"})},
      {"GetShardIterator", "{}", missing({"streamArn", "shardId", "shardIteratorType"})},
      {"GetRecords", "{}", missing({"shardIterator"})},
      {"ListStreams", R"({"TableName":""})",
       "1 validation error detected: Value '' at 'tableName' failed to satisfy constraint: Member "
       "must have length greater than or equal to 1"},
      {"ExecuteStatement", "{}", missing({"statement"})},
      {"BatchExecuteStatement", "{}", missing({"statements"})},
      {"BatchExecuteStatement", R"({"Statements":[{}]})",
       missing({"statements.1.member.statement"})},
      {"ExecuteTransaction", "{}", missing({"transactStatements"})},
      {"ExecuteTransaction", R"({"TransactStatements":[{}]})",
       missing({"transactStatements.1.member.statement"})},
      {"TransactGetItems", R"({"TransactItems":[{},{"Get":{"TableName":"Tab"}}]})",
       missing({"transactItems.1.member.get", "transactItems.2.member.get.key"})},
      {"TransactWriteItems", R"({"TransactItems":[{},{"Update":{}}]})",
       missing({"transactItems.2.member.update.tableName", "transactItems.2.member.update.key",
                "transactItems.2.member.update.updateExpression"})},
      {"TransactWriteItems",
       R"({"TransactItems":[{"Delete":{"TableName":"","Key":{"p":{"S":"a"}}}}]})",
       "1 validation error detected: Value '' at 'transactItems.1.member.delete.tableName' failed "
       "to satisfy constraint: Member must have length greater than or equal to 1"},
      {"TransactGetItems", R"({"TransactItems":[{"Get":{"TableName":"","Key":{}}}]})",
       "1 validation error detected: Value '' at 'transactItems.1.member.get.tableName' failed to "
       "satisfy constraint: Member must have length greater than or equal to 1"},
  });
}

TEST_F(Exactness, WrongJsonTypesAreReportedFirst) {
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
       "1 validation error detected: Failed to satisfy constraint: Member must satisfy enum value "
       "set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"},
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
      {"BatchGetItem", "{}",
       "1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: Member "
       "must have length greater than or equal to 1"},
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
       counted(mixed)},
      {"DeleteItem", R"({"TableName":"Tab","Key":{"a":{}},"Expected":{"a":{}},
        "ConditionExpression":""})",
       counted(mixed)},
      {"PutItem", R"({"TableName":"Tab","Item":{"a":{}},"Expected":{"a":{}},
        "ExpressionAttributeNames":{},"ExpressionAttributeValues":{}})",
       counted("ExpressionAttributeNames can only be specified when using expressions")},
      {"PutItem", R"({"TableName":"Tab","Item":{"a":{}},"Expected":{"a":{}},
        "ExpressionAttributeValues":{}})",
       counted("ExpressionAttributeValues can only be specified when using expressions")},
      {"UpdateItem", R"({"TableName":"Tab","Key":{"a":{}},"ExpressionAttributeValues":{}})",
       counted("ExpressionAttributeValues can only be specified when using expressions")},
      {"Query", R"({"TableName":"Tab","ExclusiveStartKey":{"a":{}},
        "QueryFilter":{},"KeyConditions":{},"FilterExpression":""})",
       "Can not use both expression and non-expression parameters in the same request: "
       "Non-expression parameters: {QueryFilter} Expression parameters: {FilterExpression}"},
      {"PutItem", R"({"TableName":"Tab","Item":{"a":{}},"ReturnValues":"ALL_NEW"})",
       "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes"},
      {"PutItem", R"({"TableName":"Gone","Item":{"a":{"S":"b"}},"ReturnValues":"ALL_NEW"})",
       counted("ReturnValues can only be ALL_OLD or NONE")},
      {"PutItem", R"({"TableName":"Gone","Item":{"a":{"S":"b"}},"Expected":{"a":{}}})",
       counted("One or more parameter values were invalid: Value must be provided when Exists is "
               "null for Attribute: a")},
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
       counted("Invalid ConditionExpression: The expression can not be empty;")},
      {"UpdateItem", R"({"TableName":"Gone","Key":{},"UpdateExpression":"INVALID SYNTAX HERE"})",
       counted(
           "Invalid UpdateExpression: Syntax error; token: \"INVALID\", near: \"INVALID SYNTAX\"")},
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
  const std::string schema = "The provided key element does not match the schema";
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
  EXPECT_EQ(update("UPDATED_NEW", "SET l[9] = :v"), "{}");
  EXPECT_EQ(update("UPDATED_NEW", "SET l[2] = :v"), R"({"Attributes":{"l":{"L":[{"N":"7"}]}}})");
  EXPECT_EQ(update("UPDATED_NEW", "SET m.x = :v"), R"({"Attributes":{"m":{"M":{"x":{"N":"7"}}}}})");
  EXPECT_EQ(update("UPDATED_OLD", "SET m.x = :v"), R"({"Attributes":{"m":{"M":{"x":{"N":"7"}}}}})");
  EXPECT_EQ(update("UPDATED_NEW", "REMOVE m.y"), "{}");
  EXPECT_EQ(update("UPDATED_OLD", "SET n = :v"), "{}");
}

TEST_F(Exactness, BareNamesDoNotBeginWithAnUnderscore) {
  const std::string values = R"("ExpressionAttributeValues":{":v":{"S":"a"}})";
  const std::string update = R"({"TableName":"Tab","Key":{"p":{"S":"a"}},)" + values;
  const std::string query = R"({"TableName":"Tab",)" + values;
  const std::string set = update + R"(,"UpdateExpression":"SET _abc = :v"})";
  const std::string function = update + R"j(,"UpdateExpression":"SET a = _f(b)"})j";
  const std::string condition =
      update + R"(,"UpdateExpression":"SET a = :v","ConditionExpression":"_a = :v"})";
  const std::string key = query + R"(,"KeyConditionExpression":"_p = :v"})";
  const std::string filter =
      query + R"(,"KeyConditionExpression":"p = :v","FilterExpression":"b = _a"})";
  const std::string syntax = "Syntax error; token: \"_\", near: ";
  expect_refusals({
      {"UpdateItem", set, counted("Invalid UpdateExpression: " + syntax + "\"SET _abc\"")},
      {"UpdateItem", function, counted("Invalid UpdateExpression: " + syntax + "\"= _f\"")},
      {"UpdateItem", condition, counted("Invalid ConditionExpression: " + syntax + "\"_a\"")},
      {"GetItem", R"({"TableName":"Tab","Key":{"p":{"S":"a"}},"ProjectionExpression":"a, _b"})",
       "Invalid ProjectionExpression: " + syntax + "\", _b\""},
      {"Query", key, "Invalid KeyConditionExpression: " + syntax + "\"_p\""},
      {"Query", filter, "Invalid FilterExpression: " + syntax + "\"= _a\""},
  });
}

// Calls `check` with the name of each operation on a resource and a function that makes its
// request.
template <class Check>
void for_each_resource_operation(Check check) {
  const std::pair<std::string, std::string> operations[] = {
      {"TagResource", R"(,"Tags":[{"Key":"k","Value":"v"}])"},
      {"UntagResource", R"(,"TagKeys":["k"])"},
      {"ListTagsOfResource", ""},
      {"PutResourcePolicy", R"(,"Policy":"{}")"},
      {"GetResourcePolicy", ""},
      {"DeleteResourcePolicy", ""},
  };
  for (const auto& [operation, more] : operations) {
    check(operation,
          [&](const std::string& arn) { return R"({"ResourceArn":")" + arn + "\"" + more + "}"; });
  }
}

TEST_F(Exactness, MalformedResourceArnsAreQuoted) {
  const std::string other = "arn:aws:dynamodb:us-east-1:000000782867:global-table/Tab";
  const std::string elsewhere = "arn:aws:dynamodb:eu-west-1:000000782867:table/Tab";
  for_each_resource_operation([&](const std::string& operation, const auto& request) {
    const std::string none = request("none");
    const std::string no_table = request(other);
    const std::string of_region = request(elsewhere);
    const bool of_policies = operation.ends_with("Policy");
    expect_refusals({
        {operation, none, kInvalid + "ARNs must start with 'arn:': none"},
        {operation, no_table, kInvalid + "Provided Arn is not a DynamoDB resource arn: " + other},
        {operation, of_region,
         of_policies ? kInvalid + "Invalid resource Arn: " + elsewhere
                     : "Invalid TableArn: Invalid ResourceArn provided as input " + elsewhere},
    });
  });
}

TEST_F(Exactness, AbsentTablesOfResourceArnsAreReported) {
  const std::string absent = "arn:aws:dynamodb:us-east-1:000000782867:table/Gone";
  for_each_resource_operation([&](const std::string& operation, const auto& request) {
    EXPECT_THAT(ask(operation, request(absent)),
                test::FailsWith(Code::kResourceNotFound, "Requested resource not found"))
        << operation;
  });
}

TEST_F(Exactness, FunctionsAreNotNested) {
  const std::string reason =
      "The function is not allowed to be used this way in an expression; function: ";
  expect_refusals({
      {"UpdateItem", R"-({"TableName":"Tab","Key":{"p":{"S":"a"}},
        "UpdateExpression":"SET d = list_append(list_append(:a, :a), :a)",
        "ExpressionAttributeValues":{":a":{"L":[]}}})-",
       "1 validation error detected: Invalid UpdateExpression: " + reason + "list_append"},
      {"Scan", R"({"TableName":"Tab","FilterExpression":"size(size(d)) > :n",
        "ExpressionAttributeValues":{":n":{"N":"1"}}})",
       "Invalid FilterExpression: Incorrect operand type for operator or function; operator or "
       "function: size, operand type: N"},
  });
}

TEST_F(Exactness, TokensAreMeasuredInCharacters) {
  const auto transaction = [](int characters) {
    std::string token;
    for (int i = 0; i < characters; ++i) token += "\u00fc";
    return R"({"ClientRequestToken":")" + token +
           R"(","TransactStatements":[{"Statement":"SELECT * FROM Tab WHERE p='a'"}]})";
  };
  EXPECT_THAT(ask("ExecuteTransaction", transaction(36)), test::IsOk());
  EXPECT_THAT(
      ask("ExecuteTransaction", transaction(37)),
      test::FailsWith(Code::kValidation, "Member must have length less than or equal to 36"));
}

TEST_F(Exactness, ValuesNestAtMost31LevelsEverywhere) {
  const auto requests = [](const std::string& value) {
    return std::vector<std::pair<std::string, std::string>>{
        {"PutItem", R"({"TableName":"Tab","Item":{"p":{"S":"a"},"d":)" + value + "}}"},
        {"UpdateItem", R"({"TableName":"Tab","Key":{"p":{"S":"a"}},"UpdateExpression":"SET d = :d",
           "ExpressionAttributeValues":{":d":)" +
                           value + "}}"},
        {"UpdateItem",
         R"({"TableName":"Tab","Key":{"p":{"S":"a"}},"AttributeUpdates":{"d":{"Value":)" + value +
             "}}}"},
        {"BatchWriteItem",
         R"({"RequestItems":{"Tab":[{"PutRequest":{"Item":{"p":{"S":"a"},"d":)" + value + "}}}]}}"},
        {"TransactWriteItems",
         R"({"TransactItems":[{"Put":{"TableName":"Tab","Item":{"p":{"S":"a"},"d":)" + value +
             "}}}]}"},
        {"Scan", R"({"TableName":"Tab","FilterExpression":"d = :d","ExpressionAttributeValues":
           {":d":)" + value +
                     "}}"},
        {"ExecuteStatement",
         R"({"Statement":"UPDATE Tab SET d=? WHERE p='a'","Parameters":[)" + value + "]}"},
        {"Query", R"({"TableName":"Tab","KeyConditionExpression":"p = :p",
           "FilterExpression":"d = :d","ExpressionAttributeValues":{":p":{"S":"a"},":d":)" +
                      value + "}}"},
        {"PutItem", R"({"TableName":"Tab","Item":{"p":{"S":"b"}},
           "Expected":{"d":{"ComparisonOperator":"NE","AttributeValueList":[)" +
                        value + "]}}}"},
        {"DeleteItem", R"({"TableName":"Tab","Key":{"p":{"S":"b"}},"ConditionExpression":"d <> :d",
           "ExpressionAttributeValues":{":d":)" +
                           value + "}}"},
    };
  };
  for (const auto& [operation, request] : requests(deep(31))) {
    EXPECT_THAT(ask(operation, request), test::IsOk()) << operation;
  }
  for (const auto& [operation, request] : requests(deep(32))) {
    EXPECT_THAT(ask(operation, request),
                test::FailsWith(Code::kValidation,
                                "Nesting Levels have exceeded supported limits: Attributes in the "
                                "item have nested levels beyond supported limit"))
        << operation;
  }
}

TEST_F(Exactness, ExponentsAreReadInFull) {
  const std::pair<std::string_view, std::string_view> numbers[] = {
      {"1e99999999999", "Number overflow. Attempting to store a number with magnitude larger"},
      {"0e126", "Number overflow. Attempting to store a number with magnitude larger"},
      {"0e-131", "Number underflow. Attempting to store a number with magnitude smaller"},
      {"1e9223372036854775808",
       "The parameter cannot be converted to a numeric value: 1e9223372036854775808"},
  };
  for (const auto& [number, message] : numbers) {
    std::string put = R"({"TableName":"Tab","Item":{"p":{"S":"a"},"n":{"N":")";
    EXPECT_THAT(ask("PutItem", put.append(number).append("\"}}}")),
                test::FailsWith(Code::kValidation, std::string(message)));
    std::string insert = R"({"Statement":"INSERT INTO Tab VALUE {'p':'a','n':)";
    EXPECT_FALSE(ask("ExecuteStatement", insert.append(number).append("}\"}")));
  }
}

TEST_F(Exactness, NamesOfAttributesHaveAtMost65535Bytes) {
  const std::string_view refused = "Attribute name is too large, must be less than 65536 bytes";
  const std::string name(65'536, 'a');
  const std::string nested = R"({"L":[{"M":{")" + name + R"(":{"S":"a"}}}]})";
  const std::pair<std::string, std::string> requests[] = {
      {"PutItem", R"({"TableName":"Tab","Item":{"p":{"S":"a"},")" + name + R"(":{"S":"a"}}})"},
      {"PutItem", R"({"TableName":"Tab","Item":{"p":{"S":"a"},"d":)" + nested + "}}"},
      {"UpdateItem", R"({"TableName":"Tab","Key":{"p":{"S":"a"}},"UpdateExpression":"SET d = :d",
         "ExpressionAttributeValues":{":d":)" +
                         nested + "}}"},
      {"UpdateItem", R"({"TableName":"Tab","Key":{"p":{"S":"a"}},"UpdateExpression":"REMOVE #d",
         "ExpressionAttributeNames":{"#d":")" +
                         name + R"("}})"},
      {"UpdateItem", R"({"TableName":"Tab","Key":{"p":{"S":"a"}},"AttributeUpdates":{")" + name +
                         R"(":{"Action":"DELETE"}}})"},
      {"BatchWriteItem",
       R"({"RequestItems":{"Tab":[{"PutRequest":{"Item":{"p":{"S":"a"},"d":)" + nested + "}}}]}}"},
      {"TransactWriteItems",
       R"({"TransactItems":[{"Put":{"TableName":"Tab","Item":{"p":{"S":"a"},"d":)" + nested +
           "}}}]}"},
      {"ExecuteStatement",
       R"({"Statement":"UPDATE Tab SET d=? WHERE p='a'","Parameters":[)" + nested + "]}"},
  };
  for (const auto& [operation, request] : requests) {
    EXPECT_THAT(ask(operation, request), test::FailsWith(Code::kValidation, std::string(refused)))
        << operation;
  }
}

TEST_F(Exactness, UpdatesThatOnlyRemoveCreateNoItem) {
  for (const std::string_view update : {
           R"("UpdateExpression":"REMOVE a")",
           R"("UpdateExpression":"REMOVE x.y, z[0]")",
           R"("UpdateExpression":"DELETE a :s","ExpressionAttributeValues":{":s":{"SS":["b"]}})",
           R"("AttributeUpdates":{"a":{"Action":"DELETE"}})",
           R"("AttributeUpdates":{"a":{"Action":"DELETE","Value":{"SS":["b"]}}})",
       }) {
    for (const std::string_view wanted : {"ALL_NEW", "UPDATED_NEW", "ALL_OLD"}) {
      std::string request = R"({"TableName":"Tab","Key":{"p":{"S":"new"}},"ReturnValues":")";
      request.append(wanted).append("\",").append(update).append("}");
      EXPECT_EQ(must(ask("UpdateItem", request)), "{}") << request;
    }
    EXPECT_EQ(must(ask("GetItem", R"({"TableName":"Tab","Key":{"p":{"S":"new"}}})")), "{}");
  }
  must(ask("TransactWriteItems", R"({"TransactItems":[{"Update":{"TableName":"Tab",
    "Key":{"p":{"S":"new"}},"UpdateExpression":"REMOVE a"}}]})"));
  EXPECT_EQ(must(ask("GetItem", R"({"TableName":"Tab","Key":{"p":{"S":"new"}}})")), "{}");
  EXPECT_EQ(must(ask("UpdateItem", R"({"TableName":"Tab","Key":{"p":{"S":"new"}},
    "AttributeUpdates":{},"ReturnValues":"ALL_NEW"})")),
            R"({"Attributes":{"p":{"S":"new"}}})");
}

TEST_F(Exactness, CapacityIsThatOfDynamoDb) {
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
  // Putting the same item again changes no index. A changed index key costs two writes.
  EXPECT_EQ(ask_capacity("PutItem", put),
            R"("ConsumedCapacity":{"TableName":"Two","CapacityUnits":1.0,)"
            R"("Table":{"CapacityUnits":1.0}}})");
  const std::string_view move = R"({"TableName":"Two","ReturnConsumedCapacity":"TOTAL",
    "Key":{"p":{"S":"a"},"s":{"N":"1"}},"UpdateExpression":"SET g = :g",
    "ExpressionAttributeValues":{":g":{"S":"h"}}})";
  EXPECT_EQ(ask_capacity("UpdateItem", move),
            R"("ConsumedCapacity":{"TableName":"Two","CapacityUnits":3.0}})");
  // A transaction doubles only the table's part.
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
