// SPDX-License-Identifier: Apache-2.0
#include "server/listen_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace stator::server {
namespace {

using ::testing::HasSubstr;

TEST(ListenAddress, ReadsHostAndPort) {
  for (const auto& [text, printed] :
       {std::pair{"127.0.0.1:8000", "127.0.0.1:8000"}, std::pair{"127.8.8.8:0", "127.8.8.8:0"},
        std::pair{"localhost:9", "127.0.0.1:9"}, std::pair{"65535", "127.0.0.1:65535"},
        std::pair{"[::1]:80", "[::1]:80"}, std::pair{"0.0.0.0:1", "0.0.0.0:1"},
        std::pair{"[2001:db8::1]:1", "[2001:db8::1]:1"}}) {
    const auto address = parse_listen_address(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->to_string(), printed);
  }
}

TEST(ListenAddress, RecognizesLoopback) {
  for (const char* text : {"127.0.0.1:1", "127.255.0.9:1", "[::1]:1", "localhost:1", "1"}) {
    EXPECT_TRUE(parse_listen_address(text)->is_loopback()) << text;
  }
  for (const char* text : {"0.0.0.0:1", "128.0.0.1:1", "10.0.0.1:1", "[::]:1", "[fe80::1]:1"}) {
    EXPECT_FALSE(parse_listen_address(text)->is_loopback()) << text;
  }
}

TEST(ListenAddress, RefusesAnythingElse) {
  for (const char* text : {"", ":", "x", ":8000", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
                           "127.0.0.1:-1", "127.0.0.1: 1", "127.1:1", "::1:8000", "[127.0.0.1]:1",
                           "[]:1", "example.com:80", "http://127.0.0.1:80"}) {
    const auto address = parse_listen_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().code, Code::kInvalidArgument);
    EXPECT_THAT(address.error().message, HasSubstr("'" + std::string(text) + "'"));
  }
}

}  // namespace
}  // namespace stator::server
