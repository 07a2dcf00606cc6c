// SPDX-License-Identifier: Apache-2.0
// Process: a program under test, its output and its exit status.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace stator::test {

class Process {
 public:
  explicit Process(std::vector<std::string> command) {
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::array<int, 2> out{};
    std::array<int, 2> err{};
    if (pipe2(out.data(), O_CLOEXEC) != 0 || pipe2(err.data(), O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    if (posix_spawnp(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    close(err[1]);
    descriptors_ = {out[0], err[0]};
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    send_signal(SIGKILL);
    wait();
    for (const int descriptor : descriptors_) close(descriptor);
  }

  // Returns the next line of standard output, without its end. Empty if there is none.
  std::string read_line() {
    std::string line;
    for (char c = 0; read(descriptors_[0], &c, 1) == 1 && c != '\n';) line.push_back(c);
    return line;
  }
  void send_signal(int signal) const {
    if (pid_ > 0) ::kill(pid_, signal);  // -1 would signal all processes
  }

  bool is_running() const {
    siginfo_t ended{};
    return pid_ > 0 &&
           waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0;
  }

  // The state of each thread, for the message about a process that does not end.
  std::string threads() const {
    std::string text;
    std::error_code none;
    const std::string tasks = "/proc/" + std::to_string(pid_) + "/task";
    for (const auto& task : std::filesystem::directory_iterator(tasks, none)) {
      for (const char* what : {"stat", "wchan", "syscall"}) {
        std::ifstream file(task.path() / what);
        std::string line;
        std::getline(file, line);
        text += line + '\n';
      }
    }
    return text;
  }

  // Reads both outputs completely. Returns the exit status, or -1 if a signal ended the program.
  int wait() {
    if (pid_ <= 0) return status_;
    std::array<pollfd, 2> polled{};
    for (std::size_t i = 0; i < 2; ++i) polled[i] = {descriptors_[i], POLLIN, 0};
    while (polled[0].fd >= 0 || polled[1].fd >= 0) {
      if (poll(polled.data(), polled.size(), -1) < 0) break;
      for (std::size_t i = 0; i < 2; ++i) {
        if (polled[i].revents == 0) continue;
        std::array<char, 4096> buffer{};
        const ssize_t count = read(polled[i].fd, buffer.data(), buffer.size());
        if (count <= 0) polled[i].fd = -1;
        if (count > 0)
          (i == 0 ? out_ : err_).append(buffer.data(), static_cast<std::size_t>(count));
      }
    }
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    status_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return status_;
  }
  // After wait(): the output, except lines that were already read.
  const std::string& out() const { return out_; }
  const std::string& err() const { return err_; }

 private:
  pid_t pid_ = -1;
  int status_ = -1;
  std::array<int, 2> descriptors_ = {-1, -1};
  std::string out_;
  std::string err_;
};

}  // namespace stator::test
