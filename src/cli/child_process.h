// SPDX-License-Identifier: Apache-2.0
// ChildProcess: a command in a process group of its own, so that signals reach whatever it starts.
//
// The command reads the terminal although this process's group is in the foreground: when the
// terminal stops it for that, settle_stop() lends it the terminal. Processes that leave the group
// (setsid, an inner job-control shell) are not reached.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "stator/result.h"

namespace stator::cli {

// Of the exit status of a command that a signal ended, as a shell reports it.
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

  // The exit status, or kSignalBase and the signal's number; absent while it runs.
  std::optional<int> status();
  // Signals the whole group.
  void send(int signal) const;
  // SIGTERM to the group, then SIGKILL to what is left of it after `grace`. Returns when the group
  // is gone, or a second after SIGKILL.
  void end(std::chrono::milliseconds grace);

  // The signal that stopped the command since the last call, if any. This process must then call
  // settle_stop() and, if the command may go on, resume().
  std::optional<int> take_stop();
  // Suspends this process, as the shell expects of a stopped job, until it is continued. Returns at
  // once if the command only needs the terminal, or if there is no terminal to stop for. True if
  // the command is to be resumed.
  bool settle_stop(int signal);
  void resume();
  // Whether the command had the terminal, so that this process's group missed what was typed.
  bool had_terminal() const { return lent_; }

 private:
  ChildProcess(pid_t pid, int terminal) : pid_(pid), group_(pid), terminal_(terminal) {}
  void reap();
  bool group_exists() const;
  bool is_foreground() const;
  void set_foreground(pid_t group) const;
  void take_terminal_back() const;

  pid_t pid_;     // -1 once it has been waited for
  pid_t group_;   // of the command
  int terminal_;  // the controlling one; -1: none
  bool lent_ = false;
  std::optional<int> status_;
  std::optional<int> stop_;
};

// Stops this process, or its whole group (`whole_group`), as Ctrl-Z does, until it is continued.
// Does nothing in an orphaned group, which nobody would continue. SIGTSTP must be blocked.
void suspend(bool whole_group);

}  // namespace stator::cli
