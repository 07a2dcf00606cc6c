// SPDX-License-Identifier: Apache-2.0
// ProcessStats: what this process takes of the machine.
//
// Thread safety: any thread. What cannot be read is 0.
#pragma once

#include <cstdint>

namespace stator::server {

struct ProcessStats {
  uint64_t resident_bytes = 0;
  double cpu_seconds = 0;
  uint64_t open_files = 0;
  uint64_t open_files_max = 0;
};

ProcessStats process_stats();

}  // namespace stator::server
