// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include "base/control_groups.h"

namespace stator {
namespace {

uint64_t resource_limit(__rlimit_resource_t resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

}  // namespace

uint64_t usable_memory_bytes() {
  const auto pages = static_cast<uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  const auto page_bytes = static_cast<uint64_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
  return std::min({pages * page_bytes, control_group_limits().memory_bytes,
                   resource_limit(RLIMIT_AS), resource_limit(RLIMIT_DATA)});
}

void tune_allocator(uint64_t memory_bytes) {
#ifdef __GLIBC__
  // By default, glibc raises its threshold to the size of the largest freed buffer, up to 32 MB,
  // and then keeps such buffers. A threshold that is set explicitly does not change.
  constexpr int kMapped = 1 << 20;
  constexpr uint64_t kSmallMachine = 2UL << 30;
  mallopt(M_MMAP_THRESHOLD, kMapped);
  mallopt(M_TRIM_THRESHOLD, kMapped);
  if (memory_bytes < kSmallMachine) mallopt(M_ARENA_MAX, 8);
#else
  (void)memory_bytes;
#endif
}

void return_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void unmap_clean_code() {
  std::ifstream mappings("/proc/self/smaps");
  void* begin = nullptr;
  std::size_t bytes = 0;
  for (std::string line; std::getline(mappings, line);) {
    void* from = nullptr;
    void* to = nullptr;
    std::array<char, 5> access{};
    unsigned long inode = 0;
    // "55d0c3a00000-55d0c3a7c000 r--p 00000000 fe:01 1234  /usr/bin/stator"
    if (std::sscanf(line.c_str(), "%p-%p %4s %*x %*x:%*x %lu", &from, &to, access.data(), &inode) ==
        4) {
      const bool is_clean = access[1] == '-' && access[3] == 'p' && inode != 0;
      begin = from;
      bytes = is_clean ? static_cast<std::size_t>(static_cast<char*>(to) - static_cast<char*>(from))
                       : 0;
    } else if (line.starts_with("Anonymous:") && bytes > 0) {
      const bool is_unchanged = line.find_first_of("123456789") == std::string::npos;
      if (is_unchanged) madvise(begin, bytes, MADV_DONTNEED);
    }
  }
}

}  // namespace stator
