// SPDX-License-Identifier: Apache-2.0
// LockTable: guards keys, present or absent, by striped mutexes.
//
// Stripes are taken in ascending order, all at once, so that guards cannot deadlock.
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

  // Holds the stripes of some keys until release() or destruction, on the thread that took them.
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
  // The keys that a batch writes.
  Guard lock(const Batch& batch);

 private:
  template <class Keys, class KeyOf>
  Guard lock_all(const Keys& keys, KeyOf key_of);

  std::array<std::mutex, kStripes> mutexes_;
};

}  // namespace stator
