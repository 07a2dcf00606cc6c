// SPDX-License-Identifier: Apache-2.0
// TcpProxy: a proxy in front of an HTTP server that loses requests and responses and delivers
// copies of requests late.
//
// Thread safety: `fate` is called from any of its threads. Lifetime: the destructor closes all
// connections.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "support/loopback_listener.h"

namespace stator::test {

class TcpProxy {
 public:
  struct Fate {
    enum class Kind {
      kPass,
      kLoseRequest,  // the connection breaks, and the request does not arrive
      kLoseReply,    // the request arrives, then the connection breaks
      kDeliverLate,  // the connection breaks, and the request arrives `delay` later
    } kind = Kind::kPass;
    std::chrono::milliseconds delay{0};
  };

  TcpProxy(uint16_t target, std::function<Fate()> fate) : target_(target), fate_(std::move(fate)) {}

  std::string url() const { return "http://127.0.0.1:" + std::to_string(listener_.port()); }

 private:
  // Returns -1 if the target does not listen.
  int connect_to_target() const {
    const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(target_);
    if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
      return descriptor;
    }
    close(descriptor);
    return -1;
  }

  void serve(int client, const std::stop_token& stop) const {
    const int server = connect_to_target();
    if (server < 0) {
      close(client);
      return;
    }
    std::string request;
    std::string late;
    std::chrono::milliseconds delay{0};
    std::array<pollfd, 2> ends{pollfd{client, POLLIN, 0}, pollfd{server, POLLIN, 0}};
    for (bool open = true; open && !stop.stop_requested();) {
      if (poll(ends.data(), ends.size(), LoopbackListener::kLookMs) <= 0) continue;
      if (ends[1].revents != 0) open = forward(server, client);
      if (!open || ends[0].revents == 0) continue;
      std::array<char, 65536> buffer{};
      const ssize_t count = read(client, buffer.data(), buffer.size());
      if (count <= 0) break;
      request.append(buffer.data(), static_cast<std::size_t>(count));
      if (!is_whole(request)) continue;
      const Fate fate = fate_();
      open = fate.kind == Fate::Kind::kPass;
      if (fate.kind == Fate::Kind::kDeliverLate) {
        late = request;
        delay = fate.delay;
      } else if (fate.kind != Fate::Kind::kLoseRequest) {
        open = send_all(server, request) && open;
      }
      request.clear();
    }
    close(client);
    if (!late.empty()) {
      std::this_thread::sleep_for(delay);
      send_all(server, late);
    }
    // A server can drop unstarted requests when the client disconnects, so wait for the reply.
    pollfd reply{.fd = server, .events = POLLIN, .revents = 0};
    poll(&reply, 1, stop.stop_requested() ? 0 : 1'000);
    close(server);
  }

  static bool forward(int from, int to) {
    std::array<char, 65536> buffer{};
    const ssize_t count = read(from, buffer.data(), buffer.size());
    return count > 0 && send_all(to, {buffer.data(), static_cast<std::size_t>(count)});
  }

  // Reports whether this is an HTTP request with its whole body.
  static bool is_whole(const std::string& request) {
    const std::size_t end = request.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    const std::size_t length = request.find("Content-Length: ");
    if (length >= end) return true;
    return request.size() >= end + 4 + std::strtoull(request.c_str() + length + 16, nullptr, 10);
  }

  const uint16_t target_;
  const std::function<Fate()> fate_;
  LoopbackListener listener_{
      [this](int client, const std::stop_token& stop) { serve(client, stop); }};
};

}  // namespace stator::test
