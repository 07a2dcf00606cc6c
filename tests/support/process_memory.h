// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <fstream>
#include <string>
#include <string_view>

namespace stator::test {

// A size of a process from /proc/PID/status, such as "VmRSS", in bytes; 0 if the process has gone.
inline std::size_t process_memory(pid_t pid, std::string_view field) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field) && line.substr(field.size()).starts_with(':')) {
      return std::stoul(line.substr(field.size() + 1)) * 1024;
    }
  }
  return 0;
}

}  // namespace stator::test
