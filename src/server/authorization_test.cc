// SPDX-License-Identifier: Apache-2.0
#include "server/authorization.h"

#include <gtest/gtest.h>

#include <string>

namespace stator::server {
namespace {

http::Request request_with(std::vector<http::Header> headers, std::string_view target = "/") {
  http::Request request;
  request.method = "POST";
  request.target = target;
  request.headers = std::move(headers);
  return request;
}

constexpr std::string_view kWhole =
    "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, "
    "SignedHeaders=host;x-amz-date, Signature=00";

TEST(Authorization, AcceptsAnySignatureThatIsWhole) {
  EXPECT_TRUE(check_authorization(request_with({{"Authorization", kWhole}, {"X-Amz-Date", "d"}})));
  EXPECT_TRUE(check_authorization(request_with({{"authorization", kWhole}, {"date", "d"}})));
  EXPECT_TRUE(check_authorization(
      request_with({{"Authorization", "AWS4-HMAC-SHA256 Credential=a,SignedHeaders=b,Signature=c"},
                    {"X-Amz-Date", "d"}})));
  EXPECT_TRUE(check_authorization(
      request_with({},
                   "/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a&X-Amz-Date=d"
                   "&X-Amz-SignedHeaders=host&X-Amz-Signature=0")));
}

TEST(Authorization, RequiresASignature) {
  for (const auto& request :
       {request_with({}), request_with({{"Authorization", ""}}),
        request_with({{"Authorization", "Basic YTpi"}}), request_with({}, "/?q=1")}) {
    const auto checked = check_authorization(request);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, Code::kMissingAuthenticationToken);
    EXPECT_EQ(checked.error().message, "Request is missing Authentication Token");
  }
}

TEST(Authorization, NamesThePartsThatAreMissing) {
  const auto bare = check_authorization(request_with({{"Authorization", "AWS4-HMAC-SHA256"}}));
  ASSERT_FALSE(bare);
  EXPECT_EQ(bare.error().code, Code::kIncompleteSignature);
  EXPECT_EQ(bare.error().message,
            "Authorization header requires 'Credential' parameter. Authorization header requires "
            "'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. "
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
            "Authorization=AWS4-HMAC-SHA256");
  const auto unsigned_one = check_authorization(
      request_with({{"Authorization", "AWS4-HMAC-SHA256 Credential=a, SignedHeaders=b, Signature="},
                    {"X-Amz-Date", "d"}}));
  ASSERT_FALSE(unsigned_one);
  EXPECT_EQ(unsigned_one.error().message,
            "Authorization header requires 'Signature' parameter. "
            "Authorization=AWS4-HMAC-SHA256 Credential=a, SignedHeaders=b, Signature=");
}

TEST(Authorization, NamesTheQueryParametersThatAreMissing) {
  const auto checked =
      check_authorization(request_with({}, "/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=d"));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Code::kIncompleteSignature);
  EXPECT_EQ(checked.error().message,
            "AWS query-string parameters must include 'X-Amz-Credential'. "
            "AWS query-string parameters must include 'X-Amz-Signature'. "
            "AWS query-string parameters must include 'X-Amz-SignedHeaders'. "
            "Re-examine the query-string parameters.");
}

TEST(Authorization, RefusesTwoSignatures) {
  const auto checked = check_authorization(
      request_with({{"Authorization", kWhole}}, "/?X-Amz-Algorithm=AWS4-HMAC-SHA256"));
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Code::kInvalidSignature);
}

}  // namespace
}  // namespace stator::server
