// SPDX-License-Identifier: Apache-2.0
// A private mariadbd for a test, on a socket in its own directory, without a network or users.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/temp_dir.h"

namespace stator::test {

class MariadbServer {
 public:
  // Runs `sql`, one statement per line, before it listens. socket() is empty if it did not start.
  explicit MariadbServer(const std::string& sql) {
    std::filesystem::create_directory(directory_.path() / "data");
    std::ofstream(directory_.path() / "init.sql") << "SET NAMES utf8mb4;\n" << sql;
    start(true);
  }
  MariadbServer(const MariadbServer&) = delete;
  MariadbServer& operator=(const MariadbServer&) = delete;
  ~MariadbServer() { stop(); }

  const std::string& socket() const { return socket_; }

  void restart() {
    stop();
    start(false);
  }
  void stop() {
    if (pid_ <= 0) return;
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  std::string at(const char* name) const { return (directory_.path() / name).string(); }

  void start(bool initialise) {
    std::vector<std::string> command = {"mariadbd",
                                        "--no-defaults",
                                        "--datadir=" + at("data"),
                                        "--tmpdir=" + at("data"),
                                        "--socket=" + at("socket"),
                                        "--pid-file=" + at("pid"),
                                        "--log-error=" + at("log"),
                                        "--skip-networking",
                                        "--skip-grant-tables",
                                        "--innodb-buffer-pool-size=16M",
                                        "--innodb-log-file-size=8M"};
    // It does not run as root without this option.
    if (geteuid() == 0) command.emplace_back("--user=root");
    if (initialise) command.push_back("--init-file=" + at("init.sql"));
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    // Debian installs it in a directory that is in the PATH only of administrators.
    const char* const binary =
        access("/usr/sbin/mariadbd", X_OK) == 0 ? "/usr/sbin/mariadbd" : "mariadbd";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid_, binary, &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&actions);
    socket_ = pid_ > 0 && wait_until_it_listens() ? at("socket") : std::string();
  }

  bool wait_until_it_listens() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, at("socket").c_str(), sizeof address.sun_path - 1);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < deadline && waitpid(pid_, nullptr, WNOHANG) == 0) {
      const int connection = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const bool listens =
          connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
      close(connection);
      if (listens) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }

  TempDir directory_;
  pid_t pid_ = -1;
  std::string socket_;
};

}  // namespace stator::test
