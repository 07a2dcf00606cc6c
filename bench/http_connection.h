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

  // True for an answer with status 200, read to its end.
  bool exchange(std::string_view request);

 private:
  int socket_ = -1;
  std::string buffer_;
};

// A POST of one operation as an SDK sends it; the signature is of the right form only.
std::string dynamodb_request(std::string_view operation, std::string_view body);

}  // namespace stator::bench
