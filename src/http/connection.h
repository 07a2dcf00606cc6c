// SPDX-License-Identifier: Apache-2.0
// Loop and Connection: one event loop with its thread's connections, and one of these.
//
// Thread safety: everything but Loop::context, Loop::post_answer and Connection::answer belongs to
// the loop's thread. An answer given within the handler's call is written at once; any other goes
// through the loop's queue, which wakes the loop once for however many answers it holds.
// Lifetime: a connection keeps its loop, and whoever owes an answer keeps the connection, so late
// answers find both; after Loop::shut they are dropped.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/memory_budget.h"
#include "http/request_reader.h"
#include "http/server.h"
#include "http/side_threads.h"
#include "http/tls.h"

namespace stator::http {

class Connection;
using Socket = boost::asio::ip::tcp::socket;
using SteadyTime = std::chrono::steady_clock::time_point;

// What every loop of one server shares.
struct Shared {
  Shared(ServerOptions the_options, Handler the_handler, int side_threads)
      : options(std::move(the_options)),
        handler(std::move(the_handler)),
        memory(options.held_bytes_max),
        side(side_threads, memory) {}

  ServerOptions options;
  Handler handler;
  MemoryBudget memory;  // of large requests and responses
  SideThreads side;
  std::atomic<std::size_t> connections = 0;
  std::atomic<bool> stopping = false;  // answers from now on say that the connection ends
};

class Loop : public std::enable_shared_from_this<Loop> {
 public:
  explicit Loop(std::shared_ptr<Shared> shared);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  boost::asio::io_context& context() { return context_; }
  Shared& shared() { return *shared_; }

  // Runs until stop() and the last connection's end.
  void run();
  void adopt(Socket socket);
  void stop();  // from any thread
  // After run() has returned: later answers are dropped.
  void shut();

  bool stopping() const { return shared_->stopping.load(std::memory_order_relaxed); }
  // Requests of this loop's connections, from whole to answered. The loop's thread writes it.
  std::size_t requests_in_progress() const { return in_progress_.load(std::memory_order_relaxed); }
  void count_request(int change) {
    in_progress_.store(
        in_progress_.load(std::memory_order_relaxed) + static_cast<std::size_t>(change),
        std::memory_order_relaxed);
  }
  SteadyTime now() const { return now_; }  // as of the last tick: good enough for timeouts
  void post_answer(std::shared_ptr<Connection> connection, Response response);
  void forget(const Connection& connection);
  // Memory to receive into what nobody reads.
  std::span<char> scratch() { return scratch_; }

 private:
  using Answers = std::vector<std::pair<std::shared_ptr<Connection>, Response>>;

  void deliver_answers();
  void start_ticking();
  void tick();
  void finish_if_empty();
  bool close_longest_idle();

  std::shared_ptr<Shared> shared_;
  boost::asio::io_context context_;
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_;
  boost::asio::steady_timer ticker_;
  std::chrono::milliseconds tick_interval_;
  SteadyTime now_;
  bool ticking_ = false;
  std::atomic<std::size_t> in_progress_ = 0;
  bool stopping_ = false;
  SteadyTime stop_deadline_;
  std::vector<std::shared_ptr<Connection>> connections_;
  Answers delivering_;
  std::array<char, 64UL << 10> scratch_ = {};

  std::mutex mutex_;
  bool shut_ = false;
  Answers answers_;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Loop> loop, Socket socket);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  void start();
  void answer(Response response);   // from any thread
  void deliver(Response response);  // on the loop
  void stop_if_idle();
  void close_if_late(SteadyTime now);
  void close();
  // No request is under way, nor any byte of one. Of two, the one with the lower deadline has been
  // idle for longer.
  bool is_idle() const {
    return state_ == State::kReceiving &&
           (awaiting_ == Awaiting::kRequest || awaiting_ == Awaiting::kHandshake);
  }
  SteadyTime deadline() const { return deadline_; }

  std::size_t slot = 0;  // in the loop's list

 private:
  enum class State { kReceiving, kHandling, kSending, kLingering, kClosed };
  // What a connection that receives has been waiting for since its deadline was set.
  enum class Awaiting { kNothing, kHandshake, kRequest, kRest };

  void serve();
  void set_in_progress(bool in_progress);
  bool hold(std::size_t bytes, std::size_t limit);
  void receive();
  void await_request();
  std::optional<Response> refusal_of_head();
  void start_read();
  void read_tls(std::span<char> space);
  std::size_t write_some(std::string_view bytes, std::string_view then,
                         boost::system::error_code& error);
  void on_received(const boost::system::error_code& error, std::size_t count);
  void refuse(Response response);
  void refuse(const std::function<Response()>& answer, int status);
  Response overloaded() const;
  bool handle();
  std::optional<Response> run_handler();
  bool send(Response response, bool keep);
  bool continue_sending();
  void finish_answer();
  bool send_continue();

  std::shared_ptr<Loop> loop_;  // first, so that it goes last
  Socket socket_;
  std::unique_ptr<TlsSession> tls_;                   // null: plain
  Socket::wait_type send_wait_ = Socket::wait_write;  // what sending waits for
  RequestReader reader_;
  std::string peer_;
  State state_ = State::kReceiving;
  SteadyTime deadline_ = SteadyTime::max();
  Awaiting awaiting_ = Awaiting::kNothing;
  bool in_progress_ = false;    // a request, from whole to answered
  bool reading_ = false;        // a receive is under way
  bool peer_ended_ = false;     // nothing more will be received
  bool refused_ = false;        // what the peer still sends is not read as requests
  bool keep_ = true;            // after the answer under way
  std::size_t held_bytes_ = 0;  // this connection's part of what all hold
  std::string head_;
  std::string body_;
  std::size_t sent_ = 0;  // of head and body
};

}  // namespace stator::http
