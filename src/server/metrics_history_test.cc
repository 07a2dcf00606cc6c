// SPDX-License-Identifier: Apache-2.0
#include "server/metrics_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>
#include <thread>

#include "server/server.h"
#include "server/service_harness.h"
#include "support/must.h"
#include "support/raw_connection.h"

namespace stator::server {
namespace {

using test::must;
using test::RawAnswer;
using test::RawConnection;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

constexpr std::array<std::string_view, 2> kOperations = {"GetItem", "PutItem"};

class History : public ::testing::Test {
 protected:
  void count(std::size_t operation, std::chrono::nanoseconds duration,
             const Error* error = nullptr) {
    metrics_.count({.operation = operation,
                    .status = error == nullptr ? 200 : 400,
                    .error = error,
                    .duration = duration});
  }
  // A reading 5 s after the previous one.
  MetricsReading& next_reading() {
    reading_.unix_ms += 5000;
    reading_.steady += 5s;
    reading_.requests = metrics_.totals();
    return reading_;
  }
  void add() { history_.add(next_reading()); }
  std::string json(uint64_t after = 0) const {
    return history_.to_json({.version = "1.2", .start_ms = 7}, after);
  }

  RequestMetrics metrics_{kOperations, 1};
  MetricsHistory history_{metrics_};
  MetricsReading reading_;
};

TEST_F(History, HasTheDifferenceBetweenTwoReadings) {
  count(0, 60us);
  EXPECT_THAT(json(), HasSubstr(R"("samples":[])"));
  add();
  EXPECT_THAT(json(), HasSubstr(R"("samples":[])")) << "there is nothing to compare with";
  count(0, 60us);
  count(0, 20us);
  count(0, 1h);
  const Error throttled{.code = Code::kThrottling, .message = ""};
  const Error invalid{.code = Code::kValidation, .message = ""};
  count(1, 1ms, &throttled);
  count(1, 1ms, &invalid);
  count(1, 1ms, &invalid);
  reading_.store.commits = 40;
  reading_.http.connections = 3;
  add();
  EXPECT_THAT(
      json(),
      AllOf(HasSubstr(R"({"version":"1.2","started_ms":7,"bounds_ms":[0.05,0.1,0.25,0.5,1,)"),
            HasSubstr(R"({"number":1,"end_ms":10000,"length_ms":5000,"operations":{)"
                      R"("GetItem":[1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1],"PutItem":[0,0,0,0,3]},)"),
            HasSubstr(R"("ValidationException":2)"), HasSubstr(R"("ThrottlingException":1)"),
            HasSubstr(R"("throttles":1,"counters":[0,40,0,0,0],"gauges":[1,3,)")));
  reading_.http.connections = 1;
  add();
  EXPECT_THAT(json(1), AllOf(HasSubstr(R"("number":2,)"),
                             HasSubstr(R"("operations":{},"errors":{},"throttles":0,)"
                                       R"("counters":[0,0,0,0,0],"gauges":[1,1,)"),
                             Not(HasSubstr(R"("number":1,)"))));
  EXPECT_THAT(json(2), HasSubstr(R"("samples":[])"));
}

TEST_F(History, DropsTheOldestSample) {
  add();
  for (std::size_t i = 0; i < MetricsHistory::kSamplesMax; ++i) add();
  EXPECT_THAT(json(), HasSubstr(R"("samples":[{"number":1,)"));
  add();
  EXPECT_THAT(json(), AllOf(HasSubstr(R"("samples":[{"number":2,)"), HasSubstr(R"("number":721,)"),
                            Not(HasSubstr(R"("number":722,)"))));
}

class HistoryPage : public ::testing::Test {
 protected:
  void start(ServerOptions options = {}) {
    options.listen = {.host = "127.0.0.1", .port = 0};
    options.sample_interval = 10ms;
    server_ = must(Server::start(options));
  }
  RawAnswer ask(const std::string& request) const {
    RawConnection connection(server_->port());
    EXPECT_TRUE(connection.send(request));
    return connection.read_answer();
  }
  std::unique_ptr<Server> server_;
};

TEST_F(HistoryPage, ShowsRequestsOfThisServer) {
  start({.version = "9.9"});
  EXPECT_EQ(ask(operation("ListTables", "{}")).status, 200);
  RawAnswer page;
  constexpr int kAttempts = 2000;
  for (int i = 0; i < kAttempts && !page.body.contains(R"("ListTables":[)"); ++i) {
    std::this_thread::sleep_for(5ms);
    page = ask(get("/metrics/history"));
    ASSERT_EQ(page.status, 200);
  }
  EXPECT_THAT(page.body, HasSubstr(R"("ListTables":[)"));
  EXPECT_EQ(page.headers.at("content-type"), "application/json");
  EXPECT_THAT(page.body, HasSubstr(R"({"version":"9.9",)"));
  EXPECT_THAT(ask(get("/metrics/history?after=99999999")).body, HasSubstr(R"("samples":[])"));
}

TEST_F(HistoryPage, RejectsMalformedNumbers) {
  start();
  for (const std::string query : {"?after=", "?after=x", "?after=-1", "?after=1&after=2", "?",
                                  "?b=1", "?after=99999999999999999999"}) {
    EXPECT_EQ(ask(get("/metrics/history" + query)).status, 400) << query;
  }
  EXPECT_EQ(ask(post("", "", "/metrics/history")).status, 404);
}

TEST_F(HistoryPage, IsForLocalHosts) {
  start();
  const std::string from = "GET /metrics/history HTTP/1.1\r\nHost: ";
  EXPECT_EQ(ask(from + "example.com\r\n\r\n").status, 403);
  EXPECT_EQ(ask(from + "localhost\r\nOrigin: http://example.com\r\n\r\n").status, 403);
}

TEST_F(HistoryPage, WithCredentialsNeedsASignature) {
  start({.credentials = Credentials{{"AKID", {.secret = "secret"}}}});
  const RawAnswer bare = ask(get("/metrics/history"));
  EXPECT_EQ(bare.status, 400);
  EXPECT_THAT(bare.body,
              AllOf(HasSubstr("MissingAuthenticationTokenException"), Not(HasSubstr("samples"))));
  const RawAnswer other = ask("GET /metrics/history HTTP/1.1\r\nHost: localhost\r\n" +
                              std::string(kSignature) + "\r\n");
  EXPECT_EQ(other.status, 400);
  EXPECT_THAT(other.body, HasSubstr("UnrecognizedClientException"));
}

}  // namespace
}  // namespace stator::server
