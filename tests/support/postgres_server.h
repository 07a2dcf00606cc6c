// SPDX-License-Identifier: Apache-2.0
// A private PostgreSQL server for a test, on a socket in its own directory, without a network. It
// does not run as root, so it runs as the user postgres if the test runs as root. It ends with the
// test.
#pragma once

#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "support/temp_dir.h"

namespace stator::test {

class PostgresServer {
 public:
  // dsn() is empty if it did not start. `settings` are "name=value". With another port, dsn(),
  // url() and socket() lead nowhere.
  explicit PostgresServer(const std::vector<std::string>& settings = {}) {
    if (!give(directory_.path())) return;
    const pid_t initdb = spawn({binary("initdb"), "--pgdata=" + at("data"), "--username=postgres",
                                "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"});
    if (initdb <= 0 || !succeeds(initdb)) return;
    command_ = {binary("postgres"),
                "-D",
                at("data"),
                "-k",
                directory_.path().string(),
                "-c",
                "listen_addresses=",
                "-c",
                "fsync=off",
                "-c",
                "full_page_writes=off",
                "-c",
                "autovacuum=off",
                "-c",
                "max_connections=200",
                "-c",
                "shared_buffers=32MB"};
    for (const std::string& setting : settings) {
      command_.emplace_back("-c");
      command_.push_back(setting);
    }
    start();
  }
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer() { stop(SIGQUIT); }

  const std::string& dsn() const { return dsn_; }
  // Returns the same as a URL, for a role.
  std::string url(const std::string& role = "postgres") const {
    return "postgresql://" + role + "@/postgres?host=" + directory_.path().string();
  }
  std::string socket() const { return at(".s.PGSQL.5432"); }
  std::filesystem::path data() const { return directory_.path() / "data"; }
  // Makes the server's user the owner of a file or directory. Returns false after an error.
  static bool give(const std::filesystem::path& path) {
    if (geteuid() != 0) return true;
    const passwd* const user = getpwnam("postgres");
    return user != nullptr && chown(path.c_str(), user->pw_uid, user->pw_gid) == 0;
  }

  void restart() {
    stop(SIGINT);
    start();
  }
  // SIGINT: ends the connections and stops. SIGQUIT: stops as in a crash.
  void stop(int signal = SIGINT) {
    if (pid_ <= 0) return;
    kill(pid_, signal);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  void start() {
    pid_ = spawn(command_);
    dsn_.clear();
    if (pid_ <= 0 || !wait_until_it_accepts()) return;
    dsn_ = "host=" + directory_.path().string() + " user=postgres dbname=postgres";
  }

 private:
  std::string at(const char* name) const { return (directory_.path() / name).string(); }

  // Returns the program in the directory STATOR_POSTGRES_BIN. Without it, the newest version in
  // Debian's packages, otherwise the one in the PATH.
  static std::string binary(const std::string& name) {
    if (const char* const directory = std::getenv("STATOR_POSTGRES_BIN")) {
      return (std::filesystem::path(directory) / name).string();
    }
    std::vector<std::string> found;
    std::error_code ignored;
    for (const auto& version :
         std::filesystem::directory_iterator("/usr/lib/postgresql", ignored)) {
      found.push_back((version.path() / "bin" / name).string());
    }
    return found.empty() ? name : *std::ranges::max_element(found);
  }

  pid_t spawn(std::vector<std::string> command) const {
    std::vector<std::string> whole{"setpriv", "--pdeathsig", "QUIT"};
    if (geteuid() == 0) {
      whole.insert(whole.end(), {"--reuid=postgres", "--regid=postgres", "--clear-groups"});
    }
    whole.insert(whole.end(), command.begin(), command.end());
    std::vector<char*> argv;
    argv.reserve(whole.size() + 1);
    for (std::string& word : whole) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    const std::string log = at("log");
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t pid = -1;
    if (posix_spawnp(&pid, "setpriv", &actions, nullptr, argv.data(), environ) != 0) pid = -1;
    posix_spawn_file_actions_destroy(&actions);
    return pid;
  }

  static bool succeeds(pid_t pid) {
    int status = -1;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  // It writes "ready" to the eighth line of its lock file once it accepts connections.
  bool wait_until_it_accepts() const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (std::chrono::steady_clock::now() < deadline && waitpid(pid_, nullptr, WNOHANG) == 0) {
      std::ifstream file(at("data/postmaster.pid"));
      for (std::string line; std::getline(file, line);) {
        if (line.starts_with("ready")) return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  TempDir directory_;
  std::vector<std::string> command_;
  pid_t pid_ = -1;
  std::string dsn_;
};

}  // namespace stator::test
