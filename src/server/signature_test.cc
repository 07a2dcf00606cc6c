// SPDX-License-Identifier: Apache-2.0
// The signature below is botocore's for this request.
#include "server/signature.h"

#include <gtest/gtest.h>

#include <map>

#include "support/matchers.h"

namespace stator::server {
namespace {

using test::FailsWith;
using test::IsOk;

constexpr int64_t kSignedMs = 1'769'903'970'000;  // 2026-01-31T23:59:30Z
constexpr int64_t kMinuteMs = 60'000;
constexpr const char* kMismatch = "The request signature we calculated does not match";

class Signature : public testing::Test {
 protected:
  Result<SigningKey> verify(int64_t now_ms = kSignedMs) {
    return verifier.verify(request(), now_ms);
  }
  Result<void> check_claims() { return verifier.check_claims(request(), kSignedMs); }
  http::Request request() {
    http::Request request;
    request.method = method;
    request.target = target;
    request.body = body;
    for (const auto& [name, value] : headers) request.headers.emplace_back(name, value);
    return request;
  }
  void replace(const std::string& from, const std::string& to) {
    std::string& header = headers["Authorization"];
    const std::size_t at = header.find(from);
    ASSERT_NE(at, std::string::npos);
    header.replace(at, from.size(), to);
  }

  SignatureVerifier verifier{
      Credentials{{"AKID", {.secret = "secret"}}, {"OTHER", {.secret = "word"}}}};
  std::string method = "POST";
  std::string target = "/";
  std::string body = R"({"Limit":3})";
  std::map<std::string, std::string> headers = {
      {"Host", "127.0.0.1:8000"},
      {"content-type", "  application/x-amz-json-1.0 "},
      {"X-Amz-Target", "DynamoDB_20120810.ListTables"},
      {"X-Amz-Date", "20260131T235930Z"},
      {"Authorization",
       "AWS4-HMAC-SHA256 Credential=AKID/20260131/us-east-1/dynamodb/aws4_request, "
       "SignedHeaders=content-type;host;x-amz-date;x-amz-target, "
       "Signature=8bf13e2af359bb6f3736cfe58905ab4e3b4650ba263b7cb78a123633128274b4"}};
};

TEST_F(Signature, OfAnSdkIsAccepted) {
  EXPECT_THAT(verify(), IsOk());
  EXPECT_THAT(verify(), IsOk()) << "with the key that the first one derived";
  replace(", SignedHeaders", ",SignedHeaders");
  EXPECT_THAT(verify(), IsOk());
}

TEST_F(Signature, CoversBodyHeadersAndTarget) {
  body = R"({"Limit":4})";
  EXPECT_THAT(verify(), FailsWith(Code::kInvalidSignature, kMismatch));
  body = R"({"Limit":3})";
  headers["X-Amz-Target"] = "DynamoDB_20120810.DeleteTable";
  EXPECT_THAT(verify(), FailsWith(Code::kInvalidSignature, kMismatch));
  headers["X-Amz-Target"] = "DynamoDB_20120810.ListTables";
  headers["Host"] = "elsewhere:8000";
  EXPECT_THAT(verify(), FailsWith(Code::kInvalidSignature, kMismatch));
}

// A page of the server has no target; the signature is that of Python's hmac.
TEST_F(Signature, OfAPageCoversItsQueryAndAnyTarget) {
  method = "GET";
  target = "/metrics/history?after=5";
  body.clear();
  headers = {{"Host", "127.0.0.1:8000"},
             {"X-Amz-Date", "20260131T235930Z"},
             {"Authorization",
              "AWS4-HMAC-SHA256 Credential=AKID/20260131/us-east-1/dynamodb/aws4_request, "
              "SignedHeaders=host;x-amz-date, "
              "Signature=2693da75319ccb45f855fc58270e304fafda5fa4854f0c61db6c4f43f2d22ab0"}};
  EXPECT_THAT(verify(), IsOk());
  target = "/metrics/history?after=4";
  EXPECT_THAT(verify(), FailsWith(Code::kInvalidSignature, kMismatch));
  target = "/metrics/history?after=5";
  headers["X-Amz-Target"] = "DynamoDB_20120810.DeleteTable";
  EXPECT_THAT(verify(), FailsWith(Code::kInvalidSignature, kMismatch));
}

TEST_F(Signature, OfAnotherSecretIsRefused) {
  replace("AKID/", "OTHER/");
  EXPECT_THAT(verify(), FailsWith(Code::kInvalidSignature, kMismatch));
}

TEST_F(Signature, ThatIsTruncatedIsRefused) {
  replace("Signature=8b", "Signature=");
  EXPECT_THAT(verify(), FailsWith(Code::kInvalidSignature, kMismatch));
}

TEST_F(Signature, OfAnUnknownKeyIsRefused) {
  replace("AKID/", "NOBODY/");
  EXPECT_THAT(verify(), FailsWith(Code::kUnrecognizedClient,
                                  "The security token included in the request is invalid."));
}

TEST_F(Signature, ForAnotherServiceIsRefused) {
  replace("/dynamodb/", "/s3/");
  EXPECT_THAT(verify(), FailsWith(Code::kInvalidSignature, "correct service: 'dynamodb'"));
}

TEST_F(Signature, ForNoRegionIsRefused) {
  replace("/us-east-1/", "//");
  EXPECT_THAT(verify(), FailsWith(Code::kInvalidSignature, "scoped to a valid region"));
}

TEST_F(Signature, WithASessionTokenIsRefused) {
  headers["X-Amz-Security-Token"] = "token";
  EXPECT_THAT(verify(), FailsWith(Code::kUnrecognizedClient,
                                  "The security token included in the request is invalid."));
}

TEST_F(Signature, ThatIsWrongLeavesNoKeyBehind) {
  replace("/us-east-1/", "/eu-west-1/");
  EXPECT_THAT(verify(), FailsWith(Code::kInvalidSignature, kMismatch));
  EXPECT_EQ(verifier.cached_keys(), 0U);
  replace("/eu-west-1/", "/us-east-1/");
  EXPECT_THAT(verify(), IsOk());
  EXPECT_EQ(verifier.cached_keys(), 1U);
}

TEST_F(Signature, HasClaimsThatNeedNoBody) {
  body = "not what was signed";
  EXPECT_THAT(check_claims(), IsOk());
  headers["X-Amz-Date"] = "20260131T225930Z";
  EXPECT_THAT(check_claims(), FailsWith(Code::kInvalidSignature, "Signature expired"));
  replace("AKID/", "NOBODY/");
  EXPECT_THAT(check_claims(), FailsWith(Code::kUnrecognizedClient, "invalid"));
}

TEST_F(Signature, IsGoodFor15Minutes) {
  EXPECT_THAT(verify(kSignedMs + 15 * kMinuteMs), IsOk());
  EXPECT_THAT(verify(kSignedMs - 15 * kMinuteMs), IsOk());
  EXPECT_THAT(verify(kSignedMs + 16 * kMinuteMs),
              FailsWith(Code::kInvalidSignature,
                        "Signature expired: 20260131T235930Z is now earlier than 20260201T000030Z "
                        "(20260201T001530Z - 15 min.)"));
  EXPECT_THAT(verify(kSignedMs - 16 * kMinuteMs),
              FailsWith(Code::kInvalidSignature, "Signature not yet current"));
}

TEST_F(Signature, NeedsADateAndACredentialOfTheRightForm) {
  for (const char* date : {"", "2026-01-31T23:59:30Z", "20261331T235930Z", "20260131T235930",
                           "20260131T240000Z", "20260131T236030Z", "20260131T235960Z"}) {
    headers["X-Amz-Date"] = date;
    EXPECT_THAT(verify(), FailsWith(Code::kIncompleteSignature, "ISO-8601")) << date;
  }
  replace("AKID/20260131/us-east-1/dynamodb/aws4_request", "AKID");
  EXPECT_THAT(verify(), FailsWith(Code::kIncompleteSignature, "at least 5 elements"));
}

TEST_F(Signature, OfAnotherAlgorithmOrInTheQueryIsRefused) {
  replace("AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256");
  EXPECT_THAT(verify(), FailsWith(Code::kIncompleteSignature, "AWS4-ECDSA-P256-SHA256"));
  headers.erase("Authorization");
  EXPECT_THAT(verify(), FailsWith(Code::kInvalidSignature, "query string"));
}

}  // namespace
}  // namespace stator::server
