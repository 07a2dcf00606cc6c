// SPDX-License-Identifier: Apache-2.0
// Progress: a progress line on standard error, if that is a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace stator::cli {

enum class ProgressUnit { kItems, kBytes };

class Progress {
 public:
  // `total` 0: unknown.
  Progress(std::string what, ProgressUnit unit, int64_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  // clears the line

  void advance_to(int64_t done);

 private:
  std::string what_;
  ProgressUnit unit_;
  int64_t total_;
  bool terminal_;
  std::chrono::steady_clock::time_point drawn_ = {};
  std::chrono::steady_clock::time_point begun_ = {};  // at the first call of advance_to
  int64_t done_before_ = 0;                           // `done` of that call
};

// "export: 45%, 1200 per second, 1m5s left". `in_elapsed` of `done` took `elapsed`; `total` 0:
// unknown.
std::string progress_text(const std::string& what, ProgressUnit unit, int64_t done, int64_t total,
                          int64_t in_elapsed, std::chrono::duration<double> elapsed);

}  // namespace stator::cli
