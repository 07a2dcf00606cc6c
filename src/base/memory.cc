// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <initializer_list>
#include <string>

namespace stator {
namespace {

// A file with a number of bytes; UINT64_MAX if it does not exist or holds "max".
uint64_t limit_in(const std::filesystem::path& file) {
  std::string text;
  std::ifstream(file) >> text;
  uint64_t limit = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), limit);
  return parsed.ec == std::errc() ? limit : UINT64_MAX;
}

// The lowest limit of a group and its ancestors. In a container, the group's path can be a path on
// the host. Then only the root exists, which is the container's own group.
uint64_t lowest_limit(const std::filesystem::path& root, std::string_view group,
                      std::initializer_list<const char*> files) {
  uint64_t limit = UINT64_MAX;
  std::filesystem::path at = std::filesystem::path(group).lexically_normal().relative_path();
  for (;; at = at.parent_path()) {
    for (const char* file : files) limit = std::min(limit, limit_in(root / at / file));
    if (at.empty()) return limit;
  }
}

uint64_t resource_limit(__rlimit_resource_t resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

}  // namespace

uint64_t control_group_limit(const std::filesystem::path& root, std::string_view groups) {
  uint64_t limit = UINT64_MAX;
  while (!groups.empty()) {
    const std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(groups.size(), line.size() + 1));
    // "0::/path" is of version 2, "4:memory:/path" of version 1.
    const std::size_t first = line.find(':');
    if (first == line.npos) continue;
    const std::size_t second = line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view group = line.substr(second + 1);
    if (controllers.empty()) {
      limit = std::min(limit, lowest_limit(root, group, {"memory.max", "memory.high"}));
    } else if (controllers == "memory") {
      limit = std::min(limit, lowest_limit(root / "memory", group, {"memory.limit_in_bytes"}));
    }
  }
  return limit;
}

uint64_t usable_memory_bytes() {
  const auto pages = static_cast<uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  const auto page_bytes = static_cast<uint64_t>(std::max(0L, sysconf(_SC_PAGESIZE)));
  std::string groups;
  std::getline(std::ifstream("/proc/self/cgroup"), groups, '\0');  // all of it, or what can be read
  return std::min({pages * page_bytes, control_group_limit("/sys/fs/cgroup", groups),
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

}  // namespace stator
