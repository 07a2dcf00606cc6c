// SPDX-License-Identifier: Apache-2.0
// Terminal: a program whose controlling terminal is the test.
#pragma once

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace stator::test {

class Terminal {
 public:
  explicit Terminal(std::vector<std::string> command) {
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = forkpty(&descriptor_, nullptr, nullptr, nullptr);
    if (pid_ != 0) return;
    execvp(argv[0], argv.data());
    _exit(127);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(descriptor_);  // hangs up on programs that still run there
  }

  void type(std::string_view text) const { (void)!write(descriptor_, text.data(), text.size()); }

  // Reads until the unread output contains `text`, and consumes the output up to its end. Returns
  // false if the program ends first, or prints nothing for `patience`.
  bool shows(std::string_view text, std::chrono::milliseconds patience = std::chrono::minutes(1)) {
    for (;;) {
      if (const auto at = unread_.find(text); at != std::string::npos) {
        unread_.erase(0, at + text.size());
        return true;
      }
      if (!read_more(patience)) return false;
    }
  }
  // Returns the unread output, up to the end of the program.
  std::string rest() {
    while (read_more(std::chrono::minutes(1))) {
    }
    return unread_;
  }

  // The exit status, or minus the signal that ended it.
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  bool read_more(std::chrono::milliseconds patience) {
    pollfd readable{.fd = descriptor_, .events = POLLIN, .revents = 0};
    if (poll(&readable, 1, static_cast<int>(patience.count())) <= 0) return false;
    std::array<char, 4096> buffer{};
    const ssize_t count = read(descriptor_, buffer.data(), buffer.size());
    if (count <= 0) return false;
    unread_.append(buffer.data(), static_cast<std::size_t>(count));
    return true;
  }

  int descriptor_ = -1;
  pid_t pid_ = -1;
  std::string unread_;
};

}  // namespace stator::test
