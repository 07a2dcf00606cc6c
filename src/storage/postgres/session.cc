// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/session.h"

#include <utility>

namespace stator::postgres {

Result<Connection*> Session::connected() {
  if (!responds_within({})) return fail(Code::kUnavailable, kUnconfirmed);
  if (connection_ && connection_->is_usable()) return connection_.get();
  if (connection_) server_.doubt();
  connection_.reset();
  STATOR_ASSIGN_OR_RETURN(connection_, server_.connect(options_));
  return connection_.get();
}

bool Session::responds_within(std::chrono::milliseconds timeout) {
  if (!connection_ || !connection_->is_waiting()) return true;
  if (!connection_->responds_within(timeout)) return false;
  [[maybe_unused]] const auto late = connection_->results();
  return true;
}

WorkerPool::WorkerPool(const ConnectionOptions& options, Server& server, std::size_t threads,
                       std::size_t queued_max)
    : queued_max_(queued_max) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this, &options, &server] { run({options, server}); });
  }
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerPool::is_full() {
  const std::lock_guard lock(mutex_);
  return jobs_.size() >= queued_max_;
}

void WorkerPool::post(Job job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

ConnectionPoolStats WorkerPool::stats(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  return {
      .name = name, .connections = threads_.size(), .busy = busy_, .queued_calls = jobs_.size()};
}

void WorkerPool::run(Session session) {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    ++busy_;
    lock.unlock();
    job(session);
    job = nullptr;
    lock.lock();
    --busy_;
  }
}

}  // namespace stator::postgres
