// SPDX-License-Identifier: Apache-2.0
// A connection alternates between receiving, handling and sending. serve() drives it as far as
// possible without waiting: pipelined requests are handled one after the other, and a response is
// written with one system call unless the peer's window is full.
#include "http/connection.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <tuple>

#include "base/wait_permit.h"
#include "http/message.h"

namespace stator::http {
namespace asio = boost::asio;
namespace {

using ErrorCode = boost::system::error_code;

constexpr int kRequestsPerTurn = 32;  // of one connection, before others are served
constexpr std::chrono::milliseconds kLingerMax{2'000};
constexpr std::size_t kSmallBytes = 64 << 10;           // of a body; more is for the bulk loop
constexpr std::size_t kSmallResponseBytes = 128 << 10;  // more than a page of 100 items of 1 KB
constexpr std::size_t kHeldUncounted = 8 << 10;         // bounded by the number of connections
// Bytes of a receive, which is one turn, and of a call that sends from the bulk loop. A thread in a
// long system call yields the processor late to a thread with priority.
constexpr std::size_t kCallBytesMax = 64 << 10;
constexpr std::size_t kSendBytesPerTurn = 1 << 20;
constexpr std::size_t kTlsRecordBytes = 16 << 10;
constexpr std::size_t kBytesPerTimeout = 4UL << 20;  // of a response; slower readers time out

// The handler's call that this thread is in. A response given within it need not go through the
// loop's queue.
struct HandlerCall {
  const Connection* connection = nullptr;
  std::optional<Response> response = {};
};
thread_local HandlerCall* current_call = nullptr;

// Sends the response to one request: the handler's, or 500 if it is destroyed without a call.
class Responder {
 public:
  explicit Responder(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  Responder(Responder&&) noexcept = default;
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  Responder& operator=(Responder&&) = delete;
  ~Responder() {
    if (connection_) (*this)({.status = 500});
  }

  void operator()(Response response) {
    if (const auto connection = std::move(connection_)) connection->respond(std::move(response));
  }

 private:
  std::shared_ptr<Connection> connection_;
};

}  // namespace

Connection::Connection(std::shared_ptr<Loop> loop, Socket socket, Counted counted)
    : loop_(std::move(loop)),
      home_(loop_),
      counted_(std::move(counted)),
      socket_(std::move(socket)),
      reader_(loop_->shared().options.header_bytes_max, loop_->shared().options.body_bytes_max) {}

Connection::~Connection() {
  hold(0, 0);
}

void Connection::start() {
  if (state_ == State::kClosed) return;
  ErrorCode error;
  if (socket_.non_blocking(true, error)) return close();
  const auto peer = socket_.remote_endpoint(error);
  if (error) return close();  // the peer has gone, and policies need its address
  try {
    const std::string address = peer.address().to_string();
    peer_ = (peer.address().is_v6() ? "[" + address + "]" : address) + ":" +
            std::to_string(peer.port());
    if (const Tls* tls = loop_->shared().options.tls.get()) {
      tls_ = tls->accept(socket_.native_handle());
    }
  } catch (const std::exception&) {
    return close();
  }
  serve();
}

void Connection::close() {
  if (state_ == State::kClosed) return;
  if (tls_ && state_ == State::kReceiving) tls_->end();
  if (state_ != State::kHandling) hold(0, 0);  // a side thread can still use the request
  state_ = State::kClosed;
  set_in_progress(false);
  ErrorCode ignored;
  std::ignore = socket_.close(ignored);
  if (moving_ >= 0) ::close(std::exchange(moving_, -1));
  counted_.reset();
  loop_->forget(*this);
}

void Connection::set_in_progress(bool in_progress) {
  if (in_progress == in_progress_) return;
  in_progress_ = in_progress;
  loop_->count_request(in_progress ? 1 : -1);
}

void Connection::stop_if_idle() {
  if (state_ == State::kReceiving && reader_.empty()) close();
}

bool Connection::is_recent(SteadyTime now) const {
  constexpr std::chrono::milliseconds kNew{100};
  if (state_ == State::kLingering) return false;
  return now - last_request_ < (known_ ? loop_->shared().options.patience : kNew);
}

bool Connection::can_be_closed(SteadyTime now) const {
  if (state_ == State::kLingering) return true;
  if (state_ != State::kReceiving) return false;
  const ServerOptions& options = loop_->shared().options;
  switch (awaiting_) {
    case Awaiting::kHandshake:
    case Awaiting::kRequest:
      return true;
    case Awaiting::kRest:
      if (has_room_) return is_too_slow(now);
      return now - (deadline_ - options.request_timeout) >= options.patience;
    case Awaiting::kNothing:
    case Awaiting::kRoom:
      break;
  }
  return false;
}

// Drops a request that waits for a side thread, if its client has gone. Otherwise clients that time
// out and try again would be served after all that they gave up. A client that only ended its side
// gets its response if the wait is short.
bool Connection::drop_if_abandoned(SteadyTime now) {
  if (!waits_aside_ || now - last_request_ < loop_->shared().options.patience / 2) return false;
  pollfd socket{.fd = socket_.native_handle(), .events = POLLRDHUP, .revents = 0};
  if (::poll(&socket, 1, 0) <= 0 || !waits_aside_.exchange(false)) return false;
  close();
  return true;
}

void Connection::close_if_late(SteadyTime now) {
  if (drop_if_abandoned(now)) return;
  if (response_lost_) return close();
  const bool late = now >= deadline_;
  if (!late && !(loop_->has_bodies_waiting() && is_too_slow(now))) return;
  if (state_ != State::kReceiving || reader_.empty()) return close();
  try {
    if (!late || awaits_room()) return refuse(overloaded());
    refuse(loop_->shared().options.malformed, 408);
  } catch (const std::exception&) {
    close();
  }
}

// Sets how many bytes this connection holds. Returns false, and changes nothing, if all connections
// together would then hold more than `limit`.
bool Connection::hold(std::size_t bytes, std::size_t limit) {
  if (bytes <= kHeldUncounted) bytes = 0;
  if (bytes == held_bytes_) return true;
  MemoryBudget& memory = loop_->shared().memory;
  if (bytes > held_bytes_) {
    if (!memory.add(bytes - held_bytes_, limit)) return false;
  } else {
    memory.release(held_bytes_ - bytes);
  }
  held_bytes_ = bytes;
  return true;
}

Response Connection::overloaded() const {
  const auto& overloaded = loop_->shared().options.overloaded;
  Response response{.status = 503};
  try {
    if (overloaded) response = overloaded();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // Out of memory: the status says enough.
  }
  response.accepted = false;
  return response;
}

void Connection::serve() {
  try {
    for (int turns = 0; turns < kRequestsPerTurn; ++turns) {
      if (state_ != State::kReceiving) return;
      switch (reader_.parse()) {
        case RequestReader::Outcome::kNeedMore:
          return receive();
        case RequestReader::Outcome::kMalformed:
          return refuse(loop_->shared().options.malformed, 400);
        case RequestReader::Outcome::kTooLarge:
          return refuse(loop_->shared().options.too_large, 413);
        case RequestReader::Outcome::kRequest:
          if (!handle()) return;
          // The handler can have waited for the disk: connections that arrived meanwhile are next.
          if (loop_->serves_one() && !reader_.empty()) turns = kRequestsPerTurn;
      }
    }
    later([self = shared_from_this()] { self->serve(); });
  } catch (const std::exception&) {  // out of memory: closes only this connection
    close();
  }
}

void Connection::receive() {
  const ServerOptions& options = loop_->shared().options;
  if (peer_ended_) {
    // The peer has ended in the middle of a request; it can still read the response.
    return reader_.empty() ? close() : refuse(options.malformed, 400);
  }
  if (reader_.empty()) {
    if (loop_->stopping()) return close();
    if (tls_ && !tls_->is_established()) {
      deadline_ = loop_->now() + options.request_timeout;
      awaiting_ = Awaiting::kHandshake;
    } else {
      await_request();
    }
  } else {
    if (awaiting_ != Awaiting::kRest) deadline_ = loop_->now() + options.request_timeout;
    awaiting_ = Awaiting::kRest;
    if (auto refusal = refusal_of_head()) return refuse(std::move(*refusal));
    const bool large = reader_.missing_bytes() > kSmallBytes;
    if ((large || reader_.held_bytes() > kSmallBytes) && move_to_bulk(&Connection::receive)) return;
    if (large && !has_room_) return wait_for_room();
    if (reader_.take_continue_wish() && !send_continue()) return close();
  }
  start_read();
}

// Sets the deadline once, so that empty lines between requests do not extend it.
void Connection::await_request() {
  if (awaiting_ == Awaiting::kRequest) return;
  awaiting_ = Awaiting::kRequest;
  deadline_ = loop_->now() + loop_->shared().options.idle_timeout;
}

// Screens the headers of a request whose large or chunked body has not arrived. Absent: not
// rejected.
std::optional<Response> Connection::refusal_of_head() {
  reader_.note(peer_, std::chrono::steady_clock::now());
  const Request* head = reader_.take_unfinished_head();
  if (head == nullptr) return std::nullopt;
  const auto& screen = loop_->shared().options.screen;
  return screen ? screen(*head) : std::nullopt;
}

bool Connection::is_newcomer() const {
  return !known_ && !loop_->is_bulk();
}

// Calls `step` at once, or in its turn if this is a newcomer.
template <typename Step>
void Connection::in_turn(Step step) {
  try {
    is_newcomer() ? loop_->defer(shared_from_this(), std::move(step)) : step();
  } catch (const std::exception&) {  // out of memory: closes only this connection
    close();
  }
}

// Never within this call.
template <typename Step>
void Connection::later(Step step) {
  is_newcomer() ? loop_->defer(shared_from_this(), std::move(step))
                : asio::post(loop_->context(), std::move(step));
}

void Connection::start_read() {
  const auto space = reader_.prepare();
  const std::size_t bytes = reader_.held_bytes();
  if (!has_room_ && !hold(bytes, loop_->shared().memory.receive_limit(bytes))) {
    return refuse(overloaded());
  }
  reading_ = true;
  if (tls_) return read_tls(space);
  socket_.async_read_some(
      asio::buffer(space.data(), std::min(space.size(), kCallBytesMax)),
      [self = shared_from_this()](const ErrorCode& error, std::size_t count) {
        self->in_turn([self, error, count] { self->on_received(error, count); });
      });
}

// Like a plain receive, calls on_received() later, never within this call.
void Connection::read_tls(std::span<char> space) {
  using Outcome = TlsSession::Outcome;
  const auto step = tls_->read(space.first(std::min(space.size(), kCallBytesMax)));
  if (step.outcome == Outcome::kNotTls) {
    reading_ = false;
    tls_.reset();
    return refuse({.status = 400,
                   .headers = {{"Content-Type", "text/plain"}},
                   .body = "this port speaks HTTPS; use an https:// address\n"});
  }
  if (step.outcome == Outcome::kWantRead || step.outcome == Outcome::kWantWrite) {
    if (awaiting_ == Awaiting::kHandshake && tls_->is_established()) await_request();
    const bool writes = step.outcome == Outcome::kWantWrite;
    return socket_.async_wait(writes ? Socket::wait_write : Socket::wait_read,
                              [self = shared_from_this(), space](const ErrorCode& error) {
                                self->in_turn([self, space, error] {
                                  const bool reads = !error && self->state_ == State::kReceiving;
                                  reads ? self->read_tls(space) : self->on_received(error, 0);
                                });
                              });
  }
  ErrorCode error;
  if (step.outcome == Outcome::kEnded) error = asio::error::eof;
  if (step.outcome == Outcome::kFailed) error = asio::error::connection_reset;
  later(
      [self = shared_from_this(), error, bytes = step.bytes] { self->on_received(error, bytes); });
}

// Like Socket::write_some(), for `bytes` followed by `then`.
std::size_t Connection::write_some(std::string_view bytes, std::string_view then,
                                   ErrorCode& error) {
  if (!tls_) {
    return socket_.write_some(std::array{asio::buffer(bytes.data(), bytes.size()),
                                         asio::buffer(then.data(), then.size())},
                              error);
  }
  using Outcome = TlsSession::Outcome;
  const auto step = tls_->write(bytes.empty() ? then : bytes);
  if (step.outcome == Outcome::kDone) return step.bytes;
  const bool waits = step.outcome == Outcome::kWantRead || step.outcome == Outcome::kWantWrite;
  error = waits ? asio::error::would_block : asio::error::connection_reset;
  send_wait_ = step.outcome == Outcome::kWantRead ? Socket::wait_read : Socket::wait_write;
  return 0;
}

void Connection::on_received(const ErrorCode& error, std::size_t count) {
  reading_ = false;
  if (state_ == State::kClosed) return;
  if (refused_) {  // drops received bytes
    reader_.clear();
    hold(0, 0);
  }
  if (state_ == State::kLingering) return start_lingering();
  if (state_ != State::kReceiving) return;  // rejected as too late; its response is being sent
  if (error == asio::error::eof) {
    peer_ended_ = true;
  } else if (error) {
    return close();
  } else {
    reader_.commit(count);
  }
  serve();
}

// The interim response is small and nothing else is being sent. So a full window means that the
// peer does not read, and waiting for it is not worthwhile.
bool Connection::send_continue() {
  constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  ErrorCode error;
  return write_some(kContinue, {}, error) == kContinue.size();
}

// Sends the response to a rejected request, and closes the connection.
void Connection::refuse(Response response) {
  refused_ = true;
  response.accepted = false;
  has_room_ = false;
  last_request_ = std::chrono::steady_clock::now();  // its response must not be cut off at once
  if (reading_) {  // a receive still writes to the reader's memory
    ErrorCode ignored;
    std::ignore = socket_.cancel(ignored);
  } else {
    reader_.clear();
    hold(0, 0);
  }
  send(std::move(response), false);
}

void Connection::refuse(const std::function<Response()>& make, int status) {
  refuse(make ? make() : Response{.status = status});
}

// True if serve() can continue with the next request.
bool Connection::handle() {
  Shared& shared = loop_->shared();
  last_request_ = std::chrono::steady_clock::now();
  reader_.note(peer_, last_request_);
  state_ = State::kHandling;
  set_in_progress(true);
  deadline_ = SteadyTime::max();
  awaiting_ = Awaiting::kNothing;
  if (shared.options.aside && shared.options.aside(reader_.request())) {
    const auto measure = [self = shared_from_this()] {
      const auto& demand = self->loop_->shared().options.demand;
      return demand && self->waits_aside_ ? demand(self->reader_.request()) : 0;
    };
    const auto run = [self = shared_from_this()](Reservation reserved) {
      if (!self->waits_aside_.exchange(false)) return;
      std::optional<Response> response = reserved ? self->run_handler() : self->overloaded();
      reserved.release();  // before the client can send more
      if (response) self->respond(std::move(*response));
    };
    waits_aside_ = true;
    if (shared.side.post(measure, run)) return false;
    waits_aside_ = false;
    return send(overloaded(), reader_.keep_alive());
  }
  std::optional<Response> response;
  {
    const WaitPermit permit(loop_->serves_one() ? WaitFor::kDisk : WaitFor::kNothing);
    response = run_handler();
  }
  return response && send(std::move(*response), reader_.keep_alive());
}

// Returns the response if the handler has given it within its call.
std::optional<Response> Connection::run_handler() {
  HandlerCall call{.connection = this};
  current_call = &call;
  try {
    loop_->shared().handler(reader_.request(), Respond(Responder(shared_from_this())));
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // The handler's Respond was destroyed by the exception and has sent 500.
  }
  current_call = nullptr;
  return std::move(call.response);
}

void Connection::respond(Response response) {
  if (current_call != nullptr && current_call->connection == this) {
    current_call->response = std::move(response);
  } else {
    loop_->post_response(shared_from_this(), std::move(response));
  }
}

void Connection::deliver(Response response) {
  if (state_ != State::kHandling) return;  // closed in the meantime
  if (send(std::move(response), reader_.keep_alive())) serve();
}

// True if the response is sent and the next request can be read.
bool Connection::send(Response response, bool keep) {
  keep_ = keep && !loop_->stopping();
  const bool head_only = !refused_ && reader_.request().method == "HEAD";
  const Persistence persistence = !keep_                  ? Persistence::kClose
                                  : reader_.is_http_1_0() ? Persistence::kStatedKeepAlive
                                                          : Persistence::kKeepAlive;
  sent_ = 0;
  state_ = State::kSending;
  try {
    if (response.make) response = response.make();
    // Not the capacity: the unused part of a large string has never been written, so it has no
    // pages.
    const std::size_t bytes = reader_.held_bytes() + response.body.size();
    if (!hold(bytes, loop_->shared().memory.send_limit(bytes))) response = overloaded();
    known_ = known_ || response.accepted;
    write_head(response, persistence, head_);
    body_ = head_only ? std::string() : std::move(response.body);
    const auto timeouts = static_cast<int64_t>(1 + body_.size() / kBytesPerTimeout);
    if (tls_ && body_.size() <= kTlsRecordBytes) {  // in one record
      head_ += body_;
      body_.clear();
    }
    deadline_ = loop_->now() + loop_->shared().options.request_timeout * timeouts;
    if (body_.size() > kSmallResponseBytes && move_to_bulk(&Connection::resume_sending))
      return false;
    return continue_sending();
  } catch (const std::exception&) {
    close();
    return false;
  }
}

bool Connection::continue_sending() {
  const std::size_t total = head_.size() + body_.size();
  const std::size_t turn_end = std::min(total, sent_ + kSendBytesPerTurn);
  const std::size_t call_bytes = loop_->is_bulk() ? kCallBytesMax : kSmallResponseBytes;
  while (sent_ < total) {
    if (sent_ >= turn_end) {
      asio::post(loop_->context(), [self = shared_from_this()] { self->resume_sending(); });
      return false;
    }
    const std::size_t of_head = std::min(sent_, head_.size());
    const std::size_t of_body = sent_ - of_head;
    ErrorCode error;
    sent_ += write_some(std::string_view(head_).substr(of_head),
                        std::string_view(body_).substr(of_body, call_bytes), error);
    if (error == asio::error::would_block) {
      socket_.async_wait(send_wait_, [self = shared_from_this()](const ErrorCode& wait_error) {
        wait_error && self->state_ == State::kSending ? self->close() : self->resume_sending();
      });
      return false;
    }
    if (error) {
      close();
      return false;
    }
  }
  return finish_response();
}

void Connection::resume_sending() {
  try {
    if (state_ == State::kSending && continue_sending()) serve();
  } catch (const std::exception&) {  // out of memory: closes only this connection
    close();
  }
}

// True if the next request can be read here.
bool Connection::finish_response() {
  set_in_progress(false);
  has_room_ = false;
  std::string().swap(body_);  // an assignment would keep its memory
  if (!refused_) reader_.next();
  hold(reader_.held_bytes(), 0);
  if (keep_) {
    state_ = State::kReceiving;
    return !move_home(&Connection::serve);
  }
  if (peer_ended_ || (!refused_ && reader_.empty())) {
    close();
    return false;
  }
  // Closing with unread bytes would reset the connection and could destroy the response in transit.
  // So end this side, and read until the peer has ended its own.
  if (tls_) tls_->end();
  ErrorCode ignored;
  std::ignore = socket_.shutdown(Socket::shutdown_send, ignored);
  deadline_ = loop_->now() + std::min(kLingerMax, loop_->shared().options.request_timeout);
  state_ = State::kLingering;
  if (!reading_) start_lingering();
  return false;
}

}  // namespace stator::http
