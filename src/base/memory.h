// SPDX-License-Identifier: Apache-2.0
// Memory: how much the process may use, and how freed memory returns to the operating system.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace stator {

// The least of the machine's memory, the limits of the process's control groups, RLIMIT_AS and
// RLIMIT_DATA, in bytes.
uint64_t usable_memory_bytes();

// The lowest memory limit, in bytes, of the control groups in `groups` (the text of
// /proc/self/cgroup) and of their ancestors, version 1 or 2. `root` is /sys/fs/cgroup. UINT64_MAX
// without a limit.
uint64_t control_group_limit(const std::filesystem::path& root, std::string_view groups);

// Makes the allocator return large buffers as they are freed. Call it once, before other threads
// start.
void tune_allocator(uint64_t memory_bytes);

// Returns freed memory that the allocator keeps. Takes milliseconds: call it when the load is low.
void return_free_memory();

}  // namespace stator
