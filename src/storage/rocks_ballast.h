// SPDX-License-Identifier: Apache-2.0
// Ballast: allocated space in a file without content, reserved for required writes, even if another
// program has taken the last free byte.
//
// It shrinks by exactly the amount by which a file is about to grow, and grows as soon as a file is
// deleted. So another program has little time to take the released space.
// Thread safety: every method can be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>

#include "base/files.h"

namespace rocksdb {
class Env;
}  // namespace rocksdb

namespace stator {

class Ballast {
 public:
  // The file is in `directory`. `env`, which reports the free space there, must outlive it.
  Ballast(rocksdb::Env& env, std::filesystem::path directory);

  uint64_t bytes() const;
  uint64_t free_bytes() const;  // of the disk, without the ballast
  uint64_t available_bytes() const { return free_bytes() + bytes(); }

  // Sets the size that restore() aims at, and the free bytes denied to work that can wait. Until
  // they are set, restore() does nothing and nothing is denied.
  void aim_at(uint64_t bytes, uint64_t kept) {
    aim_ = bytes;
    kept_ = kept;
  }
  // Allocates as much of the aim as the disk has space for.
  void restore();
  // Releases what it has beyond the aim.
  void trim();
  // Releases what the disk lacks of `bytes` free bytes, as far as the ballast has it. While free
  // space is short, the result owns a lock. No other thread gets free space until it is released.
  enum class For { kAnything, kWhatCanWait };
  [[nodiscard]] std::unique_lock<std::mutex> make_room(uint64_t bytes, For what);

 private:
  void resize(uint64_t from, uint64_t to);

  rocksdb::Env& env_;
  const std::filesystem::path path_;  // of the directory
  const Descriptor directory_;        // stays the same if another one replaces it
  bool is_created_ = false;  // it is not created again in a directory that is being deleted
  std::atomic<uint64_t> aim_ = 0;
  std::atomic<uint64_t> kept_ = 0;
  std::mutex mutex_;  // of the file, and of the free space while it is short
};

}  // namespace stator
