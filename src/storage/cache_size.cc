// SPDX-License-Identifier: Apache-2.0
#include "storage/cache_size.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace stator {

std::size_t cache_bytes_of(uint64_t memory_bytes) {
  constexpr uint64_t kLeast = 64UL << 20;
  constexpr uint64_t kMost = 8UL << 30;
  return std::clamp(memory_bytes / 8, kLeast, kMost);
}

uint64_t memory_limit_of(std::string_view text) {
  uint64_t limit = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), limit);
  return parsed.ec == std::errc() ? limit : UINT64_MAX;
}

uint64_t usable_memory_bytes() {
  const auto pages = static_cast<uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  const auto page_bytes = static_cast<uint64_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
  std::string limit;
  std::ifstream("/sys/fs/cgroup/memory.max") >> limit;
  return std::min(pages * page_bytes, memory_limit_of(limit));
}

}  // namespace stator
