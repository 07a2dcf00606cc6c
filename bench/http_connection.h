// SPDX-License-Identifier: Apache-2.0
// HttpConnection: a persistent connection that sends prepared requests and reads complete
// responses. It does little work, so that the benchmark measures the server and not the client.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stator::bench {

// Connects to 127.0.0.1 at the port of `url`.
class HttpConnection {
 public:
  explicit HttpConnection(const std::string& url);
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;
  ~HttpConnection();

  // Returns false unless a complete response arrives.
  bool exchange(std::string_view request);
  // Of the last response.
  int status() const { return status_; }
  std::string_view body() const;

 private:
  int socket_ = -1;
  int status_ = 0;
  std::string buffer_;
  std::size_t head_length_ = 0;
  std::size_t length_ = 0;
};

// A POST of one operation as an SDK sends it. The signature is well-formed but invalid.
std::string dynamodb_request(std::string_view operation, std::string_view body);

}  // namespace stator::bench
