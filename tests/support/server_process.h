// SPDX-License-Identifier: Apache-2.0
// A private `stator serve` on a free port, for tests that kill or restart it.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

namespace stator::test {

class ServerProcess {
 public:
  // Starts `binary serve arguments… --listen 127.0.0.1:0`. url() is empty if it did not start
  // within a minute.
  ServerProcess(const std::string& binary, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {binary, "serve"});
    arguments.insert(arguments.end(), {"--listen", "127.0.0.1:0"});
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);

    int out[2];
    if (pipe2(out, O_CLOEXEC) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    if (posix_spawn(&pid_, binary.c_str(), &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    if (pid_ > 0) url_ = url_in(first_line(out[0]));
    close(out[0]);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess() { kill_now(); }

  const std::string& url() const { return url_; }
  pid_t pid() const { return pid_; }

  // Ends it like a crash.
  void kill_now() { stop_with(SIGKILL); }
  // Ends it like an operator. Returns the exit status, or -1 if a signal ended it or it took a
  // minute.
  int terminate() { return stop_with(SIGTERM); }

 private:
  static std::string first_line(int descriptor) {
    std::string line;
    pollfd ready{.fd = descriptor, .events = POLLIN, .revents = 0};
    constexpr int kMinuteMs = 60'000;
    for (char c = 0; poll(&ready, 1, kMinuteMs) > 0 && read(descriptor, &c, 1) == 1 && c != '\n';) {
      line.push_back(c);
    }
    return line;
  }

  static std::string url_in(const std::string& line) {
    const std::size_t at = line.find("http://");
    return at == std::string::npos ? std::string() : line.substr(at);
  }

  int stop_with(int signal) {
    if (pid_ <= 0) return -1;
    ::kill(pid_, signal);
    int status = 0;
    constexpr int kMinuteMs = 60'000;
    int waited_ms = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      ::usleep(1'000);
      if (++waited_ms == kMinuteMs) ::kill(pid_, SIGKILL);
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  pid_t pid_ = -1;
  std::string url_;
};

}  // namespace stator::test
