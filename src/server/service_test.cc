// SPDX-License-Identifier: Apache-2.0
// The whole server in process, in memory, over real sockets: protocol rather than operations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libdeflate.h>

#include <atomic>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "server/dynamodb_service.h"
#include "server/gzip.h"
#include "server/server.h"
#include "server/service_harness.h"
#include "stator/http_client.h"
#include "support/raw_connection.h"
#include "support/signed_request.h"
#include "support/temp_dir.h"

namespace stator::server {
namespace {

using test::RawAnswer;
using test::RawConnection;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class Service : public ::testing::Test {
 protected:
  Service() {
    auto started = Server::start({.listen = {.host = "127.0.0.1", .port = 0}, .threads = 2});
    EXPECT_TRUE(started) << (started ? "" : started.error().message);
    if (started) server_ = std::move(*started);
  }

  RawAnswer ask(const std::string& request) {
    RawConnection connection(server_->port());
    EXPECT_TRUE(connection.send(request));
    return connection.read_answer();
  }
  RawAnswer call(std::string_view name, std::string_view body) {
    return ask(operation(name, body));
  }
  void expect_error(const RawAnswer& answer, std::string_view type, std::string_view message) {
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, HasSubstr("\"__type\":\"" + std::string(type) + "\""));
    EXPECT_THAT(answer.body, HasSubstr(std::string(message)));
    EXPECT_EQ(answer.headers.at("content-type"), "application/x-amz-json-1.0");
  }
  void create_simple_table() {
    const auto created = call(
        "CreateTable", R"({"TableName":"Things","BillingMode":"PAY_PER_REQUEST",)"
                       R"("AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],)"
                       R"("KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]})");
    ASSERT_EQ(created.status, 200) << created.body;
  }

  std::unique_ptr<Server> server_;
};

TEST_F(Service, AddsAnIdAndAChecksumToEachResponse) {
  RawConnection connection(server_->port());
  std::set<std::string> ids;
  for (const std::string& request :
       {operation("ListTables", "{}"), operation("Nothing", "{}"),
        std::string("GET / HTTP/1.1\r\n\r\n"), operation("GetItem", "{")}) {
    ASSERT_TRUE(connection.send(request));
    const RawAnswer answer = connection.read_answer();
    EXPECT_EQ(answer.headers.at("x-amz-crc32"),
              std::to_string(libdeflate_crc32(0, answer.body.data(), answer.body.size())));
    EXPECT_THAT(answer.headers.at("x-amzn-requestid"), MatchesRegex("[0-9A-V]{52}"));
    ids.insert(answer.headers.at("x-amzn-requestid"));
  }
  EXPECT_EQ(ids.size(), 4U);
}

TEST_F(Service, ReportsThatItIsHealthy) {
  const RawAnswer answer = ask("GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "healthy: dynamodb.us-east-1.amazonaws.com ");
}

TEST_F(Service, ReturnsNotFoundForOtherPaths) {
  for (const std::string& request :
       {std::string("GET /favicon.ico HTTP/1.1\r\n\r\n"), std::string("PUT / HTTP/1.1\r\n\r\n"),
        post(std::string(kSignature) + target("ListTables"), "{}"),
        post(std::string(kSignature) + "Content-Type: text/plain\r\n" + target("ListTables"),
             "{}")}) {
    const RawAnswer answer = ask(request);
    EXPECT_EQ(answer.status, 404) << request;
    EXPECT_EQ(answer.body, "<UnknownOperationException/>\n");
  }
}

TEST_F(Service, RefusesUnknownOperations) {
  for (const std::string& line :
       {target("DropEverything"), target(""), std::string(), target("listtables"),
        std::string("X-Amz-Target: DynamoDB_20111205.ListTables\r\n"),
        std::string("X-Amz-Target: ListTables\r\n")}) {
    expect_error(ask(post(std::string(kJson) + std::string(kSignature) + line, "{}")),
                 "com.amazon.coral.service#UnknownOperationException", "");
  }
}

TEST_F(Service, RequiresASignature) {
  expect_error(ask(post(std::string(kJson) + target("ListTables"), "{}")),
               "com.amazon.coral.service#MissingAuthenticationTokenException",
               "Request is missing Authentication Token");
  expect_error(ask(post(std::string(kJson) + target("ListTables") +
                            "Authorization: AWS4-HMAC-SHA256 Credential=a\r\n",
                        "{}")),
               "com.amazon.coral.service#IncompleteSignatureException",
               "Authorization header requires 'Signature' parameter.");
  EXPECT_EQ(ask(post(std::string(kJson) + target("ListTables"), "{}",
                     "/?X-Amz-Algorithm=A&X-Amz-Credential=b&X-Amz-Date=c&X-Amz-SignedHeaders=d"
                     "&X-Amz-Signature=e"))
                .status,
            200);
}

TEST_F(Service, RejectsMalformedBodies) {
  for (const std::string_view body : {"", "{", "[]", "nonsense", R"({"TableName":5})"}) {
    const RawAnswer answer = call("DescribeTable", body);
    expect_error(answer, "com.amazon.coral.service#SerializationException", "");
  }
}

// The exact bodies of errors: their prefixes, both spellings of "message", and errors without one.
TEST_F(Service, SpellsErrorsAsDynamoDbDoes) {
  create_simple_table();
  struct Case {
    std::string_view operation;
    std::string_view body;
    std::string_view answer;
  };
  const Case cases[] = {
      {"GetItem", "{", R"({"__type":"com.amazon.coral.service#SerializationException"})"},
      {"GetItem", "", R"({"__type":"com.amazon.coral.service#SerializationException"})"},
      {"GetItems", "{}", R"({"__type":"com.amazon.coral.service#UnknownOperationException"})"},
      {"GetItem", R"({"TableName":5})",
       R"({"__type":"com.amazon.coral.service#SerializationException",)"
       R"("Message":"NUMBER_VALUE cannot be converted to String"})"},
      {"GetItem", R"({"TableName":"Things","Key":{"pk":{"N":"1"}}})",
       R"({"__type":"com.amazon.coral.validate#ValidationException",)"
       R"("message":"The provided key element does not match the schema"})"},
      {"GetItem", R"({"TableName":"Absent","Key":{"pk":{"N":"1"}}})",
       R"({"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",)"
       R"("message":"Requested resource not found"})"},
      {"DescribeTable", R"({"TableName":"Absent"})",
       R"({"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",)"
       R"("message":"Requested resource not found: Table: Absent not found"})"},
      {"TransactGetItems", R"({"TransactItems":[{"Get":{"TableName":"Things","Key":{}}}]})",
       R"({"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":)"
       R"("Transaction cancelled, please refer cancellation reasons for specific reasons )"
       R"([ValidationError]","CancellationReasons":[{"Code":"ValidationError","Message":)"
       R"("The provided key element does not match the schema"}]})"},
  };
  for (const Case& one : cases) {
    const RawAnswer answer = call(one.operation, one.body);
    EXPECT_EQ(answer.status, 400);
    EXPECT_EQ(answer.body, one.answer);
  }
}

TEST_F(Service, RespondsInTheContentTypeOfTheRequest) {
  const auto list = [&](std::string_view type) {
    return ask(post("Content-Type: " + std::string(type) + "\r\n" + std::string(kSignature) +
                        target("ListTables"),
                    "{}"));
  };
  EXPECT_EQ(list("application/json").headers.at("content-type"), "application/json");
  EXPECT_EQ(list("application/json;charset=utf-8").headers.at("content-type"), "application/json");
  EXPECT_EQ(list("application/x-amz-json-1.0; x").headers.at("content-type"),
            "application/x-amz-json-1.0");
  EXPECT_EQ(list("application/x-amz-json-1.1").status, 404);
}

TEST_F(Service, CompressesResponsesIfRequested) {
  create_simple_table();
  const std::string text(5000, 'x');
  ASSERT_EQ(call("PutItem",
                 R"({"TableName":"Things","Item":{"pk":{"S":"a"},"v":{"S":")" + text + R"("}}})")
                .status,
            200);
  const std::string headers = std::string(kJson) + std::string(kSignature) + target("GetItem");
  const std::string get = R"({"TableName":"Things","Key":{"pk":{"S":"a"}}})";
  const RawAnswer answer = ask(post(headers + "Accept-Encoding: deflate, gzip\r\n", get));
  EXPECT_EQ(answer.headers.at("content-encoding"), "gzip");
  EXPECT_EQ(answer.headers.at("x-amz-crc32"),
            std::to_string(libdeflate_crc32(0, answer.body.data(), answer.body.size())));
  std::string whole;
  ASSERT_EQ(gunzip(answer.body, 1 << 20, whole), GunzipOutcome::kDone);
  EXPECT_THAT(whole, HasSubstr(text));
  EXPECT_EQ(whole, ask(post(headers, get)).body);
  EXPECT_FALSE(ask(post(headers + "Accept-Encoding: identity\r\n", get))
                   .headers.contains("content-encoding"));
}

TEST_F(Service, AcceptsCompressedRequestsButNoBombs) {
  const std::string headers = std::string(kJson) + std::string(kSignature) + target("ListTables");
  const std::string padded = "{" + std::string(1000, ' ') + "}";
  const RawAnswer answer = ask(post(headers + "Content-Encoding: gzip\r\n", *gzip(padded)));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, R"({"TableNames":[]})");
  const std::string bomb = "{" + std::string(kBodyBytesMax, ' ') + "}";
  EXPECT_EQ(ask(post(headers + "Content-Encoding: gzip\r\n", *gzip(bomb))).status, 413);
  for (const std::string encoding : {"gzip", "br"}) {
    std::string encoded = headers;
    encoded.append("Content-Encoding: ").append(encoding).append("\r\n");
    const RawAnswer refused = ask(post(encoded, "{}{}{}{}{}"));
    EXPECT_EQ(refused.body, R"({"__type":"com.amazon.coral.service#SerializationException"})");
  }
}

TEST_F(Service, ReturnsTheErrorsOfTheApi) {
  create_simple_table();
  expect_error(call("DescribeTable", R"({"TableName":"Absent"})"),
               "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException", "Absent");
  expect_error(call("GetItem", R"({"TableName":"Things","Key":{"pk":{"N":"1"}}})"),
               "com.amazon.coral.validate#ValidationException", "The provided key element");
  expect_error(call("DeleteItem", R"j({"TableName":"Things","Key":{"pk":{"S":"1"}},)j"
                                  R"j("ConditionExpression":"attribute_exists(pk)"})j"),
               "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
               "The conditional request failed");
  expect_error(
      call("TransactWriteItems",
           R"j({"TransactItems":[{"ConditionCheck":{"TableName":"Things","Key":{"pk":{"S":"1"}},)j"
           R"j("ConditionExpression":"attribute_exists(pk)"}}]})j"),
      "com.amazonaws.dynamodb.v20120810#TransactionCanceledException", "CancellationReasons");
}

TEST_F(Service, RejectsABodyOverTheLimitAndMalformedHttp) {
  RawConnection large(server_->port());
  ASSERT_TRUE(large.send("POST / HTTP/1.1\r\nContent-Length: 16777217\r\n\r\n"));
  EXPECT_EQ(large.read_answer().status, 413);
  RawConnection noise(server_->port());
  ASSERT_TRUE(noise.send("noise\r\n\r\n"));
  const RawAnswer answer = noise.read_answer();
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, HasSubstr("SerializationException"));
  EXPECT_EQ(call("ListTables", "{}").status, 200);
}

TEST_F(Service, KeepsTheConnectionThroughErrors) {
  RawConnection connection(server_->port());
  ASSERT_TRUE(connection.send(operation("GetItem", "{") + operation("Nothing", "{}") +
                              operation("ListTables", "{}")));
  EXPECT_EQ(connection.read_answer().status, 400);
  EXPECT_EQ(connection.read_answer().status, 400);
  EXPECT_EQ(connection.read_answer().body, R"({"TableNames":[]})");
}

TEST_F(Service, AllowsOnlyPagesOfThisMachine) {
  const auto preflight_of = [](const std::string& origin) {
    std::string request = "OPTIONS / HTTP/1.1\r\nOrigin: ";
    request += origin;
    request += "\r\nAccess-Control-Request-Method: POST\r\n";
    request += "Access-Control-Request-Headers: x-amz-target\r\n\r\n";
    return request;
  };
  const auto list_of = [](const std::string& origin) {
    std::string headers = target("ListTables");
    headers.append(kJson).append(kSignature).append("Origin: ").append(origin).append("\r\n");
    return post(headers, "{}");
  };
  const RawAnswer local = ask(preflight_of("http://localhost:3000"));
  EXPECT_EQ(local.status, 200);
  EXPECT_EQ(local.headers.at("access-control-allow-origin"), "http://localhost:3000");
  EXPECT_EQ(local.headers.at("access-control-allow-headers"), "x-amz-target");
  EXPECT_EQ(local.headers.at("access-control-allow-methods"), "POST");
  EXPECT_EQ(local.headers.at("access-control-max-age"), "172800");
  EXPECT_EQ(ask("OPTIONS / HTTP/1.1\r\n\r\n").status, 404);
  EXPECT_EQ(ask(list_of("http://127.0.0.1")).headers.at("access-control-allow-origin"),
            "http://127.0.0.1");
  for (const std::string origin :
       {"https://example.com", "http://localhost.example.com", "http://127.0.0.1.example.com"}) {
    for (const std::string& request : {preflight_of(origin), list_of(origin)}) {
      const RawAnswer answer = ask(request);
      EXPECT_EQ(answer.status, 403);
      EXPECT_FALSE(answer.headers.contains("access-control-allow-origin")) << origin;
    }
  }
}

// DNS rebinding: if example.com resolves to this machine, its pages have the server's origin.
TEST_F(Service, RefusesHostsThatAreNotLocal) {
  std::string request = operation("ListTables", "{}");
  request.replace(request.find("localhost"), 9, "example.com:8000");
  const RawAnswer answer = ask(request);
  EXPECT_EQ(answer.status, 403);
  EXPECT_THAT(answer.body, HasSubstr("AccessDeniedException"));
  EXPECT_THAT(answer.body, HasSubstr("Host 'example.com:8000' is not local; allow it with"));
  EXPECT_EQ(ask("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n").status, 403);
}

TEST_F(Service, ServesTheConsoleToThisMachineOnly) {
  const auto get = [&](std::string_view method, std::string_view path, std::string_view host) {
    return ask(std::string(method) + " " + std::string(path) +
               " HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n");
  };
  const RawAnswer page = get("GET", "/console/", "localhost");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("<title>Stator</title>"));
  EXPECT_THAT(page.headers.at("content-security-policy"), HasSubstr("default-src 'none'"));
  EXPECT_FALSE(page.headers.contains("access-control-allow-origin"));
  EXPECT_EQ(get("GET", "/console/", "example.com").status, 403);
  EXPECT_EQ(get("GET", "/console/../secret", "localhost").status, 404);
  EXPECT_EQ(ask(post("", "{}", "/console/")).status, 405);
}

TEST(Server, WithCredentialsServesTheConsoleUnsigned) {
  const auto server = Server::start({.listen = {.host = "127.0.0.1", .port = 0},
                                     .credentials = Credentials{{"AKID", {.secret = "secret"}}}});
  ASSERT_TRUE(server);
  RawConnection connection((*server)->port());
  ASSERT_TRUE(connection.send(
      "GET /console/ HTTP/1.1\r\nHost: db.example.com\r\nOrigin: http://other.example\r\n\r\n"));
  const RawAnswer page = connection.read_answer();
  EXPECT_EQ(page.status, 200);
  EXPECT_FALSE(page.headers.contains("access-control-allow-origin"));
}

TEST_F(Service, RefusesLargeRequestsByTheirHeaders) {
  const auto begin_of = [](std::string_view headers, std::string_view host) {
    return "POST / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n" + std::string(headers) +
           "Content-Length: 10000000\r\n\r\n";
  };
  const std::string json(kJson);
  const std::string signature(kSignature);
  EXPECT_EQ(ask(begin_of(signature + target("ListTables"), "localhost")).status, 404);
  EXPECT_EQ(ask(begin_of(json + signature + target("ListTables"), "example.com")).status, 403);
  expect_error(ask(begin_of(json + signature, "localhost")),
               "com.amazon.coral.service#UnknownOperationException", "");
  expect_error(ask(begin_of(json + target("ListTables"), "localhost")),
               "com.amazon.coral.service#MissingAuthenticationTokenException", "");
}

TEST(Server, WithCredentialsRefusesLargeRequestsOfOthersByTheirHeaders) {
  const auto server = Server::start({.listen = {.host = "127.0.0.1", .port = 0},
                                     .credentials = Credentials{{"AKID", {.secret = "secret"}}}});
  ASSERT_TRUE(server) << server.error().message;
  RawConnection connection((*server)->port());
  ASSERT_TRUE(connection.send("POST / HTTP/1.1\r\nHost: example.com\r\n" + std::string(kJson) +
                              std::string(kSignature) + target("ListTables") +
                              "Content-Length: 10000000\r\n\r\n"));
  EXPECT_THAT(connection.read_answer().body, HasSubstr("UnrecognizedClientException"));
}

TEST(Server, ServesHostsThatAreAllowed) {
  const auto server = Server::start(
      {.listen = {.host = "127.0.0.1", .port = 0}, .allowed_hosts = {"db.example.com"}});
  ASSERT_TRUE(server) << server.error().message;
  RawConnection connection((*server)->port());
  connection.send("GET / HTTP/1.1\r\nHost: db.example.com:8000\r\n\r\n");
  EXPECT_EQ(connection.read_answer().status, 200);
}

// The requests of a semaphore, as PHP's SDK sends them.
TEST_F(Service, RunsTheSemaphoreAsPhpSendsIt) {
  const auto as_php = [&](std::string_view name, std::string_view body) {
    return ask(post("X-Amz-Target: DynamoDB_20120810." + std::string(name) +
                        "\r\nContent-Type: application/x-amz-json-1.0\r\n"
                        "aws-sdk-invocation-id: 9cdb06b8d1d4a2f2a1ac9b4b9f4b04f1\r\n"
                        "User-Agent: aws-sdk-php/3.337.0 OS/Linux#6.1 lang/php#8.2 GuzzleHttp/7\r\n"
                        "aws-sdk-retry: 0/0\r\n" +
                        std::string(kSignature),
                    body));
  };
  expect_error(as_php("DescribeTable", R"({"TableName":"app_semaphores"})"),
               "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException", "app_semaphores");
  const RawAnswer created = as_php(
      "CreateTable",
      R"({"TableName":"app_semaphores","KeySchema":[{"AttributeName":"semaphoreName","KeyType":)"
      R"("HASH"}],"AttributeDefinitions":[{"AttributeName":"semaphoreName","AttributeType":"S"},)"
      R"({"AttributeName":"userId","AttributeType":"S"},{"AttributeName":"expires",)"
      R"("AttributeType":"N"}],"GlobalSecondaryIndexes":[{"IndexName":"User","KeySchema":)"
      R"([{"AttributeName":"userId","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"},)"
      R"("ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}},{"IndexName":)"
      R"("Expires","KeySchema":[{"AttributeName":"expires","KeyType":"HASH"}],"Projection":)"
      R"({"ProjectionType":"ALL"},"ProvisionedThroughput":{"ReadCapacityUnits":1,)"
      R"("WriteCapacityUnits":1}}],"ProvisionedThroughput":{"ReadCapacityUnits":1,)"
      R"("WriteCapacityUnits":1}})");
  ASSERT_EQ(created.status, 200) << created.body;
  const auto lock = [&](std::string_view user, std::string_view expires, std::string_view now) {
    return as_php("PutItem",
                  R"({"TableName":"app_semaphores","Item":{"semaphoreName":{"S":"tbl_issues:7"},)"
                  R"("userId":{"S":")" +
                      std::string(user) + R"("},"expires":{"N":")" + std::string(expires) +
                      R"("}},"ConditionExpression":"semaphoreName <> :semaphoreName or expires < )"
                      R"(:time","ExpressionAttributeValues":{":semaphoreName":{"S":)"
                      R"("tbl_issues:7"},":time":{"N":")" +
                      std::string(now) + R"("}}})");
  };
  const RawAnswer first = lock("ann", "1120", "1000");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.body, "{}");
  expect_error(lock("bob", "1125", "1005"),
               "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
               "The conditional request failed");
  EXPECT_EQ(lock("bob", "1241", "1121").status, 200) << "an expired lock is taken over";
  const std::string key =
      R"({"TableName":"app_semaphores","Key":{"semaphoreName":{"S":"tbl_issues:7"}}})";
  EXPECT_THAT(as_php("GetItem", key).body, HasSubstr(R"("userId":{"S":"bob"})"));
  EXPECT_EQ(as_php("DeleteItem", key).body, "{}");
  EXPECT_EQ(lock("ann", "1300", "1180").status, 200);
}

// The requests of a feed, read with KeyConditions, as version 1 of Java's SDK sends them.
TEST_F(Service, ReadsTheFeedAsJavaSendsIt) {
  const auto as_java = [&](std::string_view name, std::string_view body) {
    return ask(
        post("Accept: application/json\r\n"
             "X-Amz-Target: DynamoDB_20120810." +
                 std::string(name) +
                 "\r\nUser-Agent: aws-sdk-java/1.12.780 Linux/6.1 OpenJDK/17\r\n"
                 "amz-sdk-invocation-id: 4f0b3ad8-6d3c-1f0a-6b0e-6f6fb7e1f1f2\r\n"
                 "amz-sdk-request: attempt=1;max=11\r\namz-sdk-retry: 0/0/500\r\n"
                 "Content-Type: application/x-amz-json-1.0\r\nConnection: Keep-Alive\r\n" +
                 std::string(kSignature),
             body));
  };
  const RawAnswer created = as_java(
      "CreateTable",
      R"({"AttributeDefinitions":[{"AttributeName":"partition_key","AttributeType":"S"},)"
      R"({"AttributeName":"range_key","AttributeType":"N"}],"TableName":"ticks_test_table",)"
      R"("KeySchema":[{"AttributeName":"partition_key","KeyType":"HASH"},{"AttributeName":)"
      R"("range_key","KeyType":"RANGE"}],"ProvisionedThroughput":{"ReadCapacityUnits":1,)"
      R"("WriteCapacityUnits":1}})");
  ASSERT_EQ(created.status, 200) << created.body;
  for (const std::string tick : {"100", "200", "300"}) {
    std::string body =
        R"({"TableName":"ticks_test_table","Item":{"partition_key":{"S":"u1"},"range_key":{"N":")"
        "9223372036854775";
    body.append(tick).append(R"("},"content":{"S":"post )").append(tick).append(R"("}}})");
    ASSERT_EQ(as_java("PutItem", body).status, 200);
  }
  const RawAnswer page = as_java(
      "Query",
      R"({"TableName":"ticks_test_table","KeyConditions":{"partition_key":{"AttributeValueList":)"
      R"([{"S":"u1"}],"ComparisonOperator":"EQ"},"range_key":{"AttributeValueList":[{"N":)"
      R"("9223372036854775200"}],"ComparisonOperator":"LE"}}})");
  ASSERT_EQ(page.status, 200) << page.body;
  EXPECT_THAT(page.body, HasSubstr(R"("Count":2)"));
  EXPECT_THAT(page.body, HasSubstr(R"({"N":"9223372036854775100"})"));
  EXPECT_THAT(page.body, HasSubstr("post 200"));
  EXPECT_THAT(page.body, Not(HasSubstr("post 300")));
  EXPECT_LT(page.body.find("post 100"), page.body.find("post 200"));
}

TEST_F(Service, CountsRightUnderConcurrentWriters) {
  create_simple_table();
  constexpr int kWriters = 8;
  constexpr int kRounds = 50;
  std::atomic<int> good = 0;
  std::vector<std::thread> writers;
  writers.reserve(kWriters);
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&] {
      RawConnection connection(server_->port());
      for (int i = 0; i < kRounds; ++i) {
        connection.send(operation("UpdateItem",
                                  R"({"TableName":"Things","Key":{"pk":{"S":"counter"}},)"
                                  R"("UpdateExpression":"ADD n :one",)"
                                  R"("ExpressionAttributeValues":{":one":{"N":"1"}}})"));
        if (connection.read_answer().status == 200) ++good;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(good, kWriters * kRounds);
  EXPECT_THAT(call("GetItem", R"({"TableName":"Things","Key":{"pk":{"S":"counter"}}})").body,
              HasSubstr(R"("n":{"N":"400"})"));
}

TEST(Server, KeepsItsTablesThroughARestart) {
  const test::TempDir temporary;
  const ServerOptions options{.data = temporary.path() / "data",
                              .listen = {.host = "127.0.0.1", .port = 0}};
  for (int round = 0; round < 2; ++round) {
    const auto server = Server::start(options);
    ASSERT_TRUE(server) << server.error().message;
    RawConnection connection((*server)->port());
    if (round == 0) {
      connection.send(operation(
          "CreateTable", R"({"TableName":"Kept","BillingMode":"PAY_PER_REQUEST",)"
                         R"("AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],)"
                         R"("KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]})"));
      EXPECT_EQ(connection.read_answer().status, 200);
      connection.send(operation(
          "PutItem", R"({"TableName":"Kept","Item":{"pk":{"S":"a"},"v":{"BOOL":true}}})"));
      EXPECT_EQ(connection.read_answer().body, "{}");
    }
    connection.send(operation("GetItem", R"({"TableName":"Kept","Key":{"pk":{"S":"a"}}})"));
    EXPECT_THAT(connection.read_answer().body, HasSubstr(R"("v":{"BOOL":true})"));
    EXPECT_EQ(Server::start(options).error().code, Code::kLocked);
  }
}

TEST(Server, RefusesToListenBeyondThisMachine) {
  for (const std::string host : {"0.0.0.0", "::", "10.1.2.3"}) {
    const auto server = Server::start({.listen = {.host = host, .port = 0}});
    ASSERT_FALSE(server);
    EXPECT_EQ(server.error().code, Code::kInvalidArgument);
    EXPECT_THAT(server.error().message, HasSubstr("needs credentials"));
  }
}

// Signed requests are accepted from any origin, as by DynamoDB.
TEST(Server, WithCredentialsAllowsRequestsOfAnyPage) {
  const auto server = Server::start({.listen = {.host = "127.0.0.1", .port = 0},
                                     .credentials = Credentials{{"AKID", {.secret = "secret"}}}});
  ASSERT_TRUE(server) << server.error().message;
  RawConnection connection((*server)->port());
  connection.send("OPTIONS / HTTP/1.1\r\nOrigin: https://example.com\r\n\r\n");
  const RawAnswer preflight = connection.read_answer();
  EXPECT_EQ(preflight.headers.at("access-control-allow-origin"), "*");
  EXPECT_FALSE(preflight.headers.contains("vary"));
  connection.send("GET / HTTP/1.1\r\nOrigin: https://example.com\r\n\r\n");
  EXPECT_EQ(connection.read_answer().headers.at("access-control-allow-origin"), "*");
  RawConnection signs((*server)->port());
  signs.send(test::signed_operation({.id = "AKID", .secret = "secret"}, "ListTables", "{}",
                                    "Origin: https://example.com\r\n"));
  const RawAnswer served = signs.read_answer();
  EXPECT_EQ(served.status, 200);
  EXPECT_EQ(served.headers.at("access-control-allow-origin"), "*");
}

// Large requests are refused by their headers. Pages read that refusal, too.
TEST(Server, AllowsPagesToReadTheRefusalOfALargeRequest) {
  const std::string head =
      "POST / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Length: 1000000"
      "\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n" +
      std::string(kJson);
  for (const bool verifies : {false, true}) {
    ServerOptions options{.listen = {.host = "127.0.0.1", .port = 0}};
    if (verifies) options.credentials = Credentials{{"AKID", {.secret = "secret"}}};
    const auto server = Server::start(options);
    ASSERT_TRUE(server) << server.error().message;
    for (const std::string& request :
         {head + "\r\n", head + target("PutItem") + std::string(kSignature) + "\r\n"}) {
      const bool is_signed = request.size() > head.size() + 2;
      if (is_signed && !verifies) continue;  // it is not refused
      RawConnection connection((*server)->port());
      connection.send(request);
      const RawAnswer answer = connection.read_answer();
      EXPECT_EQ(answer.status, 400);
      EXPECT_EQ(answer.headers.at("access-control-allow-origin"),
                verifies ? "*" : "http://localhost");
      EXPECT_TRUE(answer.headers.contains("traceparent"));
    }
  }
}

TEST(Server, WithCredentialsServesOnlyThem) {
  const auto server =
      Server::start({.listen = {.host = "0.0.0.0", .port = 0},
                     .credentials = Credentials{{"AKID", {.secret = "secret"}},
                                                {"LONG", {.secret = std::string(100, 's')}}}});
  ASSERT_TRUE(server) << server.error().message;
  const std::string endpoint = "http://127.0.0.1:" + std::to_string((*server)->port());
  const auto list = [&](const stator::Credentials& credentials) {
    auto client = HttpClient::open({.endpoint = endpoint, .credentials = credentials});
    return client->list_tables({});
  };
  EXPECT_TRUE(list({"AKID", "secret"}));
  EXPECT_TRUE(list({"LONG", std::string(100, 's')}));
  const auto wrong = list({"AKID", "guess"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, Code::kInvalidSignature);
  const auto unknown = list({"NOBODY", "secret"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::kUnrecognizedClient);
}

}  // namespace
}  // namespace stator::server
