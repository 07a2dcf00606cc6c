// SPDX-License-Identifier: Apache-2.0
// HostFilter: rejects requests that a foreign web page could have sent, for a server that does not
// check signatures. Such a page's address is in Origin; if its name was made to resolve to this
// machine (DNS rebinding), the name is in Host.
//
// Thread safety: any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/server.h"
#include "stator/result.h"

namespace stator::server {

class HostFilter {
 public:
  // `allowed`: names in addition to local ones, without ports.
  explicit HostFilter(std::vector<std::string> allowed);

  // Errors: kAccessDenied if Host or Origin is present and neither local nor allowed. Local names
  // are localhost, its subdomains, 127.0.0.0/8 and [::1], with any port.
  Result<void> check(const http::Request& request) const;
  bool allows_origin(std::string_view origin) const;

 private:
  bool allows_host(std::string_view host) const;

  std::vector<std::string> allowed_;
};

}  // namespace stator::server
