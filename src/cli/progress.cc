// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "cli/duration.h"

namespace stator::cli {

Progress::Progress(std::string what, ProgressUnit unit, int64_t total)
    : what_(std::move(what)), unit_(unit), total_(total), terminal_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (terminal_) std::fputs("\r\033[K", stderr);
}

void Progress::advance_to(int64_t done) {
  if (!terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  if (begun_ == std::chrono::steady_clock::time_point{}) {
    begun_ = now;
    done_before_ = done;
  }
  const std::chrono::duration<double> elapsed = now - begun_;
  std::fprintf(stderr, "\r\033[K%s",
               progress_text(what_, unit_, done, total_, done - done_before_, elapsed).c_str());
  std::fflush(stderr);
}

std::string progress_text(const std::string& what, ProgressUnit unit, int64_t done, int64_t total,
                          int64_t in_elapsed, std::chrono::duration<double> elapsed) {
  std::string text = total > 0
                         ? fmt::format("{}: {}%", what, std::min<int64_t>(100, done * 100 / total))
                         : fmt::format("{}: {}", what, done);
  if (elapsed.count() < 1 || in_elapsed <= 0) return text;
  const double rate = static_cast<double>(in_elapsed) / elapsed.count();
  text += unit == ProgressUnit::kBytes ? fmt::format(", {:.1f} MB per second", rate / 1e6)
                                       : fmt::format(", {:.0f} per second", rate);
  if (total <= done) return text;
  const std::chrono::seconds left(std::llround(static_cast<double>(total - done) / rate));
  return text + ", " + duration_text(left) + " left";
}

}  // namespace stator::cli
