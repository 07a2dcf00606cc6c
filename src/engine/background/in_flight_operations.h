// SPDX-License-Identifier: Apache-2.0
// InFlightOperations: counts operations in progress, so that shutdown can wait for their end.
//
// Thread safety: any thread. An operation holds a Pass from its start to its end.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>

namespace stator {

class InFlightOperations {
 public:
  class Pass {
   public:
    explicit Pass(InFlightOperations& gate) : gate_(&gate) { gate_->enter(); }
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_) gate_->leave();
    }

   private:
    InFlightOperations* gate_;
  };

  void wait_until_empty();

 private:
  void enter();
  void leave();

  std::mutex mutex_;
  std::condition_variable empty_;
  std::size_t inside_ = 0;
};

}  // namespace stator
