// SPDX-License-Identifier: Apache-2.0
// The test mode of a whole server, over real sockets: the form of each fault, and its effect on the
// data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>

#include "engine/engine.h"
#include "http/server.h"
#include "protocol/facts.h"
#include "server/dynamodb_service.h"
#include "server/server.h"
#include "server/service_harness.h"
#include "storage/stores.h"
#include "support/matchers.h"
#include "support/raw_connection.h"
#include "testmode/test_mode.h"

namespace stator::server {
namespace {

using protocol::kTestModePath;
using test::FailsWith;
using test::IsOk;
using test::RawAnswer;
using test::RawConnection;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kTypes = "com.amazonaws.dynamodb.v20120810#";
constexpr std::string_view kInternalError =
    R"({"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"The request )"
    R"(processing has failed because of an unknown error, exception or failure."})";

std::string put(std::string_view path, std::string_view body, std::string_view headers = "") {
  return "PUT " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(headers) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

class TestModeServer : public ::testing::Test {
 protected:
  void start(const std::optional<std::string>& test_mode) {
    auto started = Server::start(
        {.listen = {.host = "127.0.0.1", .port = 0}, .threads = 1, .test_mode = test_mode});
    ASSERT_THAT(started, IsOk());
    server_ = std::move(*started);
  }
  void start_with_table(const std::string& rules) {
    start("{}");
    create_table();
    set_rules(rules);
  }
  void set_rules(const std::string& rules) {
    const auto answer = ask(put(kTestModePath, R"({"seed":1,"rules":[)" + rules + "]}"));
    ASSERT_EQ(answer.status, 200) << answer.body;
  }
  RawAnswer ask(const std::string& request) const {
    RawConnection connection(server_->port());
    EXPECT_TRUE(connection.send(request));
    return connection.read_answer();
  }
  RawAnswer call(std::string_view name, std::string_view body) const {
    return ask(operation(name, body));
  }
  void create_table() const {
    const auto created = call(
        "CreateTable",
        R"({"TableName":"Things","BillingMode":"PAY_PER_REQUEST",)"
        R"("AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"},)"
        R"({"AttributeName":"owner","AttributeType":"S"}],)"
        R"("KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],)"
        R"("GlobalSecondaryIndexes":[{"IndexName":"by_owner","KeySchema":)"
        R"([{"AttributeName":"owner","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}]})");
    ASSERT_EQ(created.status, 200) << created.body;
    EXPECT_THAT(created.body, HasSubstr(R"("TableStatus":"CREATING")"));
  }
  RawAnswer put_item(const std::string& pk) const {
    return call("PutItem", R"({"TableName":"Things","Item":{"pk":{"S":")" + pk +
                               R"("},"owner":{"S":"ann"}}})");
  }
  bool has_item(const std::string& pk, bool consistent = true) const {
    const auto answer =
        call("GetItem", R"({"TableName":"Things","Key":{"pk":{"S":")" + pk +
                            R"("}},"ConsistentRead":)" + (consistent ? "true}" : "false}"));
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.body != "{}";
  }
  void expect_error(const RawAnswer& answer, const std::string& body) const {
    EXPECT_EQ(answer.status, 400);
    EXPECT_EQ(answer.body, R"({"__type":")" + body);
    EXPECT_EQ(answer.headers.at("content-type"), "application/x-amz-json-1.0");
    EXPECT_EQ(answer.headers.at("x-stator-test-mode"), "on");
  }

  std::unique_ptr<Server> server_;
};

TEST_F(TestModeServer, IsOffByDefault) {
  start(std::nullopt);
  create_table();
  for (const std::string& request :
       {get(kTestModePath), put(kTestModePath, "{}"), get("/"), operation("ListTables", "{}")}) {
    const RawAnswer answer = ask(request);
    EXPECT_FALSE(answer.headers.contains("x-stator-test-mode"));
    EXPECT_EQ(answer.status, request.find("_stator") == std::string::npos ? 200 : 404);
  }
}

TEST_F(TestModeServer, IsAnnouncedInEachResponse) {
  start("{}");
  for (const std::string& request :
       {get("/"), get("/health/ready"), get("/nothing"), get("/console/"), get(kTestModePath),
        operation("ListTables", "{}"), operation("Nothing", "{}"),
        std::string("OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")}) {
    EXPECT_EQ(ask(request).headers["x-stator-test-mode"], "on") << request;
  }
}

TEST_F(TestModeServer, RefusesToStartWithAWrongSpec) {
  EXPECT_THAT(Server::start({.listen = {.host = "127.0.0.1", .port = 0},
                             .test_mode = R"({"rules":[{"fault":"delay"}]})"}),
              FailsWith(Code::kInvalidArgument, "test mode: rules[0].ms: missing"));
  EXPECT_THAT(Server::start({.listen = {.host = "127.0.0.1", .port = 0}, .test_mode = ""}),
              FailsWith(Code::kInvalidArgument, "test mode: "));
}

TEST_F(TestModeServer, ReadsAndReplacesItsRules) {
  start(R"({"seed":5,"rules":[{"fault":"internal_error","operations":["ListTables"],"last":1}]})");
  EXPECT_EQ(ask(get(kTestModePath)).body,
            R"({"rules":[{"fault":"internal_error","injected":0,"last":1,"matched":0,)"
            R"("operations":["ListTables"]}],"seed":5})");
  EXPECT_EQ(call("ListTables", "{}").status, 500);
  EXPECT_EQ(call("ListTables", "{}").status, 200);
  EXPECT_THAT(ask(get(kTestModePath)).body, HasSubstr(R"("injected":1,"last":1,"matched":2)"));

  const RawAnswer wrong = ask(put(kTestModePath, R"({"rules":[{"fault":"fire"}]})"));
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, HasSubstr("rules[0].fault: expected one of"));
  EXPECT_THAT(ask(get(kTestModePath)).body, HasSubstr(R"("matched":2)"));

  const RawAnswer replaced = ask(put(kTestModePath, R"({"rules":[{"fault":"delay","ms":3}]})"));
  EXPECT_EQ(replaced.status, 200);
  EXPECT_EQ(replaced.body,
            R"({"rules":[{"fault":"delay","injected":0,"matched":0,"ms":3}],"seed":5})");
  EXPECT_EQ(replaced.headers.at("content-type"), "application/json");
  EXPECT_EQ(
      ask("DELETE " + std::string(kTestModePath) + " HTTP/1.1\r\nHost: localhost\r\n\r\n").status,
      405);
}

TEST_F(TestModeServer, RefusesRulesFromForeignPages) {
  start("{}");
  const std::string rules = R"({"rules":[{"fault":"internal_error"}]})";
  EXPECT_EQ(ask(put(kTestModePath, rules, "Origin: http://evil.example\r\n")).status, 403);
  EXPECT_EQ(
      ask("GET " + std::string(kTestModePath) + " HTTP/1.1\r\nHost: evil.example\r\n\r\n").status,
      403);
  EXPECT_THAT(ask(get(kTestModePath)).body, HasSubstr(R"("rules":[])"));
}

TEST_F(TestModeServer, NeedsASignatureIfTheServerChecksThem) {
  auto started = Server::start({.listen = {.host = "127.0.0.1", .port = 0},
                                .credentials = Credentials(),
                                .test_mode = "{}"});
  ASSERT_THAT(started, IsOk());
  server_ = std::move(*started);
  for (const std::string& headers : {std::string(), std::string(kSignature)}) {
    const RawAnswer answer =
        ask(put(kTestModePath, R"({"rules":[{"fault":"internal_error"}]})", headers));
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, HasSubstr("com.amazon.coral.service#"));
  }
}

TEST_F(TestModeServer, FailsWithoutWriting) {
  start_with_table(R"({"fault":"internal_error","operations":["PutItem"],"last":1})");
  const RawAnswer answer = put_item("a");
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body, kInternalError);
  EXPECT_FALSE(has_item("a"));
  EXPECT_EQ(put_item("a").status, 200);
  EXPECT_TRUE(has_item("a"));
}

TEST_F(TestModeServer, FailsAfterWriting) {
  start_with_table(
      R"({"fault":"internal_error","applied":true,"last":4,)"
      R"("operations":["PutItem","DeleteItem","TransactWriteItems","BatchWriteItem"]})");
  const RawAnswer answer = put_item("a");
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body, kInternalError);
  EXPECT_TRUE(has_item("a"));
  EXPECT_EQ(call("DeleteItem", R"({"TableName":"Things","Key":{"pk":{"S":"a"}}})").status, 500);
  EXPECT_FALSE(has_item("a"));
  EXPECT_EQ(call("TransactWriteItems",
                 R"({"TransactItems":[{"Put":{"TableName":"Things","Item":{"pk":{"S":"b"}}}}]})")
                .status,
            500);
  EXPECT_TRUE(has_item("b"));
  EXPECT_EQ(call("BatchWriteItem",
                 R"({"RequestItems":{"Things":[{"PutRequest":{"Item":{"pk":{"S":"c"}}}}]}})")
                .status,
            500);
  EXPECT_TRUE(has_item("c"));
}

TEST_F(TestModeServer, LosesTheResponsesOfOtherOperationsToo) {
  start(R"({"rules":[{"fault":"internal_error","applied":true,"last":3}]})");
  const std::string table =
      R"({"TableName":"Things","BillingMode":"PAY_PER_REQUEST",)"
      R"("AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],)"
      R"("KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]})";
  EXPECT_EQ(call("CreateTable", table).status, 500);
  EXPECT_EQ(call("ListTables", "{}").status, 500);
  EXPECT_EQ(call("DescribeLimits", "{}").status, 500);
  EXPECT_THAT(call("ListTables", "{}").body, HasSubstr("Things"));
}

TEST_F(TestModeServer, ThrottlesWithReasons) {
  start_with_table(
      R"({"fault":"throttling","operations":["PutItem"],"last":1},)"
      R"({"fault":"throttling","operations":["Query"],"last":1,"error":"ThrottlingException"},)"
      R"({"fault":"throttling","operations":["Scan"],"last":1,"error":"ThrottlingException",)"
      R"("limit":"MaxOnDemandThroughputExceeded"},)"
      R"({"fault":"throttling","operations":["ListTables"],"last":1,"error":"ThrottlingException"})");
  const std::string arn = "arn:aws:dynamodb:us-east-1:000000782867:table/Things";
  const std::string busy =
      R"(","message":"Throughput exceeds the current capacity of your table or index. DynamoDB is )"
      R"(automatically scaling your table or index so please try again shortly. If exceptions )"
      R"(persist, check if you have a hot key: https://docs.aws.amazon.com/amazondynamodb/latest/)"
      R"(developerguide/bp-partition-key-design.html")";
  expect_error(
      put_item("a"),
      std::string(kTypes) +
          R"(ProvisionedThroughputExceededException","message":"The level of configured )"
          R"(provisioned throughput for the table was exceeded. Consider increasing your )"
          R"(provisioning level with the UpdateTable API.","ThrottlingReasons":[{"reason":)"
          R"("TableWriteProvisionedThroughputExceeded","resource":")" +
          arn + R"("}]})");
  expect_error(call("Query", R"({"TableName":"Things","IndexName":"by_owner",)"
                             R"("KeyConditionExpression":"owner = :o",)"
                             R"("ExpressionAttributeValues":{":o":{"S":"ann"}}})"),
               "com.amazon.coral.availability#ThrottlingException" + busy +
                   R"(,"throttlingReasons":[{"reason":"IndexReadKeyRangeThroughputExceeded",)"
                   R"("resource":")" +
                   arn + R"(/index/by_owner"}]})");
  expect_error(call("Scan", R"({"TableName":"Things"})"),
               "com.amazon.coral.availability#ThrottlingException" + busy +
                   R"(,"throttlingReasons":[{"reason":"TableReadMaxOnDemandThroughputExceeded",)"
                   R"("resource":")" +
                   arn + R"("}]})");
  expect_error(call("ListTables", "{}"),
               "com.amazon.coral.availability#ThrottlingException" + busy + "}");
}

TEST_F(TestModeServer, ThrottlesByTheAccount) {
  start_with_table(R"({"fault":"throttling","error":"RequestLimitExceeded"})");
  expect_error(call("GetItem", R"({"TableName":"Things","Key":{"pk":{"S":"a"}}})"),
               std::string(kTypes) +
                   R"(RequestLimitExceeded","message":"Throughput exceeds the current throughput )"
                   R"(limit for your account. Please contact AWS Support at )"
                   R"(https://aws.amazon.com/support to request a limit increase",)"
                   R"("ThrottlingReasons":[{"reason":"TableReadAccountLimitExceeded","resource":)"
                   R"("arn:aws:dynamodb:us-east-1:000000782867:table/Things"}]})");
}

TEST_F(TestModeServer, HasConflictsWithTransactions) {
  start_with_table(R"({"fault":"transaction_conflict"})");
  expect_error(put_item("a"), std::string(kTypes) + R"(TransactionConflictException","message":)"
                                                    R"("Transaction is ongoing for the item"})");
  const RawAnswer cancelled =
      call("TransactWriteItems",
           R"({"TransactItems":[{"Put":{"TableName":"Things","Item":{"pk":{"S":"b"}}}},)"
           R"({"Put":{"TableName":"Things","Item":{"pk":{"S":"c"}}}}]})");
  EXPECT_EQ(cancelled.status, 400);
  const std::string none = R"(\{"Code":"None"\})";
  const std::string conflict =
      R"(\{"Code":"TransactionConflict","Message":"Transaction is ongoing for the item"\})";
  EXPECT_THAT(cancelled.body,
              ContainsRegex(R"(TransactionCanceledException","Message":"Transaction cancelled, )"
                            R"(please refer cancellation reasons for specific reasons \[[^]]*\]",)"
                            R"("CancellationReasons":\[()" +
                            none + "," + conflict + "|" + conflict + "," + none + R"()\]\}$)"));
  for (const char* pk : {"a", "b", "c"}) EXPECT_FALSE(has_item(pk)) << pk;
}

TEST_F(TestModeServer, ReportsThatATransactionIsInProgress) {
  start_with_table(R"({"fault":"transaction_in_progress","last":1})");
  const std::string write =
      R"({"ClientRequestToken":"t","TransactItems":[{"Put":{"TableName":"Things",)"
      R"("Item":{"pk":{"S":"b"}}}}]})";
  expect_error(call("TransactWriteItems", write),
               std::string(kTypes) +
                   R"(TransactionInProgressException","Message":"The transaction with the given )"
                   R"(request token is already in progress."})");
  EXPECT_EQ(call("TransactWriteItems", write).status, 200);
  EXPECT_TRUE(has_item("b"));
}

TEST_F(TestModeServer, ReturnsPartsOfBatchesUnprocessed) {
  start_with_table(R"({"fault":"unprocessed","last":2})");
  const auto keys_in = [](const std::string& text) {
    std::set<char> keys;
    for (std::size_t at = 0; (at = text.find(R"({"S":")", at)) != text.npos; ++at) {
      keys.insert(text[at + 6]);
    }
    return keys;
  };
  const auto unprocessed_in = [&](const RawAnswer& answer, const char* member) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    const std::size_t at = answer.body.find(member);
    EXPECT_NE(at, std::string::npos) << answer.body;
    return keys_in(answer.body.substr(at));
  };
  std::string writes;
  std::string keys;
  for (const char c : {'a', 'b', 'c', 'd', 'e'}) {
    const std::string key = std::string(R"({"pk":{"S":")") + c + R"("}})";
    writes += (writes.empty() ? "" : ",") + (R"({"PutRequest":{"Item":)" + key + "}}");
    keys += (keys.empty() ? "" : ",") + key;
  }
  const auto left =
      unprocessed_in(call("BatchWriteItem", R"({"RequestItems":{"Things":[)" + writes + "]}}"),
                     R"("UnprocessedItems")");
  EXPECT_FALSE(left.empty());
  EXPECT_LT(left.size(), 5U);
  for (const char c : {'a', 'b', 'c', 'd', 'e'}) {
    EXPECT_EQ(has_item(std::string(1, c)), !left.contains(c)) << c;
  }
  const auto unread =
      unprocessed_in(call("BatchGetItem", R"({"RequestItems":{"Things":{"Keys":[)" + keys +
                                              R"(],"ProjectionExpression":"pk"}}})"),
                     R"("UnprocessedKeys":{"Things")");
  EXPECT_FALSE(unread.empty());
  EXPECT_LT(unread.size(), 5U);
  EXPECT_THAT(call("BatchWriteItem", R"({"RequestItems":{"Things":[)" + writes + "]}}").body,
              HasSubstr(R"("UnprocessedItems":{})"));
}

TEST_F(TestModeServer, KeepsTablesCreating) {
  start(R"({"rules":[{"fault":"creating","ms":600000}]})");
  create_table();
  const RawAnswer described = call("DescribeTable", R"({"TableName":"Things"})");
  EXPECT_THAT(described.body, HasSubstr(R"("TableStatus":"CREATING")"));
  EXPECT_THAT(described.body, HasSubstr(R"("IndexStatus":"CREATING")"));
  EXPECT_THAT(described.body, Not(HasSubstr("ACTIVE")));
  expect_error(put_item("a"),
               std::string(kTypes) +
                   R"(ResourceNotFoundException","message":"Requested resource not found"})");
  expect_error(call("DeleteTable", R"({"TableName":"Things"})"),
               std::string(kTypes) +
                   R"(ResourceInUseException","message":"Attempt to change a resource which is )"
                   R"(still in use: Table is being created: Things"})");
  set_rules("");
  EXPECT_THAT(call("DescribeTable", R"({"TableName":"Things"})").body, Not(HasSubstr("CREATING")));
  EXPECT_EQ(put_item("a").status, 200);
}

TEST_F(TestModeServer, HasReadsThatLag) {
  start_with_table(R"({"fault":"read_lag","ms":60000},{"fault":"index_lag","ms":60000})");
  EXPECT_EQ(put_item("a").status, 200);
  const auto count = [&](const std::string& operation, const std::string& members) {
    const auto answer = call(operation, R"({"TableName":"Things")" + members + "}");
    EXPECT_THAT(answer.body, ContainsRegex(R"("Count":[01])"));
    return answer.body.find(R"("Count":1)") == std::string::npos ? 0 : 1;
  };
  const std::string by_key =
      R"(,"KeyConditionExpression":"pk = :v","ExpressionAttributeValues":{":v":{"S":"a"}})";
  const std::string by_owner =
      R"(,"IndexName":"by_owner","KeyConditionExpression":"#o = :v",)"
      R"("ExpressionAttributeNames":{"#o":"owner"},"ExpressionAttributeValues":{":v":{"S":"ann"}})";
  EXPECT_FALSE(has_item("a", /*consistent=*/false));
  EXPECT_EQ(count("Query", by_key), 0);
  EXPECT_EQ(count("Scan", ""), 0);
  EXPECT_EQ(count("Query", by_owner), 0);
  EXPECT_TRUE(has_item("a"));
  EXPECT_EQ(count("Query", by_key + R"(,"ConsistentRead":true)"), 1);
  EXPECT_EQ(count("Scan", R"(,"ConsistentRead":true)"), 1);
  set_rules("");
  EXPECT_TRUE(has_item("a", /*consistent=*/false));
  EXPECT_EQ(count("Query", by_owner), 1);
}

TEST_F(TestModeServer, DelaysResponses) {
  start_with_table(R"({"fault":"delay","ms":40,"last":1})");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(put_item("a").status, 200);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(40));
  EXPECT_TRUE(has_item("a"));
}

// One event loop, and a delayed response on each of several connections.
TEST(TestModeDelays, DoNotDelayOtherRequests) {
  auto engine = Engine::open(make_memory_store());
  ASSERT_THAT(engine, IsOk());
  testmode::Timer timer;
  auto mode = testmode::TestMode::start(
      **engine, timer,
      {.rules = {{.fault = testmode::Fault::kDelay,
                  .operations = {"DescribeLimits", "DescribeTable", "GetItem"},
                  .ms = 60'000,
                  .ms_max = 60'000}}});
  ASSERT_THAT(mode, IsOk());
  DynamoDbService service(**engine);
  service.set_test_mode(mode->get());
  auto server = http::Server::start({.threads = 1, .stop_timeout = std::chrono::milliseconds(1)},
                                    [&](const http::Request& request, http::Respond respond) {
                                      service.handle(request, std::move(respond));
                                    });
  ASSERT_THAT(server, IsOk());
  std::vector<std::unique_ptr<RawConnection>> delayed;
  for (const char* name : {"DescribeLimits", "DescribeTable", "GetItem"}) {
    delayed.push_back(std::make_unique<RawConnection>((*server)->port()));
    EXPECT_TRUE(delayed.back()->send(operation(name, R"({"TableName":"Things"})")));
  }
  for (int i = 0; i < 10; ++i) {
    RawConnection other((*server)->port());
    EXPECT_TRUE(other.send(operation("ListTables", "{}")));
    EXPECT_EQ(other.read_answer().status, 200);
  }
  (*server)->stop();
}

}  // namespace
}  // namespace stator::server
