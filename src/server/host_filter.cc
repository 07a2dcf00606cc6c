// SPDX-License-Identifier: Apache-2.0
#include "server/host_filter.h"

#include <arpa/inet.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "http/message.h"

namespace stator::server {
namespace {

constexpr std::size_t kHostBytesMax = 255;

// "name:port", "name", "[::1]:port": the name in lower case, without a final dot. Empty for any
// other form, and for a name with a NUL, at which C functions would end it.
std::string name_of(std::string_view host) {
  const std::size_t bracket = host.starts_with('[') ? host.find(']') : 0;
  if (host.size() > kHostBytesMax || bracket == host.npos) return {};
  if (host.find('\0') != host.npos) return {};
  const std::size_t colon = host.find(':', bracket);
  if (colon != host.npos) {
    const std::string_view port = host.substr(colon + 1);
    if (port.size() > 5 || port.find_first_not_of("0123456789") != port.npos) return {};
    host = host.substr(0, colon);
  }
  if (host.ends_with('.')) host.remove_suffix(1);
  return ascii_lower_case(host);
}

bool is_local(const std::string& name) {
  if (name == "localhost" || name.ends_with(".localhost") || name == "[::1]") return true;
  in_addr address{};
  return inet_pton(AF_INET, name.c_str(), &address) == 1 && (ntohl(address.s_addr) >> 24) == 127;
}

Failure refused(std::string_view header, std::string_view value) {
  std::string shown(value.substr(0, kHostBytesMax));
  for (char& c : shown) c = c > ' ' && c <= '~' ? c : '?';
  return fail(Code::kAccessDenied, std::string(header) + " '" + shown +
                                       "' is not local; allow it with --allow-host, or check "
                                       "signatures with --credentials");
}

}  // namespace

HostFilter::HostFilter(std::vector<std::string> allowed) : allowed_(std::move(allowed)) {
  for (std::string& name : allowed_) name = ascii_lower_case(name);
}

bool HostFilter::allows_host(std::string_view host) const {
  const std::string name = name_of(host);
  return !name.empty() && (is_local(name) || std::ranges::find(allowed_, name) != allowed_.end());
}

bool HostFilter::allows_origin(std::string_view origin) const {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return allows_host(origin.substr(scheme.size()));
  }
  return false;
}

Result<void> HostFilter::check(const http::Request& request) const {
  for (const auto& [name, value] : request.headers) {
    if (http::equals_ignoring_case(name, "host") && !allows_host(value))
      return refused("Host", value);
    if (http::equals_ignoring_case(name, "origin") && !allows_origin(value))
      return refused("Origin", value);
  }
  return {};
}

}  // namespace stator::server
