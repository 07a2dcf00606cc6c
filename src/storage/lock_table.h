// SPDX-License-Identifier: Apache-2.0
// LockTable: locks of keys, present or absent, by striped mutexes.
//
// A call locks all its stripes in ascending order, so that calls cannot deadlock. A thread that
// holds a Guard must not call lock() again.
// Thread safety: any thread. Blocking: lock() waits until all its stripes are free.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "storage/batch.h"

namespace stator {

class LockTable {
 public:
  static constexpr std::size_t kStripes = 4096;

  // Holds the stripes of some keys until release() or destruction, which must happen on the thread
  // that locked them.
  class Guard {
   public:
    Guard() = default;
    Guard(Guard&& other) noexcept : table_(other.table_), stripes_(std::move(other.stripes_)) {
      other.stripes_.clear();
    }
    Guard& operator=(Guard&&) = delete;
    ~Guard() { release(); }
    void release();

   private:
    friend class LockTable;
    LockTable* table_ = nullptr;
    std::vector<uint16_t> stripes_;
  };

  Guard lock(std::span<const std::string> keys);
  // Locks the keys that a batch writes.
  Guard lock(const Batch& batch);

 private:
  template <class Keys, class KeyOf>
  Guard lock_all(const Keys& keys, KeyOf key_of);

  std::array<std::mutex, kStripes> mutexes_;
};

}  // namespace stator
