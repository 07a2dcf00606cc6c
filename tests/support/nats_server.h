// SPDX-License-Identifier: Apache-2.0
// A private nats-server with JetStream for a test, on a free port, with its own directory.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "support/temp_dir.h"

namespace stator::test {

class NatsServer {
 public:
  // url() is empty if it did not start.
  NatsServer() {
    const std::string files = (directory_.path() / "files").string();
    const std::string ports = directory_.path().string();
    std::vector<std::string> command = {
        "nats-server", "-a",  "127.0.0.1", "-p",  "-1", "--ports_file_dir",
        ports,         "-js", "-sd",       files, "-l", (directory_.path() / "log").string()};
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    if (posix_spawnp(&pid_, argv[0], nullptr, nullptr, argv.data(), environ) != 0) pid_ = -1;
    if (pid_ > 0) url_ = wait_for_url();
  }
  NatsServer(const NatsServer&) = delete;
  NatsServer& operator=(const NatsServer&) = delete;
  ~NatsServer() {
    if (pid_ <= 0) return;
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }

  const std::string& url() const { return url_; }

 private:
  // The server writes its address to a file once it listens.
  std::string wait_for_url() const {
    const auto file = directory_.path() / ("nats-server_" + std::to_string(pid_) + ".ports");
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (std::chrono::steady_clock::now() < deadline && waitpid(pid_, nullptr, WNOHANG) == 0) {
      std::ifstream input(file);
      const std::string text{std::istreambuf_iterator<char>(input), {}};
      const std::size_t begin = text.find("nats://");
      const std::size_t end = text.find('"', begin);
      if (begin != std::string::npos && end != std::string::npos) {
        return text.substr(begin, end - begin);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return {};
  }

  TempDir directory_;
  pid_t pid_ = -1;
  std::string url_;
};

}  // namespace stator::test
