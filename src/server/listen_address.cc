// SPDX-License-Identifier: Apache-2.0
#include "server/listen_address.h"

#include <arpa/inet.h>

#include <charconv>
#include <optional>

namespace stator::server {
namespace {

std::optional<uint16_t> port_of(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return {};
  return port;
}

std::optional<in_addr> ipv4_of(const std::string& host) {
  in_addr address{};
  if (inet_pton(AF_INET, host.c_str(), &address) != 1) return {};
  return address;
}

std::optional<in6_addr> ipv6_of(const std::string& host) {
  in6_addr address{};
  if (inet_pton(AF_INET6, host.c_str(), &address) != 1) return {};
  return address;
}

Failure refused(std::string_view text) {
  return fail(Code::kInvalidArgument, "invalid listen address '" + std::string(text) +
                                          "'; expected HOST:PORT, such as 127.0.0.1:8000 or "
                                          "[::1]:8000");
}

}  // namespace

bool ListenAddress::is_loopback() const {
  if (const auto address = ipv4_of(host)) return (ntohl(address->s_addr) >> 24) == 127;
  const auto address = ipv6_of(host);
  return address && IN6_IS_ADDR_LOOPBACK(&*address);
}

std::string ListenAddress::to_string() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<ListenAddress> parse_listen_address(std::string_view text) {
  ListenAddress address;
  const auto colon = text.rfind(':');
  const auto port = port_of(colon == text.npos ? text : text.substr(colon + 1));
  if (!port) return refused(text);
  address.port = *port;
  if (colon == text.npos) return address;
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  address.host = host == "localhost" ? "127.0.0.1" : std::string(host);
  // "::1:8000" could be read in two ways, so IPv6 needs its brackets.
  const bool known =
      bracketed ? ipv6_of(address.host).has_value() : ipv4_of(address.host).has_value();
  if (!known) return refused(text);
  return address;
}

}  // namespace stator::server
