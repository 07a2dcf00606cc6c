// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 server: connections, limits, keep-alive. Knows no database.
//
// Thread safety: start, stop and port from one thread, stats from any; the handler runs on the
// server's threads, several requests at once, and must not block. Order: a connection's requests
// are answered in the order of their arrival, one at a time. Errors: kIo with one line that says
// what and how to mend it (address in use, no permission).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/result.h"

namespace stator::http {

class Tls;

using Header = std::pair<std::string_view, std::string_view>;

struct Request {
  std::string_view method = {};
  std::string_view target = {};
  std::string_view body = {};
  // The value of a header by its lower-case name, empty where absent.
  std::string_view header(std::string_view lower_name) const;
  std::vector<Header> headers = {};
  std::string_view peer = {};                          // "127.0.0.1:49152", "[::1]:49152"
  std::chrono::steady_clock::time_point arrival = {};  // when it was whole
};

// Header lines in wire form. Names and values are the program's own: they hold no line ends.
class HeaderLines {
 public:
  HeaderLines() = default;
  HeaderLines(std::initializer_list<Header> headers);
  void add(std::string_view name, std::string_view value);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Content-Length and Connection are the server's to add.
struct Response {
  int status = 200;
  HeaderLines headers = {};
  std::string body = {};
  // Makes the response on the connection's event loop, in place of what is above. Spares the thread
  // that answers the work.
  std::move_only_function<Response()> make = {};
};

// Answers one request. Call once, from any thread; dropping it uncalled answers 500.
using Respond = std::move_only_function<void(Response)>;

// The request and its views live until `respond` is called or destroyed.
using Handler = std::function<void(const Request&, Respond)>;

struct ServerOptions {
  std::string address = "127.0.0.1";        // numeric, IPv4 or IPv6
  uint16_t port = 0;                        // 0: a free one
  int threads = 0;                          // event loops; 0: one a core
  std::shared_ptr<const Tls> tls = {};      // null: plain HTTP
  std::size_t body_bytes_max = 16UL << 20;  // more is answered by `too_large`
  std::size_t header_bytes_max = 64UL << 10;
  // Past it the connections that have been idle longest are closed for new ones. If none is idle,
  // new ones are closed.
  std::size_t connections_max = 20'000;
  // What requests, responses and the handling of large requests may hold, all connections together;
  // requests that are not yet whole may hold half of it. A request that does not fit in time, or
  // whose response does not fit, is answered by `overloaded`.
  std::size_t held_bytes_max = 1UL << 30;
  std::chrono::milliseconds idle_timeout{120'000};  // between requests
  // From a request's first byte to its last, and from a response's first byte to its last, for
  // which there is as much again for each 4 MB.
  std::chrono::milliseconds request_timeout{30'000};
  // How long a large body, or the handling of a request, waits for memory that others hold.
  std::chrono::milliseconds patience{2'000};
  std::chrono::milliseconds stop_timeout{5'000};  // for requests under way
  // The answer to a body over the limit (default: 413), to a request that is no HTTP, breaks off or
  // takes too long to arrive (default: 400), and to one that there is no memory for (default: 503).
  // The connection is closed after each, unless the request was read as a whole.
  std::function<Response()> too_large = {};
  std::function<Response()> malformed = {};
  std::function<Response()> overloaded = {};
  // Called with the headers of a request as soon as they are there, if more than 64 KB of body are
  // still to come. A response refuses the request without its body, and the connection is closed.
  std::function<std::optional<Response>(const Request& head)> screen = {};
  // Requests that take long or much memory: the handler runs on a thread beside the event loops,
  // once there is the memory that `demand`, called there, says it takes in addition to the request.
  std::function<bool(const Request&)> aside = {};
  std::function<std::size_t(const Request&)> demand = {};
};

// What a server is doing at the moment. The counts are exact for the thread that changes them last.
struct ServerStats {
  std::size_t connections = 0;
  std::size_t connections_max = 0;
  std::size_t requests_in_progress = 0;  // from a whole request to the last byte of its response
  std::size_t held_bytes = 0;            // by requests, responses, and handlers on side threads
  std::size_t held_bytes_max = 0;
  std::size_t side_queue_length = 0;  // requests that wait for a side thread
  std::size_t bodies_waiting = 0;     // large requests that wait for memory to be received into
};

class Server {
 public:
  static Result<std::unique_ptr<Server>> start(ServerOptions options, Handler handler);
  ~Server();  // as stop()

  uint16_t port() const;
  ServerStats stats() const;  // any thread
  // Stops accepting, closes idle connections, lets requests under way finish within stop_timeout,
  // closes the rest. Answers that come later are dropped. Not from the server's own threads.
  void stop();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stator::http
