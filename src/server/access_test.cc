// SPDX-License-Identifier: Apache-2.0
// Access keys with policies and limits, in a server that reads their files again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>

#include "server/server.h"
#include "server/service_harness.h"
#include "stator/http_client.h"
#include "support/matchers.h"
#include "support/must.h"
#include "support/raw_connection.h"
#include "support/temp_dir.h"

namespace stator::server {
namespace {

using test::FailsWith;
using test::IsOk;
using test::must;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kReadsOnly =
    R"({"Version": "2012-10-17", "Statement": {"Sid": "Reads", "Effect": "Allow",
        "Action": ["dynamodb:GetItem", "dynamodb:ListTables"], "Resource": "*"}})";

class ServerAccess : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(directory_.path() / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(directory_.path() / name).rdbuf();
    return std::move(text).str();
  }
  // A profile whose secret is "secret".
  static std::string profile(const std::string& name, const std::string& more = "") {
    return "[" + name + "]\naws_access_key_id = KEY" + name + "\naws_secret_access_key = secret\n" +
           more + "\n";
  }
  void start(ServerOptions options = {}) {
    options.listen = {.host = "127.0.0.1", .port = 0};
    options.threads = 1;
    options.credentials_file = directory_.path() / "keys";
    server_ = must(Server::start(options));
  }
  HttpClient client(const std::string& name, std::string secret = "secret",
                    std::string token = "") const {
    return must(HttpClient::open({.endpoint = server_->url(),
                                  .credentials = {.access_key_id = "KEY" + name,
                                                  .secret_access_key = std::move(secret),
                                                  .session_token = std::move(token)},
                                  .max_attempts = 1}));
  }
  Result<std::string> list(const std::string& name, std::string secret = "secret") const {
    return client(name, std::move(secret)).call("ListTables", "{}");
  }

  const test::TempDir directory_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerAccess, KeysAndPoliciesChangeWithoutARestart) {
  write("reader.json", kReadsOnly);
  write("keys", profile("admin") + profile("ann", "policy = reader.json"));
  start();
  EXPECT_THAT(list("ann"), IsOk());
  EXPECT_THAT(client("ann").call("DescribeLimits", "{}"),
              FailsWith(Code::kAccessDenied,
                        "User: arn:aws:iam::000000782867:user/ann is not authorized to perform: "
                        "dynamodb:DescribeLimits on resource: * because no identity-based policy "
                        "allows the dynamodb:DescribeLimits action"));
  EXPECT_THAT(client("admin").call("DescribeLimits", "{}"), IsOk());
  EXPECT_THAT(list("bob"), FailsWith(Code::kUnrecognizedClient, ""));
  // A policy changes.
  write("reader.json",
        R"({"Statement": {"Effect": "Allow", "Action": "dynamodb:Describe*", "Resource": "*"}})");
  server_->reload();
  EXPECT_THAT(client("ann").call("DescribeLimits", "{}"), IsOk());
  EXPECT_THAT(list("ann"), FailsWith(Code::kAccessDenied, "user/ann"));
  // A key is added, and one is revoked.
  write("keys", profile("admin") + profile("bob"));
  server_->reload();
  EXPECT_THAT(list("bob"), IsOk());
  EXPECT_THAT(list("ann"), FailsWith(Code::kUnrecognizedClient,
                                     "The security token included in the request is invalid."));
  // A secret changes.
  write("keys", "[admin]\naws_access_key_id = KEYadmin\naws_secret_access_key = other\n");
  server_->reload();
  EXPECT_THAT(list("admin"), FailsWith(Code::kInvalidSignature, ""));
  EXPECT_THAT(list("admin", "other"), IsOk());
}

TEST_F(ServerAccess, FilesThatCannotBeUsedChangeNothing) {
  write("reader.json", kReadsOnly);
  write("keys", profile("ann", "policy = reader.json"));
  start();
  for (const std::string& wrong :
       {std::string("nonsense"), std::string(), profile("ann"), profile("ann", "polcy = a"),
        profile("ann", "policy = absent.json"), profile("ann", "policy ="),
        profile("ann", "requests_per_second = 0"), profile("ann", "concurrent_requests = many")}) {
    const bool usable = wrong == profile("ann");
    write("keys", wrong);
    server_->reload();
    EXPECT_THAT(list("ann"), IsOk()) << wrong;
    EXPECT_EQ(client("ann").call("DescribeLimits", "{}").has_value(), usable) << wrong;
    write("keys", profile("ann", "policy = reader.json"));
    server_->reload();
  }
  write("reader.json", "{");
  server_->reload();
  EXPECT_THAT(client("ann").call("DescribeLimits", "{}"), FailsWith(Code::kAccessDenied, ""));
  // A corrected policy is detected even though the keys that name it were rejected.
  write("new.json", "{");
  write("keys", profile("ann", "policy = new.json"));
  server_->reload();
  write("new.json", R"({"Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}})");
  server_->reload();
  EXPECT_THAT(client("ann").call("DescribeLimits", "{}"), IsOk());
}

TEST_F(ServerAccess, AServerDoesNotStartWithAPolicyThatItCannotEnforce) {
  write("reader.json",
        R"({"Statement": {"Effect": "Deny", "Action": "*", "Resource": "*",
            "Condition": {"StringEquals": {"aws:SourceVpc": "vpc-1"}}}})");
  write("keys", profile("ann", "policy = reader.json"));
  const auto started = Server::start(
      {.listen = {.host = "127.0.0.1", .port = 0}, .credentials_file = directory_.path() / "keys"});
  EXPECT_THAT(started,
              FailsWith(Code::kInvalidArgument, "condition key 'aws:SourceVpc' is not supported"));
}

TEST_F(ServerAccess, SessionTokensAreRefused) {
  write("keys", profile("ann"));
  start();
  EXPECT_THAT(client("ann", "secret", "token").call("ListTables", "{}"),
              FailsWith(Code::kUnrecognizedClient,
                        "The security token included in the request is invalid."));
}

TEST_F(ServerAccess, PoliciesKnowTheClientsAddress) {
  write("local.json",
        R"({"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "*",
            "Resource": "*", "Condition": {"IpAddress": {"aws:SourceIp": "127.0.0.0/8"},
            "Bool": {"aws:SecureTransport": "false"}, "StringEquals": {"aws:userid": "KEYann"},
            "DateGreaterThan": {"aws:CurrentTime": "2026-01-01"}}}})");
  write("keys", profile("ann", "policy = local.json"));
  start();
  EXPECT_THAT(list("ann"), IsOk());
}

TEST_F(ServerAccess, RequestsOverALimitAreThrottledAndCounted) {
  write("keys", profile("ann", "requests_per_second = 1") + profile("bob"));
  start({.metrics = ListenAddress{.host = "127.0.0.1", .port = 0}});
  HttpClient ann = client("ann");
  int throttled = 0;
  for (int i = 0; i < 50 && throttled == 0; ++i) {
    const auto answer = ann.call("ListTables", "{}");
    if (answer) continue;
    EXPECT_THAT(answer, FailsWith(Code::kThrottling, "Rate of requests exceeds"));
    EXPECT_TRUE(answer.error().retryable());
    ++throttled;
  }
  EXPECT_EQ(throttled, 1);
  EXPECT_THAT(list("bob"), IsOk());
  const std::string url = server_->metrics_url();
  const std::size_t colon = url.rfind(':');
  test::RawConnection connection(
      static_cast<uint16_t>(std::stoi(url.substr(colon + 1, url.find('/', colon) - colon - 1))));
  connection.send(get("/metrics"));
  EXPECT_THAT(connection.read_answer().body,
              HasSubstr(R"(stator_errors_total{operation="ListTables",kind="throttle",)"
                        R"(error="ThrottlingException"} 1)"));
}

TEST_F(ServerAccess, RequestsInTurnAreNotConcurrent) {
  write("keys", profile("ann", "concurrent_requests = 1"));
  start();
  HttpClient ann = client("ann");
  EXPECT_THAT(ann.call("CreateTable", R"({"TableName": "Things", "BillingMode": "PAY_PER_REQUEST",
                  "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
                  "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}]})"),
              IsOk());
  for (int i = 0; i < 20; ++i) {
    EXPECT_THAT(ann.call("PutItem", R"({"TableName": "Things", "Item": {"pk": {"S": "a"}}})"),
                IsOk());
    EXPECT_THAT(ann.call("Scan", R"({"TableName": "Things"})"), IsOk());
    EXPECT_THAT(ann.call("ListBackups", "{}"), IsOk());
    EXPECT_THAT(ann.call("Scan", "{"), FailsWith(Code::kSerialization, ""));
  }
}

// Writes overlap while they wait for the disk.
TEST_F(ServerAccess, RequestsAtOnceAreThrottled) {
  write("keys", profile("ann", "concurrent_requests = 1") + profile("admin"));
  start({.data = directory_.path() / "data"});
  EXPECT_THAT(client("admin").call("CreateTable", R"({"TableName": "Things",
          "BillingMode": "PAY_PER_REQUEST",
          "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
          "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}]})"),
              IsOk());
  std::atomic<int> throttled = 0;
  const auto write_until_throttled = [&] {
    HttpClient ann = client("ann");
    for (int i = 0; i < 2'000 && throttled == 0; ++i) {
      // A write that changes nothing would not wait.
      const auto written = ann.call("UpdateItem", R"({"TableName": "Things",
          "Key": {"pk": {"S": "a"}}, "UpdateExpression": "ADD n :one",
          "ExpressionAttributeValues": {":one": {"N": "1"}}})");
      if (written) continue;
      EXPECT_THAT(written, FailsWith(Code::kThrottling, "of the access key"));
      ++throttled;
    }
  };
  {
    const std::jthread first(write_until_throttled);
    const std::jthread second(write_until_throttled);
    write_until_throttled();
  }
  EXPECT_GT(throttled, 0);
  EXPECT_THAT(list("ann"), IsOk()) << "nothing is in progress any more";
}

TEST_F(ServerAccess, DecisionsAreLogged) {
  write("reader.json", kReadsOnly);
  write("keys", profile("ann", "policy = reader.json"));
  const std::string log = (directory_.path() / "decisions").string();
  start({.decision_log = log});
  EXPECT_THAT(list("ann"), IsOk());
  EXPECT_THAT(
      client("ann").call("PutItem", R"({"TableName": "Things", "Item": {"pk": {"S": "private"}}})"),
      FailsWith(Code::kAccessDenied, ""));
  server_.reset();
  const std::string denied = read("decisions");
  EXPECT_THAT(denied, HasSubstr("client=127.0.0.1 key=KEYann user=ann action=dynamodb:PutItem "
                                "resource=arn:aws:dynamodb:us-east-1:000000782867:table/Things "
                                "decision=not-allowed policy=- statement=-\n"));
  EXPECT_THAT(denied, Not(HasSubstr("ListTables")));
  EXPECT_THAT(denied, Not(HasSubstr("private")));
  start({.decision_log = log, .decisions = Decisions::kAll});
  EXPECT_THAT(list("ann"), IsOk());
  server_.reset();
  EXPECT_THAT(read("decisions"), HasSubstr("decision=allowed policy=identity statement=Reads\n"));
}

}  // namespace
}  // namespace stator::server
