// SPDX-License-Identifier: Apache-2.0
// GET /metrics over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "server/server.h"
#include "server/service_harness.h"
#include "support/must.h"
#include "support/raw_connection.h"
#include "support/temp_dir.h"

namespace stator::server {
namespace {

using test::must;
using test::RawAnswer;
using test::RawConnection;
using ::testing::HasSubstr;
using ::testing::Not;

class MetricsPage : public ::testing::Test {
 protected:
  void start(ServerOptions options = {}) {
    options.listen = {.host = "127.0.0.1", .port = 0};
    server_ = must(Server::start(options));
  }
  RawAnswer ask(const std::string& request) const { return ask_at(server_->port(), request); }
  static RawAnswer ask_at(uint16_t port, const std::string& request) {
    RawConnection connection(port);
    EXPECT_TRUE(connection.send(request));
    return connection.read_answer();
  }
  // The status of an operation.
  int call(std::string_view name, std::string_view body) const {
    return ask(operation(name, body)).status;
  }
  void create_table(const std::string& name) const {
    ASSERT_EQ(call("CreateTable",
                   R"({"TableName":")" + name +
                       R"(","BillingMode":"PAY_PER_REQUEST",)"
                       R"("AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"}],)"
                       R"("KeySchema":[{"AttributeName":"p","KeyType":"HASH"}]})"),
              200);
  }
  std::string text() const {
    const RawAnswer answer = ask(get("/metrics"));
    EXPECT_EQ(answer.status, 200);
    return answer.body;
  }
  static uint16_t port_of(const std::string& url) {
    return static_cast<uint16_t>(std::atoi(url.substr(url.rfind(':') + 1).c_str()));
  }

  std::unique_ptr<Server> server_;
};

TEST_F(MetricsPage, CountsRequestsErrorsAndItems) {
  start();
  create_table("Tab");
  const std::string put = R"({"TableName":"Tab","Item":{"p":{"S":"a"}})";
  EXPECT_EQ(call("PutItem", put + "}"), 200);
  EXPECT_EQ(call("PutItem", put + R"j(,"ConditionExpression":"attribute_not_exists(p)"})j"), 400);
  EXPECT_EQ(call("PutItem", put + R"(,"ConditionExpression":"nonsense("})"), 400);
  for (const std::string key : {"a", "a", "absent"}) {
    EXPECT_EQ(call("GetItem", R"({"TableName":"Tab","Key":{"p":{"S":")" + key + R"("}}})"), 200);
  }
  EXPECT_EQ(call("Scan", R"({"TableName":"Tab"})"), 200);
  EXPECT_EQ(call("DropEverything", "{}"), 400);
  EXPECT_EQ(
      call("TransactWriteItems",
           R"j({"TransactItems":[{"ConditionCheck":{"TableName":"Tab","Key":{"p":{"S":"x"}},)j"
           R"j("ConditionExpression":"attribute_exists(p)"}}]})j"),
      400);
  const RawAnswer answer = ask(get("/metrics"));
  EXPECT_EQ(answer.headers.at("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  const std::string& page = answer.body;
  const std::string errors = "stator_errors_total{operation=";
  for (const std::string& line : std::initializer_list<std::string>{
           R"(stator_request_duration_seconds_count{operation="PutItem"} 3)",
           R"(stator_request_duration_seconds_bucket{operation="GetItem",le="+Inf"} 3)",
           R"(stator_request_size_bytes_bucket{operation="PutItem",le="256"} 3)",
           R"(stator_response_size_bytes_count{operation="Scan"} 1)",
           R"(stator_returned_items_total{operation="GetItem"} 2)",
           R"(stator_returned_items_total{operation="Scan"} 1)",
           R"(stator_conditional_check_failures_total{operation="PutItem"} 1)",
           R"(stator_conditional_check_failures_total{operation="TransactWriteItems"} 1)",
           errors + R"("PutItem",kind="conditional",error="ConditionalCheckFailedException"} 1)",
           errors + R"("PutItem",kind="user",error="ValidationException"} 1)",
           errors + R"("Unknown",kind="user",error="UnknownOperationException"} 1)",
           R"(stator_table_requests_total{table="Tab",type="read"} 4)",
           R"(stator_table_requests_total{table="Tab",type="write"} 4)",
           R"(stator_table_returned_items_total{table="Tab"} 3)",
           R"(stator_table_errors_total{table="Tab",kind="conditional"} 1)",
           R"(stator_table_errors_total{table="Tab",kind="user"} 2)",
           R"(stator_table_conditional_check_failures_total{table="Tab"} 2)",
           "stator_tables 1",
           "stator_ready 1",
       }) {
    EXPECT_THAT(page, HasSubstr("\n" + line + "\n"));
  }
}

TEST_F(MetricsPage, CountsBatchesByTheirSize) {
  start();
  create_table("Tab");
  const auto put = [](const std::string& key) {
    return R"({"PutRequest":{"Item":{"p":{"S":")" + key + R"("}}}})";
  };
  const auto write = [&](const std::string& puts) {
    return call("BatchWriteItem", R"({"RequestItems":{"Tab":[)" + puts + "]}}");
  };
  EXPECT_EQ(write(put("a") + "," + put("b")), 200);
  EXPECT_EQ(write(put("a") + "," + put("b") + "," + put("c")), 200);
  EXPECT_EQ(write(put("a") + "," + put("a") + "," + put("c")), 400);  // one key twice
  const std::string key = R"({"p":{"S":"a"}})";
  EXPECT_EQ(call("BatchGetItem", R"({"RequestItems":{"Tab":{"Keys":[)" + key + "]}}}"), 200);
  const std::string action = R"("TableName":"Tab","Key":)" + key;
  EXPECT_EQ(call("TransactGetItems", R"({"TransactItems":[{"Get":{)" + action + "}}]}"), 200);
  EXPECT_EQ(call("TransactWriteItems", R"({"TransactItems":[{"Delete":{)" + action + "}}]}"), 200);
  EXPECT_EQ(call("GetItem", "{" + action + "}"), 200);
  const std::string page = text();
  for (const std::string& line : std::initializer_list<std::string>{
           R"(stator_batch_size_bucket{operation="BatchWriteItem",le="1"} 0)",
           R"(stator_batch_size_bucket{operation="BatchWriteItem",le="2"} 1)",
           R"(stator_batch_size_bucket{operation="BatchWriteItem",le="5"} 3)",
           R"(stator_batch_size_bucket{operation="BatchWriteItem",le="+Inf"} 3)",
           R"(stator_batch_size_sum{operation="BatchWriteItem"} 8)",
           R"(stator_batch_size_count{operation="BatchGetItem"} 1)",
           R"(stator_batch_size_count{operation="TransactGetItems"} 1)",
           R"(stator_batch_size_sum{operation="TransactWriteItems"} 1)",
       }) {
    EXPECT_THAT(page, HasSubstr("\n" + line + "\n"));
  }
  EXPECT_THAT(page, Not(HasSubstr(R"(stator_batch_size_count{operation="GetItem"})")));
}

TEST_F(MetricsPage, NamesOnlySoManyTablesAndNoneThatDoesNotExist) {
  start({.metrics_tables = 2});
  for (const std::string name : {"Invented", "../../etc/passwd", "<script>"}) {
    EXPECT_EQ(call("GetItem", R"({"TableName":")" + name + R"(","Key":{"p":{"S":"a"}}})"), 400);
  }
  for (const std::string name : {"One", "Two", "Three"}) {
    create_table(name);
    EXPECT_EQ(call("PutItem", R"({"TableName":")" + name + R"(","Item":{"p":{"S":"a"}}})"), 200);
  }
  const std::string page = text();
  EXPECT_THAT(page, HasSubstr(R"(stator_table_requests_total{table="One",type="write"} 1)"));
  EXPECT_THAT(page, HasSubstr(R"(stator_table_requests_total{table="Two",type="write"} 1)"));
  EXPECT_THAT(page, HasSubstr(R"(stator_table_requests_total{table="other",type="write"} 1)"));
  EXPECT_THAT(page, HasSubstr(R"(stator_table_requests_total{table="other",type="read"} 3)"));
  EXPECT_THAT(page, Not(HasSubstr("Three")));
  EXPECT_THAT(page, Not(HasSubstr("Invented")));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST_F(MetricsPage, ShowsTheStoreAndNoItem) {
  const test::TempDir directory;
  start({.data = directory.path() / "data"});
  create_table("Tab");
  EXPECT_EQ(call("PutItem", R"({"TableName":"Tab","Item":{"p":{"S":"private"}}})"), 200);
  const std::string page = text();
  EXPECT_THAT(page, Not(HasSubstr("private")));
  EXPECT_THAT(page, Not(HasSubstr("\nstator_commits_total 0\n")));
  EXPECT_THAT(page, Not(HasSubstr("\nstator_commit_groups_total 0\n")));
  EXPECT_THAT(page, Not(HasSubstr("\nstator_syncs_total 0\n")));
  EXPECT_THAT(page, Not(HasSubstr("\nstator_cache_max_bytes 0\n")));
  EXPECT_THAT(page, Not(HasSubstr("\nprocess_resident_memory_bytes 0\n")));
  server_.reset();
}

TEST_F(MetricsPage, CountsRequestsThatReachNoOperation) {
  start();
  EXPECT_EQ(ask("POST / HTTP/1.1\r\nContent-Length: 16777217\r\n\r\n").status, 413);
  EXPECT_EQ(ask("noise\r\n\r\n").status, 400);
  const std::string page = text();
  EXPECT_THAT(page, HasSubstr(R"(stator_rejected_requests_total{reason="too_large"} 1)"));
  EXPECT_THAT(page, HasSubstr(R"(stator_rejected_requests_total{reason="malformed"} 1)"));
}

TEST_F(MetricsPage, IsForLocalHosts) {
  start({.allowed_hosts = {"db.example.com"}});
  const std::string ask_metrics = "GET /metrics HTTP/1.1\r\nHost: ";
  EXPECT_EQ(ask(ask_metrics + "example.com\r\n\r\n").status, 403);
  EXPECT_EQ(ask(ask_metrics + "db.example.com\r\n\r\n").status, 200);
  EXPECT_EQ(ask(ask_metrics + "localhost\r\nOrigin: http://example.com\r\n\r\n").status, 403);
  EXPECT_EQ(ask(post("", "", "/metrics")).status, 404);
}

TEST_F(MetricsPage, WithCredentialsHasAnAddressOfItsOwn) {
  start({.credentials = Credentials{{"AKID", {.secret = "secret"}}}});
  EXPECT_EQ(ask(get("/metrics")).status, 404);
  EXPECT_EQ(server_->metrics_url(), "");
  start({.credentials = Credentials{{"AKID", {.secret = "secret"}}},
         .metrics = ListenAddress{.host = "127.0.0.1", .port = 0}});
  EXPECT_EQ(ask(get("/metrics")).status, 404);
  const std::string url = server_->metrics_url();
  EXPECT_THAT(url, testing::MatchesRegex("http://127\\.0\\.0\\.1:[0-9]+/metrics"));
  const uint16_t port = port_of(url);
  const RawAnswer page = ask_at(port, get("/metrics"));
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, HasSubstr("stator_ready 1"));
  EXPECT_THAT(page.body, Not(HasSubstr("AKID")));
  EXPECT_EQ(ask_at(port, get("/health/ready")).status, 200);
  EXPECT_EQ(ask_at(port, get("/")).status, 404);
  EXPECT_EQ(ask_at(port, "GET /metrics HTTP/1.1\r\nHost: example.com\r\n\r\n").status, 403);
  // The metrics address accepts no bodies.
  EXPECT_EQ(ask_at(port, operation("ListTables", "{}")).status, 413);
}

}  // namespace
}  // namespace stator::server
