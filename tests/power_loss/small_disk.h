// SPDX-License-Identifier: Apache-2.0
// SmallDisk: a file system in memory, of a given size, that only this process and its children see.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/temp_dir.h"

namespace stator::test {

class SmallDisk {
 public:
  // Call it once, before any thread starts. Returns false if the system permits mounts neither
  // directly nor in a user namespace.
  static bool can_mount() {
    const uid_t user = geteuid();
    if (user == 0 && unshare(CLONE_NEWNS) == 0) {
      return mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 && try_mount();
    }
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
    return try_mount();
  }

  explicit SmallDisk(int megabytes) { mount_on(directory_.path(), megabytes, 0); }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() { umount2(directory_.path().c_str(), MNT_DETACH); }

  const std::filesystem::path& path() const { return directory_.path(); }
  void resize(int megabytes) const { mount_on(directory_.path(), megabytes, MS_REMOUNT); }

  // Uses up all free space, like another program.
  void fill() const {
    const int file = open(filler().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const std::vector<char> bytes(1UL << 20, 'x');
    for (std::size_t size = bytes.size(); size > 0;) {
      if (write(file, bytes.data(), size) <= 0) size /= 2;
    }
    close(file);
  }
  void remove_filler() const { std::filesystem::remove(filler()); }
  uint64_t free_bytes() const { return std::filesystem::space(path()).available; }

 private:
  std::filesystem::path filler() const { return path() / "another program's"; }

  static bool mount_on(const std::filesystem::path& path, int megabytes, unsigned long flags) {
    const std::string size = "size=" + std::to_string(megabytes) + "m";
    return mount("tmpfs", path.c_str(), "tmpfs", flags, size.c_str()) == 0;
  }
  static bool try_mount() {
    const TempDir directory;
    return mount_on(directory.path(), 1, 0) && umount(directory.path().c_str()) == 0;
  }

  TempDir directory_;
};

}  // namespace stator::test
