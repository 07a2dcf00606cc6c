// SPDX-License-Identifier: Apache-2.0
// Attackers: many clients on one thread that send the same request, or part of it, again and again.
// The thread has a processor of its own, where it yields to everything else (the kernel's threads
// for the disk, for example). So it delays a server mostly by its requests.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "hostile/processors.h"

namespace stator::test {

struct Attack {
  std::string name;
  std::string request = {};
  std::size_t unsent_bytes = 0;  // never sent
  bool reads_slowly = false;     // 4 KB every 10 ms; otherwise as fast as possible
};

class Attackers {
 public:
  Attackers(uint16_t port, const Attack& attack, std::size_t count)
      : port_(port),
        attack_(attack),
        clients_(count),
        polled_(count),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}
  Attackers(const Attackers&) = delete;
  Attackers& operator=(const Attackers&) = delete;
  ~Attackers() {
    thread_.request_stop();
    thread_.join();
    for (const Client& client : clients_) {
      if (client.socket >= 0) ::close(client.socket);
    }
  }

  // Since the start: how many connections the clients made, and what they received.
  std::size_t connections() const { return connections_; }
  std::size_t received_bytes() const { return received_bytes_; }

 private:
  struct Client {
    int socket = -1;
    std::size_t sent = 0;
  };

  void run(const std::stop_token& stop) {
    use_processors_of(Part::kAttackers);
    const sched_param none{};
    sched_setscheduler(0, SCHED_IDLE, &none);
    while (!stop.stop_requested()) {
      for (std::size_t i = 0; i < clients_.size(); ++i) {
        Client& client = clients_[i];
        if (client.socket < 0) connect(client);
        const bool sends = client.sent + attack_.unsent_bytes < attack_.request.size();
        polled_[i] = {.fd = client.socket,
                      .events = static_cast<short>(sends ? POLLIN | POLLOUT : POLLIN),
                      .revents = 0};
      }
      constexpr int kTurnMs = 10;
      if (attack_.reads_slowly) std::this_thread::sleep_for(std::chrono::milliseconds(kTurnMs));
      poll(polled_.data(), polled_.size(), kTurnMs);
      for (std::size_t i = 0; i < clients_.size() && !stop.stop_requested(); ++i) {
        if ((polled_[i].revents & POLLOUT) != 0) send(clients_[i]);
        if ((polled_[i].revents & (POLLIN | POLLERR | POLLHUP)) != 0) receive(clients_[i]);
      }
    }
  }

  void connect(Client& client) {
    client = {.socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (client.socket < 0) return;
    if (attack_.reads_slowly) {
      const int bytes = 4096;
      ::setsockopt(client.socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::connect(client.socket, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ++connections_;
  }

  void send(Client& client) {
    std::string_view rest = std::string_view(attack_.request).substr(client.sent);
    rest.remove_suffix(attack_.unsent_bytes);
    const auto count = ::send(client.socket, rest.data(), std::min(rest.size(), kTurnBytes),
                              MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) client.sent += static_cast<std::size_t>(count);
  }

  void receive(Client& client) {
    const auto count =
        ::recv(client.socket, buffer_.data(), attack_.reads_slowly ? 4096 : kTurnBytes, 0);
    if (count > 0) {
      received_bytes_ += static_cast<std::size_t>(count);
    } else if (count == 0 || errno != EAGAIN) {
      ::close(client.socket);
      client.socket = -1;
    }
  }

  static constexpr std::size_t kTurnBytes = 256UL << 10;

  const uint16_t port_;
  const Attack& attack_;
  std::vector<Client> clients_;
  std::vector<pollfd> polled_;
  std::array<char, kTurnBytes> buffer_{};
  std::atomic<std::size_t> connections_ = 0;
  std::atomic<std::size_t> received_bytes_ = 0;
  std::jthread thread_;  // last, so that the rest exists when it starts
};

}  // namespace stator::test
