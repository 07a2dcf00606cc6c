// SPDX-License-Identifier: Apache-2.0
// Tests request bodies that are rejected, and unusual ones that are accepted.
#include <gtest/gtest.h>

#include <random>

#include "api/model/test_samples.h"
#include "api/validation/validate.h"
#include "api/wire/wire.h"
#include "support/matchers.h"

namespace stator::wire {
namespace {

using test::FailsWith;
using test::IsOk;

Result<PutItemRequest> put_value(std::string_view value) {
  return read_request<PutItemRequest>(
      std::string(R"({"TableName":"Table","Item":{"a":)").append(value).append("}}"));
}

TEST(Reader, RejectsTextThatIsNotAJsonObject) {
  for (const std::string_view body :
       {"", " ", "{", "}", "nonsense", "{\"TableName\":}", "{\"TableName\":\"a\"} trailing",
        "{'TableName':'a'}", "{\"TableName\":\"a\",}", "\xff", "\"\xed\xa0\x80\"", "[]", "7",
        "\"text\"", "null", "true"}) {
    EXPECT_THAT(read_request<PutItemRequest>(body), FailsWith(Code::kSerialization, "")) << body;
  }
}

TEST(Reader, RefusesMembersOfTheWrongJsonType) {
  struct Case {
    std::string_view body;
    std::string_view message;
  };
  const Case cases[] = {
      {R"({"TableName":7})", "NUMBER_VALUE cannot be converted to String"},
      {R"({"TableName":7.5})", "DECIMAL_VALUE cannot be converted to String"},
      {R"({"TableName":true})", "TRUE_VALUE cannot be converted to String"},
      {R"({"TableName":[]})", "Unrecognized collection type class java.lang.String"},
      {R"({"TableName":{}})", "Start of structure or map found where not expected"},
      {R"({"Limit":"a"})", "STRING_VALUE cannot be converted to Integer"},
      {R"({"Limit":false})", "FALSE_VALUE cannot be converted to Integer"},
      {R"({"Limit":3000000000})", "NUMBER_VALUE cannot be converted to Integer"},
      {R"({"Limit":{}})", "Start of structure or map found where not expected"},
      {R"({"ScanIndexForward":"x"})", "Unexpected token received from parser"},
      {R"({"ScanIndexForward":1})", "NUMBER_VALUE cannot be converted to Boolean"},
      {R"({"ScanIndexForward":[]})", "Unrecognized collection type class java.lang.Boolean"},
      {R"({"ExclusiveStartKey":"x"})", "Unexpected field type"},
      {R"({"ExclusiveStartKey":[]})",
       "Unrecognized collection type java.util.Map<java.lang.String, "
       "com.amazonaws.dynamodb.v20120810.AttributeValue>"},
      {R"({"ExpressionAttributeNames":{"#a":1}})", "NUMBER_VALUE cannot be converted to String"},
      {R"({"ExpressionAttributeNames":[]})",
       "Unrecognized collection type java.util.Map<java.lang.String, java.lang.String>"},
      {R"({"KeyConditions":[]})",
       "Unrecognized collection type java.util.Map<java.lang.String, "
       "com.amazonaws.dynamodb.v20120810.Condition>"},
      {R"({"KeyConditions":{"a":1}})", "Unexpected value type in payload"},
      {R"({"KeyConditions":{"a":[]}})",
       "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.Condition"},
      {R"({"AttributesToGet":"a"})", "Unexpected field type"},
      {R"([])", "Start of list found where not expected"},
      {R"({"AttributesToGet":{}})", "Start of structure or map found where not expected"},
  };
  for (const Case& one : cases) {
    EXPECT_THAT(read_request<QueryRequest>(one.body),
                FailsWith(Code::kSerialization, std::string(one.message)))
        << one.body;
  }
  EXPECT_THAT(
      read_request<CreateTableRequest>(R"({"ProvisionedThroughput":{"ReadCapacityUnits":"1"}})"),
      FailsWith(Code::kSerialization, "STRING_VALUE cannot be converted to Long"));
}

TEST(Reader, RejectsInvalidAttributeValues) {
  struct Case {
    std::string_view value;
    Code code;
    std::string_view message;
  };
  const std::string_view empty =
      "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes";
  const Case cases[] = {
      {R"({"N":120})", Code::kSerialization, "NUMBER_VALUE cannot be converted to String"},
      {R"({"N":"abc"})", Code::kValidation, "numeric value"},
      {R"({"N":""})", Code::kValidation, "numeric value"},
      {R"({"N":"1e200"})", Code::kValidation, "Number overflow"},
      {R"({"S":1})", Code::kSerialization, "NUMBER_VALUE cannot be converted to String"},
      {R"({"B":"a"})", Code::kSerialization, "Base64 encoded length is expected a multiple of 4"},
      {R"({"B":"a b="})", Code::kSerialization, "Invalid Base64 character"},
      {R"({"B":1})", Code::kSerialization, "only base-64-encoded strings"},
      {R"({"BOOL":"23"})", Code::kSerialization, "Unexpected token received from parser"},
      {R"({"B":[]})", Code::kSerialization,
       "Unrecognized collection type class java.nio.ByteBuffer"},
      {R"({"B":"=+/="})", Code::kSerialization, "Invalid last non-pad Base64 character dectected"},
      {R"({"B":"+/+="})", Code::kSerialization, "Invalid last non-pad Base64 character dectected"},
      {R"({"NULL":false})", Code::kValidation,
       "Null attribute value types must have the value of true"},
      {R"({"M":{"":{"S":"a"}}})", Code::kValidation, "Empty attribute name"},
      {R"({"SS":[]})", Code::kValidation, "An string set  may not be empty"},
      {R"({"NS":[]})", Code::kValidation, "An number set  may not be empty"},
      {R"({"BS":[]})", Code::kValidation, "Binary sets should not be empty"},
      {R"({"SS":["b","a","b"]})", Code::kValidation,
       "Input collection [\"a\", \"b\", \"b\"] contains duplicates."},
      {R"({"NS":["1","1.0"]})", Code::kValidation, "Input collection contains duplicates"},
      {R"({"BS":["YQ==","YQ=="]})", Code::kValidation, "[\"YQ==\",\"YQ==\"]of type BS contains"},
      {R"({"SS":"a"})", Code::kSerialization, "Unexpected field type"},
      {R"({"SS":[1]})", Code::kSerialization, "NUMBER_VALUE cannot be converted to String"},
      {R"({"L":{}})", Code::kSerialization, "Start of structure or map found where not expected"},
      {R"({"M":[]})", Code::kSerialization,
       "Unrecognized collection type java.util.Map<java.lang.String, "
       "com.amazonaws.dynamodb.v20120810.AttributeValue>"},
      {R"({"L":[[]]})", Code::kSerialization,
       "Unrecognized collection type class com.amazonaws.dynamodb.v20120810.AttributeValue"},
      {R"({"L":["a"]})", Code::kSerialization, "Unexpected value type in payload"},
      {R"("a")", Code::kSerialization, "Unexpected value type in payload"},
      {R"({})", Code::kValidation, empty},
      {R"(null)", Code::kValidation, empty},
      {R"({"S":null})", Code::kValidation, empty},
      {R"({"X":"a"})", Code::kValidation, empty},
      {R"({"L":[{}]})", Code::kValidation, empty},
      {R"({"S":"a","N":"1"})", Code::kValidation, "has more than one datatypes set"},
      {R"({"S":"a","S":"b"})", Code::kValidation, "has more than one datatypes set"},
      {R"({"S":"\ud800"})", Code::kSerialization, ""},
      {R"({"S":"\udc00"})", Code::kSerialization, ""},
      {R"({"S":"\udc00\ud800"})", Code::kSerialization, ""},
      {"{\"S\":\"\xc0\xaf\"}", Code::kSerialization, ""},
      {"{\"S\":\"\x01\"}", Code::kSerialization, ""},
  };
  for (const Case& one : cases) {
    EXPECT_THAT(put_value(one.value), FailsWith(one.code, std::string(one.message))) << one.value;
  }
}

TEST(Reader, AcceptsUnusualButValidRequests) {
  EXPECT_THAT(put_value(R"({"S":"\ud83d\ude00"})"), IsOk());
  EXPECT_THAT(put_value(R"({"S":"a","N":null})"), IsOk());
  EXPECT_THAT(put_value(R"({"S":"","Unknown":[1,{}]})"), IsOk());
  EXPECT_THAT(put_value(R"({"N":"+5"})"), IsOk());
  EXPECT_THAT(read_request<ScanRequest>(R"( {"TableName" : "Table", "Limit":2.9,"Foo":{"a":[]}} )"),
              IsOk());
  const auto twice = read_request<PutItemRequest>(
      R"({"TableName":"One","TableName":"Two","Item":{"a":{"S":"1"},"a":{"S":"2"}}})");
  ASSERT_THAT(twice, IsOk());
  EXPECT_EQ(twice->table, "Two");
  EXPECT_EQ(twice->item, (Item{{"a", "2"}}));
  const auto null = read_request<ScanRequest>(R"({"TableName":"Table","FilterExpression":null})");
  ASSERT_THAT(null, IsOk());
  EXPECT_FALSE(null->filter);
}

TEST(Reader, ReadsTheNameInAnArn) {
  const auto read = read_request<DescribeTableRequest>(
      R"({"TableName":"arn:aws:dynamodb:eu-west-1:123456789012:table/Music"})");
  ASSERT_THAT(read, IsOk());
  EXPECT_EQ(read->table, "Music");
  const auto batch = read_request<BatchGetItemRequest>(
      R"({"RequestItems":{"arn:aws:dynamodb:eu-west-1:1:table/Music":{"Keys":[{"a":{"S":"b"}}]}}})");
  ASSERT_THAT(batch, IsOk());
  EXPECT_TRUE(batch->items.contains("Music"));
}

TEST(Reader, RejectsATableGivenByNameAndByArn) {
  const auto batches_with = [](const std::string& first, const std::string& second) {
    const std::string keys = R"({"Keys":[{"a":{"S":"b"}}]})";
    const std::string writes = R"([{"DeleteRequest":{"Key":{"a":{"S":"b"}}}}])";
    const auto request = [&](const std::string& entry) {
      return R"({"RequestItems":{")" + first + "\":" + entry + ",\"" + second + "\":" + entry +
             "}}";
    };
    return std::pair(read_request<BatchGetItemRequest>(request(keys)),
                     read_request<BatchWriteItemRequest>(request(writes)));
  };
  const std::string arn = "arn:aws:dynamodb:eu-west-1:1:table/Music";
  const char* twice = "Table names contain duplicates";
  for (const auto& [first, second] :
       {std::pair<std::string, std::string>("Music", arn), {arn, "Music"}, {arn, arn}}) {
    const auto [get, write] = batches_with(first, second);
    EXPECT_THAT(get, FailsWith(Code::kValidation, twice)) << first;
    EXPECT_THAT(write, FailsWith(Code::kValidation, twice)) << first;
  }
  const auto [get, write] = batches_with("Music", "Music");
  EXPECT_THAT(get, IsOk());
  ASSERT_THAT(write, IsOk());
  EXPECT_EQ(write->items.at("Music").size(), 1U);
}

std::string nested_lists(int depth) {
  std::string value;
  for (int i = 0; i < depth; ++i) value += R"({"L":[)";
  value += R"({"S":"x"})";
  for (int i = 0; i < depth; ++i) value += "]}";
  return value;
}

TEST(Reader, BoundsNesting) {
  EXPECT_THAT(put_value(nested_lists(31)), IsOk());
  EXPECT_THAT(put_value(nested_lists(32)),
              FailsWith(Code::kValidation, "Nesting Levels have exceeded supported limits"));
  EXPECT_FALSE(put_value(nested_lists(100'000)));
  EXPECT_FALSE(read_request<PutItemRequest>(std::string(1'000'000, '[')));
}

TEST(Reader, GathersViolationsOfTheModel) {
  EXPECT_THAT(
      read_request<PutItemRequest>(
          R"({"TableName":"ab","ReturnValues":"X","ReturnConsumedCapacity":"Y"})"),
      FailsWith(
          Code::kValidation,
          "3 validation errors detected: Value 'Y' at 'returnConsumedCapacity' failed to satisfy "
          "constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]; Value null at "
          "'item' failed to satisfy constraint: Member must not be null; Value 'X' at "
          "'returnValues' failed to satisfy constraint: Member must satisfy enum value set: "
          "[ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"));
  EXPECT_THAT(read_request<CreateTableRequest>(
                  R"({"TableName":"Table","AttributeDefinitions":[{"AttributeName":"a",)"
                  R"("AttributeType":"S"}],"KeySchema":[{"AttributeName":"a","KeyType":"X"}]})"),
              FailsWith(Code::kValidation,
                        "1 validation error detected: Value 'X' at 'keySchema.1.member.keyType' "
                        "failed to satisfy constraint: Member must satisfy enum value set: [HASH, "
                        "RANGE]"));
  EXPECT_THAT(read_request<TransactWriteItemsRequest>(
                  R"({"TransactItems":[{"Put":{"TableName":"Table"}}]})"),
              FailsWith(Code::kValidation,
                        "1 validation error detected: Value null at "
                        "'transactItems.1.member.put.item' failed to satisfy constraint: Member "
                        "must not be null"));
}

TEST(Reader, TruncatesQuotedValuesInMessages) {
  const std::string long_name(5'000'000, 'x');
  const auto read = read_request<PutItemRequest>(
      R"({"TableName":"Table","Item":{},"ReturnConsumedCapacity":")" + long_name + "\"}");
  ASSERT_THAT(read, FailsWith(Code::kValidation, "returnConsumedCapacity"));
  EXPECT_LT(read.error().message.size(), 2'000U);
  std::string many = R"({"TableName":"Table","AttributeDefinitions":[)";
  for (int i = 0; i < 10'000; ++i) many += i == 0 ? R"({})" : R"(,{})";
  const auto definitions = read_request<CreateTableRequest>(many + "]}");
  ASSERT_THAT(definitions, FailsWith(Code::kValidation, "10 validation errors detected"));
  EXPECT_LT(definitions.error().message.size(), 5'000U);
}

TEST(Reader, NamesTheKeyOfAnInvalidExpressionValue) {
  EXPECT_THAT(
      read_request<ScanRequest>(R"({"TableName":"Table","FilterExpression":"a = :v",)"
                                R"("ExpressionAttributeValues":{":v":{}}})"),
      FailsWith(Code::kValidation,
                "ExpressionAttributeValues contains invalid value: Supplied AttributeValue "
                "is empty, must contain exactly one of the supported datatypes for key :v"));
}

TEST(Reader, RefusesFeaturesThatWouldOtherwiseBeLost) {
  const auto create = [](std::string_view more) {
    return read_request<CreateTableRequest>(
        std::string(R"({"TableName":"Table","AttributeDefinitions":[],"KeySchema":[],)")
            .append(more)
            .append("}"));
  };
  for (const auto& [member, value] : {std::pair("GlobalTableSourceArn", R"("arn")"),
                                      {"GlobalTableSettingsReplicationMode", R"("ENABLED")"}}) {
    const std::string text = "\"" + std::string(member) + "\":" + value;
    const std::string refusal =
        "One or more parameter values were invalid: " + std::string(member) + " is not supported";
    EXPECT_THAT(create(text), FailsWith(Code::kValidation, refusal));
    EXPECT_THAT(read_request<CreateTableRequest>(R"({"TableName":"Table",)" + text + "}"),
                FailsWith(Code::kValidation, refusal))
        << "the name is enough for a replica of another account's table";
  }
  for (const std::string text :
       {R"("MultiRegionConsistency":"STRONG")", R"("GlobalTableWitnessUpdates":[])",
        R"("GlobalTableSettingsReplicationMode":"ENABLED")",
        R"("DisassociationProtectionEnabled":false)",
        R"("ReplicaUpdates":[{"Disassociate":{"RegionName":"us-east-1"}}])"}) {
    EXPECT_THAT(read_request<UpdateTableRequest>(R"({"TableName":"Tab",)" + text + "}"),
                FailsWith(Code::kValidation, " is not supported"))
        << text;
  }
  EXPECT_THAT(
      create(
          R"("StreamSpecification":{"StreamEnabled":false},"SSESpecification":{"Enabled":false})"),
      IsOk());
  EXPECT_THAT(create(R"("StreamSpecification":{"StreamViewType":"NEW_IMAGE"})"),
              FailsWith(Code::kValidation, "'streamSpecification.streamEnabled'"));
}

TEST(Reader, RequiresExactlyOneActionPerTransactionItem) {
  const std::string_view message =
      "TransactItems can only contain one of Check, Put, Update or Delete";
  EXPECT_THAT(read_request<TransactWriteItemsRequest>(R"({"TransactItems":[{}]})"),
              FailsWith(Code::kValidation, std::string(message)));
  EXPECT_THAT(read_request<TransactWriteItemsRequest>(
                  R"({"TransactItems":[{"Put":{"TableName":"Table","Item":{}},)"
                  R"("Delete":{"TableName":"Table","Key":{}}}]})"),
              FailsWith(Code::kValidation, std::string(message)));
}

TEST(Reader, ReadsSixteenMegabytesInOnePass) {
  std::string body = R"({"TableName":"Table","Item":{"a":{"L":[)";
  while (body.size() < 16UL * 1024 * 1024) body += R"({"N":"1"},)";
  body += R"({"N":"1"}]}}})";
  EXPECT_THAT(read_request<PutItemRequest>(body), IsOk());
}

template <class Request>
void try_to_read(std::string_view body) {
  const Result<Request> read = read_request<Request>(body);
  if (!read) {
    EXPECT_TRUE(read.error().code == Code::kSerialization || read.error().code == Code::kValidation)
        << body;
    return;
  }
  if (!validate(*read)) return;
  const std::string json = to_json(*read);
  const Result<Request> again = read_request<Request>(json);
  ASSERT_THAT(again, IsOk()) << json;
  EXPECT_EQ(to_json(*again), json);
}

template <class Request>
void mutate(const Request& request) {
  const std::string whole = to_json(request);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(read_request<Request>(whole.substr(0, length)));
  }
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  constexpr std::string_view kBytes = "{}[]\",:\\019-+.eSNBLM \xc3\x00";
  for (int round = 0; round < 1'000; ++round) {
    std::string body = whole;
    for (unsigned changes = random() % 4 + 1; changes > 0; --changes) {
      const std::size_t at = random() % body.size();
      const char byte = kBytes[random() % kBytes.size()];
      switch (random() % 3) {
        case 0:
          body[at] = byte;
          break;
        case 1:
          body.insert(at, 1, byte);
          break;
        default:
          body.erase(at, random() % 8 + 1);
          if (body.empty()) body = "{";
      }
    }
    try_to_read<Request>(body);
  }
}

TEST(Reader, SurvivesTruncationAndMutation) {
  mutate(test::full_put());
  mutate(test::full_get());
  mutate(test::full_update());
  mutate(test::full_query());
  mutate(test::full_scan());
  mutate(test::full_batch_get());
  mutate(test::full_batch_write());
  mutate(test::full_transact_write());
  mutate(test::full_transact_get());
  mutate(test::full_create());
}

}  // namespace
}  // namespace stator::wire
