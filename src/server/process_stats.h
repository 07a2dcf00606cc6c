// SPDX-License-Identifier: Apache-2.0
// ProcessStats: the resources that this process uses.
//
// Thread safety: any thread. Values that cannot be read are 0.
#pragma once

#include <cstdint>

namespace stator::server {

struct ProcessStats {
  uint64_t resident_bytes = 0;
  double cpu_seconds = 0;       // user and system time since the process started
  uint64_t open_files = 0;      // descriptors, sockets included
  uint64_t open_files_max = 0;  // the soft limit (RLIMIT_NOFILE)
};

ProcessStats process_stats();

}  // namespace stator::server
