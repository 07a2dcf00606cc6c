// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/store_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/matchers.h"

namespace stator {
namespace {

using test::FailsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(StoreUrl, HasANameWithoutUserPasswordAndParameters) {
  struct Case {
    const char* url;
    const char* name;
    bool has_password;
  };
  for (const Case& url : {
           Case{"postgresql://h:5433/d", "postgresql://h:5433/d", false},
           Case{"postgres://ann@h/d", "postgres://h/d", false},
           Case{"postgresql://ann:s3cret@h/d", "postgresql://h/d", true},
           Case{"postgresql://ann:s3%40cr%2Fet@h/d", "postgresql://h/d", true},
           Case{"postgresql://ann:@h/d", "postgresql://h/d", false},
           Case{"postgresql://h/d?user=ann&password=s3cret", "postgresql://h/d", true},
           Case{"postgresql://h/d?sslpassword=s3cret", "postgresql://h/d", true},
           Case{"postgresql://h,g:5433/d?target_session_attrs=any", "postgresql://h,g:5433/d",
                false},
           Case{"postgresql://ann@/d?host=/run/postgresql", "postgresql:///d", false},
           Case{"postgresql://[::1]:5433/d", "postgresql://[::1]:5433/d", false},
           Case{"postgresql://", "postgresql://", false},
       }) {
    const auto parsed = parse_postgres_url(url.url);
    ASSERT_TRUE(parsed) << url.url << ": " << parsed.error().message;
    EXPECT_EQ(parsed->url, url.url);
    EXPECT_EQ(parsed->name, url.name);
    EXPECT_EQ(parsed->has_password, url.has_password) << url.url;
  }
}

// Includes URLs in which libpq would read a part of the password as something else, and quote it.
TEST(StoreUrl, RefusesMalformedOnesWithoutQuotingThem) {
  for (const char* url : {
           "",
           "s3cret",
           "mysql://ann:s3cret@h/d",
           "host=h password=s3cret",
           "postgresql://ann:s3cret/@h/d",
           "postgresql://ann:12/s3cret@h/d",
           "postgresql://ann:a@s3cret@h/d",
           "postgresql://ann:s3cret%zz@h/d",
           "postgresql://ann:s3cret",
           "postgresql://ann:s3cret/d",
           "postgresql://h/d?password:s3cret",
           "postgresql://h/d?s3cret=1",
           "postgresql://h/d?password=s3cret=1",
       }) {
    const auto parsed = parse_postgres_url(url);
    EXPECT_THAT(parsed, FailsWith(Code::kInvalidArgument, "postgresql://USER@HOST")) << url;
    ASSERT_FALSE(parsed);
    EXPECT_THAT(parsed.error().message, Not(HasSubstr("s3cret")));
  }
}

}  // namespace
}  // namespace stator
