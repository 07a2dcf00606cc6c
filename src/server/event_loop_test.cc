// SPDX-License-Identifier: Apache-2.0
// A server with one event loop on a shared store whose reads are delayed: it serves other requests.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "http/server.h"
#include "protocol/operations.h"
#include "server/dynamodb_service.h"
#include "server/service_harness.h"
#include "support/gated_store.h"
#include "support/must.h"
#include "support/raw_connection.h"
#include "support/shared_store.h"

namespace stator::server {
namespace {

using test::must;
using test::RawConnection;

constexpr uint32_t kSeed = 31;

std::string any_operation(std::string_view name, std::string_view body) {
  return post(std::string(kJson) + std::string(kSignature) +
                  "X-Amz-Target: " + protocol::target_of(name) + "\r\n",
              body);
}

class EventLoop : public ::testing::Test {
 protected:
  EventLoop() {
    EXPECT_TRUE(engine_->create_table(
        {.table = "Things",
         .attributes = {{"pk", ScalarType::kS}, {"n", ScalarType::kN}},
         .key_schema = {{"pk", KeyType::kHash}, {"n", KeyType::kRange}},
         .billing_mode = BillingMode::kPayPerRequest,
         .stream = StreamSpecification{.enabled = true, .view = StreamViewType::kKeysOnly}}));
    EXPECT_EQ(ask("PutItem", R"({"TableName":"Things","Item":{"pk":{"S":"a"},"n":{"N":"1"}}})"),
              "{}");
  }
  ~EventLoop() override { gate_.open(); }

  std::string ask(std::string_view name, std::string_view body) {
    RawConnection connection(http_->port());
    EXPECT_TRUE(connection.send(any_operation(name, body)));
    return connection.read_answer().body;
  }
  static std::string member(const std::string& json, const std::string& name) {
    const std::size_t at = json.find("\"" + name + "\":\"");
    if (at == json.npos) return "none";
    const std::size_t begin = at + name.size() + 4;
    return json.substr(begin, json.find('"', begin) - begin);
  }
  std::string stream() {
    return member(ask("DescribeTable", R"({"TableName":"Things"})"), "LatestStreamArn");
  }

  // Sends all requests while the gate is closed. The server must serve another one when `waiting`
  // of them have reached the store, and respond to all once the gate is open.
  void expect_served(const std::vector<std::pair<std::string, std::string>>& requests,
                     std::size_t waiting) {
    SCOPED_TRACE(requests.front().first);
    std::vector<std::string> expected;
    for (const auto& [name, body] : requests) expected.push_back(ask(name, body));
    gate_.close();
    std::vector<RawConnection> connections;
    for (const auto& [name, body] : requests) {
      connections.emplace_back(http_->port());
      ASSERT_TRUE(connections.back().send(any_operation(name, body)));
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (gate_.waiting() < waiting && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
    EXPECT_GE(gate_.waiting(), waiting);
    RawConnection other(http_->port());
    ASSERT_TRUE(other.send(get("/health/live")));
    EXPECT_EQ(other.read_answer().status, 200) << "the event loop is blocked";
    gate_.open();
    for (std::size_t i = 0; i < requests.size(); ++i) {
      EXPECT_EQ(connections[i].read_answer().body, expected[i]) << requests[i].first;
    }
  }

  test::SharedBackend backend_{kSeed};
  test::Gate gate_;
  std::unique_ptr<Engine> engine_ =
      must(Engine::open(std::make_unique<test::GatedStore>(
                            std::make_shared<test::SharedStore>(backend_, kSeed), gate_),
                        {.sweep_interval = {}, .maintenance_interval = {}}));
  DynamoDbService service_{*engine_};
  std::unique_ptr<http::Server> http_ = must(http::Server::start(
      {.threads = 1}, [this](const http::Request& request, http::Respond respond) {
        service_.handle(request, std::move(respond));
      }));
};

TEST_F(EventLoop, ServesOthersWhileReadsWaitForTheStore) {
  const std::string key = R"({"pk":{"S":"a"},"n":{"N":"1"}})";
  const std::string where = R"( WHERE pk = 'a' AND n = 1)";
  const std::string shard =
      member(ask("DescribeStream", R"({"StreamArn":")" + stream() + R"("})"), "ShardId");
  const std::string iterator =
      member(ask("GetShardIterator", R"({"StreamArn":")" + stream() + R"(","ShardId":")" + shard +
                                         R"(","ShardIteratorType":"LATEST"})"),
             "ShardIterator");
  const std::vector<std::pair<std::string, std::string>> reads = {
      {"GetItem", R"({"TableName":"Things","Key":)" + key + "}"},
      {"BatchGetItem", R"({"RequestItems":{"Things":{"Keys":[)" + key + "]}}}"},
      {"TransactGetItems",
       R"({"TransactItems":[{"Get":{"TableName":"Things","Key":)" + key + "}}]}"},
      {"Query", R"({"TableName":"Things","KeyConditionExpression":"pk = :p",)"
                R"("ExpressionAttributeValues":{":p":{"S":"a"}}})"},
      {"Scan", R"({"TableName":"Things"})"},
      {"ExecuteStatement", R"({"Statement":"SELECT * FROM Things"})"},
      {"BatchExecuteStatement",
       R"({"Statements":[{"Statement":"SELECT * FROM Things)" + where + R"("}]})"},
      {"ExecuteTransaction",
       R"({"TransactStatements":[{"Statement":"SELECT * FROM Things)" + where + R"("}]})"},
  };
  expect_served(reads, reads.size());
  // A response of GetRecords contains an iterator with the time, so two of them differ.
  gate_.close();
  RawConnection records(http_->port());
  ASSERT_TRUE(
      records.send(any_operation("GetRecords", R"({"ShardIterator":")" + iterator + R"("})")));
  while (gate_.waiting() < 1) std::this_thread::yield();
  RawConnection other(http_->port());
  ASSERT_TRUE(other.send(get("/health/live")));
  EXPECT_EQ(other.read_answer().status, 200) << "the event loop is blocked";
  gate_.open();
  EXPECT_THAT(records.read_answer().body, testing::HasSubstr(R"("Records":[])"));
}

TEST_F(EventLoop, ServesOthersWhileTheCatalogAndTheLogAreRead) {
  const std::string unknown = R"({"TableName":"Elsewhere"})";
  expect_served({{"DescribeTable", unknown}}, 1);
  expect_served({{"DescribeTimeToLive", unknown}}, 1);
  expect_served({{"ListTables", "{}"}}, 1);
  expect_served({{"DescribeStream", R"({"StreamArn":")" + stream() + R"("})"}}, 1);
  expect_served({{"Scan", unknown}}, 1);
  expect_served({{"PutItem", R"({"TableName":"Elsewhere","Item":{"pk":{"S":"a"}}})"}}, 1);
  expect_served({{"ExecuteStatement", R"({"Statement":"SELECT * FROM Elsewhere"})"}}, 1);
}

}  // namespace
}  // namespace stator::server
