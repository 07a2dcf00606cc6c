// SPDX-License-Identifier: Apache-2.0
// A command run as a child: watched, signalled, and its exit status kept.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "stator/result.h"

namespace stator::cli {

class ChildProcess {
 public:
  // Starts `command` (found in PATH) with `extra_environment` ("NAME=value") added.
  // kIo where it cannot be started.
  static Result<ChildProcess> start(const std::vector<std::string>& command,
                                    const std::vector<std::string>& extra_environment);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();  // kills what still runs

  // What a shell would answer for it: the exit status, or 128 and the signal's number. Absent
  // where it still runs after `timeout`.
  std::optional<int> wait(std::chrono::milliseconds timeout);
  void send(int signal) const;

 private:
  ChildProcess(pid_t pid, int descriptor) : pid_(pid), descriptor_(descriptor) {}

  pid_t pid_;
  int descriptor_;  // readable once the child has ended
};

}  // namespace stator::cli
