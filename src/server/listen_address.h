// SPDX-License-Identifier: Apache-2.0
// ListenAddress: where a server listens, as a user writes it: "127.0.0.1:8000", "[::1]:8000",
// "localhost:8000", "8000" (on 127.0.0.1). Port 0 is a free one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "stator/result.h"

namespace stator::server {

struct ListenAddress {
  std::string host = "127.0.0.1";  // numeric
  uint16_t port = 8000;

  bool is_loopback() const;
  std::string to_string() const;  // "127.0.0.1:8000", "[::1]:8000"
};

// kInvalidArgument, with what is wrong, for anything else.
Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace stator::server
