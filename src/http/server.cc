// SPDX-License-Identifier: Apache-2.0
// One thread per loop. The first loop's thread also accepts connections, and distributes them in
// turn.
#include "http/server.h"

#include <algorithm>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <exception>
#include <string>
#include <thread>
#include <tuple>

#include "base/processors.h"
#include "http/connection.h"

namespace stator::http {
namespace asio = boost::asio;
using asio::ip::tcp;

struct Server::Impl {
  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { stop(); }

  std::shared_ptr<Shared> shared;
  OperationMemory accept_memory;             // of accept() or of the pause; outlives the loops
  std::vector<std::shared_ptr<Loop>> loops;  // for small requests
  std::shared_ptr<Loop> bulk;
  std::optional<tcp::acceptor> acceptor;
  std::optional<asio::steady_timer> pause;  // until the next accept()
  std::optional<Throttle> throttle;         // of failures
  std::vector<std::thread> threads;
  uint16_t port = 0;
  // Of the next connection. If it is alone, it may wait for the disk, which the acceptor may not.
  std::size_t next_loop = 1;

  Result<void> listen();
  void accept();
  void accept_after(Throttle::Duration time);
  void on_acceptable();
  boost::system::error_code accept_one();
  void stop();
};

Result<void> Server::Impl::listen() {
  const ServerOptions& options = shared->options;
  boost::system::error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (error) {
    return fail(Code::kInvalidArgument, "'" + options.address + "' is not an IP address");
  }
  const tcp::endpoint endpoint(address, options.port);
  const std::string where = (address.is_v6() ? "[" + options.address + "]" : options.address) +
                            ":" + std::to_string(options.port);
  acceptor.emplace(loops.front()->context());
  // Otherwise accept() would wait for the next connection after one that was aborted.
  const tcp::acceptor::enable_connection_aborted returns_aborted(true);
  // Accepted sockets inherit no_delay, so a response never waits for the acknowledgment of another.
  const bool listening = !acceptor->open(endpoint.protocol(), error) &&
                         !acceptor->set_option(tcp::acceptor::reuse_address(true), error) &&
                         !acceptor->set_option(tcp::no_delay(true), error) &&
                         !acceptor->set_option(returns_aborted, error) &&
                         !acceptor->non_blocking(true, error) && !acceptor->bind(endpoint, error) &&
                         !acceptor->listen(tcp::acceptor::max_listen_connections, error);
  if (listening) port = acceptor->local_endpoint(error).port();
  if (!error) return {};
  if (error == asio::error::address_in_use) {
    return fail(Code::kIo, "cannot listen on " + where +
                               ": another program listens there; stop it or choose another port");
  }
  if (error == asio::error::access_denied) {
    return fail(Code::kIo,
                "cannot listen on " + where + ": not permitted; choose a port of 1024 or above");
  }
  return fail(Code::kIo, "cannot listen on " + where + ": " + error.message());
}

// Needs no memory. Asio's async_accept() would be lost if there were none for the socket.
void Server::Impl::accept() {
  acceptor->async_wait(
      tcp::acceptor::wait_read,
      asio::bind_allocator(accept_memory.allocator(),
                           [this](const boost::system::error_code&) { on_acceptable(); }));
}

void Server::Impl::on_acceptable() {
  if (!acceptor->is_open()) return;
  try {
    const boost::system::error_code error = accept_one();
    if (error && error != asio::error::connection_aborted && error != asio::error::would_block) {
      return accept_after(std::chrono::milliseconds(50));  // no free file descriptor
    }
  } catch (const std::exception&) {
    return accept_after(std::chrono::milliseconds(50));  // no memory
  }
  const auto wait =
      throttle->wait_after(shared->failures.exchange(0), std::chrono::steady_clock::now());
  wait > Throttle::Duration::zero() ? accept_after(wait) : accept();
}

boost::system::error_code Server::Impl::accept_one() {
  Loop& loop = *loops[next_loop % loops.size()];
  Socket socket(loop.context());
  boost::system::error_code error;
  if (acceptor->accept(socket, error)) return error;
  ++next_loop;
  // Over the limit, an idle connection or the new one is closed. Until then each has a file
  // descriptor, so only a few can be over the limit at a time.
  constexpr std::size_t kOverMax = 64;
  if (shared->connections.load() >= shared->options.connections_max + kOverMax) return error;
  loop.adopt(std::move(socket), count_connection(*shared));
  return error;
}

void Server::Impl::accept_after(Throttle::Duration time) {
  pause->expires_after(time);
  pause->async_wait(
      asio::bind_allocator(accept_memory.allocator(), [this](const boost::system::error_code&) {
        if (acceptor->is_open()) accept();
      }));
}

void Server::Impl::stop() {
  if (threads.empty()) return;
  shared->stopping = true;
  asio::post(loops.front()->context(), [this] {
    boost::system::error_code ignored;
    std::ignore = acceptor->close(ignored);
    pause->cancel();
  });
  for (const auto& loop : loops) loop->stop();
  bulk->stop();
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  bulk->join();
  shared->side.stop();
  for (const auto& loop : loops) loop->shut();
  bulk->shut();
}

Result<std::unique_ptr<Server>> Server::start(ServerOptions options, Handler handler) {
  try {
    auto impl = std::make_unique<Impl>();
    const int threads = std::min(options.threads > 0 ? options.threads : usable_processors(), 256);
    impl->shared = std::make_shared<Shared>(std::move(options), std::move(handler), threads);
    for (int i = 0; i < threads; ++i) {
      const auto kind = i == 0 ? Loop::Kind::kAccepting : Loop::Kind::kSmall;
      impl->loops.push_back(std::make_shared<Loop>(impl->shared, kind));
    }
    impl->bulk = std::make_shared<Loop>(impl->shared, Loop::Kind::kBulk);
    impl->shared->bulk = impl->bulk;
    impl->shared->loops.assign(impl->loops.begin(), impl->loops.end());
    impl->shared->loops.push_back(impl->bulk);
    impl->shared->memory.set_on_release([bulk = impl->shared->bulk] {
      const auto loop = bulk.lock();
      if (loop) loop->post_give_room();
    });
    STATOR_RETURN_IF_ERROR(impl->listen());
    impl->pause.emplace(impl->loops.front()->context());
    impl->throttle.emplace(impl->shared->options.failures_per_second,
                           impl->shared->options.failure_pause_max);
    impl->accept();
    for (const auto& loop : impl->loops) {
      impl->threads.emplace_back([loop] { loop->run(); });
    }
    return std::unique_ptr<Server>(new Server(std::move(impl)));
  } catch (const std::exception& error) {
    return fail(Code::kIo, std::string("the server could not start: ") + error.what());
  }
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  stop();
}

uint16_t Server::port() const {
  return impl_->port;
}

ServerStats Server::stats() const {
  const Shared& shared = *impl_->shared;
  ServerStats stats{.connections = shared.connections.load(std::memory_order_relaxed),
                    .connections_max = shared.options.connections_max,
                    .held_bytes = shared.memory.held(),
                    .held_bytes_max = shared.memory.limit(),
                    .side_queue_length = shared.side.queue_length()};
  stats.requests_in_progress = impl_->bulk->requests_in_progress();
  stats.bodies_waiting = impl_->bulk->bodies_waiting();
  for (const auto& loop : impl_->loops) stats.requests_in_progress += loop->requests_in_progress();
  return stats;
}

void Server::stop() {
  impl_->stop();
}

}  // namespace stator::http
