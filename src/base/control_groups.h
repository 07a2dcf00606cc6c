// SPDX-License-Identifier: Apache-2.0
// What the control groups of a process, version 1 or 2, let it use: systemd and containers set
// these limits.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string_view>

namespace stator {

struct ControlGroupLimits {
  uint64_t memory_bytes = UINT64_MAX;  // without a limit
  // Processor time per elapsed time, for instance 1.5; infinity without a limit.
  double processors = std::numeric_limits<double>::infinity();
};

// The lowest limits of the control groups in `groups` (the text of /proc/self/cgroup) and of their
// ancestors. `root` is /sys/fs/cgroup.
ControlGroupLimits control_group_limits(const std::filesystem::path& root, std::string_view groups);

// Those of this process.
ControlGroupLimits control_group_limits();

}  // namespace stator
