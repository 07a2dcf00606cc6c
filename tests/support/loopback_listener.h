// SPDX-License-Identifier: Apache-2.0
// LoopbackListener: accepts the clients of a test's proxy on a free port of 127.0.0.1, each on its
// own thread.
//
// Lifetime: the destructor stops and joins the threads; `serve` closes its client.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace stator::test {

inline sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

// Returns false if the connection has ended.
inline bool send_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

class LoopbackListener {
 public:
  static constexpr int kLookMs = 50;  // interval between checks of the stop token

  explicit LoopbackListener(std::function<void(int client, const std::stop_token& stop)> serve)
      : serve_(std::move(serve)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(listener_, 64) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      std::abort();
    }
    port_ = ntohs(address.sin_port);
    accepting_ = std::jthread([this](const std::stop_token& stop) { accept_all(stop); });
  }
  LoopbackListener(const LoopbackListener&) = delete;
  LoopbackListener& operator=(const LoopbackListener&) = delete;
  ~LoopbackListener() {
    accepting_.request_stop();
    accepting_.join();
    close(listener_);
  }

  uint16_t port() const { return port_; }

 private:
  void accept_all(const std::stop_token& stop) {
    std::vector<std::jthread> connections;  // stopped and joined at the end
    while (!stop.stop_requested()) {
      pollfd ready{.fd = listener_, .events = POLLIN, .revents = 0};
      if (poll(&ready, 1, kLookMs) <= 0) continue;
      const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) continue;
      connections.emplace_back([this, client](const std::stop_token& end) { serve_(client, end); });
    }
  }

  const std::function<void(int, const std::stop_token&)> serve_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::jthread accepting_;
};

}  // namespace stator::test
