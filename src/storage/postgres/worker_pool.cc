// SPDX-License-Identifier: Apache-2.0
#include "storage/postgres/worker_pool.h"

#include <algorithm>
#include <utility>

#include "base/wait_permit.h"

namespace stator::postgres {
namespace {

// Of one statement, so that its rows, of up to 400 KB each, take little memory.
constexpr std::size_t kKeysMax = 64;
// A session takes a part of the waiting reads, and at least so many: while it wakes their callers,
// another session reads for the others.
constexpr std::size_t kPartOfReads = 3;
constexpr std::size_t kReadsMin = 4;

}  // namespace

WorkerPool::WorkerPool(const ConnectionOptions& options, Server& server, std::size_t sessions,
                       std::size_t queued_max)
    : queued_max_(queued_max) {
  for (std::size_t i = 0; i < sessions; ++i) {
    free_.push_back(sessions_.emplace_back(std::make_unique<Session>(options, server)).get());
  }
  for (std::size_t i = 0; i < sessions; ++i) threads_.emplace_back([this] { work(); });
}

WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.wake_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerPool::is_full() {
  const std::lock_guard lock(mutex_);
  return tasks_.size() >= queued_max_;
}

void WorkerPool::post(Job job) {
  add({.job = std::move(job)});
}

void WorkerPool::post(std::unique_ptr<KeyRead> read) {
  add({.read = std::move(read)});
}

void WorkerPool::add(Task task) {
  std::unique_lock lock(mutex_);
  if (WaitPermit::covers(WaitFor::kServer) && tasks_.empty() && !free_.empty()) {
    Tasks own;
    own.push_back(std::move(task));
    return run_next(lock, std::move(own));
  }
  tasks_.push_back(std::move(task));
  wake_.wake_one();
}

ConnectionPoolStats WorkerPool::stats(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  return {.name = name,
          .connections = sessions_.size(),
          .busy = sessions_.size() - free_.size(),
          .queued_calls = tasks_.size()};
}

void WorkerPool::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!tasks_.empty() && !free_.empty()) {
      run_next(lock, next_tasks());
    } else if (tasks_.empty() && stopping_) {
      return;
    } else {
      wake_.wait(lock);
    }
  }
}

// The first task; if it reads keys, also some of the reads that follow it.
WorkerPool::Tasks WorkerPool::next_tasks() {
  const std::size_t most = std::max(kReadsMin, tasks_.size() / kPartOfReads);
  Tasks taken;
  std::size_t keys = 0;
  do {
    if (tasks_.front().read) keys += tasks_.front().read->key_count();
    taken.push_back(std::move(tasks_.front()));
    tasks_.pop_front();
  } while (taken.size() < most && taken.back().read && !tasks_.empty() && tasks_.front().read &&
           keys + tasks_.front().read->key_count() <= kKeysMax);
  return taken;
}

void WorkerPool::run_next(std::unique_lock<std::mutex>& lock, Tasks tasks) {
  Session* const session = free_.back();
  free_.pop_back();
  if (!tasks_.empty() && !free_.empty()) wake_.wake_one();
  lock.unlock();
  if (tasks.front().job) {
    tasks.front().job(*session);
  } else {
    std::vector<std::unique_ptr<KeyRead>> reads;
    reads.reserve(tasks.size());
    for (Task& task : tasks) reads.push_back(std::move(task.read));
    read_keys(*session, reads);
  }
  tasks.clear();
  lock.lock();
  free_.push_back(session);
  if (!tasks_.empty()) wake_.wake_one();
}

}  // namespace stator::postgres
