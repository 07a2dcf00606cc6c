// SPDX-License-Identifier: Apache-2.0
#include "bench/http_connection.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>

namespace stator::bench {
namespace {

constexpr std::string_view kLengthHeader = "Content-Length: ";

// The length of the whole answer once its head is in `text`; 0 before.
std::size_t answer_length(std::string_view text) {
  const std::size_t head_end = text.find("\r\n\r\n");
  if (head_end == std::string_view::npos) return 0;
  const std::size_t at = text.find(kLengthHeader);
  if (at == std::string_view::npos || at > head_end) return head_end + 4;
  std::size_t body = 0;
  std::from_chars(text.data() + at + kLengthHeader.size(), text.data() + head_end, body);
  return head_end + 4 + body;
}

}  // namespace

HttpConnection::HttpConnection(const std::string& url) : buffer_(64UL << 10, '\0') {
  const std::size_t colon = url.rfind(':');
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(std::stoi(url.substr(colon + 1))));
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    close(socket_);
    socket_ = -1;
  }
}

HttpConnection::~HttpConnection() {
  if (socket_ >= 0) close(socket_);
}

bool HttpConnection::exchange(std::string_view request) {
  if (send(socket_, request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    return false;
  }
  std::size_t have = 0;
  std::size_t length = 0;
  do {
    if (have == buffer_.size()) buffer_.resize(buffer_.size() * 2);
    const ssize_t got = recv(socket_, buffer_.data() + have, buffer_.size() - have, 0);
    if (got <= 0) return false;
    have += static_cast<std::size_t>(got);
    if (length == 0) length = answer_length({buffer_.data(), have});
  } while (length == 0 || have < length);
  return std::string_view(buffer_).substr(9, 3) == "200";
}

std::string dynamodb_request(std::string_view operation, std::string_view body) {
  return fmt::format(
      "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-amz-json-1.0\r\n"
      "X-Amz-Target: DynamoDB_20120810.{}\r\nX-Amz-Date: 20200301T000000Z\r\n"
      "Authorization: AWS4-HMAC-SHA256 Credential=bench/20200301/us-east-1/dynamodb/aws4_request, "
      "SignedHeaders=host;x-amz-date;x-amz-target, Signature={:064}\r\n"
      "Content-Length: {}\r\n\r\n{}",
      operation, 0, body.size(), body);
}

}  // namespace stator::bench
