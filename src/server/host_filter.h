// SPDX-License-Identifier: Apache-2.0
// HostFilter: refuses requests that a web page from elsewhere could have caused, for a server that
// checks no signatures. Such a page's own address is in Origin, and if its name was made to resolve
// to this machine (DNS rebinding), that name is in Host.
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
  // `allowed`: names in addition to this machine's, without ports.
  explicit HostFilter(std::vector<std::string> allowed);

  // kAccessDenied if Host or Origin is there and neither local nor allowed. Local are localhost,
  // names below it, 127.0.0.0/8 and [::1], with any port.
  Result<void> check(const http::Request& request) const;
  bool allows_origin(std::string_view origin) const;

 private:
  bool allows_host(std::string_view host) const;

  std::vector<std::string> allowed_;
};

}  // namespace stator::server
