// SPDX-License-Identifier: Apache-2.0
// Memory: how much the process may use, and how unused memory returns to the operating system.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>

namespace stator {

// The least of the machine's memory, the limits of the process's control groups, RLIMIT_AS and
// RLIMIT_DATA, in bytes.
uint64_t usable_memory_bytes();

// Makes the allocator return large buffers as they are freed. Call it once, before other threads
// start.
void tune_allocator(uint64_t memory_bytes);

// Returns freed memory that the allocator keeps. Takes milliseconds: call it when the load is low.
void return_free_memory();

// Unmaps the code and constants of the program and its libraries, which are resident memory of the
// process. The kernel keeps the pages in its cache, and maps those that are used again. Call it
// after startup: most startup code does not run again. Leaves out segments with changes, such as
// breakpoints.
void unmap_clean_code();

}  // namespace stator
