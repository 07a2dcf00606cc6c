// SPDX-License-Identifier: Apache-2.0
// ChildProcess: a command in a separate process group, so that signals also reach its children.
//
// The command can read from the terminal although this process's group is in the foreground: if the
// command is stopped because it reads, settle_stop() gives it the terminal. Signals do not reach
// processes that leave the group (setsid, an inner job-control shell).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "stator/result.h"

namespace stator::cli {

// Added to the number of the signal that ended a command, for its exit status, as in a shell.
inline constexpr int kSignalBase = 128;

class ChildProcess {
 public:
  // Starts `command` (found in PATH). `variables` ("NAME=value") replace inherited ones.
  // Errors: kNotFound if the program does not exist; kIo if it cannot be started.
  static Result<ChildProcess> start(const std::vector<std::string>& command,
                                    const std::vector<std::string>& variables);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();  // kills the group if the command still runs

  // The exit status, or kSignalBase and the signal's number; std::nullopt while it runs.
  std::optional<int> status();
  // Signals the whole group.
  void send(int signal) const;
  // Sends SIGTERM to the group, then SIGKILL to remaining processes after `grace`. Returns when the
  // group has ended, or a second after SIGKILL.
  void end(std::chrono::milliseconds grace);

  // The signal that stopped the command since the last call, if any. This process must then call
  // settle_stop() and, if the command can resume, resume().
  std::optional<int> take_stop();
  // Suspends this process until it is continued, as a shell expects from a stopped job. Returns at
  // once if the command only needs the terminal, or if there is no terminal. Returns true if the
  // command must be resumed.
  bool settle_stop(int signal);
  void resume();
  // Whether the command had the terminal. If so, this process's group did not get Ctrl-C.
  bool had_terminal() const { return lent_; }

 private:
  ChildProcess(pid_t pid, Descriptor terminal)
      : pid_(pid), group_(pid), terminal_(std::move(terminal)) {}
  void reap();
  bool group_exists() const;
  bool is_foreground() const;
  void set_foreground(pid_t group) const;
  void take_terminal_back() const;

  pid_t pid_;            // -1 once it has been waited for
  pid_t group_;          // of the command
  Descriptor terminal_;  // the controlling terminal, if there is one
  bool lent_ = false;
  std::optional<int> status_;
  std::optional<int> stop_;
};

// Stops this process, or its whole group (`whole_group`), as Ctrl-Z does, until it is continued.
// Does nothing in an orphaned group, which nobody would continue. SIGTSTP must be blocked.
void suspend(bool whole_group);

}  // namespace stator::cli
