// SPDX-License-Identifier: Apache-2.0
#include "server/process_stats.h"

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace stator::server {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

uint64_t open_files() {
  std::error_code error;
  uint64_t count = 0;
  std::filesystem::directory_iterator at("/proc/self/fd", error);
  for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) ++count;
  return count;
}

}  // namespace

ProcessStats process_stats() {
  ProcessStats stats;
  uint64_t pages = 0;
  std::ifstream memory("/proc/self/statm");
  if (memory >> pages >> pages) {
    stats.resident_bytes = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  }
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    stats.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  }
  stats.open_files = open_files();
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) stats.open_files_max = files.rlim_cur;
  return stats;
}

}  // namespace stator::server
