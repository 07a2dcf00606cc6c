// SPDX-License-Identifier: Apache-2.0
#include "bench/http_connection.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace stator::bench {
namespace {

constexpr std::string_view kLengthHeader = "\r\ncontent-length: ";
constexpr std::string_view kLastChunk = "\r\n0\r\n\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";

// The length of the body according to the headers; std::nullopt if the body is chunked.
std::optional<std::size_t> body_length(std::string_view head) {
  const auto same = [](char a, char b) { return (a | 0x20) == (b | 0x20); };
  const auto found = std::ranges::search(head, kLengthHeader, same);
  if (found.empty()) return std::nullopt;
  std::size_t length = 0;
  std::from_chars(&*found.end(), head.data() + head.size(), length);
  return length;
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
  head_length_ = 0;
  std::optional<std::size_t> length;
  for (;;) {
    if (have == buffer_.size()) buffer_.resize(buffer_.size() * 2);
    const ssize_t got = recv(socket_, buffer_.data() + have, buffer_.size() - have, 0);
    if (got <= 0) return false;
    have += static_cast<std::size_t>(got);
    const std::string_view text(buffer_.data(), have);
    if (head_length_ == 0) {
      const std::size_t end = text.find(kHeadEnd);
      if (end == std::string_view::npos) continue;
      head_length_ = end + kHeadEnd.size();
      length = body_length(text.substr(0, head_length_));
    }
    if (length ? have >= head_length_ + *length : text.ends_with(kLastChunk)) break;
  }
  length_ = have;
  const std::string_view code = std::string_view(buffer_).substr(9, 3);
  std::from_chars(code.data(), code.data() + code.size(), status_);
  return true;
}

std::string_view HttpConnection::body() const {
  return std::string_view(buffer_).substr(head_length_, length_ - head_length_);
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
