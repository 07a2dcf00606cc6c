// SPDX-License-Identifier: Apache-2.0
// HttpClient's requests, and its reaction to throttles, failures and broken connections.
#include "stator/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <thread>

#include "base/hex.h"
#include "base/sha256.h"
#include "client/scripted_service.h"
#include "stator/call_limits.h"
#include "support/matchers.h"

namespace stator {
namespace {

using test::answer;
using test::FailsWith;
using test::IsOk;
using test::refusal;
using test::ScriptedService;
using test::ScriptStep;
using test::SeenRequest;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using Kind = ScriptStep::Kind;

HttpClientOptions options_for(const std::string& endpoint, int max_attempts = 3) {
  return {.endpoint = endpoint,
          .max_attempts = max_attempts,
          .backoff_base = std::chrono::milliseconds(1),
          .backoff_max = std::chrono::milliseconds(2)};
}

HttpClient client_of(const HttpClientOptions& options) {
  return HttpClient::open(options).value();
}

const GetItemRequest get_request{.table = "Things", .key = {{"pk", "a"}}};
const PutItemRequest put_request{.table = "Things", .item = {{"pk", "a"}}};
const TransactWriteItemsRequest transaction_request{
    .items = {{.action = TransactAction::kPut, .table = "Things", .item = {{"pk", "a"}}}}};

class RetriedExceptions : public ::testing::TestWithParam<const char*> {};

TEST_P(RetriedExceptions, AreRepeatedUntilTheyEnd) {
  ScriptedService service({refusal(400, GetParam()), refusal(400, GetParam()), answer(200, "{}")});
  HttpClient client = client_of(options_for(service.url()));
  EXPECT_THAT(client.put_item(put_request), IsOk());
  EXPECT_EQ(service.requests().size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(Throttling, RetriedExceptions,
                         ::testing::Values("ProvisionedThroughputExceededException",
                                           "ThrottlingException", "RequestLimitExceeded",
                                           "TransactionInProgressException"));

TEST(HttpClient, RepeatsAfterFailuresOfTheServer) {
  ScriptedService service({refusal(500, "InternalServerError"), answer(503, "<html>busy</html>"),
                           answer(200, R"({"Item":{"pk":{"S":"a"}}})")});
  HttpClient client = client_of(options_for(service.url()));
  const auto found = client.get_item(get_request);
  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->item, (Item{{"pk", "a"}}));
}

TEST(HttpClient, ReadsTheNumberOfItemsThatAStatementExamined) {
  ScriptedService service({answer(200, R"({"Items":[]})", "X-Stator-Examined: 70\r\n"),
                           answer(200, R"({"Items":[]})"),
                           answer(200, R"({"Items":[]})", "x-stator-examined: 7x\r\n"),
                           answer(200, R"({"Items":[]})", "x-stator-examined: -7\r\n")});
  HttpClient client = client_of(options_for(service.url()));
  const ExecuteStatementRequest request{.statement = "SELECT * FROM t"};
  EXPECT_EQ(client.execute_statement(request)->examined, 70);
  for (int i = 0; i < 3; ++i) {
    const auto page = client.execute_statement(request);
    ASSERT_THAT(page, IsOk());
    EXPECT_EQ(page->examined, std::nullopt);
  }
}

TEST(HttpClient, ReturnsTheLastErrorAfterItsLastAttempt) {
  ScriptedService service({refusal(500, "InternalServerError", "first"),
                           refusal(400, "ThrottlingException", "second"),
                           refusal(400, "ThrottlingException", "third")});
  HttpClient client = client_of(options_for(service.url()));
  EXPECT_THAT(client.put_item(put_request), FailsWith(Code::kThrottling, "third"));
  EXPECT_EQ(service.requests().size(), 3U);
}

TEST(HttpClient, DoesNotRepeatPermanentErrors) {
  ScriptedService service(
      {refusal(400, "ValidationException", "bad"), refusal(400, "ConditionalCheckFailedException"),
       refusal(400, "ResourceNotFoundException"), refusal(400, "AccessDeniedException")});
  HttpClient client = client_of(options_for(service.url()));
  EXPECT_THAT(client.put_item(put_request), FailsWith(Code::kValidation, "bad"));
  EXPECT_THAT(client.put_item(put_request), FailsWith(Code::kConditionalCheckFailed, ""));
  EXPECT_THAT(client.put_item(put_request), FailsWith(Code::kResourceNotFound, ""));
  EXPECT_THAT(client.put_item(put_request), FailsWith(Code::kAccessDenied, ""));
  EXPECT_EQ(service.requests().size(), 4U);
}

TEST(HttpClient, ReturnsCancelledTransactionsToItsCaller) {
  ScriptedService service(
      {answer(400, R"({"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException",)"
                   R"("Message":"Transaction cancelled [TransactionConflict]",)"
                   R"("CancellationReasons":[{"Code":"TransactionConflict","Message":"busy"}]})")});
  HttpClient client = client_of(options_for(service.url()));
  const auto written = client.transact_write_items(transaction_request);
  ASSERT_THAT(written, FailsWith(Code::kTransactionCanceled, "Transaction cancelled"));
  ASSERT_NE(written.error().detail, nullptr);
  ASSERT_EQ(written.error().detail->reasons.size(), 1U);
  EXPECT_EQ(written.error().detail->reasons[0].code, "TransactionConflict");
  EXPECT_EQ(service.requests().size(), 1U);
}

TEST(HttpClient, RepeatsAfterADroppedConnection) {
  ScriptedService service({{.kind = Kind::kDrop}, {.kind = Kind::kDropHalfway}, answer(200, "{}")});
  HttpClient client = client_of(options_for(service.url()));
  EXPECT_THAT(client.put_item(put_request), IsOk());
  EXPECT_EQ(service.requests().size(), 3U);
}

TEST(HttpClient, DistinguishesUnknownOutcomesFromFailedReads) {
  ScriptedService service({{.kind = Kind::kDrop}, {.kind = Kind::kDrop}});
  HttpClient client = client_of(options_for(service.url(), 1));
  EXPECT_THAT(client.put_item(put_request), FailsWith(Code::kOutcomeUnknown, service.url()));
  EXPECT_THAT(client.get_item(get_request), FailsWith(Code::kUnavailable, service.url()));
}

TEST(HttpClient, AThrottleDoesNotDecideTheOutcomeOfAnEarlierAttempt) {
  ScriptedService service({{.kind = Kind::kDrop},
                           refusal(400, "ThrottlingException"),
                           {.kind = Kind::kDrop},
                           refusal(400, "ConditionalCheckFailedException")});
  HttpClient client = client_of(options_for(service.url(), 2));
  EXPECT_THAT(client.put_item(put_request), FailsWith(Code::kOutcomeUnknown, ""));
  EXPECT_THAT(client.put_item(put_request), FailsWith(Code::kConditionalCheckFailed, ""));
}

TEST(HttpClient, LimitsTheWaitForAResponse) {
  ScriptedService service({{.kind = Kind::kSilence}, {.kind = Kind::kSilence}});
  HttpClientOptions options = options_for(service.url(), 1);
  options.request_timeout = std::chrono::milliseconds(500);
  HttpClient client = client_of(options);
  EXPECT_THAT(client.get_item(get_request), FailsWith(Code::kTimeout, service.url()));
  EXPECT_THAT(client.put_item(put_request), FailsWith(Code::kOutcomeUnknown, service.url()));
}

TEST(HttpClient, RepeatsAfterASilence) {
  ScriptedService service({{.kind = Kind::kSilence}, answer(200, "{}")});
  HttpClientOptions options = options_for(service.url(), 2);
  options.request_timeout = std::chrono::seconds(2);
  HttpClient client = client_of(options);
  EXPECT_THAT(client.put_item(put_request), IsOk());
}

TEST(HttpClient, KeepsToTheLimitsOfItsCaller) {
  using std::chrono::milliseconds;
  ScriptedService service(std::vector<ScriptStep>(10, {.kind = Kind::kSilence}));
  HttpClientOptions options = options_for(service.url(), 1'000);
  options.request_timeout = std::chrono::hours(1);
  HttpClient client = client_of(options);
  {
    const CallLimits limits({.attempt = milliseconds(100), .total = milliseconds(150)});
    EXPECT_THAT(client.get_item(get_request), FailsWith(Code::kTimeout, "time"));
    EXPECT_THAT(client.put_item(put_request), FailsWith(Code::kTimeout, "time"));  // not sent
  }
  const CallLimits limits({.attempt = std::chrono::hours(1), .total = milliseconds(1'000)});
  {
    const CallLimits wider({.attempt = std::chrono::hours(1), .total = std::chrono::hours(1)});
    EXPECT_EQ(CallLimits::current(), &wider);
  }
  EXPECT_THAT(client.put_item(put_request), FailsWith(Code::kOutcomeUnknown, "time"));
}

TEST(HttpClient, EndsARequestWhenItsCallerIsStopped) {
  constexpr std::chrono::hours kLong(1);
  for (const bool writes : {false, true}) {
    ScriptedService service({{.kind = Kind::kSilence}});
    HttpClientOptions options = options_for(service.url());
    options.request_timeout = kLong;
    HttpClient client = client_of(options);
    std::stop_source source;
    const CallLimits limits({.attempt = kLong, .total = kLong, .stop = source.get_token()});
    const std::jthread stopper([&] {
      while (service.requests().empty()) std::this_thread::yield();
      source.request_stop();
    });
    if (writes) {
      EXPECT_THAT(client.put_item(put_request), FailsWith(Code::kOutcomeUnknown, "cancelled"));
    } else {
      EXPECT_THAT(client.get_item(get_request), FailsWith(Code::kCancelled, "cancelled"));
    }
    EXPECT_THAT(client.put_item(put_request), FailsWith(Code::kCancelled, "cancelled"));
    EXPECT_EQ(service.requests().size(), 1U);
  }
}

TEST(HttpClient, ReportsAnUnreachableServer) {
  std::string url;
  {
    const ScriptedService service({});
    url = service.url();
  }
  HttpClient client = client_of(options_for(url));
  EXPECT_THAT(client.get_item(get_request),
              FailsWith(Code::kUnavailable, "no response from " + url));
  EXPECT_THAT(client.put_item(put_request),
              FailsWith(Code::kUnavailable, "no response from " + url));
}

TEST(HttpClient, ChecksTheChecksumOfResponses) {
  const std::string body = R"({"Item":{"pk":{"S":"a"}}})";  // CRC-32: 642333050
  ScriptedService service({answer(200, body, "x-amz-crc32: 1\r\n"),
                           answer(200, body, "X-Amz-Crc32: 642333050\r\n"),
                           answer(200, "{}", "x-amz-crc32: 7\r\n")});
  {
    // The service serves one connection at a time.
    HttpClient client = client_of(options_for(service.url(), 2));
    EXPECT_THAT(client.get_item(get_request), IsOk());
    EXPECT_EQ(service.requests().size(), 2U);
  }
  HttpClient once = client_of(options_for(service.url(), 1));
  EXPECT_THAT(once.put_item(put_request), FailsWith(Code::kOutcomeUnknown, "checksum"));
}

TEST(HttpClient, RejectsForeignResponses) {
  ScriptedService service({answer(200, "<html>Welcome</html>"), answer(404, "<html>404</html>"),
                           answer(400, R"({"__type":"NeverHeardOfException"})")});
  HttpClient client = client_of(options_for(service.url()));
  EXPECT_FALSE(client.get_item(get_request));
  EXPECT_FALSE(client.get_item(get_request));
  EXPECT_FALSE(client.get_item(get_request));
  EXPECT_EQ(service.requests().size(), 3U);
}

TEST(HttpClient, KeepsItsConnection) {
  ScriptedService service(
      {answer(200, "{}"), refusal(400, "ValidationException"), answer(200, "{}")});
  HttpClient client = client_of(options_for(service.url()));
  EXPECT_THAT(client.put_item(put_request), IsOk());
  EXPECT_THAT(client.put_item(put_request), Not(IsOk()));
  EXPECT_THAT(client.put_item(put_request), IsOk());
  EXPECT_EQ(service.connections(), 1);
}

TEST(HttpClient, ReplacesAKeptConnectionThatHasBeenClosed) {
  ScriptedService service(
      {{.kind = Kind::kAnswerThenClose}, {.kind = Kind::kAnswerThenClose}, answer(200, "{}")});
  HttpClient client = client_of(options_for(service.url(), 1));
  for (int i = 0; i < 3; ++i) {
    service.await_closed(i);
    EXPECT_THAT(client.put_item(put_request), IsOk());
  }
  EXPECT_EQ(service.requests().size(), 3U);
}

TEST(HttpClient, DoesNotResendByItselfIfAKeptConnectionEndsWithoutAResponse) {
  ScriptedService service({answer(200, "{}"), {.kind = Kind::kDrop}, answer(200, "{}")});
  HttpClient client = client_of(options_for(service.url(), 1));
  EXPECT_THAT(client.put_item(put_request), IsOk());
  EXPECT_THAT(client.put_item(put_request),
              FailsWith(Code::kOutcomeUnknown, "the connection ended"));
  EXPECT_EQ(service.requests().size(), 2U);
}

TEST(HttpClient, ReportsAnUnknownOutcomeIfTheServerDisappears) {
  auto service = std::make_unique<ScriptedService>(
      std::vector<ScriptStep>{answer(200, "{}"), {.kind = Kind::kDropAndLeave}});
  HttpClient client = client_of(options_for(service->url(), 1));
  EXPECT_THAT(client.put_item(put_request), IsOk());
  EXPECT_THAT(client.put_item(put_request), FailsWith(Code::kOutcomeUnknown, ""));
  EXPECT_THAT(client.put_item(put_request), FailsWith(Code::kUnavailable, ""));
}

TEST(HttpClient, UsesOneTokenForAllAttemptsOfATransaction) {
  ScriptedService service(
      {{.kind = Kind::kDrop}, answer(200, "{}"), answer(200, "{}"), answer(200, "{}")});
  HttpClient client = client_of(options_for(service.url()));
  EXPECT_THAT(client.transact_write_items(transaction_request), IsOk());
  EXPECT_THAT(client.transact_write_items(transaction_request), IsOk());
  TransactWriteItemsRequest with_token = transaction_request;
  with_token.client_request_token = "mine";
  EXPECT_THAT(client.transact_write_items(with_token), IsOk());

  const std::vector<SeenRequest> seen = service.requests();
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_THAT(seen[0].body, ::testing::ContainsRegex("\"ClientRequestToken\":\"[0-9a-f]{8}-[0-9a-f]"
                                                     "{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\""));
  EXPECT_EQ(seen[0].body, seen[1].body);
  EXPECT_NE(seen[1].body, seen[2].body);
  EXPECT_THAT(seen[3].body, HasSubstr(R"("ClientRequestToken":"mine")"));
}

// ---- Requests

std::string between(const std::string& text, const std::string& from, char to) {
  const std::size_t start = text.find(from);
  if (start == std::string::npos) return {};
  const std::size_t end = text.find(to, start + from.size());
  return text.substr(start + from.size(), end - start - from.size());
}

// https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
std::string signature_of(const SeenRequest& request, const std::string& secret,
                         const std::string& region) {
  const std::string signed_headers =
      between(request.headers.at("authorization"), "SignedHeaders=", ',');
  std::string canonical = "POST\n/\n\n";
  for (std::size_t at = 0; at < signed_headers.size();) {
    const std::size_t end = std::min(signed_headers.find(';', at), signed_headers.size());
    const std::string name = signed_headers.substr(at, end - at);
    canonical += name + ":" + request.headers.at(name) + "\n";
    at = end + 1;
  }
  canonical += "\n" + signed_headers + "\n" + hex(sha256({request.body}));
  const std::string& time = request.headers.at("x-amz-date");
  const std::string scope = time.substr(0, 8) + "/" + region + "/dynamodb/aws4_request";
  const std::string to_sign =
      "AWS4-HMAC-SHA256\n" + time + "\n" + scope + "\n" + hex(sha256({canonical}));
  std::string key = hmac_sha256("AWS4" + secret, time.substr(0, 8));
  for (const std::string& part : {region, std::string("dynamodb"), std::string("aws4_request")}) {
    key = hmac_sha256(key, part);
  }
  return hex(hmac_sha256(key, to_sign));
}

TEST(HttpClient, SignsItsRequests) {
  ScriptedService service({answer(200, "{}")});
  HttpClientOptions options = options_for(service.url());
  options.region = "eu-central-1";
  options.credentials = {"AKIDEXAMPLE", "a/secret+key", "a-session-token=="};
  HttpClient client = client_of(options);
  ASSERT_THAT(client.put_item(put_request), IsOk());

  const SeenRequest request = service.requests().at(0);
  EXPECT_THAT(request.start_line, "POST / HTTP/1.1");
  EXPECT_EQ(request.headers.at("x-amz-target"), "DynamoDB_20120810.PutItem");
  EXPECT_EQ(request.headers.at("content-type"), "application/x-amz-json-1.0");
  EXPECT_EQ(request.headers.at("x-amz-security-token"), "a-session-token==");
  EXPECT_EQ("http://" + request.headers.at("host"), service.url());
  const std::string& authorization = request.headers.at("authorization");
  EXPECT_THAT(
      authorization,
      AllOf(MatchesRegex("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/[0-9]{8}/eu-central-1/"
                         "dynamodb/aws4_request, ?SignedHeaders=.*"),
            HasSubstr("host"), HasSubstr("x-amz-target"), HasSubstr("x-amz-security-token")));
  EXPECT_EQ(between(authorization, "Signature=", ' '),
            signature_of(request, "a/secret+key", "eu-central-1"));
}

TEST(HttpClient, SignsLargeBodies) {
  ScriptedService service({answer(200, "{}")});
  HttpClient client = client_of(options_for(service.url()));
  PutItemRequest request = put_request;
  request.item["big"] = std::string(3 << 20, 'x');
  ASSERT_THAT(client.put_item(request), IsOk());
  const SeenRequest seen = service.requests().at(0);
  EXPECT_GT(seen.body.size(), 3U << 20);
  EXPECT_EQ(between(seen.headers.at("authorization"), "Signature=", ' '),
            signature_of(seen, "stator", "us-east-1"));
}

TEST(HttpClient, RefusesOptionsThatCannotWork) {
  const auto refuses = [](const HttpClientOptions& options, const std::string& what) {
    EXPECT_THAT(HttpClient::open(options), FailsWith(Code::kInvalidArgument, what));
  };
  for (const char* endpoint : {"", "localhost", "localhost:8000", "ftp://127.0.0.1", "http://",
                               "http://127.0.0.1:99999", "file:///etc/passwd"}) {
    refuses({.endpoint = endpoint}, "endpoint: ");
  }
  HttpClientOptions good = options_for("http://127.0.0.1:8000");
  EXPECT_THAT(HttpClient::open(good), IsOk());
  HttpClientOptions bad = good;
  bad.region = "";
  refuses(bad, "region: ");
  bad = good;
  bad.credentials.session_token = "line\r\nX-Injected: 1";
  refuses(bad, "credentials: ");
  bad = good;
  bad.max_attempts = 0;
  refuses(bad, "max_attempts: ");
  bad = good;
  bad.request_timeout = std::chrono::milliseconds(0);
  refuses(bad, "timeouts: ");
  bad = good;
  bad.backoff_max = std::chrono::milliseconds::max();
  refuses(bad, "backoffs: ");
}

}  // namespace
}  // namespace stator
