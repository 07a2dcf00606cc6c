// SPDX-License-Identifier: Apache-2.0
// One kept-alive connection that sends prepared requests and reads whole answers: little enough
// work that the server, not the load, is what is measured.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stator::bench {

// "127.0.0.1:8000" of "http://127.0.0.1:8000".
class HttpConnection {
 public:
  explicit HttpConnection(const std::string& url);
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;
  ~HttpConnection();

  // False where no whole answer came.
  bool exchange(std::string_view request);
  // Of the last answer.
  int status() const { return status_; }
  std::string_view body() const;

 private:
  int socket_ = -1;
  int status_ = 0;
  std::string buffer_;
  std::size_t head_length_ = 0;
  std::size_t length_ = 0;
};

// A POST of one operation as an SDK sends it; the signature is of the right form only.
std::string dynamodb_request(std::string_view operation, std::string_view body);

}  // namespace stator::bench
