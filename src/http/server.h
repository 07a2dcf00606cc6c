// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 server: connections, limits, keep-alive. Knows no database.
//
// Thread safety: start, stop and port from one thread; the handler runs on the server's threads.
// Errors: kIo with one line that says what and how to mend it (address in use, no permission).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/result.h"

namespace stator::http {

struct Request {
  std::string_view method;
  std::string_view target;
  std::string_view body;
  // The value of a header by its lower-case name, empty where absent.
  std::string_view header(std::string_view lower_name) const;
  std::vector<std::pair<std::string_view, std::string_view>> headers;
};

struct Response {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

// Answers one request. Call once, from any thread; dropping it uncalled answers 500.
using Respond = std::move_only_function<void(Response)>;

// The request's views live until `respond` is called or destroyed.
using Handler = std::function<void(const Request&, Respond)>;

struct ServerOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 0;                        // 0: a free one
  int threads = 0;                          // event loops; 0: one a core
  std::size_t body_bytes_max = 16UL << 20;  // more is answered 413 by `too_large`
  std::size_t header_bytes_max = 64UL << 10;
  std::size_t connections_max = 20'000;
  std::chrono::seconds idle_timeout{120};    // between requests
  std::chrono::seconds request_timeout{30};  // from a request's first byte to its last
  // The answer to a body over the limit and to a request that is no HTTP.
  std::function<Response()> too_large;
  std::function<Response()> malformed;
};

class Server {
 public:
  static Result<std::unique_ptr<Server>> start(ServerOptions options, Handler handler);
  ~Server();  // as stop()

  uint16_t port() const;
  // Stops accepting, lets requests under way finish (a few seconds at most), closes.
  void stop();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stator::http
