// SPDX-License-Identifier: Apache-2.0
// Large requests and responses: moving to another loop, reserving memory, and discarding bytes.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <tuple>

#include "http/connection.h"

namespace stator::http {
namespace asio = boost::asio;
namespace {

using ErrorCode = boost::system::error_code;

constexpr std::size_t kDropAtOnce = 64UL << 10;  // before others get their turn
constexpr std::size_t kDroppedMax = 64UL << 20;

}  // namespace

// Moves the connection to another loop. If this returns true, the connection no longer belongs to
// this thread. Call it only while no handler has the request. Does nothing during a receive.
bool Connection::move_to(const std::shared_ptr<Loop>& loop, Loop::Step step) {
  if (!loop || loop == loop_ || reading_ || !loop->expect()) return false;
  const auto self = shared_from_this();
  if (in_progress_) loop->count_request(1);
  if (in_progress_) loop_->count_request(-1);
  const auto before = std::exchange(loop_, loop);
  ErrorCode ignored;
  protocol_ = socket_.local_endpoint(ignored).protocol();
  moving_ = socket_.release(ignored);  // TLS still uses it
  before->release(*this);
  loop->take(self, step);
  return true;
}

void Connection::arrive() {
  ErrorCode error;
  try {
    loop_->insert(shared_from_this());
    socket_ = Socket(loop_->context());
    std::ignore = socket_.assign(protocol_, moving_, error);
    if (!error) moving_ = -1;
    if (!error) std::ignore = socket_.non_blocking(true, error);
    if (!error) return (this->*arrival_step)();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // Out of memory: closes only this connection.
  }
  close();
}

bool Connection::move_to_bulk(Loop::Step step) {
  return move_to(loop_->shared().bulk.lock(), step);
}

bool Connection::move_home(Loop::Step step) {
  return move_to(home_, step);
}

// ---- Memory for bodies
// A body of known length gets the memory for all of it before its first receive. So it is received
// without copies, no two bodies wait for memory that the other holds, and a waiting client need not
// repeat its request.

void Connection::wait_for_room() {
  const MemoryBudget& memory = loop_->shared().memory;
  const std::size_t bytes = reader_.held_bytes() + reader_.missing_bytes();
  if (bytes > memory.receive_limit(bytes) || !loop_->queue_for_room(shared_from_this())) {
    return refuse(overloaded());
  }
  awaiting_ = Awaiting::kRoom;
  deadline_ = std::chrono::steady_clock::now() + loop_->shared().options.patience;
  loop_->give_room();
}

bool Connection::take_room() {
  const std::size_t bytes = reader_.held_bytes() + reader_.missing_bytes();
  return hold(bytes, loop_->shared().memory.receive_limit(bytes));
}

void Connection::receive_with_room() {
  try {
    reader_.reserve_missing();
    hold(reader_.held_bytes(), loop_->shared().memory.limit());
    has_room_ = true;
    room_since_ = std::chrono::steady_clock::now();
    awaiting_ = Awaiting::kNothing;  // so that receive() sets a new deadline
    receive();
  } catch (const std::exception&) {  // out of memory: closes only this connection
    close();
  }
}

// Whether a body, at its rate so far, will not be complete in time. A client can announce a large
// body and send nothing.
bool Connection::is_too_slow(SteadyTime now) const {
  const ServerOptions& options = loop_->shared().options;
  if (!has_room_ || state_ != State::kReceiving || now - room_since_ < options.patience) {
    return false;
  }
  const std::chrono::duration<double> elapsed = now - room_since_;
  const std::chrono::duration<double> most = options.request_timeout;
  const auto held = static_cast<double>(reader_.held_bytes());
  const auto received = held - static_cast<double>(reader_.missing_bytes());
  return received * most.count() < held * elapsed.count();
}

// ---- Discarding bytes
// The kernel discards the bytes without copying them, also with TLS: their content is not needed.

void Connection::start_lingering() {
  if (!move_to_bulk(&Connection::start_dropping)) start_dropping();
}

void Connection::start_dropping() {
  if (state_ == State::kClosed) return;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this()](const ErrorCode& error) {
    self->on_dropping(error);
  });
}

void Connection::on_dropping(const ErrorCode& error) {
  if (state_ == State::kClosed) return;
  if (error) return close();
  const ssize_t count =
      ::recv(socket_.native_handle(), nullptr, kDropAtOnce, MSG_TRUNC | MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return start_dropping();
  if (count <= 0) return close();
  dropped_ += static_cast<std::size_t>(count);
  if (dropped_ > kDroppedMax) return close();
  loop_->after_drop(static_cast<std::size_t>(count),
                    [self = shared_from_this()] { self->start_dropping(); });
}

}  // namespace stator::http
