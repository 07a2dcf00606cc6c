// SPDX-License-Identifier: Apache-2.0
#include "cli/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

namespace stator::cli {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  list.reserve(texts.size() + 1);
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

// Each name must occur only once, because readers differ in which of two values they use.
std::vector<std::string> environment_with(const std::vector<std::string>& variables) {
  std::vector<std::string> all = variables;
  for (char** inherited = environ; *inherited != nullptr; ++inherited) {
    const auto replaces = [&](const std::string& variable) {
      return name_of(variable) == name_of(*inherited);
    };
    if (std::ranges::none_of(variables, replaces)) all.emplace_back(*inherited);
  }
  return all;
}

sigset_t only(int signal) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, signal);
  return signals;
}

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& command,
                                         const std::vector<std::string>& variables) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> environment = environment_with(variables);
  // If this process inherited an ignored SIGCHLD, the child's status would be lost.
  (void)std::signal(SIGCHLD, SIG_DFL);

  // The child must not inherit the blocked signals that this process waits for.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, arguments[0].c_str(), nullptr, &attributes,
                                 pointers(arguments).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    return fail(error == ENOENT ? Code::kNotFound : Code::kIo,
                "could not run '" + command[0] + "': " + std::strerror(error));
  }
  return ChildProcess(pid, Descriptor(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      group_(std::exchange(other.group_, -1)),
      terminal_(std::move(other.terminal_)),
      lent_(std::exchange(other.lent_, false)),
      status_(other.status_),
      stop_(other.stop_) {}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    send(SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  take_terminal_back();
}

void ChildProcess::reap() {
  int status = 0;
  if (pid_ < 0 || waitpid(pid_, &status, WNOHANG | WUNTRACED) != pid_) return;
  if (WIFSTOPPED(status)) {
    stop_ = WSTOPSIG(status);
    return;
  }
  pid_ = -1;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status);
}

std::optional<int> ChildProcess::status() {
  reap();
  return status_;
}

std::optional<int> ChildProcess::take_stop() {
  reap();
  return std::exchange(stop_, std::nullopt);
}

void ChildProcess::send(int signal) const {
  if (group_ > 0) kill(-group_, signal);
}

bool ChildProcess::group_exists() const {
  return kill(-group_, 0) == 0;
}

void ChildProcess::end(std::chrono::milliseconds grace) {
  using Clock = std::chrono::steady_clock;
  const auto wait_until = [this](Clock::time_point deadline) {
    for (reap(); group_exists(); reap()) {
      if (Clock::now() >= deadline) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
  };
  send(SIGTERM);
  send(SIGCONT);  // a stopped process handles no other signal
  if (wait_until(Clock::now() + grace)) return;
  send(SIGKILL);
  wait_until(Clock::now() + std::chrono::seconds(1));
}

// ---- The terminal

bool ChildProcess::is_foreground() const {
  return terminal_.get() >= 0 && tcgetpgrp(terminal_.get()) == getpgrp();
}

void ChildProcess::set_foreground(pid_t group) const {
  // Otherwise, tcsetpgrp() from the background would stop this process.
  const sigset_t stop = only(SIGTTOU);
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &stop, &before);
  tcsetpgrp(terminal_.get(), group);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Does nothing if a shell has put the job in the background.
void ChildProcess::take_terminal_back() const {
  if (lent_ && tcgetpgrp(terminal_.get()) == group_) set_foreground(getpgrp());
}

bool ChildProcess::settle_stop(int signal) {
  // If another process stopped the command, not the terminal, that process must also continue it.
  if (terminal_.get() < 0 || (signal == SIGSTOP && !lent_)) return false;
  const bool needs_terminal = signal == SIGTTIN || signal == SIGTTOU;
  if (needs_terminal && is_foreground()) {
    lent_ = true;
    return true;
  }
  take_terminal_back();
  suspend(lent_);
  return true;
}

void ChildProcess::resume() {
  if (lent_ && is_foreground()) set_foreground(group_);
  send(SIGCONT);
}

void suspend(bool whole_group) {
  kill(whole_group ? 0 : getpid(), SIGTSTP);
  const sigset_t stop = only(SIGTSTP);
  pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);  // stops here
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
}

}  // namespace stator::cli
