// SPDX-License-Identifier: Apache-2.0
// Timer: calls functions after a delay, on one thread that starts with the first of them.
//
// Thread safety: any thread, except the destructor.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace stator::testmode {

class Timer {
 public:
  using Call = std::move_only_function<void()>;

  Timer() = default;
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer();  // drops the calls that are not due

  // `call` must not block: it delays the others.
  void after(std::chrono::milliseconds delay, Call call);

 private:
  using Time = std::chrono::steady_clock::time_point;
  void run();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::multimap<Time, Call> calls_;  // calls for the same time are in the order of after()
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace stator::testmode
