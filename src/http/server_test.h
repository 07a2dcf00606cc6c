// SPDX-License-Identifier: Apache-2.0
// Shared parts of the HTTP server's suites: servers and clients, with and without TLS.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "http/server.h"
#include "http/tls.h"
#include "support/raw_connection.h"
#include "support/temp_dir.h"
#include "support/tls_connection.h"

namespace stator::http {

using test::Certificate;
using test::RawAnswer;
using test::RawConnection;
using test::TlsConnection;

// Responds with the request: "METHOD TARGET BODY".
inline void echo(const Request& request, Respond respond) {
  respond({.status = 200,
           .headers = {{"X-Echo", "yes"}},
           .body = std::string(request.method) + " " + std::string(request.target) + " " +
                   std::string(request.body)});
}

// Keeps the Responds of requests until the test releases them.
class Held {
 public:
  Handler handler() {
    return [this](const Request& request, Respond respond) {
      const std::lock_guard lock(mutex_);
      held_.emplace_back(std::string(request.body), std::move(respond));
      changed_.notify_all();
    };
  }
  std::pair<std::string, Respond> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !held_.empty(); });
    auto taken = std::move(held_.front());
    held_.pop_front();
    return taken;
  }
  bool empty() {
    const std::lock_guard lock(mutex_);
    return held_.empty();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::string, Respond>> held_;
};

// Whether the suite currently runs over TLS.
inline bool over_tls = false;

// TLS 1.2, in which a server sends nothing unrequested.
inline constexpr test::TlsClient kClient{.version_max = TLS1_2_VERSION};

class Peer {
 public:
  explicit Peer(uint16_t port)
      : connection_(over_tls ? std::make_unique<TlsConnection>(port, kClient)
                             : std::make_unique<RawConnection>(port)) {}
  bool connected() const { return connection_->connected(); }
  int descriptor() const { return connection_->descriptor(); }
  bool send(std::string_view bytes) { return connection_->send(bytes); }
  void end_sending() { connection_->end_sending(); }
  RawAnswer read_answer(bool head_only = false) { return connection_->read_answer(head_only); }
  bool ended_by_peer() { return connection_->ended_by_peer(); }

 private:
  std::unique_ptr<RawConnection> connection_;
};

inline std::shared_ptr<Tls> make_tls() {
  const test::TempDir directory;
  const TlsFiles files{.certificate = directory.path() / "cert.pem",
                       .key = directory.path() / "key.pem"};
  Certificate("server").write(files.certificate, files.key);
  auto tls = Tls::load(files);
  EXPECT_TRUE(tls) << (tls ? "" : tls.error().message);
  return tls ? std::move(*tls) : nullptr;
}

// Of servers whose timeout a test waits for. Long enough for a handshake on a busy machine.
inline constexpr std::chrono::milliseconds kTimeout{1000};

class HttpServer : public ::testing::TestWithParam<const char*> {
 protected:
  HttpServer() { over_tls = GetParam() == std::string_view("Tls"); }
};

inline std::unique_ptr<Server> start(Handler handler, ServerOptions options = {}) {
  if (over_tls) options.tls = make_tls();
  auto server = Server::start(std::move(options), std::move(handler));
  EXPECT_TRUE(server) << (server ? "" : server.error().message);
  return server ? std::move(*server) : nullptr;
}

inline std::string post(std::string_view body, std::string_view more_headers = "") {
  return "POST /p HTTP/1.1\r\nHost: a\r\n" + std::string(more_headers) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

}  // namespace stator::http
