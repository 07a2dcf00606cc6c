// SPDX-License-Identifier: Apache-2.0
#include "server/host_filter.h"

#include <gtest/gtest.h>

#include <string>

#include "support/matchers.h"

namespace stator::server {
namespace {

using test::FailsWith;
using test::IsOk;

Result<void> check(std::initializer_list<http::Header> headers,
                   const std::vector<std::string>& allowed = {}) {
  http::Request request;
  request.headers = headers;
  return HostFilter(allowed).check(request);
}

TEST(HostFilter, AcceptsLocalHosts) {
  for (const char* host :
       {"localhost", "localhost:8000", "LOCALHOST:8000", "localhost.", "db.localhost:8000",
        "127.0.0.1", "127.0.0.1:8000", "127.1.2.3:8000", "[::1]", "[::1]:8000"}) {
    EXPECT_THAT(check({{"Host", host}}), IsOk()) << host;
    const std::string origin = "http://" + std::string(host);
    EXPECT_THAT(check({{"Host", host}, {"Origin", origin}}), IsOk()) << origin;
  }
  EXPECT_THAT(check({}), IsOk());
  EXPECT_THAT(check({{"Host", "localhost:8000"}, {"Origin", "https://localhost:3000"}}), IsOk());
}

TEST(HostFilter, RefusesNamesThatAnotherCouldResolveHere) {
  for (const char* host :
       {"", "example.com", "example.com:8000", "localhost.example.com", "127.0.0.1.example.com",
        "notlocalhost", "127.0.0.1@example.com", "127.0.0.1:8000.example.com", "[::2]:8000", "[::1",
        "::1", "10.0.0.1", "0.0.0.0:8000", "localhost:8000:8000", "127.1", ".."}) {
    EXPECT_THAT(check({{"Host", host}}), FailsWith(Code::kAccessDenied, "Host '")) << host;
  }
}

TEST(HostFilter, RefusesPagesFromElsewhere) {
  for (const char* origin :
       {"https://example.com", "http://localhost.example.com", "null", "", "file://",
        "chrome-extension://abcdef", "ftp://localhost", "http://", "http://user@localhost"}) {
    EXPECT_THAT(check({{"Host", "localhost:8000"}, {"Origin", origin}}),
                FailsWith(Code::kAccessDenied, "Origin '"))
        << origin;
  }
}

TEST(HostFilter, RefusesNamesWithANul) {
  const std::string nul("\0", 1);
  for (const std::string& host : {"127.0.0.1" + nul, "127.0.0.1" + nul + ".example.com",
                                  "example.com" + nul + ".localhost"}) {
    EXPECT_THAT(check({{"Host", host}}), FailsWith(Code::kAccessDenied, "?"));
  }
}

TEST(HostFilter, PassesNamesThatAreAllowed) {
  const std::vector<std::string> allowed = {"db", "Dev.Example.com"};
  EXPECT_THAT(check({{"Host", "db:8000"}}, allowed), IsOk());
  EXPECT_THAT(check({{"Host", "dev.example.com"}, {"Origin", "https://dev.example.com"}}, allowed),
              IsOk());
  EXPECT_THAT(check({{"Host", "db.example.com"}}, allowed),
              FailsWith(Code::kAccessDenied, "allow it with --allow-host"));
}

TEST(HostFilter, ShowsOnlyPrintableCharacters) {
  EXPECT_THAT(check({{"Host", "a\xff\"b"}}), FailsWith(Code::kAccessDenied, "Host 'a?\"b' is"));
  const std::string longest(60'000, 'x');
  const auto refused = check({{"Host", longest}});
  ASSERT_FALSE(refused);
  EXPECT_LT(refused.error().message.size(), 400U);
}

}  // namespace
}  // namespace stator::server
