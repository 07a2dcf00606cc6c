// SPDX-License-Identifier: Apache-2.0
// GET /health/live and /health/ready, and how a stopping server treats requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/catalog/catalog_rows.h"
#include "engine/catalog/raise_format.h"
#include "server/dynamodb_service.h"
#include "server/server.h"
#include "server/service_harness.h"
#include "storage/stores.h"
#include "support/forwarding_store.h"
#include "support/must.h"
#include "support/raw_connection.h"

namespace stator::server {
namespace {

using test::must;
using test::RawAnswer;
using test::RawConnection;
using ::testing::HasSubstr;

RawAnswer ask_once(const Server& server, const std::string& request) {
  RawConnection connection(server.port());
  EXPECT_TRUE(connection.send(request));
  return connection.read_answer();
}

// A store in memory that delays the acknowledgments of commits, and reports a given health.
class HealthStore final : public test::ForwardingStore {
 public:
  HealthStore() : ForwardingStore(make_memory_store()) {}

  bool is_shared = false;
  bool keeps = false;
  StoreHealth reported = {};
  std::optional<SharedStoreStats> shared = {};
  std::vector<std::move_only_function<void()>> kept = {};

  StoreCapabilities capabilities() const override {
    StoreCapabilities capabilities = inner_->capabilities();
    capabilities.several_processes = is_shared;
    return capabilities;
  }
  StoreHealth health() const override { return reported; }
  StoreStats stats() const override { return {.shared = shared}; }
  void transact(std::span<const std::string> keys, Decide decide, CommitDone done,
                SchemaVersions expected) override {
    if (!keeps) return inner_->transact(keys, std::move(decide), std::move(done), expected);
    const CommitResult result =
        transact_and_wait(*inner_, keys, [&](GuardedRows rows) { return decide(rows); }, expected);
    kept.push_back([kept_done = std::move(done), result]() mutable { kept_done(result); });
  }
};

http::Request parsed(std::string_view method, std::string_view path, std::string_view name = "",
                     std::string_view body = "") {
  http::Request request{.method = method, .target = path, .body = body, .headers = {}};
  request.headers = {
      {"Host", "localhost"},
      {"Content-Type", "application/x-amz-json-1.0"},
      {"X-Amz-Target", name},
      {"Authorization", "AWS4-HMAC-SHA256 Credential=a, SignedHeaders=b, Signature=c"},
      {"X-Amz-Date", "20260101T000000Z"}};
  return request;
}

// The service without sockets.
class Health : public ::testing::Test {
 protected:
  // The response; absent until it is sent.
  std::shared_ptr<std::optional<http::Response>> start(const http::Request& request) {
    auto answer = std::make_shared<std::optional<http::Response>>();
    service_->handle(request, [answer](http::Response response) {
      *answer = response.make ? response.make() : std::move(response);
    });
    return answer;
  }
  http::Response ask(const http::Request& request) { return std::move(start(request)->value()); }
  http::Response page(std::string_view path) { return ask(parsed("GET", path)); }

  HealthStore* store_ = new HealthStore;  // owned by the engine
  std::unique_ptr<Engine> engine_ = must(Engine::open(
      std::unique_ptr<TransactStore>(store_), {.sweep_interval = {}, .maintenance_interval = {}}));
  std::optional<DynamoDbService> service_{std::in_place, *engine_};
};

TEST_F(Health, IsReadyWhileTheStoreAcceptsWrites) {
  EXPECT_EQ(page("/health/live").status, 200);
  EXPECT_EQ(page("/health/ready").status, 200);
  EXPECT_EQ(ask(parsed("HEAD", "/health/ready")).status, 200);
  store_->reported = {.writable = false, .reason = "the disk is full"};
  EXPECT_EQ(page("/health/live").status, 200) << "a restart would not help";
  const http::Response refused = page("/health/ready");
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.body, "not ready: the disk is full\n");
  store_->reported = {};
  EXPECT_EQ(page("/health/ready").body, "ready\n");
}

TEST_F(Health, ReadinessDescribesTheDatabaseThatSeveralServersShare) {
  store_->shared = {.pools = {{.name = "reads", .connections = 4, .busy = 1, .queued_calls = 2}},
                    .horizon_lag = std::chrono::milliseconds(2500),
                    .address = "db1:5432"};
  const std::string database =
      "database: db1:5432\nstream horizon lag: 2.5 s\n"
      "pool reads: 1 of 4 connections busy, 2 calls waiting\n";
  EXPECT_EQ(page("/health/ready").body, "ready\n" + database);
  store_->reported = {.writable = false, .reason = "PostgreSQL cannot be reached"};
  EXPECT_EQ(page("/health/ready").body, "not ready: PostgreSQL cannot be reached\n" + database);
  EXPECT_EQ(page("/").body, "unhealthy: PostgreSQL cannot be reached\n");
}

TEST(HealthOfOneServer, IsNotReadyAfterANewerVersionRaisedTheFormat) {
  auto store = std::make_unique<HealthStore>();
  TransactStore& shared = *store;
  store->is_shared = true;
  const auto engine =
      must(Engine::open(std::move(store), {.sweep_interval = {}, .maintenance_interval = {}}));
  DynamoDbService service(*engine);
  const auto ready = [&] {
    std::optional<http::Response> answer;
    service.handle(parsed("GET", "/health/ready"),
                   [&](http::Response response) { answer = std::move(response); });
    return std::move(answer).value();
  };
  ASSERT_TRUE(raise_format(shared, kCatalogFormat + 1));
  EXPECT_EQ(ready().status, 200) << "this server does not know yet";
  engine->run_maintenance();
  EXPECT_EQ(ready().status, 503);
  EXPECT_EQ(ready().body,
            "not ready: the data has format 7; this version of Stator reads formats 1 to 6\n");
}

TEST_F(Health, ClientsAreAcceptedAlsoIfTheirOperationsFail) {
  const auto failed =
      ask(parsed("POST", "/", "DynamoDB_20120810.DescribeTable", R"({"TableName":"Absent"})"));
  EXPECT_EQ(failed.status, 400);
  EXPECT_TRUE(failed.accepted);
  const auto refused = ask(parsed("POST", "/", "DynamoDB_20120810.NoOperation", "{}"));
  EXPECT_EQ(refused.status, 400);
  EXPECT_FALSE(refused.accepted);
  EXPECT_FALSE(page("/health/live").accepted);
}

TEST_F(Health, OperationsInProgressFinishAfterNewOnesAreRefused) {
  ASSERT_TRUE(engine_->create_table({.table = "Tab",
                                     .attributes = {{.name = "p"}},
                                     .key_schema = {{.name = "p"}},
                                     .billing_mode = BillingMode::kPayPerRequest}));
  store_->keeps = true;
  const std::string_view put = R"({"TableName":"Tab","Item":{"p":{"S":"a"}}})";
  const auto in_progress = start(parsed("POST", "/", "DynamoDB_20120810.PutItem", put));
  store_->keeps = false;  // lets the engine's last writes finish
  ASSERT_FALSE(*in_progress);
  service_->refuse_operations();
  EXPECT_EQ(page("/health/live").status, 200);
  const http::Response ready = page("/health/ready");
  EXPECT_EQ(ready.status, 503);
  EXPECT_EQ(ready.body, "not ready: the server is stopping\n");
  const http::Response refused = ask(parsed("POST", "/", "DynamoDB_20120810.PutItem", put));
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.body, R"({"__type":"com.amazonaws.dynamodb.v20120810#ServiceUnavailable",)"
                          R"("message":"the server is stopping; try again"})");
  for (auto& acknowledge : std::exchange(store_->kept, {})) acknowledge();
  ASSERT_TRUE(*in_progress);
  EXPECT_EQ((*in_progress)->status, 200);
}

TEST(HealthServer, RespondsToHealthChecksDuringShutdown) {
  const auto server = must(Server::start({.listen = {.host = "127.0.0.1", .port = 0}}));
  RawConnection connection(server->port());
  ASSERT_TRUE(connection.send(operation("ListTables", "{}")));
  EXPECT_EQ(connection.read_answer().status, 200);
  server->drain(std::chrono::milliseconds(0));
  EXPECT_EQ(ask_once(*server, get("/health/live")).status, 200);
  EXPECT_EQ(ask_once(*server, get("/health/ready")).status, 503);
  ASSERT_TRUE(connection.send(operation("ListTables", "{}")));
  const RawAnswer refused = connection.read_answer();
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("ServiceUnavailable"));
  server->stop();
  EXPECT_FALSE(RawConnection(server->port()).connected());
}

TEST(HealthServer, RejectsHealthChecksOfOtherHosts) {
  const auto server = must(Server::start({.listen = {.host = "127.0.0.1", .port = 0}}));
  for (const std::string path : {"/health/live", "/health/ready"}) {
    EXPECT_EQ(ask_once(*server, get(path)).status, 200);
    EXPECT_EQ(ask_once(*server, "GET " + path + " HTTP/1.1\r\nHost: example.com\r\n\r\n").status,
              403);
    RawConnection connection(server->port());
    ASSERT_TRUE(connection.send("HEAD " + path + "?x=1 HTTP/1.1\r\n\r\n"));
    EXPECT_EQ(connection.read_answer(true).status, 200);
  }
}

}  // namespace
}  // namespace stator::server
