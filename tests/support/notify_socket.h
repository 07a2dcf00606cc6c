// SPDX-License-Identifier: Apache-2.0
// NotifySocket: the service manager's end of Type=notify. Every wait ends after 30 seconds.
#pragma once

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>

namespace stator::test {

class NotifySocket {
 public:
  // `name`: a path, or "@" and an abstract name.
  explicit NotifySocket(const std::string& name) : socket_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
    const timeval limit{.tv_sec = 30, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, sizeof address.sun_path - 1);
    if (name.front() == '@') address.sun_path[0] = '\0';
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    if (::bind(socket_, reinterpret_cast<const sockaddr*>(&address), size) != 0) std::abort();
  }
  NotifySocket(const NotifySocket&) = delete;
  NotifySocket& operator=(const NotifySocket&) = delete;
  ~NotifySocket() { ::close(socket_); }

  // Returns the next datagram; empty if none arrives.
  std::string next() const {
    std::array<char, 256> buffer{};
    const ssize_t count = ::recv(socket_, buffer.data(), buffer.size(), 0);
    return {buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
  }

 private:
  int socket_;
};

}  // namespace stator::test
