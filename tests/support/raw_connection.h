// SPDX-License-Identifier: Apache-2.0
// RawConnection: a TCP connection to 127.0.0.1 that sends given bytes and reads HTTP responses. For
// tests; every wait ends after 30 seconds.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace stator::test {

struct RawAnswer {
  int status = 0;                                   // 0: the connection ended without a response
  std::map<std::string, std::string> headers = {};  // by lower-case name
  std::string body = {};
};

class RawConnection {
 public:
  explicit RawConnection(uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval limit{.tv_sec = 30, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;
  RawConnection(RawConnection&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)),
        connected_(other.connected_),
        received_(std::move(other.received_)) {}
  RawConnection& operator=(RawConnection&&) = delete;
  virtual ~RawConnection() {
    if (socket_ >= 0) ::close(socket_);
  }

  bool connected() const { return connected_; }
  int descriptor() const { return socket_; }

  // Returns false if the other side has closed the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = send_some(bytes);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  virtual void end_sending() { ::shutdown(socket_, SHUT_WR); }

  // Reads the next response. `head_only`: for responses to HEAD.
  RawAnswer read_answer(bool head_only = false) {
    RawAnswer answer;
    std::size_t head_end = 0;
    while ((head_end = received_.find("\r\n\r\n")) == std::string::npos) {
      if (!receive()) return {};
    }
    std::string_view head = std::string_view(received_).substr(0, head_end + 2);
    if (head.size() < 12) return {};
    answer.status = std::atoi(std::string(head.substr(9, 3)).c_str());
    head.remove_prefix(head.find("\r\n") + 2);
    while (!head.empty()) {
      const auto line = head.substr(0, head.find("\r\n"));
      const auto colon = line.find(": ");
      std::string name(line.substr(0, colon));
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      answer.headers[name] = colon == line.npos ? "" : std::string(line.substr(colon + 2));
      head.remove_prefix(line.size() + 2);
    }
    const auto length = answer.headers.find("content-length");
    const std::size_t body_bytes =
        length == answer.headers.end() || head_only
            ? 0
            : static_cast<std::size_t>(std::strtoull(length->second.c_str(), nullptr, 10));
    while (received_.size() < head_end + 4 + body_bytes) {
      if (!receive()) return {};
    }
    answer.body = received_.substr(head_end + 4, body_bytes);
    received_.erase(0, head_end + 4 + body_bytes);
    return answer;
  }

  // Waits until the other side ends the connection. Returns false if bytes or nothing arrive
  // instead.
  bool ended_by_peer() {
    if (!received_.empty()) return false;
    char byte = 0;
    const ssize_t count = receive_some(&byte, 1);
    return count == 0 || (count < 0 && errno == ECONNRESET);
  }

 protected:
  // Like send() and recv().
  virtual ssize_t send_some(std::string_view bytes) {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  virtual ssize_t receive_some(char* buffer, std::size_t size) {
    return ::recvfrom(socket_, buffer, size, 0, nullptr, nullptr);
  }

 private:
  bool receive() {
    char buffer[16384];
    const ssize_t count = receive_some(buffer, sizeof buffer);
    if (count <= 0) return false;
    received_.append(buffer, static_cast<std::size_t>(count));
    return true;
  }

  int socket_;
  bool connected_ = false;
  std::string received_;
};

}  // namespace stator::test
