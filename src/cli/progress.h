// SPDX-License-Identifier: Apache-2.0
// A line of progress on standard error, where that is a terminal; otherwise nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace stator::cli {

class Progress {
 public:
  // `total` in the unit of advance(); 0: not known.
  Progress(std::string what, int64_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();  // clears the line

  void advance_to(int64_t done);

 private:
  std::string what_;
  int64_t total_;
  bool terminal_;
  std::chrono::steady_clock::time_point drawn_ = {};
};

}  // namespace stator::cli
