// SPDX-License-Identifier: Apache-2.0
// ControlGroup: a memory control group, version 1 or 2, for the processes of a test.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>

namespace stator::test {

class ControlGroup {
 public:
  // Null if this process may not make one.
  static std::unique_ptr<ControlGroup> make(uint64_t memory_bytes) {
    namespace fs = std::filesystem;
    const fs::path mount = "/sys/fs/cgroup";
    const bool first = fs::exists(mount / "memory" / "memory.limit_in_bytes");
    if (!first) write(mount / "cgroup.subtree_control", "+memory");
    const fs::path path =
        (first ? mount / "memory" : mount) / ("stator-test-" + std::to_string(getpid()));
    if (mkdir(path.c_str(), 0755) != 0) return nullptr;
    std::unique_ptr<ControlGroup> group(new ControlGroup(path, first));
    const std::string bytes = std::to_string(memory_bytes);
    if (!write(path / (first ? "memory.limit_in_bytes" : "memory.max"), bytes)) return nullptr;
    // Not available in every kernel.
    write(path / (first ? "memory.memsw.limit_in_bytes" : "memory.swap.max"), first ? bytes : "0");
    return group;
  }
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;
  // Its processes must have ended.
  ~ControlGroup() { rmdir(path_.c_str()); }

  // Writes a program that runs `binary` with its own arguments in the group.
  void write_starter(const std::filesystem::path& file, const std::string& binary) const {
    std::ofstream(file) << "#!/bin/sh\necho $$ > '" << (path_ / "cgroup.procs").string()
                        << "' && exec '" << binary << "' \"$@\"\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }

  // How many of its processes were killed for using too much.
  uint64_t kills() const {
    std::ifstream events(path_ / (first_ ? "memory.oom_control" : "memory.events"));
    std::string name;
    for (uint64_t value = 0; events >> name >> value;) {
      if (name == "oom_kill") return value;
    }
    return 0;
  }
  // The most that it has used, including caches of files; 0 if unknown.
  uint64_t peak_bytes() const {
    uint64_t bytes = 0;
    std::ifstream(path_ / (first_ ? "memory.max_usage_in_bytes" : "memory.peak")) >> bytes;
    return bytes;
  }

 private:
  ControlGroup(std::filesystem::path path, bool first) : path_(std::move(path)), first_(first) {}

  static bool write(const std::filesystem::path& file, const std::string& text) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return false;
    std::ofstream out(file);
    out << text;
    out.close();
    return !out.fail();
  }

  std::filesystem::path path_;
  bool first_;  // version 1
};

}  // namespace stator::test
