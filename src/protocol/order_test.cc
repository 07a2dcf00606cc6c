// SPDX-License-Identifier: Apache-2.0
// Tests which of several errors in a request DynamoDB reports: batches, transactions, tables.
#include "api/model/constraints.h"
#include "protocol/exactness_harness.h"

namespace stator::protocol {
namespace {

const std::string kDuplicates = "Provided list of item keys contains duplicates";
const std::string kNoMatch = "The provided key element does not match the schema";
const std::string kTooDeep =
    "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels "
    "beyond supported limit";

TEST_F(Exactness, BatchGetItemRefusesLegacyAndExpressionProjectionsTogether) {
  expect_refusals({{"BatchGetItem",
                    R"({"RequestItems":{
                      "Tab":{"Keys":[{"p":{"S":"a"}}],"ProjectionExpression":"p"},
                      "Two":{"Keys":[{"p":{"S":"a"},"s":{"N":"1"}}],"AttributesToGet":["p"]}}})",
                    "Can not use both expression and non-expression parameters in the same "
                    "request: Non-expression parameters: {AttributesToGet} Expression parameters: "
                    "{ProjectionExpression}"}});
  must(ask("BatchGetItem", R"({"RequestItems":{
    "Tab":{"Keys":[{"p":{"S":"a"}}],"AttributesToGet":["p"]},
    "Two":{"Keys":[{"p":{"S":"a"},"s":{"N":"1"}}],"AttributesToGet":["p"]}}})"));
}

TEST_F(Exactness, BatchesJudgeSizesAndDuplicatesBeforeTables) {
  const std::string large =
      R"({"PutRequest":{"Item":{"p":{"S":"a"},"b":{"S":")" + std::string(410'000, 'x') + R"("}}}})";
  const std::string large_for_gone = R"({"RequestItems":{"Gone":[)" + large + "]}}";
  const std::string large_after_gone =
      R"({"RequestItems":{"Gone":[{"DeleteRequest":{"Key":{"p":{"S":"a"}}}}],"Tab":[)" + large +
      "]}}";
  expect_refusals({
      {"BatchWriteItem", large_for_gone, "Item size has exceeded the maximum allowed size"},
      {"BatchWriteItem", large_after_gone, "Item size has exceeded the maximum allowed size"},
      {"BatchWriteItem", R"({"RequestItems":{"Gone":[{"DeleteRequest":{"Key":{"p":{"S":"a"}}}},
        {"DeleteRequest":{"Key":{"p":{"S":"a"}}}}]}})",
       kDuplicates},
      {"BatchWriteItem", R"({"RequestItems":{"Gone":[{"DeleteRequest":{"Key":{"p":{"S":"a"}}}}],
        "Tab":[{"DeleteRequest":{"Key":{"p":{"S":"a"}}}},
               {"PutRequest":{"Item":{"p":{"S":"a"},"q":{"S":"b"}}}}]}})",
       kDuplicates},
      {"BatchGetItem", R"({"RequestItems":{"Gone":{"Keys":[{"p":{"N":"1"}},{"p":{"N":"1.0"}}]}}})",
       kDuplicates},
      {"BatchGetItem", R"({"RequestItems":{"Gone":{"Keys":[{"p":{"S":"a"}}]},
        "Tab":{"Keys":[{"p":{"S":"a"}},{"p":{"S":"a"}}]}}})",
       kDuplicates},
  });
  expect_refusals(
      {
          {"BatchWriteItem", R"({"RequestItems":{"Tab":[{"DeleteRequest":{"Key":{}}}],
            "Zone":[{"DeleteRequest":{"Key":{"p":{"S":"a"}}}}]}})",
           "Requested resource not found"},
          {"BatchGetItem", R"({"RequestItems":{"Tab":{"Keys":[{}]},"Zone":{"Keys":[{}]}}})",
           "Requested resource not found"},
      },
      Code::kResourceNotFound);
}

TEST_F(Exactness, BatchWriteItemMatchesTheKeysOfItemsWithTheSchema) {
  const auto put = [](const std::string& item) {
    return R"({"RequestItems":{"Tab":[{"PutRequest":{"Item":)" + item + "}}]}}";
  };
  const std::string none = put(R"({"other":{"S":"x"}})");
  const std::string mistyped = put(R"({"p":{"N":"5"}})");
  const std::string list = put(R"({"p":{"L":[{"S":"x"}]}})");
  const std::string empty = put(R"({"p":{"S":""}})");
  expect_refusals({
      {"BatchWriteItem", none, kNoMatch},
      {"BatchWriteItem", mistyped, kNoMatch},
      {"BatchWriteItem", list, kNoMatch},
      {"BatchWriteItem", empty,
       "One or more parameter values are not valid. The AttributeValue for a key attribute cannot "
       "contain an empty string value. Key: p"},
      {"BatchWriteItem", R"({"RequestItems":{"Tab":[{"DeleteRequest":{"Key":
        {"p":{"S":"a"},"q":{"S":"a"}}}}]}})",
       kNoMatch},
      // Keys that are not there are not the same key.
      {"BatchWriteItem", R"({"RequestItems":{"Tab":[{"PutRequest":{"Item":{"q":{"S":"a"}}}},
        {"PutRequest":{"Item":{"r":{"S":"b"}}}}]}})",
       kNoMatch},
  });
}

TEST_F(Exactness, TransactWriteItemsReportsTheFirstActionsFault) {
  const auto transact = [](const std::string& first, const std::string& second) {
    return R"({"TransactItems":[)" + first + "," + second + "]}";
  };
  const std::string check =
      R"({"ConditionCheck":{"TableName":"Gone","Key":{"p":{"S":"a"}},"ConditionExpression":)";
  const std::string syntax = check + R"("attribute_not_exists("}})";
  const std::string unused =
      check + R"j("attribute_exists(p)","ExpressionAttributeValues":{":u":{"S":"x"}}}})j";
  const std::string deep_put =
      R"({"Put":{"TableName":"Gone","Item":{"p":{"S":"b"},"d":)" + deep(40) + "}}}";
  const std::string deep_key = R"({"Delete":{"TableName":"Gone","Key":{"p":)" + deep(40) + "}}}";
  const std::string deep_value =
      check + R"("d = :deep","ExpressionAttributeValues":{":deep":)" + deep(40) + "}}}";
  const std::string no_name = R"({"Put":{"TableName":"Gone","Item":{"p":{"S":"c"},"":{"S":"x"}}}})";
  const std::string nested_name =
      R"({"Put":{"TableName":"Gone","Item":{"p":{"S":"a"},"m":{"M":{"":{"S":"x"}}}}}})";
  // Only the name of an attribute of the item itself precedes the depth.
  const std::string then_deep = R"(:{"S":"x"}}},"d":)" + deep(40) + "}}}";
  const std::string nested_name_then_deep =
      R"({"Put":{"TableName":"Gone","Item":{"p":{"S":"a"},"m":{"M":{"")" + then_deep;
  const std::string no_name_then_deep =
      R"({"Put":{"TableName":"Gone","Item":{"":{"M":{"x")" + then_deep;
  const std::string near =
      "Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \"(\"";
  const std::string not_used =
      "Value provided in ExpressionAttributeValues unused in expressions: keys: {:u}";
  const std::string not_valid =
      "ExpressionAttributeValues contains invalid value: " + kTooDeep + " for key :deep";
  const std::pair<std::string, std::string> cases[] = {
      {transact(syntax, deep_put), near},
      {transact(deep_put, syntax), kTooDeep},
      {transact(unused, deep_key), not_used},
      {transact(deep_key, unused), kTooDeep},
      {transact(deep_put, no_name), kTooDeep},
      {transact(no_name, deep_put), "Empty attribute name"},
      {transact(deep_value, no_name), not_valid},
      {transact(no_name, deep_value), "Empty attribute name"},
      {transact(nested_name, deep_put), "Empty attribute name"},
      {transact(no_name_then_deep, syntax), "Empty attribute name"},
      {transact(nested_name_then_deep, syntax), kTooDeep},
      {transact(R"({"Put":{"TableName":"Gone","Item":{}}})", syntax), near},
      {transact(R"({"Put":{"TableName":"Gone","Item":{}}})", "{}"),
       "TransactItems can only contain one of Check, Put, Update or Delete"},
  };
  for (const auto& [request, message] : cases) {
    expect_refusals({{"TransactWriteItems", request, message}});
  }
}

// The same, for an in-process request.
TEST_F(Exactness, TransactionsReportTheFirstActionsFaultInProcess) {
  TransactWriteItemsRequest request;
  request.items.push_back({.action = TransactAction::kConditionCheck,
                           .table = "Tab",
                           .item = {{"p", "a"}},
                           .condition = "a = = b"});
  request.items.push_back(
      {.action = TransactAction::kPut, .table = "Tab", .item = {{"p", "b"}, {"s", StringSet()}}});
  std::optional<Result<TransactWriteItemsResult>> written;
  const auto keep = [&](Result<TransactWriteItemsResult> result) { written = std::move(result); };
  engine_->transact_write_items(request, keep);
  EXPECT_EQ(written->error().message,
            "Invalid ConditionExpression: Syntax error; token: \"=\", near: \"= = b\"");
  std::swap(request.items[0], request.items[1]);
  engine_->transact_write_items(request, keep);
  EXPECT_EQ(written->error().message, kInvalid + "An string set  may not be empty");
  request.items[0].item = {{"p", "b"}, {"m", Map{{"", "x"}}}, {"s", StringSet()}};
  engine_->transact_write_items(request, keep);
  EXPECT_EQ(written->error().message, kInvalid + "An string set  may not be empty");
  request.items[0].item.erase("s");
  engine_->transact_write_items(request, keep);
  EXPECT_EQ(written->error().message, "Empty attribute name");
}

// The count of the actions is a constraint of the model like the others.
TEST_F(Exactness, TransactionsReportTheirLengthWithOtherViolations) {
  const std::string empty =
      "Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater "
      "than or equal to 1";
  const std::string capacity =
      "Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy "
      "enum value set: [INDEXES, TOTAL, NONE]";
  const std::string token =
      "Value '' at 'clientRequestToken' failed to satisfy constraint: Member must have length "
      "greater than or equal to 1";
  expect_refusals({
      {"TransactWriteItems", R"({"TransactItems":[]})", counted(empty)},
      {"TransactGetItems", R"({"TransactItems":[]})", counted(empty)},
      {"TransactWriteItems", R"({"TransactItems":[],"ReturnConsumedCapacity":"BOGUS"})",
       "2 validation errors detected: " + capacity + "; " + empty},
      {"TransactGetItems", R"({"TransactItems":[],"ReturnConsumedCapacity":"BOGUS"})",
       "2 validation errors detected: " + empty + "; " + capacity},
      {"TransactWriteItems", R"({"TransactItems":[],"ClientRequestToken":""})",
       "2 validation errors detected: " + token + "; " + empty},
      {"CreateTable", R"({"TableName":"New","KeySchema":[],
        "AttributeDefinitions":[{"AttributeName":"","AttributeType":"S"}]})",
       "2 validation errors detected: Value '[]' at 'keySchema' failed to satisfy constraint: "
       "Member must have length greater than or equal to 1; Value '' at "
       "'attributeDefinitions.1.member.attributeName' failed to satisfy constraint: Member must "
       "have length greater than or equal to 1"},
  });
}

std::string create_table(const std::string& attributes, const std::string& more) {
  std::string definitions;
  for (const char name : attributes) {
    if (!definitions.empty()) definitions += ",";
    definitions.append(R"({"AttributeType":"S","AttributeName":")").append(1, name).append("\"}");
  }
  return R"({"TableName":"New","AttributeDefinitions":[)" + definitions +
         R"(],"KeySchema":[{"AttributeName":"p","KeyType":"HASH"}],)" + more + "}";
}

std::string global_index(const std::string& keys, const std::string& more) {
  return R"("BillingMode":"PAY_PER_REQUEST","GlobalSecondaryIndexes":[{"IndexName":"gsi",)"
         R"("KeySchema":[)" +
         keys + "]," + more + "}]";
}

const std::string kOnA = R"({"AttributeName":"a","KeyType":"HASH"})";
const std::string kAll = R"("Projection":{"ProjectionType":"ALL"})";

TEST_F(Exactness, CreateTableJudgesNamesOfGlobalIndexesFirst) {
  const std::string too_short =
      "failed to satisfy constraint: Member must have length greater than or equal to 3";
  expect_refusals({{"CreateTable", R"({"TableName":"New","BillingMode":"PAY_PER_REQUEST",
    "AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],
    "LocalSecondaryIndexes":[{"IndexName":"aa","Projection":{"ProjectionType":"ALL"},
      "KeySchema":[{"AttributeName":"p","KeyType":"HASH"}]}],
    "GlobalSecondaryIndexes":[{"IndexName":"zz","Projection":{"ProjectionType":"ALL"},
      "KeySchema":[{"AttributeName":"p","KeyType":"HASH"}]}],
    "KeySchema":[{"AttributeName":"p","KeyType":"HASH"}]})",
                    "2 validation errors detected: Value 'zz' at "
                    "'globalSecondaryIndexes.1.member.indexName' " +
                        too_short + "; Value 'aa' at 'localSecondaryIndexes.1.member.indexName' " +
                        too_short}});
}

TEST_F(Exactness, CreateTableJudgesTheKeysOfIndexesBeforeTheirSettings) {
  const std::string on_a_twice = kOnA + R"(,{"AttributeName":"a","KeyType":"RANGE"})";
  const std::string twice = create_table("pa", global_index(on_a_twice, kAll));
  const std::string nothing = create_table(
      "pa",
      global_index(kOnA, R"("Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":[]})"));
  const std::string untyped = create_table("pa", global_index(kOnA, R"("Projection":{})"));
  const std::string untyped_unused =
      create_table("paz", global_index(kOnA, R"("Projection":{"NonKeyAttributes":["x"]})"));
  const std::string untyped_twice =
      create_table("pa", global_index(on_a_twice, R"("Projection":{})"));
  const std::string same_name = "The KeySchema contains multiple key attributes with the same name";
  expect_refusals({
      {"CreateTable", twice, same_name},
      {"CreateTable", nothing,
       "1 validation error detected: Value '[]' at "
       "'globalSecondaryIndexes.1.member.projection.nonKeyAttributes' failed to satisfy "
       "constraint: Member must have length greater than or equal to 1"},
      {"CreateTable", untyped, kInvalid + "Unknown ProjectionType: null"},
      {"CreateTable", untyped_unused,
       kInvalid + "Some AttributeDefinitions are not used. AttributeDefinitions: [a, p, z], keys "
                  "used: [a, p]"},
      {"CreateTable", untyped_twice, same_name},
      {"CreateTable", R"({"TableName":"New","BillingMode":"PAY_PER_REQUEST","AttributeDefinitions":
        [{"AttributeName":"p","AttributeType":"S"},{"AttributeName":"s","AttributeType":"S"},
         {"AttributeName":"a","AttributeType":"S"}],
        "KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"s","KeyType":"RANGE"}],
        "LocalSecondaryIndexes":[{"IndexName":"lsi","Projection":{},"KeySchema":
          [{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"a","KeyType":"RANGE"}]}]})",
       kInvalid + "Unknown ProjectionType: null"},
      {"UpdateTable", R"({"TableName":"Tab","AttributeDefinitions":
        [{"AttributeName":"a","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":
        {"IndexName":"gsi","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],
         "Projection":{}}}]})",
       kInvalid + "Unknown ProjectionType: null"},
  });
}

TEST_F(Exactness, WarmThroughputIsNotLowerThanTheFirst) {
  const std::string see =
      " is lower than initial throughput for OnDemand. See: "
      "https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"
      "on-demand-capacity-mode.html#on-demand-capacity-mode-initial";
  const std::string on_demand = R"("BillingMode":"PAY_PER_REQUEST","WarmThroughput":)";
  const std::string reads = create_table("p", on_demand + R"({"ReadUnitsPerSecond":11999})");
  const std::string writes =
      create_table("p", on_demand + R"({"ReadUnitsPerSecond":12000,"WriteUnitsPerSecond":3999})");
  const std::string negative = create_table("p", on_demand + R"({"ReadUnitsPerSecond":-1})");
  const std::string provisioned = create_table("p", R"("BillingMode":"PROVISIONED",
    "ProvisionedThroughput":{"ReadCapacityUnits":10,"WriteCapacityUnits":10},
    "WarmThroughput":{"ReadUnitsPerSecond":5,"WriteUnitsPerSecond":5})");
  const std::string index = create_table(
      "pa", global_index(kOnA, kAll + R"(,"WarmThroughput":{"ReadUnitsPerSecond":1})"));
  expect_refusals({
      {"CreateTable", reads,
       kInvalid + "Requested ReadUnitsPerSecond for WarmThroughput for table" + see},
      {"CreateTable", writes,
       kInvalid + "Requested WriteUnitsPerSecond for WarmThroughput for table" + see},
      {"CreateTable", negative,
       kInvalid + "Requested ReadUnitsPerSecond for WarmThroughput for table" + see},
      {"CreateTable", provisioned,
       kInvalid + "Requested ReadUnitsPerSecond for WarmThroughput for table is lower than "
                  "ReadCapacityUnits of ProvisionedThroughput"},
      {"CreateTable", index,
       kInvalid + "Requested ReadUnitsPerSecond for WarmThroughput for index gsi" + see},
      {"UpdateTable", R"({"TableName":"Tab","AttributeDefinitions":
        [{"AttributeName":"a","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":
        {"IndexName":"gsi","KeySchema":[{"AttributeName":"a","KeyType":"HASH"}],
         "Projection":{"ProjectionType":"ALL"},"WarmThroughput":{"ReadUnitsPerSecond":1}}}]})",
       kInvalid + "Requested ReadUnitsPerSecond for WarmThroughput for index gsi" + see},
      {"UpdateTable", R"({"TableName":"Two","GlobalSecondaryIndexUpdates":[{"Update":
        {"IndexName":"global","WarmThroughput":{"ReadUnitsPerSecond":1}}}]})",
       kInvalid + "Requested ReadUnitsPerSecond for WarmThroughput for index global is lower than "
                  "current WarmThroughput, decreasing WarmThroughput is not supported"},
  });
  must(ask("CreateTable", create_table("p", on_demand + R"({"ReadUnitsPerSecond":12001})")));
}

TEST_F(Exactness, UpdateTableQuotesTheSchemasOfARedefinedAttribute) {
  expect_refusals({
      {"UpdateTable", R"({"TableName":"Tab","AttributeDefinitions":
        [{"AttributeName":"p","AttributeType":"N"},{"AttributeName":"a","AttributeType":"B"}],
        "GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"gsi",
         "KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"a","KeyType":"RANGE"}],
         "Projection":{"ProjectionType":"ALL"}}}]})",
       kInvalid + "Attributes cannot be redefined. Please check that your attribute has the same "
                  "type as previously defined. Existing schema: Schema:[SchemaElement: "
                  "key{p:S:HASH}] New schema: Schema:[SchemaElement: key{p:N:HASH}, "
                  "SchemaElement: key{a:B:RANGE}]"},
      {"UpdateTable", R"({"TableName":"Two","AttributeDefinitions":
        [{"AttributeName":"g","AttributeType":"N"}],
        "GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"gsi",
         "KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],
         "Projection":{"ProjectionType":"ALL"}}}]})",
       kInvalid + "Attributes cannot be redefined. Please check that your attribute has the same "
                  "type as previously defined. Existing schema: Schema:[SchemaElement: "
                  "key{g:S:HASH}] New schema: Schema:[SchemaElement: key{g:N:HASH}]"},
  });
}

// `Projection: {}` is reported after the keys, as by CreateTable.
TEST_F(Exactness, UpdateTableJudgesKeysBeforeAProjectionWithoutAType) {
  const auto update = [](const std::string& table, const std::string& type,
                         const std::string& keys) {
    return R"({"TableName":")" + table + R"(","AttributeDefinitions":[{"AttributeName":"a",)" +
           R"("AttributeType":")" + type + R"("},{"AttributeName":"g","AttributeType":")" + type +
           R"("}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"gsi","KeySchema":[)" +
           keys + R"(],"Projection":{}}}]})";
  };
  const std::string range = R"({"AttributeName":"a","KeyType":"RANGE"})";
  const std::string undefined = R"({"AttributeName":"x","KeyType":"HASH"})";
  const std::string redefined = R"({"AttributeName":"g","KeyType":"HASH"})";
  const std::string untyped = update("Two", "S", kOnA);
  const std::string twice = update("Two", "S", kOnA + "," + range);
  const std::string no_hash = update("Two", "S", range);
  const std::string not_there = update("Two", "S", undefined);
  const std::string other_type = update("Two", "N", redefined);
  const std::string absent = update("Gone", "S", kOnA);
  expect_refusals({
      {"UpdateTable", untyped, kInvalid + "Unknown ProjectionType: null"},
      {"UpdateTable", twice, "The KeySchema contains multiple key attributes with the same name"},
      {"UpdateTable", no_hash,
       "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"},
      {"UpdateTable", not_there,
       kInvalid + "Some index key attributes are not defined in AttributeDefinitions. Keys: [x], "
                  "AttributeDefinitions: [g, l, p, s]"},
      {"UpdateTable", other_type,
       kInvalid + "Attributes cannot be redefined. Please check that your attribute has the same "
                  "type as previously defined. Existing schema: Schema:[SchemaElement: "
                  "key{g:S:HASH}] New schema: Schema:[SchemaElement: key{g:N:HASH}]"},
  });
  expect_refusals({{"UpdateTable", absent, "Requested resource not found: Table: Gone not found"}},
                  Code::kResourceNotFound);
}

TEST_F(Exactness, VectorsAreNotKeys) {
  must(ask("CreateTable",
           create_table("p", R"("BillingMode":"PAY_PER_REQUEST","VectorIndexes":[{"IndexName":
    "near","VectorAttribute":{"AttributeName":"v"},"Dimensions":3,"DistanceFunction":"COSINE",
    "Projection":{"ProjectionType":"ALL"}}])")));
  const auto add = [](const std::string& table, const std::string& attribute,
                      const std::string& more) {
    return R"({"TableName":")" + table + R"(",)" + more +
           R"("VectorIndexUpdates":[{"Create":{"IndexName":"far","VectorAttribute":)" +
           R"({"AttributeName":")" + attribute +
           R"("},"Dimensions":4,"DistanceFunction":"COSINE","Projection":)" +
           R"({"ProjectionType":"ALL"}}}]})";
  };
  const std::string on_key = add("New", "p", "");
  const std::string on_index_key = add("Two", "l", "");
  const std::string defined =
      add("New", "p", R"("AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],)");
  const std::string created = create_table("p", R"("BillingMode":"PAY_PER_REQUEST",
    "VectorIndexes":[{"IndexName":"near","VectorAttribute":{"AttributeName":"p"},"Dimensions":3,
    "DistanceFunction":"COSINE","Projection":{"ProjectionType":"ALL"}}])");
  const std::string redefined =
      kInvalid +
      "Attributes cannot be redefined. Please check that your attribute has the same type as "
      "previously defined. Existing schema: ";
  const std::string conflict =
      kInvalid +
      "Conflicting attribute definition for 'p'. An attribute cannot be defined in "
      "AttributeDefinitions when used as a VectorAttribute.";
  expect_refusals({
      {"UpdateTable", on_key,
       redefined + "Schema:[SchemaElement: key{p:S:HASH}] New schema: "
                   "VectorIndexSchema:[VectorAttribute: key{p:L:4}]"},
      {"UpdateTable", on_index_key,
       redefined + "Schema:[SchemaElement: key{p:S:HASH}, SchemaElement: key{l:S:RANGE}] New "
                   "schema: VectorIndexSchema:[VectorAttribute: key{l:L:4}]"},
      {"UpdateTable", R"({"TableName":"New","AttributeDefinitions":
        [{"AttributeName":"v","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":
        {"IndexName":"gsi","KeySchema":[{"AttributeName":"v","KeyType":"HASH"}],
         "Projection":{"ProjectionType":"ALL"}}}]})",
       redefined + "VectorIndexSchema:[VectorAttribute: key{v:L:3}] New schema: "
                   "Schema:[SchemaElement: key{v:S:HASH}]"},
      {"UpdateTable", defined, conflict},
      {"CreateTable", created, conflict},
  });
}

TEST_F(Exactness, AnEmptyWarmThroughputIsNotAChange) {
  must(ask("UpdateTable",
           R"({"TableName":"Tab","WarmThroughput":{},"TableClass":"STANDARD_INFREQUENT_ACCESS"})"));
  expect_refusals({
      {"UpdateTable", R"({"TableName":"Tab","WarmThroughput":{"ReadUnitsPerSecond":12000},
                          "TableClass":"STANDARD"})",
       kInvalid + "TableClass modification must be the only operation in the request"},
      {"UpdateTable", R"({"TableName":"Two","GlobalSecondaryIndexUpdates":[{"Update":
        {"IndexName":"global","WarmThroughput":{}}}]})",
       kInvalid + "WarmThroughput must have at least one of ReadUnitsPerSecond or "
                  "WriteUnitsPerSecond specified for index: global"},
  });
}

TEST_F(Exactness, StreamsAreEnabledAndDisabledWithTheirMessages) {
  const std::string with_view = create_table("p", R"("BillingMode":"PAY_PER_REQUEST",
              "StreamSpecification":{"StreamEnabled":false,"StreamViewType":"KEYS_ONLY"})");
  const std::string without_view = create_table(
      "p", R"("BillingMode":"PAY_PER_REQUEST","StreamSpecification":{"StreamEnabled":true})");
  const std::string_view enable = R"({"TableName":"Tab","StreamSpecification":
    {"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"}})";
  const std::string_view disable =
      R"({"TableName":"Tab","StreamSpecification":{"StreamEnabled":false}})";
  expect_refusals({
      {"CreateTable", with_view,
       kInvalid + "Table is being created with a stream disabled, UpdateViewType should not be "
                  "specified"},
      {"CreateTable", without_view,
       kInvalid + "Table is being created with a stream enabled, UpdateViewType is required"},
      {"UpdateTable", R"({"TableName":"Tab","StreamSpecification":{"StreamEnabled":true}})",
       kInvalid + "If stream is being enabled then UpdateViewType is required"},
      {"UpdateTable", R"({"TableName":"Tab","StreamSpecification":
        {"StreamEnabled":false,"StreamViewType":"KEYS_ONLY"}})",
       kInvalid + "If stream is being disabled, then UpdateViewType must not be specified"},
      {"UpdateTable", disable, "Table has no stream to disable: TableName: Tab"},
  });
  must(ask("UpdateTable", enable));
  expect_refusals({{"UpdateTable", enable, "Table already has an enabled stream: TableName: Tab"}});
}

TEST_F(Exactness, TagsHaveAKeyAndAValue) {
  const std::string arn = R"("arn:aws:dynamodb:us-east-1:000000782867:table/Tab")";
  const std::pair<std::string, std::string> tags[] = {
      {"{}", "The Tag Key provided is invalid, Key: null"},
      {R"({"Value":"v"})", "The Tag Key provided is invalid, Key: null"},
      {R"({"Key":"k"})", "The Tag Value provided is invalid, Value: null"},
  };
  for (const auto& [tag, message] : tags) {
    const std::string create =
        create_table("p", R"("BillingMode":"PAY_PER_REQUEST","Tags":[)" + tag + "]");
    const std::string add = R"({"ResourceArn":)" + arn + R"(,"Tags":[)" + tag + "]}";
    expect_refusals({{"CreateTable", create, message}, {"TagResource", add, message}});
  }
}

TEST_F(Exactness, StatementsDoNotReadIndexesOfSeveralAttributes) {
  must(ask("CreateTable",
           create_table("pab",
                        global_index(kOnA + R"(,{"AttributeName":"b","KeyType":"HASH"})", kAll))));
  must(ask("PutItem", R"({"TableName":"New","Item":{"p":{"S":"1"}}})"));
  const std::string refusal =
      "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or "
      "multi-attribute RANGE keys.";
  expect_refusals({
      {"ExecuteStatement", R"j({"Statement":"SELECT * FROM \"New\".\"gsi\" WHERE a = 'x'"})j",
       refusal},
      {"ExecuteStatement", R"j({"Statement":"SELECT * FROM \"New\".\"gsi\""})j", refusal},
      {"ExecuteStatement", R"j({"Statement":"SELECT * FROM \"New\".\"gsi\" WHERE a = 5"})j",
       refusal},
      {"ExecuteStatement", R"j({"Statement":"SELECT * FROM \"New\".\"gsi\" WHERE"})j",
       "Statement wasn't well formed, can't be processed: Unexpected term"},
  });
  EXPECT_EQ(must(ask("BatchExecuteStatement", R"j({"Statements":[
    {"Statement":"SELECT * FROM \"New\".\"gsi\" WHERE a = 'x'"},
    {"Statement":"SELECT * FROM \"New\" WHERE p = '1'"}]})j")),
            R"({"Responses":[{"Error":{"Code":"ValidationError","Message":")" + refusal +
                R"("}},{"TableName":"New","Item":{"p":{"S":"1"}}}]})");
}

}  // namespace
}  // namespace stator::protocol
