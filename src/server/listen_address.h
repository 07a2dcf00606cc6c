// SPDX-License-Identifier: Apache-2.0
// ListenAddress: the address of a server in the user's notation: "127.0.0.1:8000", "[::1]:8000",
// "localhost:8000", "8000" (on 127.0.0.1). Port 0: any free port.
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

// Errors: kInvalidArgument for anything else.
Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace stator::server
