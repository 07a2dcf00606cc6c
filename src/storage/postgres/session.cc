// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/session.h"

#include <utility>

namespace stator::postgres {

void Reachability::lost(std::string reason) {
  const std::lock_guard lock(mutex_);
  reason_ = std::move(reason);
}

void Reachability::reached() {
  const std::lock_guard lock(mutex_);
  reason_.clear();
}

std::string Reachability::reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

SqlResult<Connection*> Session::connected() {
  if (connection_ && connection_->is_usable()) return connection_.get();
  connection_.reset();
  auto opened = Connection::open(options_, true);
  if (!opened) {
    reachability_.lost(opened.error().message);
    return std::unexpected(std::move(opened).error());
  }
  reachability_.reached();
  connection_ = std::move(*opened);
  return connection_.get();
}

WorkerPool::WorkerPool(const ConnectionOptions& options, Reachability& reachability,
                       std::size_t threads, std::size_t queued_max)
    : queued_max_(queued_max) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this, &options, &reachability] { run({options, reachability}); });
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

void WorkerPool::run(Session session) {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job(session);
    job = nullptr;
    lock.lock();
  }
}

}  // namespace stator::postgres
