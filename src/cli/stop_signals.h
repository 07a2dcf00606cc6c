// SPDX-License-Identifier: Apache-2.0
// StopSignals: SIGINT and SIGTERM as a stop token, for commands that run until they are stopped.
#pragma once

#include <pthread.h>

#include <csignal>
#include <stop_token>
#include <thread>

namespace stator::cli {

class StopSignals {
 public:
  // Construct it before other threads are started, so that they inherit the blocked signals. Its
  // thread ends with the process.
  StopSignals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::thread([signals, stop = stop_]() mutable {
      int received = 0;
      sigwait(&signals, &received);
      stop.request_stop();
    }).detach();
  }

  std::stop_token token() const { return stop_.get_token(); }

 private:
  std::stop_source stop_;
};

}  // namespace stator::cli
