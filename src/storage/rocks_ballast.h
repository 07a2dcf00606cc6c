// SPDX-License-Identifier: Apache-2.0
// Ballast: allocated space in a file without content, kept for what must be written even if
// another program has taken the last free byte.
//
// It shrinks by just what a file is about to grow by, and grows as soon as a file is deleted, so
// that another program that fills the disk has hardly a moment to take what is given up.
// Thread safety: every method may be called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>

namespace rocksdb {
class Env;
}  // namespace rocksdb

namespace stator {

class Ballast {
 public:
  // In `directory`; `env`, which tells how much is free there, must outlive it.
  Ballast(rocksdb::Env& env, std::filesystem::path directory);

  uint64_t bytes() const;
  uint64_t free_bytes() const;  // of the disk, the ballast apart
  uint64_t available_bytes() const { return free_bytes() + bytes(); }

  // How much restore() aims at, and what is kept from work that can be done later. Until they are
  // set, restore() does nothing and nothing is kept.
  void aim_at(uint64_t bytes, uint64_t kept) {
    aim_ = bytes;
    kept_ = kept;
  }
  // Allocates as much of the aim as there is space for.
  void restore();
  // Gives up what is missing of so many free bytes, as far as it has it. While there is little
  // space, the result is a lock: until it is released nobody else is given what is free.
  enum class For { kAnything, kWhatCanWait };
  [[nodiscard]] std::unique_lock<std::mutex> make_room(uint64_t bytes, For what);

 private:
  void resize(uint64_t from, uint64_t to) const;

  rocksdb::Env& env_;
  const std::filesystem::path directory_;
  std::atomic<uint64_t> aim_ = 0;
  std::atomic<uint64_t> kept_ = 0;
  std::mutex mutex_;  // of the file, and of what is free while that is little
};

}  // namespace stator
