// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace stator::cli {

Progress::Progress(std::string what, int64_t total)
    : what_(std::move(what)), total_(total), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (terminal_) std::fputs("\r\033[K", stderr);
}

void Progress::advance_to(int64_t done) {
  if (!terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  const std::string line = total_ > 0 ? fmt::format("\r{}: {}%", what_, done * 100 / total_)
                                      : fmt::format("\r{}: {}", what_, done);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace stator::cli
