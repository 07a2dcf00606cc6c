// SPDX-License-Identifier: Apache-2.0
// HTTP/1.1 server: connections, limits, keep-alive. It does not depend on the database.
//
// Thread safety: start, stop and port must be called from one thread; any thread can call stats.
// The handler runs on the server's threads, concurrently, with no locks held, and must not block
// beyond its WaitPermit: a thread with one connection and nothing else may wait for the disk.
// Order: the requests of a connection are handled one at a time, in the order of their arrival.
// Errors: kIo with one line with the problem and its remedy (address in use, no permission).
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
  // The value of a header by its lower-case name; empty if absent.
  std::string_view header(std::string_view lower_name) const;
  std::vector<Header> headers = {};
  std::string_view peer = {};                          // "127.0.0.1:49152", "[::1]:49152"
  std::chrono::steady_clock::time_point arrival = {};  // when it was complete
};

// Header lines in wire form. Names and values must not contain line breaks.
class HeaderLines {
 public:
  HeaderLines() = default;
  HeaderLines(std::initializer_list<Header> headers);
  void add(std::string_view name, std::string_view value);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The server adds Content-Length and Connection.
struct Response {
  int status = 200;
  HeaderLines headers = {};
  std::string body = {};
  // False if the client might not be allowed to use the server: it remains a newcomer.
  bool accepted = true;
  // If set, makes the response on the connection's event loop and replaces the members above. This
  // relieves the responding thread.
  std::move_only_function<Response()> make = {};
};

// Sends the response to one request. Call it once, from any thread; if it is destroyed without a
// call, the response is 500.
using Respond = std::move_only_function<void(Response)>;

// The request and its views live until `respond` is called or destroyed.
using Handler = std::function<void(const Request&, Respond)>;

struct ServerOptions {
  std::string address = "127.0.0.1";        // numeric, IPv4 or IPv6
  uint16_t port = 0;                        // 0: a free one
  int threads = 0;                          // event loops; 0: usable_processors()
  std::shared_ptr<const Tls> tls = {};      // null: plain HTTP
  std::size_t body_bytes_max = 16UL << 20;  // `too_large` responds to larger ones
  std::size_t header_bytes_max = 64UL << 10;
  // At this limit, the connections that have been idle longest are closed to accept new ones. One
  // whose request has been incomplete for longer than `patience` counts as idle since its request
  // before. Closed last are those with an accepted request within `patience`, and new ones of the
  // last tenth of a second. If none is idle, new ones are closed.
  std::size_t connections_max = 20'000;
  // If more connections per second end without an accepted request, the server pauses before it
  // accepts others. So a flood of them leaves time for other clients.
  int failures_per_second = 2'000;
  std::chrono::milliseconds failure_pause_max{1'000};
  // How much of rejected requests a thread reads and drops.
  int dropped_bytes_per_second = 256'000'000;
  // Total memory of requests, responses and the handling of large requests; incomplete requests can
  // use half of it. `overloaded` responds if a request or its response does not fit in time.
  std::size_t held_bytes_max = 1UL << 30;
  std::chrono::milliseconds idle_timeout{120'000};  // between requests
  // From the first to the last byte of a request; also of a response, plus the same time for each
  // 4 MB of it.
  std::chrono::milliseconds request_timeout{30'000};
  // How long a large body, or the handling of a request, waits for memory. A request that has
  // waited for half of this time, and whose client has gone, is dropped.
  std::chrono::milliseconds patience{2'000};
  std::chrono::milliseconds stop_timeout{5'000};  // for requests in progress
  // The responses to a body over the limit (default: 413), to a request that is not HTTP, is
  // truncated or arrives too slowly (default: 400), and to one without memory (default: 503). The
  // connection is then closed, unless the whole request was read.
  std::function<Response()> too_large = {};
  std::function<Response()> malformed = {};
  std::function<Response()> overloaded = {};
  // Called with the headers of a request, as soon as they have arrived, if more than 64 KB of the
  // body are still to come. A returned response rejects the request without its body and closes the
  // connection.
  std::function<std::optional<Response>(const Request& head)> screen = {};
  // Selects requests that take long or need much memory. Their handler runs on a side thread, not
  // on an event loop, once the additional memory that `demand` returns, on that thread, is
  // available.
  std::function<bool(const Request&)> aside = {};
  std::function<std::size_t(const Request&)> demand = {};
};

// The current load of a server. Each count is exact when no thread is changing it.
struct ServerStats {
  std::size_t connections = 0;
  std::size_t connections_max = 0;
  std::size_t requests_in_progress = 0;  // from a complete request to the last byte of its response
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
  // Stops accepting, closes idle connections, waits up to stop_timeout for requests in progress,
  // and closes the rest. Later responses are dropped. Must not be called on the server's threads.
  void stop();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace stator::http
