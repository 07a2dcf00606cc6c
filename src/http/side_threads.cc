// SPDX-License-Identifier: Apache-2.0
#include "http/side_threads.h"

#include <exception>
#include <utility>

#include "base/background.h"

namespace stator::http {
namespace {

constexpr std::size_t kJobsMax = 1'000;

}  // namespace

bool SideThreads::post(Measure measure, Run run) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || jobs_.size() >= kJobsMax) return false;
  try {
    while (threads_.size() < static_cast<std::size_t>(count_)) {
      threads_.emplace_back([this] { work(); });
    }
    jobs_.push_back(
        {std::move(measure), std::move(run), std::chrono::steady_clock::now() + patience_});
  } catch (const std::exception&) {  // no memory, or no thread
    return false;
  }
  wake_.wake_one();
  return true;
}

std::size_t SideThreads::queue_length() const {
  const std::lock_guard lock(mutex_);
  return jobs_.size();
}

void SideThreads::stop() {
  std::deque<Job> dropped;  // destroyed outside the lock
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    dropped.swap(jobs_);
    wake_.wake_all();
  }
  budget_.stop();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void SideThreads::work() {
  run_in_background();
  std::unique_lock lock(mutex_);
  while (true) {
    while (!stopping_ && jobs_.empty()) wake_.wait(lock);
    if (stopping_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    run_one(std::move(job));
    lock.lock();
  }
}

void SideThreads::run_one(Job job) {
  Reservation reserved;
  try {
    const std::size_t bytes = job.measure();
    if (budget_.wait_and_add(bytes, job.deadline)) reserved = Reservation(budget_, bytes);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // Out of memory: there is none for the request either.
  }
  job.run(std::move(reserved));
}

}  // namespace stator::http
