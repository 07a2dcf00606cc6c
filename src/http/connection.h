// SPDX-License-Identifier: Apache-2.0
// Loop: an event loop with the connections of its thread. Connection: one of them.
//
// A connection belongs to one of the loops for small requests. While it receives a large request,
// sends a large response, or discards bytes after a rejected request, it is on the bulk loop, whose
// thread runs in the background. So small requests never wait for large ones.
// A newcomer is a connection without an accepted request so far. On the loops for small requests,
// newcomers take turns between the events of others, so that others are not delayed by a flood of
// connections that are rejected.
// Thread safety: everything except Loop::context, Loop::post_response, Loop::take and
// Connection::respond must be used on the loop's thread. A connection moves to another loop only
// while no response is outstanding. A response from within the handler's call is written at once.
// Any other goes through the loop's queue, which wakes the loop once for all queued responses.
// Lifetime: a connection keeps its loop alive, and an outstanding Respond keeps the connection
// alive; after Loop::shut, late responses are dropped.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
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
#include "http/operation_memory.h"
#include "http/request_reader.h"
#include "http/server.h"
#include "http/side_threads.h"
#include "http/throttle.h"
#include "http/tls.h"

namespace stator::http {

class Connection;
class Loop;
using Socket = boost::asio::ip::tcp::socket;
using SteadyTime = std::chrono::steady_clock::time_point;

// The state that all loops of a server share.
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
  // Set before the first connection.
  std::weak_ptr<Loop> bulk = {};
  std::vector<std::weak_ptr<Loop>> loops = {};  // the bulk loop is the last
  std::atomic<std::size_t> connections = 0;
  std::atomic<std::size_t> failures = 0;  // connections that ended before they were known
  std::atomic<bool> stopping = false;     // if set, responses announce the end of the connection
};

struct CountOneLess {
  void operator()(Shared* shared) const { --shared->connections; }
};
// One of Shared::connections.
using Counted = std::unique_ptr<Shared, CountOneLess>;
inline Counted count_connection(Shared& shared) {
  ++shared.connections;
  return Counted(&shared);
}

class Loop : public std::enable_shared_from_this<Loop> {
 public:
  enum class Kind { kAccepting, kSmall, kBulk };  // kAccepting: small, and the acceptor's
  using Step = void (Connection::*)();

  Loop(std::shared_ptr<Shared> shared, Kind kind);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  boost::asio::io_context& context() { return context_; }
  Shared& shared() { return *shared_; }
  bool is_bulk() const { return kind_ == Kind::kBulk; }
  // Whether its thread serves one connection and does nothing else.
  bool serves_one() const { return kind_ == Kind::kSmall && connections_.size() == 1; }

  // Runs until stop() was called and the last connection has closed.
  void run();
  // Starts a new connection. At the limit, closes an idle one of any loop first; if there is none,
  // closes the new one.
  void adopt(Socket socket, Counted counted);
  // Calls `step` of a newcomer in its turn; if it throws, closes the newcomer. On the loop's
  // thread.
  void defer(const std::shared_ptr<Connection>& newcomer, std::move_only_function<void()> step);
  // Calls `step`, later if the loop has dropped more bytes than its pace admits. On the loop's
  // thread.
  void after_drop(std::size_t bytes, std::move_only_function<void()> step);
  // Whether a connection can move here; if true, take() must follow. The first call starts the bulk
  // loop's thread. Any thread.
  bool expect();
  // Continues with `step` of a connection that has left its loop. Any thread.
  void take(std::shared_ptr<Connection> connection, Step step);
  void stop();  // from any thread
  // Waits for a bulk loop's thread. Call after stop() and after the end of every thread that could
  // call expect().
  void join();
  // Call after run() has returned. Later responses are dropped.
  void shut();

  bool stopping() const { return shared_->stopping.load(std::memory_order_relaxed); }
  // Requests in progress on this loop's connections. A request that moves between loops is briefly
  // counted twice, never zero times.
  std::size_t requests_in_progress() const { return in_progress_.load(std::memory_order_relaxed); }
  void count_request(int change) {
    in_progress_.fetch_add(static_cast<std::size_t>(change), std::memory_order_relaxed);
  }
  SteadyTime now() const { return now_; }  // as of the last tick, for timeouts
  void post_response(const std::shared_ptr<Connection>& connection, Response response);
  void insert(const std::shared_ptr<Connection>& connection);  // if this throws, it is not inserted
  void forget(Connection& connection);                         // it is closed
  void release(Connection& connection);                        // it moves
  // Queues a body for memory, first come, first served. False if too many wait.
  bool queue_for_room(std::shared_ptr<Connection> connection);
  bool has_bodies_waiting() const { return !bodies_waiting_.empty(); }
  std::size_t bodies_waiting() const {  // any thread
    return bodies_waiting_count_.load(std::memory_order_relaxed);
  }
  void give_room();
  void post_give_room();  // from any thread

 private:
  enum class Spared { kNone, kRecent };  // see Connection::is_recent()
  // Work from other threads.
  struct Inbox {
    std::vector<std::pair<std::shared_ptr<Connection>, Response>> responses = {};
    std::shared_ptr<Connection> arrivals = {};  // the last one; see Connection::previous_arrival
  };

  void ring();  // wakes the loop to process the inbox; any thread
  void listen_to_bell();
  void open_inbox();
  void start_ticking();
  void tick();
  void finish_if_empty();
  bool is_full() const;
  bool close_longest_idle(Spared spared);
  void start_pending();
  void start_first_pending();
  void post_turn_of_newcomers();
  void serve_newcomers();
  void ask_to_close_idle(std::size_t first);
  void on_close_reply(bool closed, std::size_t asked);
  bool has_thread();

  const Kind kind_;
  std::shared_ptr<Shared> shared_;
  OperationMemory tick_memory_;  // this and the next two outlive the context
  OperationMemory bell_memory_;
  OperationMemory turn_memory_;
  boost::asio::io_context context_;
  std::optional<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_;
  boost::asio::steady_timer ticker_;
  boost::asio::steady_timer drop_timer_;
  boost::asio::posix::stream_descriptor bell_;  // an event descriptor
  uint64_t rings_ = 0;
  std::chrono::milliseconds tick_interval_;
  SteadyTime now_;
  bool ticking_ = false;
  std::atomic<std::size_t> in_progress_ = 0;
  bool stopping_ = false;
  SteadyTime stop_deadline_;
  Throttle drops_;  // of bytes
  std::vector<std::move_only_function<void()>> drops_waiting_;
  bool drop_timer_waits_ = false;
  std::vector<std::shared_ptr<Connection>> connections_;
  std::deque<std::pair<Socket, Counted>> pending_;  // wait for another loop to close a connection
  std::deque<std::pair<std::shared_ptr<Connection>, std::move_only_function<void()>>> newcomers_;
  bool newcomers_have_turn_ = false;  // serve_newcomers() is queued or runs
  std::deque<std::shared_ptr<Connection>> bodies_waiting_;
  std::atomic<std::size_t> bodies_waiting_count_ = 0;
  Inbox opened_;
  std::atomic<bool> room_released_ = false;

  std::mutex mutex_;
  std::thread thread_;        // of a bulk loop
  std::size_t expected_ = 0;  // connections on their way here
  bool ended_ = false;        // no more connections will arrive
  bool shut_ = false;
  Inbox inbox_;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Loop> loop, Socket socket, Counted counted);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  void start();
  void respond(Response response);  // from any thread
  // The next tick closes the connection, because there was no memory for its response. Any thread.
  void lose_response() { response_lost_ = true; }
  void deliver(Response response);  // on the loop
  void stop_if_idle();
  void close_if_late(SteadyTime now);
  void close();
  // Whether it is in the queue for memory.
  bool awaits_room() const { return state_ == State::kReceiving && awaiting_ == Awaiting::kRoom; }
  // Reserves the memory for the whole request, if available.
  bool take_room();
  void receive_with_room();
  // Called on the loop that it has moved to.
  void arrive();
  // Whether it can be closed for a new connection: it is idle, or its request has been incomplete
  // for longer than `patience`. Of two, the one with the earlier last request is closed first.
  bool can_be_closed(SteadyTime now) const;
  // When its last complete request arrived, or else when it was accepted.
  SteadyTime last_request() const { return last_request_; }
  // Whether it was accepted or used so recently that others are closed first.
  bool is_recent(SteadyTime now) const;
  bool is_known() const { return known_; }  // a request was accepted

  // While it is in an inbox, so that a move needs no memory.
  std::shared_ptr<Connection> previous_arrival = {};
  Loop::Step arrival_step = nullptr;
  static constexpr std::size_t kNoSlot = std::numeric_limits<std::size_t>::max();
  std::size_t slot = kNoSlot;  // in the loop's list

 private:
  enum class State { kReceiving, kHandling, kSending, kLingering, kClosed };
  // What a receiving connection has been waiting for since its deadline was set.
  enum class Awaiting { kNothing, kHandshake, kRequest, kRest, kRoom };

  void serve();
  void set_in_progress(bool in_progress);
  bool drop_if_abandoned(SteadyTime now);
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
  bool is_newcomer() const;
  template <typename Step>
  void in_turn(Step step);
  template <typename Step>
  void later(Step step);
  void on_received(const boost::system::error_code& error, std::size_t count);
  void refuse(Response response);
  void refuse(const std::function<Response()>& make, int status);
  Response overloaded() const;
  bool handle();
  std::optional<Response> run_handler();
  bool send(Response response, bool keep);
  bool continue_sending();
  void resume_sending();
  bool finish_response();
  void start_lingering();
  bool send_continue();

  std::shared_ptr<Loop> loop_;  // first member, so that it is destroyed last
  std::shared_ptr<Loop> home_;  // the loop for its small requests
  Counted counted_;
  Socket socket_;
  std::unique_ptr<TlsSession> tls_;  // null: plain
  int moving_ = -1;                  // the socket between two loops; close() closes it
  boost::asio::ip::tcp protocol_ = boost::asio::ip::tcp::v4();
  Socket::wait_type send_wait_ = Socket::wait_write;  // what sending waits for
  RequestReader reader_;
  std::string peer_;
  State state_ = State::kReceiving;
  SteadyTime deadline_ = SteadyTime::max();
  SteadyTime last_request_ = std::chrono::steady_clock::now();
  Awaiting awaiting_ = Awaiting::kNothing;
  bool known_ = false;
  bool in_progress_ = false;  // a complete request has no response yet
  // A request is in the queue of the side threads. The thread that resets this handles or drops it.
  std::atomic<bool> waits_aside_ = false;
  std::atomic<bool> response_lost_ = false;
  bool reading_ = false;        // a receive is in progress
  bool peer_ended_ = false;     // the peer will send nothing more
  bool refused_ = false;        // further bytes from the peer are not parsed as requests
  bool keep_ = true;            // whether to keep the connection after the current response
  bool has_room_ = false;       // memory is reserved for the whole request being received
  SteadyTime room_since_;       // if has_room_
  std::size_t held_bytes_ = 0;  // this connection's part of the memory budget
  std::string head_;
  std::string body_;
  std::size_t sent_ = 0;     // of head and body
  std::size_t dropped_ = 0;  // bytes discarded after a rejected request
};

}  // namespace stator::http
