// SPDX-License-Identifier: Apache-2.0
// GatedStore: a store whose reads wait while its gate is closed, like those of a slow network.
// Reads with a callback wait in a queue. Calls that return a result block the calling thread.
// Writes pass.
//
// Thread safety: any thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/forwarding_store.h"

namespace stator::test {

class Gate {
 public:
  void close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  // Starts the waiting calls, in the order of their arrival.
  void open() {
    std::vector<std::move_only_function<void()>> calls;
    {
      const std::lock_guard lock(mutex_);
      is_closed_ = false;
      calls.swap(waiting_);
      opened_.notify_all();
    }
    for (auto& call : calls) call();
  }
  void pass(std::move_only_function<void()> call) {
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_) return waiting_.push_back(std::move(call));
    }
    call();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    ++blocked_;
    opened_.wait(lock, [this] { return !is_closed_; });
    --blocked_;
  }
  // Calls in the queue, and threads that wait.
  std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_.size() + blocked_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_closed_ = false;
  std::vector<std::move_only_function<void()>> waiting_;
  std::size_t blocked_ = 0;
};

class GatedStore final : public ForwardingStore {
 public:
  // `gate` must outlive it.
  GatedStore(std::shared_ptr<TransactStore> inner, Gate& gate)
      : ForwardingStore(std::move(inner)), gate_(gate) {}

  void read(const ReadRequest& request, ReadVisitor visit, ReadDone done) override {
    gate_.pass([inner = inner_, request, visit, done = std::move(done)]() mutable {
      inner->read(request, visit, std::move(done));
    });
  }
  void with_view(ViewBody body, ReadDone done) override {
    gate_.pass([inner = inner_, body, done = std::move(done)]() mutable {
      inner->with_view(body, std::move(done));
    });
  }
  Result<std::shared_ptr<const SchemaRow>> schema_row(std::string_view key) override {
    gate_.wait();
    return inner_->schema_row(key);
  }
  Result<uint64_t> schema_version(const SchemaRow& row) override {
    gate_.wait();
    return inner_->schema_version(row);
  }
  Result<LogPosition> safe_position() override {
    gate_.wait();
    return inner_->safe_position();
  }

 private:
  Gate& gate_;
};

}  // namespace stator::test
