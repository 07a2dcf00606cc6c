// SPDX-License-Identifier: Apache-2.0
#include "base/control_groups.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace stator {
namespace {

using std::filesystem::path;

// A file that begins with a number; UINT64_MAX if it does not exist or begins with "max" or "-1".
uint64_t number_in(const path& file) {
  std::string text;
  std::ifstream(file) >> text;
  uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() ? number : UINT64_MAX;
}

// `quota` microseconds of processor time in each `period`; UINT64_MAX: no limit.
void limit_processors(ControlGroupLimits& limits, uint64_t quota, uint64_t period) {
  if (quota == UINT64_MAX || period == UINT64_MAX || period == 0) return;
  limits.processors =
      std::min(limits.processors, static_cast<double>(quota) / static_cast<double>(period));
}

void limit_by_version_2(ControlGroupLimits& limits, const path& group) {
  for (const char* file : {"memory.max", "memory.high"}) {
    limits.memory_bytes = std::min(limits.memory_bytes, number_in(group / file));
  }
  std::ifstream maximum(group / "cpu.max");  // "200000 100000" or "max 100000"
  uint64_t quota = 0;
  uint64_t period = 0;
  if (maximum >> quota >> period) limit_processors(limits, quota, period);
}

void limit_memory(ControlGroupLimits& limits, const path& group) {
  limits.memory_bytes = std::min(limits.memory_bytes, number_in(group / "memory.limit_in_bytes"));
}

void limit_processor_time(ControlGroupLimits& limits, const path& group) {
  limit_processors(limits, number_in(group / "cpu.cfs_quota_us"),
                   number_in(group / "cpu.cfs_period_us"));
}

// Calls `limit` for a group and its ancestors. In a container, the group's path can be a path on
// the host. Then only the root exists, which is the container's own group.
void for_each_level(ControlGroupLimits& limits, const path& root, std::string_view group,
                    void (*limit)(ControlGroupLimits&, const path&)) {
  path at = path(group).lexically_normal().relative_path();
  for (;; at = at.parent_path()) {
    limit(limits, root / at);
    if (at.empty()) return;
  }
}

}  // namespace

ControlGroupLimits control_group_limits(const path& root, std::string_view groups) {
  ControlGroupLimits limits;
  while (!groups.empty()) {
    const std::string_view line = groups.substr(0, groups.find('\n'));
    groups.remove_prefix(std::min(groups.size(), line.size() + 1));
    // "0::/path" is of version 2, "4:cpu,cpuacct:/path" of version 1.
    const std::size_t first = line.find(':');
    if (first == line.npos) continue;
    const std::size_t second = line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view group = line.substr(second + 1);
    if (controllers.empty()) {
      for_each_level(limits, root, group, limit_by_version_2);
    } else if (controllers == "memory") {
      for_each_level(limits, root / "memory", group, limit_memory);
    } else if (("," + std::string(controllers) + ",").find(",cpu,") != std::string::npos) {
      for_each_level(limits, root / "cpu", group, limit_processor_time);
    }
  }
  return limits;
}

ControlGroupLimits control_group_limits() {
  std::string groups;
  std::getline(std::ifstream("/proc/self/cgroup"), groups, '\0');  // all of it, or what can be read
  return control_group_limits("/sys/fs/cgroup", groups);
}

}  // namespace stator
