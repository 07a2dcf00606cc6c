// SPDX-License-Identifier: Apache-2.0
// Loop and Connection: one event loop with its thread's connections, and one of these.
//
// A connection belongs to one of the loops for small requests. While it receives a large request,
// sends a large response, or drops what a refused client still sends, it is on the bulk loop, whose
// thread runs in the background: small requests never wait for large ones.
// Thread safety: everything but Loop::context, Loop::post_answer, Loop::take and Connection::answer
// belongs to the loop's thread. A connection changes its loop only while no answer is owed. An
// answer given within the handler's call is written at once; any other goes through the loop's
// queue, which wakes the loop once for however many answers it holds. Lifetime: a connection keeps
// its loop, and whoever owes an answer keeps the connection, so late answers find both; after
// Loop::shut they are dropped.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "http/memory_budget.h"
#include "http/request_reader.h"
#include "http/server.h"
#include "http/side_threads.h"
#include "http/tls.h"

namespace stator::http {

class Connection;
class Loop;
using Socket = boost::asio::ip::tcp::socket;
using SteadyTime = std::chrono::steady_clock::time_point;

// What every loop of one server shares.
struct Shared {
  Shared(ServerOptions the_options, Handler the_handler, int side_threads)
      : options(std::move(the_options)),
        handler(std::move(the_handler)),
        memory(options.held_bytes_max),
        side(side_threads, memory, options.patience) {}

  ServerOptions options;
  Handler handler;
  MemoryBudget memory;  // of large requests and responses
  SideThreads side;
  std::weak_ptr<Loop> bulk = {};  // before the first connection
  std::atomic<std::size_t> connections = 0;
  std::atomic<bool> stopping = false;  // answers from now on say that the connection ends
};

class Loop : public std::enable_shared_from_this<Loop> {
 public:
  enum class Kind { kSmall, kBulk };
  using Step = void (Connection::*)();

  Loop(std::shared_ptr<Shared> shared, Kind kind);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  boost::asio::io_context& context() { return context_; }
  Shared& shared() { return *shared_; }
  bool is_bulk() const { return kind_ == Kind::kBulk; }

  // Runs until stop() and the last connection's end.
  void run();
  void adopt(Socket socket);
  // Whether a connection can move here: then take() must follow. The bulk loop's thread starts with
  // the first. From any thread.
  bool expect();
  // Goes on with `step` of a connection that has left its loop. From any thread.
  void take(std::shared_ptr<Connection> connection, Step step);
  void stop();  // from any thread
  // After stop(), and after every thread that could call expect(): waits for a bulk loop's thread.
  void join();
  // After run() has returned: later answers are dropped.
  void shut();

  bool stopping() const { return shared_->stopping.load(std::memory_order_relaxed); }
  // Requests of this loop's connections, from whole to answered. A request that moves is for a
  // moment counted twice, never not at all.
  std::size_t requests_in_progress() const { return in_progress_.load(std::memory_order_relaxed); }
  void count_request(int change) {
    in_progress_.fetch_add(static_cast<std::size_t>(change), std::memory_order_relaxed);
  }
  SteadyTime now() const { return now_; }  // as of the last tick: good enough for timeouts
  void post_answer(std::shared_ptr<Connection> connection, Response response);
  void forget(const Connection& connection);   // it is closed
  void release(const Connection& connection);  // it moves
  // Bodies get room in the order in which they ask for it. False if too many wait.
  bool queue_for_room(std::shared_ptr<Connection> connection);
  bool has_bodies_waiting() const { return !bodies_waiting_.empty(); }
  std::size_t bodies_waiting() const {  // any thread
    return bodies_waiting_count_.load(std::memory_order_relaxed);
  }
  void give_room();
  void post_give_room();  // from any thread

 private:
  // What other threads have for this one.
  struct Inbox {
    std::vector<std::pair<std::shared_ptr<Connection>, Response>> answers = {};
    std::vector<std::pair<std::shared_ptr<Connection>, Step>> arrivals = {};
  };

  void ring();  // from any thread: looks into the inbox
  void listen_to_bell();
  void open_inbox();
  void start_ticking();
  void tick();
  void finish_if_empty();
  bool close_longest_idle();

  void insert(std::shared_ptr<Connection> connection);

  const Kind kind_;
  std::shared_ptr<Shared> shared_;
  boost::asio::io_context context_;
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_;
  boost::asio::steady_timer ticker_;
  boost::asio::posix::stream_descriptor bell_;  // an event descriptor
  uint64_t rings_ = 0;
  std::chrono::milliseconds tick_interval_;
  SteadyTime now_;
  bool ticking_ = false;
  std::atomic<std::size_t> in_progress_ = 0;
  bool stopping_ = false;
  SteadyTime stop_deadline_;
  std::vector<std::shared_ptr<Connection>> connections_;
  std::deque<std::shared_ptr<Connection>> bodies_waiting_;
  std::atomic<std::size_t> bodies_waiting_count_ = 0;
  Inbox opened_;
  std::atomic<bool> room_released_ = false;

  std::mutex mutex_;
  std::thread thread_;        // of a bulk loop
  std::size_t expected_ = 0;  // connections on their way here
  bool ended_ = false;        // nothing is expected any more
  bool shut_ = false;
  Inbox inbox_;
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
  // In the queue for room.
  bool awaits_room() const { return state_ == State::kReceiving && awaiting_ == Awaiting::kRoom; }
  // Takes the room for the whole request, if it is there.
  bool take_room();
  void receive_with_room();
  // On the loop that it has moved to.
  void arrive(Loop::Step step);
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
  enum class Awaiting { kNothing, kHandshake, kRequest, kRest, kRoom };

  void serve();
  void set_in_progress(bool in_progress);
  bool hold(std::size_t bytes, std::size_t limit);
  void receive();
  void await_request();
  std::optional<Response> refusal_of_head();
  bool move_to(const std::shared_ptr<Loop>& loop, Loop::Step step);
  bool move_to_bulk(Loop::Step step);
  bool move_home(Loop::Step step);
  void wait_for_room();
  bool is_too_slow(SteadyTime now) const;
  void start_dropping();
  void on_dropping(const boost::system::error_code& error);
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
  void resume_sending();
  bool finish_answer();
  void start_lingering();
  bool send_continue();

  std::shared_ptr<Loop> loop_;  // first, so that it goes last
  std::shared_ptr<Loop> home_;  // the loop for its small requests
  Socket socket_;
  std::unique_ptr<TlsSession> tls_;  // null: plain
  int moving_ = -1;                  // the socket between two loops
  boost::asio::ip::tcp protocol_ = boost::asio::ip::tcp::v4();
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
  bool has_room_ = false;       // for the whole request that is being received
  SteadyTime room_since_;       // if it has room
  std::size_t held_bytes_ = 0;  // this connection's part of what all hold
  std::string head_;
  std::string body_;
  std::size_t sent_ = 0;     // of head and body
  std::size_t dropped_ = 0;  // bytes after a refusal
};

}  // namespace stator::http
