// SPDX-License-Identifier: Apache-2.0
// The limits on memory and processor time that Linux control groups (cgroups, version 1 or 2) set
// for a process. systemd and containers use them.
//
// Thread safety: any thread. Each call reads the files again.
// Errors: none. A file that is absent or malformed sets no limit.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string_view>

namespace stator {

struct ControlGroupLimits {
  uint64_t memory_bytes = UINT64_MAX;  // UINT64_MAX: no limit
  // Number of processors, on average over time, for example 1.5. Infinity: no limit.
  double processors = std::numeric_limits<double>::infinity();
};

// Returns the limits of the calling process.
ControlGroupLimits control_group_limits();

// Returns the limits of a process for which /proc/PID/cgroup contains `groups`, from a directory
// `root` with the content of /sys/fs/cgroup. Each limit is the lowest of the process's groups and
// their ancestors.
ControlGroupLimits control_group_limits(const std::filesystem::path& root, std::string_view groups);

}  // namespace stator
