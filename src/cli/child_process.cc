// SPDX-License-Identifier: Apache-2.0
#include "cli/child_process.h"

#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
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

}  // namespace

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& command,
                                         const std::vector<std::string>& extra_environment) {
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = extra_environment;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);

  // The child has the default handling of the signals that this process waits for.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, arguments[0].c_str(), nullptr, &attributes,
                                 pointers(arguments).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    return fail(Code::kIo, "cannot run '" + command[0] + "': " + std::strerror(error));
  }
  return ChildProcess(pid, static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), descriptor_(std::exchange(other.descriptor_, -1)) {}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) {
    send(SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  if (descriptor_ >= 0) close(descriptor_);
}

std::optional<int> ChildProcess::wait(std::chrono::milliseconds timeout) {
  pollfd ended{.fd = descriptor_, .events = POLLIN, .revents = 0};
  const int64_t most = std::clamp<int64_t>(timeout.count(), 0, 1'000'000);
  poll(&ended, 1, static_cast<int>(most));
  int status = 0;
  if (waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = -1;
  constexpr int kSignalBase = 128;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status);
}

void ChildProcess::send(int signal) const {
  if (pid_ > 0) kill(pid_, signal);
}

}  // namespace stator::cli
