// SPDX-License-Identifier: Apache-2.0
#include "base/memory.h"

#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "base/control_groups.h"
#include "base/files.h"

namespace stator {
namespace {

uint64_t resource_limit(__rlimit_resource_t resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

// Whether the process changed none of these pages.
bool are_clean(const Descriptor& page_map, uintptr_t first, uintptr_t end) {
  constexpr uint64_t kInUse = 3UL << 62;  // in memory or swapped out
  constexpr uint64_t kOfFile = 1UL << 61;
  std::array<uint64_t, 512> pages{};
  while (first < end) {
    const std::size_t count = std::min(end - first, pages.size());
    const std::size_t bytes = count * sizeof(uint64_t);
    const auto at = static_cast<off_t>(first * sizeof(uint64_t));
    if (pread(page_map.get(), pages.data(), bytes, at) != static_cast<ssize_t>(bytes)) return false;
    const auto is_changed = [](uint64_t page) {
      return (page & kInUse) != 0 && (page & kOfFile) == 0;
    };
    if (std::ranges::any_of(std::span(pages).first(count), is_changed)) return false;
    first += count;
  }
  return true;
}

int unmap_clean_segments(dl_phdr_info* object, std::size_t, void* page_map) {
  const auto page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (const auto& segment : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    const uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    const uintptr_t first = begin / page_bytes;
    const uintptr_t end = (begin + segment.p_memsz + page_bytes - 1) / page_bytes;
    if (!are_clean(*static_cast<const Descriptor*>(page_map), first, end)) continue;
    madvise(std::bit_cast<void*>(first * page_bytes), (end - first) * page_bytes, MADV_DONTNEED);
  }
  return 0;
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

// Holds the lock of the dynamic loader, so that nothing else takes the place of a segment.
void unmap_clean_code() {
  Descriptor page_map(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  dl_iterate_phdr(&unmap_clean_segments, &page_map);
}

}  // namespace stator
