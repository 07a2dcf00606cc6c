// SPDX-License-Identifier: Apache-2.0
// Tests how each layer of DynamoDB words an error, and which error it reports first.
#include <utility>
#include <vector>

#include "engine/call_and_wait.h"
#include "protocol/exactness_harness.h"

namespace stator::protocol {
namespace {

const std::string kOne = "1 validation error detected: ";

// A request with a placeholder, `@`, for an attribute value.
struct Surface {
  std::string_view operation;
  std::string_view request;
};

const Surface kWrites[] = {
    {"PutItem", R"({"TableName":"Gone","Item":{"p":{"S":"a"},"n":@}})"},
    {"PutItem", R"({"TableName":"Gone","Item":{"p":{"S":"a"},"n":{"M":{"x":{"L":[@]}}}}})"},
    {"PutItem", R"({"TableName":"Gone","Item":{"p":{"S":"a"}},"ConditionExpression":"n = :v",
      "ExpressionAttributeValues":{":v":@}})"},
    {"PutItem", R"({"TableName":"Gone","Item":{"p":{"S":"a"}},"Expected":{"n":{"Value":@}}})"},
    {"UpdateItem", R"({"TableName":"Gone","Key":{"p":{"S":"a"}},"UpdateExpression":"SET n = :v",
      "ExpressionAttributeValues":{":v":@}})"},
    {"UpdateItem", R"({"TableName":"Gone","Key":{"p":{"S":"a"}},
      "AttributeUpdates":{"n":{"Action":"PUT","Value":@}}})"},
    {"UpdateItem", R"({"TableName":"Gone","Key":{"p":@}})"},
    {"DeleteItem", R"({"TableName":"Gone","Key":{"p":{"S":"a"}},"ConditionExpression":"n = :v",
      "ExpressionAttributeValues":{":v":@}})"},
    {"DeleteItem", R"({"TableName":"Gone","Key":{"p":@}})"},
};

const Surface kReads[] = {
    {"GetItem", R"({"TableName":"Gone","Key":{"p":@}})"},
    {"BatchGetItem", R"({"RequestItems":{"Gone":{"Keys":[{"p":@}]}}})"},
    {"Query", R"({"TableName":"Gone","KeyConditionExpression":"p = :v",
      "ExpressionAttributeValues":{":v":@}})"},
    {"Query", R"({"TableName":"Gone","KeyConditionExpression":"p = :p","FilterExpression":"n = :v",
      "ExpressionAttributeValues":{":p":{"S":"a"},":v":@}})"},
    {"Query", R"({"TableName":"Gone","KeyConditionExpression":"p = :p",
      "ExpressionAttributeValues":{":p":{"S":"a"}},"ExclusiveStartKey":{"p":@}})"},
    {"Query", R"({"TableName":"Gone",
      "KeyConditions":{"p":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"a"}]}},
      "QueryFilter":{"n":{"ComparisonOperator":"EQ","AttributeValueList":[@]}}})"},
};

const Surface kOlder[] = {
    {"BatchWriteItem",
     R"({"RequestItems":{"Gone":[{"PutRequest":{"Item":{"p":{"S":"a"},"n":@}}}]}})"},
    {"BatchWriteItem", R"({"RequestItems":{"Gone":[{"DeleteRequest":{"Key":{"p":@}}}]}})"},
    {"TransactWriteItems",
     R"({"TransactItems":[{"Put":{"TableName":"Gone","Item":{"p":{"S":"a"},"n":@}}}]})"},
    {"TransactWriteItems", R"({"TransactItems":[{"Delete":{"TableName":"Gone","Key":{"p":@}}}]})"},
    {"TransactGetItems", R"({"TransactItems":[{"Get":{"TableName":"Gone","Key":{"p":@}}}]})"},
    {"Scan", R"({"TableName":"Gone",
      "ScanFilter":{"n":{"ComparisonOperator":"EQ","AttributeValueList":[@]}}})"},
    {"ExecuteStatement", R"({"Statement":"SELECT * FROM Gone WHERE n = ?","Parameters":[@]})"},
};

// The older layer names the invalid expression value.
const Surface kOlderValues[] = {
    {"TransactWriteItems", R"({"TransactItems":[{"Update":{"TableName":"Gone",
      "Key":{"p":{"S":"a"}},"UpdateExpression":"SET n = :v",
      "ExpressionAttributeValues":{":v":@}}}]})"},
    {"TransactWriteItems", R"({"TransactItems":[{"ConditionCheck":{"TableName":"Gone",
      "Key":{"p":{"S":"a"}},"ConditionExpression":"n = :v",
      "ExpressionAttributeValues":{":v":@}}}]})"},
    {"Scan", R"({"TableName":"Gone","FilterExpression":"n = :v",
      "ExpressionAttributeValues":{":v":@}})"},
};

using Texts = std::vector<std::pair<std::string, std::string>>;  // value, its message

class Layers : public Exactness {
 protected:
  template <class Word>
  void expect_worded(std::span<const Surface> surfaces, const Texts& texts, Word word) {
    for (const Surface& surface : surfaces) {
      for (const auto& [value, text] : texts) {
        std::string request(surface.request);
        request.replace(request.find('@'), 1, value);
        expect_refusals({{surface.operation, request, word(text)}});
      }
    }
  }
};

std::string bare(const std::string& text) {
  return text;
}
std::string once(const std::string& text) {
  return kOne + text;
}
std::string of_value(const std::string& text) {
  return "ExpressionAttributeValues contains invalid value: " + text + " for key :v";
}

TEST_F(Layers, WordInvalidNumbers) {
  const std::string no_number = "The parameter cannot be converted to a numeric value";
  const std::string overflow =
      "Number overflow. Attempting to store a number with magnitude larger than supported range";
  const std::string underflow =
      "Number underflow. Attempting to store a number with magnitude smaller than supported range";
  const std::string digits = "Attempting to store more than 38 significant digits in a Number";
  const auto numbers = [&](const std::string& after_empty) {
    return Texts{{R"({"N":"abc"})", no_number + ": abc"},
                 {R"({"N":""})", no_number + after_empty},
                 {R"({"N":"xe2147483647"})", no_number + ": xe2147483647"},
                 {R"({"N":"1e126"})", overflow},
                 {R"({"NS":["1",""]})", no_number + after_empty},
                 {R"({"N":"1234567890123456789012345678901234567890"})", digits}};
  };
  expect_worded(kWrites, numbers(": "), once);
  expect_worded(kReads, numbers(": "), bare);
  expect_worded(kOlder, numbers(""), bare);
  expect_worded(kOlderValues, numbers(""), of_value);
  // The older layer's exponents have 32 bits, also together with the digits.
  const auto exponents = [&](bool older) {
    Texts texts;
    for (const auto& [number, within_64_bits] : {std::pair("1e99999999999", overflow),
                                                 {"-1e99999999999", overflow},
                                                 {"1e-99999999999", underflow},
                                                 {"1e2147483648", overflow},
                                                 {"1e-2147483648", underflow},
                                                 {"1.5e-9223372036854775808", underflow},
                                                 {"0.1e-2147483647", underflow}}) {
      texts.push_back({R"({"L":[{"N":")" + std::string(number) + R"("}]})",
                       older ? no_number + ": " + number : within_64_bits});
    }
    texts.push_back({R"({"N":"1e2147483647"})", older ? underflow : overflow});
    texts.push_back({R"({"NS":["1","12e2147483646"]})", older ? underflow : overflow});
    texts.push_back({R"({"N":"1e2147483646"})", overflow});
    texts.push_back({R"({"N":"1e-2147483647"})", underflow});
    return texts;
  };
  expect_worded(kWrites, exponents(false), once);
  expect_worded(kReads, exponents(false), bare);
  expect_worded(kOlder, exponents(true), bare);
  expect_worded(kOlderValues, exponents(true), of_value);
}

// Recorded for each of these places.
TEST_F(Layers, ReadNumbersOfParametersAsTheOlderOneDoes) {
  const auto request = [](const std::string& statement) {
    return R"("Statement":")" + statement + R"(","Parameters":[{"N":"1e99999999999"}])";
  };
  const std::string text = "The parameter cannot be converted to a numeric value: 1e99999999999";
  for (const std::string statement :
       {"SELECT * FROM Tab WHERE p = 'a' AND n = ?", "INSERT INTO Tab VALUE {'p': 'a', 'n': ?}",
        "UPDATE Tab SET n = ? WHERE p = 'a'", "SELECT * FROM Tab WHERE p = ?"}) {
    const std::string one = "{" + request(statement) + "}";
    expect_refusals({{"ExecuteStatement", one, text}});
  }
  const std::string update = request("UPDATE Tab SET n = ? WHERE p = 'a'");
  const std::string transaction = R"({"TransactStatements":[{)" + update + "}]}";
  expect_refusals({{"ExecuteTransaction", transaction, text}});
  const std::string batch = R"({"Statements":[{)" + update + "}]}";
  EXPECT_EQ(must(ask("BatchExecuteStatement", batch)),
            R"({"Responses":[{"Error":{"Code":"ValidationError","Message":")" + text + R"("}}]})");
}

TEST_F(Layers, WordSets) {
  const std::string strings = R"({"SS":["b","a","b"]})";
  const std::string binaries = R"({"BS":["/w==","AA==","AA=="]})";
  const std::string numbers = R"({"NS":["2","1","2"]})";
  const Texts current = {
      {strings, kInvalid + R"(Input collection ["a", "b", "b"] contains duplicates.)"},
      {binaries,
       kInvalid + R"(Input collection ["AA==","/w==","AA=="]of type BS contains duplicates.)"},
      {numbers, kInvalid + "Input collection contains duplicates."},
      {R"({"SS":["c","a","c","b"]})",
       kInvalid + R"(Input collection ["a", "c", "c", "b"] contains duplicates.)"},
      {R"({"SS":[]})", kInvalid + "An string set  may not be empty"},
      {R"({"NULL":false})", kInvalid + "Null attribute value types must have the value of true"}};
  const Texts older = {
      {strings, kInvalid + "Input collection [b, a, b] contains duplicates."},
      {binaries, kInvalid + "Input collection [/w==, AA==, AA==]of type BS contains duplicates."},
      {numbers, "Input collection contains duplicates"},
      {R"({"SS":[]})", kInvalid + "An string set  may not be empty"}};
  expect_worded(kWrites, current, once);
  expect_worded(kReads, current, bare);
  expect_worded(kOlder, older, bare);
  expect_worded(kOlderValues, older, of_value);
  expect_refusals({{"ExecuteStatement",
                    R"({"Statement":"INSERT INTO Tab VALUE {'p':'a','s':<<'b','a','b'>>}"})",
                    kInvalid + "Input collection [b, a, b] contains duplicates."}});
}

TEST_F(Layers, WordDepth) {
  const Texts texts = {{deep(40),
                        "Nesting Levels have exceeded supported limits: Attributes in the item "
                        "have nested levels beyond supported limit"}};
  expect_worded(kWrites, texts, once);
  expect_worded(kReads, texts, bare);
  expect_worded(kOlder, texts, bare);
  expect_worded(kOlderValues, texts, of_value);
}

// Values without a type, or with two, are rejected before other values are checked.
TEST_F(Layers, DoNotCountValuesOfNoType) {
  const Texts texts = {
      {"{}",
       "Supplied AttributeValue is empty, must contain exactly one of the supported "
       "datatypes"},
      {R"({"S":"a","N":"1"})",
       "Supplied AttributeValue has more than one datatypes set, must "
       "contain exactly one of the supported datatypes"}};
  expect_worded(kWrites, texts, bare);
  expect_worded(kReads, texts, bare);
}

// Values of in-process requests are checked when the request is executed.
TEST_F(Layers, WordErrorsAlikeInProcess) {
  const std::string duplicates =
      kInvalid + R"(Input collection ["a", "c", "c", "b"] contains duplicates.)";
  const StringSet set({"c", "a", "c", "b"});
  std::optional<Result<WriteResponse>> written;
  const auto keep = [&](Result<WriteResponse> result) { written = std::move(result); };
  engine_->put_item({.table = "Tab", .item = {{"p", "a"}, {"s", set}}}, keep);
  EXPECT_EQ(written->error().message, kOne + duplicates);
  engine_->update_item(
      {.table = "Tab", .key = {{"p", "a"}}, .update = "SET s = :v", .values = Values{{":v", set}}},
      keep);
  EXPECT_EQ(written->error().message, kOne + duplicates);
  const auto read = call_and_wait(*engine_, &Engine::query,
                                  {.table = "Tab",
                                   .key_condition = "p = :p",
                                   .filter = "s = :v",
                                   .values = Values{{":p", "a"}, {":v", set}}});
  EXPECT_EQ(read.error().message, duplicates);
  const auto scanned = call_and_wait(
      *engine_, &Engine::scan, {.table = "Tab", .filter = "s = :v", .values = Values{{":v", set}}});
  EXPECT_EQ(scanned.error().message,
            of_value(kInvalid + "Input collection [c, a, c, b] contains duplicates."));
}

TEST_F(Layers, CountErrorsOfExpressionsInWritesOfOneItem) {
  const std::string long_name(4'200, 'a');
  const std::string size =
      "Invalid ConditionExpression: Expression size has exceeded the maximum allowed size;";
  const std::string too_long_put =
      R"({"TableName":"Gone","Item":{},"ConditionExpression":")" + long_name + R"( = a"})";
  const std::string too_long_check =
      R"({"TransactItems":[{"Put":{"TableName":"Gone","Item":{},"ConditionExpression":")" +
      long_name + R"( = a"}}]})";
  const std::string too_long_update =
      R"({"TransactItems":[{"Update":{"TableName":"Gone","Key":{},"UpdateExpression":"REMOVE )" +
      long_name + R"("}}]})";
  const std::string too_long_scan =
      R"({"TableName":"Gone","FilterExpression":")" + long_name + R"( = a"})";
  expect_refusals({
      {"PutItem", R"({"TableName":"Gone","Item":{},"ConditionExpression":""})",
       kOne + "Invalid ConditionExpression: The expression can not be empty;"},
      {"UpdateItem", R"({"TableName":"Gone","Key":{},"UpdateExpression":"INVALID SYNTAX HERE"})",
       kOne +
           R"(Invalid UpdateExpression: Syntax error; token: "INVALID", near: "INVALID SYNTAX")"},
      {"UpdateItem", R"({"TableName":"Gone","Key":{},"UpdateExpression":"REMOVE a",
        "ExpressionAttributeNames":{"#unused":"a"}})",
       kOne + "Value provided in ExpressionAttributeNames unused in expressions: keys: {#unused}"},
      {"DeleteItem", R"({"TableName":"Gone","Key":{},"ConditionExpression":"a = b",
        "ExpressionAttributeValues":{}})",
       kOne + "ExpressionAttributeValues must not be empty"},
      {"PutItem", too_long_put, kOne + size},
      {"Query", R"({"TableName":"Gone","KeyConditionExpression":""})",
       "Invalid KeyConditionExpression: The expression can not be empty;"},
      {"TransactWriteItems", too_long_check, size + " expression size: 4204"},
      {"TransactWriteItems", too_long_update,
       "Invalid UpdateExpression: Expression size has exceeded the maximum allowed size;"},
      {"Scan", too_long_scan,
       "Invalid FilterExpression: Expression size has exceeded the maximum allowed size; "
       "expression size: 4204"},
      // Errors that need the table have no count before them.
      {"PutItem", R"({"TableName":"Tab","Item":{"p":{"N":"1"}}})",
       kInvalid + "Type mismatch for key p expected: S actual: N"},
      {"UpdateItem", R"({"TableName":"Tab","Key":{"p":{"S":"a"}},"UpdateExpression":"REMOVE p"})",
       kInvalid + "Cannot update attribute p. This attribute is part of the key"},
  });
}

TEST_F(Layers, CountErrorsOfParametersInWritesOfOneItem) {
  const std::string alone = " can only be specified when using expressions";
  expect_refusals({
      {"PutItem", R"({"TableName":"Gone","Item":{},"ExpressionAttributeValues":{}})",
       kOne + "ExpressionAttributeValues" + alone},
      {"UpdateItem", R"({"TableName":"Gone","Key":{},"ExpressionAttributeValues":{}})",
       kOne + "ExpressionAttributeValues" + alone},
      {"DeleteItem", R"({"TableName":"Gone","Key":{},"Expected":{"a":{"Exists":false}},
        "ExpressionAttributeNames":{"#a":"a"}})",
       kOne + "ExpressionAttributeNames" + alone},
      {"Scan", R"({"TableName":"Gone","ExpressionAttributeValues":{}})",
       "ExpressionAttributeValues" + alone + ": FilterExpression is null"},
      {"PutItem", R"({"TableName":"Gone","Item":{},"Expected":{"p":{"Exists":false}},
        "ConditionExpression":"a = b"})",
       kOne + "Can not use both expression and non-expression parameters in the same request: "
              "Non-expression parameters: {Expected} Expression parameters: "
              "{ConditionExpression}"},
      {"DeleteItem", R"({"TableName":"Gone","Key":{},"ReturnValues":"UPDATED_NEW"})",
       kOne + "ReturnValues can only be ALL_OLD or NONE"},
      {"DeleteItem", R"({"TableName":"Gone","Key":{},"Expected":{"a":{"Exists":true}}})",
       kOne + kInvalid + "Value must be provided when Exists is true for Attribute: a"},
      {"DeleteItem", R"({"TableName":"Gone","Key":{},
        "Expected":{"a":{"ComparisonOperator":"BETWEEN","AttributeValueList":[{"S":"x"}]}}})",
       kOne + kInvalid + "Invalid number of argument(s) for the BETWEEN ComparisonOperator"},
      {"Query", R"({"TableName":"Gone","KeyConditionExpression":"p = p",
        "Select":"SPECIFIC_ATTRIBUTES"})",
       kOne + "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
              "SPECIFIC_ATTRIBUTES"},
      {"Scan", R"({"TableName":"Gone","Select":"SPECIFIC_ATTRIBUTES"})",
       "Must specify the AttributesToGet or ProjectionExpression when choosing to get "
       "SPECIFIC_ATTRIBUTES"},
  });
}

const std::string kWrongCapacity =
    "Value 'X' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum "
    "value set: [INDEXES, TOTAL, NONE]";
const std::string kWrongMetrics =
    "Value 'X' at 'returnItemCollectionMetrics' failed to satisfy constraint: Member must satisfy "
    "enum value set: [SIZE, NONE]";
const std::string kWrongReturn =
    "Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, "
    "ALL_NEW, UPDATE_NEW, NONE]";
const std::string kNoKey =
    "Value null at 'key' failed to satisfy constraint: Member must not be null";

TEST_F(Layers, ReportUnknownEnumerationsInTheirOrder) {
  expect_refusals({
      {"PutItem", R"({"ReturnItemCollectionMetrics":"X","ReturnValues":"X","TableName":"Gone",
        "ReturnConsumedCapacity":"X","Item":{"p":{}}})",
       "3 validation errors detected: " + kWrongCapacity + "; " + kWrongReturn + "; " +
           kWrongMetrics},
      {"DeleteItem", R"({"TableName":"Gone","Key":{},"ReturnValues":"X",
        "ReturnConsumedCapacity":"X"})",
       "2 validation errors detected: " + kWrongCapacity + "; " + kWrongReturn},
      {"UpdateItem", R"({"TableName":"Gone","Key":{},"ReturnConsumedCapacity":"X",
        "ReturnValues":"X"})",
       kOne + kWrongReturn},
      {"UpdateItem", R"({"TableName":"Gone","Key":{},"ReturnConsumedCapacity":"X"})",
       kOne + kWrongCapacity},
      {"BatchWriteItem", R"({"RequestItems":{"Gone":[{"DeleteRequest":{"Key":{}}}]},
        "ReturnItemCollectionMetrics":"X","ReturnConsumedCapacity":"X"})",
       "2 validation errors detected: " + kWrongCapacity + "; " + kWrongMetrics},
      {"BatchWriteItem", R"({"RequestItems":{"x!":[{"DeleteRequest":{"Key":{}}}]},
        "ReturnConsumedCapacity":"X"})",
       kOne + kWrongCapacity},
      {"TransactWriteItems", R"({"ReturnConsumedCapacity":"X","ReturnItemCollectionMetrics":"X",
        "ClientRequestToken":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "TransactItems":[{"Delete":{"TableName":"Gone","Key":{}}}]})",
       "3 validation errors detected: Value 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' at "
       "'clientRequestToken' failed to satisfy constraint: Member must have length less than or "
       "equal to 36; " +
           kWrongCapacity + "; " + kWrongMetrics},
  });
}

TEST_F(Layers, ReportOnlyAnEmptyTableName) {
  const std::string length =
      " failed to satisfy constraint: Member must have length greater than "
      "or equal to 1";
  for (const std::string_view name : {"PutItem", "UpdateItem", "DeleteItem", "GetItem", "Query"}) {
    expect_refusals({{name, R"({"TableName":"","Item":{},"Key":{},"ReturnConsumedCapacity":"X"})",
                      kOne + "Value at 'TableName'" + length}});
  }
  expect_refusals(
      {{"Scan", R"({"TableName":"","ReturnConsumedCapacity":"X"})",
        kOne + "Value '' at 'tableName'" + length},
       {"BatchGetItem", R"({"RequestItems":{}})", kOne + "Value at 'RequestItems'" + length}});
}

// If the item or the key is missing, the older layer responds and joins all violations.
TEST_F(Layers, JoinAllViolationsOfARequestWithoutAKey) {
  const std::string empty_name =
      "Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than "
      "or equal to 1";
  expect_refusals({
      {"UpdateItem", R"({"TableName":"","UpdateExpression":"REMOVE a"})",
       "2 validation errors detected: " + empty_name + "; " + kNoKey},
      {"UpdateItem", R"({"ReturnValues":"X","ReturnConsumedCapacity":"X","TableName":""})",
       "4 validation errors detected: " + kWrongCapacity + "; " + empty_name +
           "; Value 'X' at 'returnValues' failed to satisfy constraint: Member must satisfy enum "
           "value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]; " +
           kNoKey},
      {"UpdateItem", R"({"TableName":"Gone","AttributeUpdates":{"x":{"Value":{"S":"1"}}},
        "Expected":{"a":{"Exists":false},"b":{"Exists":false}},"ConditionalOperator":"XOR"})",
       "2 validation errors detected: Value 'XOR' at 'conditionalOperator' failed to satisfy "
       "constraint: Member must satisfy enum value set: [OR, AND]; " +
           kNoKey},
  });
}

TEST_F(Layers, JudgeConditionalOperators) {
  const std::string expected =
      R"("Expected":{"a":{"Exists":false},"b":{"Exists":false}},"ConditionalOperator":"XOR")";
  const std::string filters =
      R"({"b":{"ComparisonOperator":"NULL"},"c":{"ComparisonOperator":"NULL"}})";
  const std::string keys =
      R"("KeyConditions":{"p":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"a"}]}})";
  const std::string set = "Failed to satisfy constraint: Member must satisfy enum value set: ";
  const std::string put = R"({"TableName":"Gone","Item":{"p":{}},)" + expected + "}";
  const std::string query = R"({"TableName":"Gone","Select":"X","ConditionalOperator":"XOR",)" +
                            keys + R"(,"QueryFilter":)" + filters + "}";
  const std::string scan =
      R"({"TableName":"Gone","ConditionalOperator":"XOR","ScanFilter":)" + filters + "}";
  expect_refusals({
      {"PutItem", put, kOne + set + "[ALL, OR]"},
      {"Query", query, set + "[ALL, OR]"},
      {"Scan", scan,
       kOne + "Value 'XOR' at 'conditionalOperator' failed to satisfy constraint: Member must "
              "satisfy enum value set: [OR, AND]"},
      {"PutItem", R"({"TableName":"Gone","Item":{},"ConditionalOperator":"AND"})",
       kOne + "ConditionalOperator cannot be used without Filter or Expected"},
  });
  expect_refusals(
      {
          {"PutItem", R"({"TableName":"Gone","Item":{},"ConditionalOperator":1})",
           "NUMBER_VALUE cannot be converted to String"},
          {"Query", R"({"TableName":"Gone","ConditionalOperator":[]})",
           "Unrecognized collection type class java.lang.String"},
          {"Scan", R"({"TableName":"Gone","ConditionalOperator":{}})",
           "Start of structure or map found where not expected"},
          {"Scan", R"({"TableName":"Gone","ConditionalOperator":true,"ScanFilter":
            {"b":{"ComparisonOperator":"NULL"}}})",
           "TRUE_VALUE cannot be converted to String"},
          {"UpdateItem", R"({"TableName":"Gone","ConditionalOperator":1,"UpdateExpression":"a"})",
           "NUMBER_VALUE cannot be converted to String"},
      },
      Code::kSerialization);
}

}  // namespace
}  // namespace stator::protocol
