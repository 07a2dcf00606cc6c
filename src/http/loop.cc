// SPDX-License-Identifier: Apache-2.0
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <csignal>
#include <exception>
#include <tuple>
#include <utility>

#include "base/background.h"
#include "base/memory.h"
#include "http/connection.h"

namespace stator::http {
namespace asio = boost::asio;
namespace {

using std::chrono::milliseconds;

// Timeouts are looked at by a tick of the loop rather than by a timer for each connection.
milliseconds tick_interval_for(const ServerOptions& options, Loop::Kind kind) {
  milliseconds shortest = std::min(options.idle_timeout, options.request_timeout);
  if (kind == Loop::Kind::kBulk) shortest = std::min(shortest, options.patience);
  return std::clamp(shortest / 8, milliseconds(5), milliseconds(1'000));
}

constexpr std::size_t kBodiesWaitingMax = 1'000;
constexpr int kTimers = 3;  // of a loop: its own two, and the acceptor's
// Of newcomers, before the loop looks for other events.
constexpr std::chrono::microseconds kNewcomersTurn{100};

// In this thread: OpenSSL's writes to a socket whose peer is gone fail instead of ending the
// process.
void ignore_broken_pipes() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

}  // namespace

Loop::Loop(std::shared_ptr<Shared> shared, Kind kind)
    : kind_(kind),
      shared_(std::move(shared)),
      context_(1),
      work_(context_.get_executor()),
      ticker_(context_),
      drop_timer_(context_),
      bell_(context_, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      tick_interval_(tick_interval_for(shared_->options, kind)),
      now_(std::chrono::steady_clock::now()),
      drops_(shared_->options.dropped_bytes_per_second) {
  // Makes room in Asio's queue of timers, so that starting one later needs no memory for it.
  std::vector<asio::steady_timer> timers;
  for (int i = 0; i < kTimers; ++i) {
    timers.emplace_back(context_, std::chrono::hours(1)).async_wait([](const auto&) {});
  }
  listen_to_bell();
}

Loop::~Loop() = default;

void Loop::run() {
  ignore_broken_pipes();
  if (is_bulk()) run_in_background();
  for (;;) {
    try {
      context_.run();
      break;
    } catch (const std::exception&) {
      continue;  // out of memory in one handler: run the others
    }
  }
}

void Loop::adopt(Socket socket, Counted counted) {
  asio::post(context_, [this, socket = std::move(socket), counted = std::move(counted)]() mutable {
    if (stopping_) return;
    start_ticking();
    pending_.emplace_back(std::move(socket), std::move(counted));
    if (pending_.size() == 1) start_pending();
  });
}

void Loop::insert(const std::shared_ptr<Connection>& connection) {
  start_ticking();
  connections_.push_back(connection);
  connection->slot = connections_.size() - 1;
}

bool Loop::expect() {
  const std::lock_guard lock(mutex_);
  if (ended_) return false;
  if (is_bulk() && !thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::exception&) {
      return false;
    }
  }
  ++expected_;
  return true;
}

void Loop::take(std::shared_ptr<Connection> connection, Step step) {
  connection->arrival_step = step;
  {
    const std::lock_guard lock(mutex_);
    connection->previous_arrival = std::move(inbox_.arrivals);
    inbox_.arrivals = std::move(connection);
  }
  ring();
}

void Loop::join() {
  std::thread thread;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    thread = std::move(thread_);
  }
  if (thread.joinable()) thread.join();
}

bool Loop::is_full() const {
  return shared_->connections > shared_->options.connections_max;
}

// Closes some at once, as each search looks at all. False if none can be closed.
bool Loop::close_longest_idle(Spared spared) {
  const SteadyTime now = std::chrono::steady_clock::now();
  std::vector<std::shared_ptr<Connection>> idle;
  for (const auto& connection : connections_) {
    if (spared == Spared::kRecent && connection->is_recent(now)) continue;
    if (connection->can_be_closed(now)) idle.push_back(connection);
  }
  const auto count = static_cast<std::ptrdiff_t>((idle.size() + 63) / 64);
  std::ranges::nth_element(idle, idle.begin() + count, {}, &Connection::last_request);
  for (std::ptrdiff_t i = 0; i < count; ++i) idle[static_cast<std::size_t>(i)]->close();
  return count > 0;
}

void Loop::start_pending() {
  while (!pending_.empty() && (!is_full() || close_longest_idle(Spared::kRecent))) {
    start_first_pending();
  }
  if (!pending_.empty()) ask_to_close_idle(1);
}

void Loop::start_first_pending() {
  auto [socket, counted] = std::move(pending_.front());
  pending_.pop_front();
  try {
    const auto connection =
        std::make_shared<Connection>(shared_from_this(), std::move(socket), std::move(counted));
    insert(connection);
    defer(connection, [&started = *connection] { started.start(); });
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // Out of memory: this connection is closed.
  }
}

void Loop::defer(const std::shared_ptr<Connection>& newcomer,
                 std::move_only_function<void()> step) {
  try {
    newcomers_.emplace_back(newcomer, std::move(step));
  } catch (const std::exception&) {  // out of memory: closes only this connection
    return newcomer->close();
  }
  post_turn_of_newcomers();
}

void Loop::post_turn_of_newcomers() {
  if (newcomers_.empty() || newcomers_have_turn_) return;
  asio::post(context_,
             asio::bind_allocator(turn_memory_.allocator(), [this] { serve_newcomers(); }));
  newcomers_have_turn_ = true;
}

void Loop::serve_newcomers() {
  const auto end = std::chrono::steady_clock::now() + kNewcomersTurn;
  do {
    auto [newcomer, step] = std::move(newcomers_.front());
    newcomers_.pop_front();
    try {
      step();
    } catch (const std::exception&) {  // out of memory: closes only this connection
      newcomer->close();
    }
  } while (!newcomers_.empty() && std::chrono::steady_clock::now() < end);
  newcomers_have_turn_ = false;
  post_turn_of_newcomers();
}

void Loop::after_drop(std::size_t bytes, std::move_only_function<void()> step) {
  const auto wait = drops_.wait_after(bytes, std::chrono::steady_clock::now());
  if (wait == Throttle::Duration::zero()) return step();
  drops_waiting_.push_back(std::move(step));
  if (drop_timer_waits_) return;
  drop_timer_.expires_after(wait);
  drop_timer_.async_wait([this](const boost::system::error_code&) {
    drop_timer_waits_ = false;
    for (auto& next : std::exchange(drops_waiting_, {})) next();
  });
  drop_timer_waits_ = true;  // not if there was no memory: the next call tries again
}

// Asks the loops, one after the other, to close an idle connection: twice, beginning with this one,
// which start_pending() asks first; recent ones are spared at the first time. The pending
// sockets remain here, because they belong to this loop. While the reply is due, tick() looks
// again, because the other loop can be waiting for the disk. `first`: how many were asked before.
void Loop::ask_to_close_idle(std::size_t first) {
  const auto& loops = shared_->loops;
  const auto own =
      std::ranges::find_if(loops, [this](const auto& loop) { return loop.lock().get() == this; });
  const auto begin = static_cast<std::size_t>(own - loops.begin());
  for (std::size_t i = first; i < 2 * loops.size(); ++i) {
    const auto& asked_loop = loops[(begin + i) % loops.size()];
    const auto loop = asked_loop.lock();
    if (!loop || !loop->has_thread()) continue;
    const Spared spared = i < loops.size() ? Spared::kRecent : Spared::kNone;
    asio::post(loop->context_, [asked = asked_loop, asking = weak_from_this(), spared, i] {
      const auto closer = asked.lock();
      const auto asker = asking.lock();
      if (!closer || !asker) return;
      closer->open_inbox();  // connections that have just moved there count too
      const bool closed = closer->close_longest_idle(spared);
      asio::post(asker->context_, [asking, closed, i] {
        const auto self = asking.lock();
        if (self) self->on_close_reply(closed, i);
      });
    });
    return;
  }
  pending_.clear();
}

void Loop::on_close_reply(bool closed, std::size_t asked) {
  if (pending_.empty()) return;  // this loop is stopping
  if (!closed && is_full()) return ask_to_close_idle(asked + 1);
  start_first_pending();
  start_pending();
}

bool Loop::has_thread() {
  if (!is_bulk()) return true;
  const std::lock_guard lock(mutex_);
  return thread_.joinable();
}

void Loop::forget(Connection& connection) {
  if (!connection.is_known()) ++shared_->failures;
  release(connection);
}

void Loop::release(Connection& connection) {
  if (connection.slot != Connection::kNoSlot) {
    const auto kept = connections_[connection.slot];
    connections_.back()->slot = connection.slot;
    std::swap(connections_[connection.slot], connections_.back());
    connections_.pop_back();
    connection.slot = Connection::kNoSlot;
  }
  finish_if_empty();
}

void Loop::start_ticking() {
  if (ticking_) return;
  now_ = std::chrono::steady_clock::now();
  const milliseconds interval =
      stopping_ ? std::min(tick_interval_, milliseconds(20)) : tick_interval_;
  ticker_.expires_after(interval);
  ticker_.async_wait(
      asio::bind_allocator(tick_memory_.allocator(), [this](const boost::system::error_code&) {
        ticking_ = false;
        tick();
      }));
  ticking_ = true;
}

void Loop::tick() {
  now_ = std::chrono::steady_clock::now();
  if (shared_->memory.take_quiet_moment()) {
    shared_->side.post([] { return 0UL; }, [](Reservation) { return_free_memory(); });
  }
  if (connections_.empty() && pending_.empty()) return;  // the next connection starts it again
  start_ticking();
  const bool out_of_time = stopping_ && now_ >= stop_deadline_;
  // Downwards: one that closes is replaced by the last, which has had its turn.
  for (std::size_t i = connections_.size(); i-- > 0;) {
    const auto connection = connections_[i];
    if (out_of_time) {
      connection->close();
    } else {
      connection->close_if_late(now_);
    }
  }
  give_room();
  if (!pending_.empty()) start_pending();
}

bool Loop::queue_for_room(std::shared_ptr<Connection> connection) {
  if (bodies_waiting_.size() >= kBodiesWaitingMax) return false;
  bodies_waiting_.push_back(std::move(connection));
  return true;
}

void Loop::post_give_room() {
  if (!room_released_.exchange(true)) ring();
}

// The first that there is no room for holds up those behind it, so that large ones get theirs too.
void Loop::give_room() {
  std::erase_if(bodies_waiting_, [](const auto& waiting) { return !waiting->awaits_room(); });
  while (!bodies_waiting_.empty()) {
    shared_->memory.call_at_release();  // before the attempt, so that no release is missed
    if (!bodies_waiting_.front()->take_room()) break;
    const auto next = std::move(bodies_waiting_.front());
    bodies_waiting_.pop_front();
    next->receive_with_room();
  }
  bodies_waiting_count_.store(bodies_waiting_.size(), std::memory_order_relaxed);
}

void Loop::stop() {
  asio::post(context_, [this] {
    if (stopping_) return;
    stopping_ = true;
    now_ = std::chrono::steady_clock::now();
    stop_deadline_ = now_ + shared_->options.stop_timeout;
    pending_.clear();
    for (std::size_t i = connections_.size(); i-- > 0;) {
      const auto connection = connections_[i];
      connection->stop_if_idle();
    }
    ticker_.cancel();  // the tick that follows goes at the pace of a stop
    start_ticking();
    finish_if_empty();
  });
}

void Loop::finish_if_empty() {
  if (!stopping_ || !connections_.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    if (expected_ > 0) return;
    ended_ = true;
  }
  ticker_.cancel();
  drop_timer_.cancel();
  drops_waiting_.clear();
  bell_.cancel();
  work_.reset();
}

void Loop::post_response(const std::shared_ptr<Connection>& connection, Response response) {
  bool wake = false;
  try {
    const std::lock_guard lock(mutex_);
    if (shut_) return;
    wake = inbox_.responses.empty();
    const std::size_t bytes = response.body.size();
    inbox_.responses.emplace_back(connection, std::move(response));
    shared_->memory.add_anyway(bytes);
  } catch (const std::exception&) {
    connection->lose_response();  // out of memory
  }
  if (wake) ring();
}

// Asio's post() wakes the loop while it holds the loop's lock. A thread in the background would
// then lose the processor to the loop, which waits for the lock.
void Loop::ring() {
  const uint64_t once = 1;
  std::ignore = ::write(bell_.native_handle(), &once, sizeof once);
}

void Loop::listen_to_bell() {
  const auto on_ring = [this](const boost::system::error_code& error, std::size_t) {
    // A ring that was read before finish_if_empty() is not cancelled by it.
    if (error || !work_) return;
    listen_to_bell();
    open_inbox();
  };
  bell_.async_read_some(asio::buffer(&rings_, sizeof rings_),
                        asio::bind_allocator(bell_memory_.allocator(), on_ring));
}

void Loop::open_inbox() {
  {
    const std::lock_guard lock(mutex_);
    std::swap(opened_, inbox_);
  }
  for (auto& [connection, response] : opened_.responses) {
    shared_->memory.release(response.body.size());
    connection->deliver(std::move(response));
  }
  opened_.responses.clear();
  while (const auto connection = std::move(opened_.arrivals)) {
    opened_.arrivals = std::move(connection->previous_arrival);
    connection->arrive();
    const std::lock_guard lock(mutex_);
    --expected_;
  }
  finish_if_empty();  // not before the last arrival
  if (room_released_.exchange(false)) give_room();
}

void Loop::shut() {
  Inbox dropped;
  const std::lock_guard lock(mutex_);
  shut_ = true;
  std::swap(dropped, inbox_);
}

}  // namespace stator::http
