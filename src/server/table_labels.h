// SPDX-License-Identifier: Apache-2.0
// TableLabels: assigns numbers to the first N names of tables.
//
// Thread safety: any thread; find() never waits.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace stator::server {

class TableLabels {
 public:
  static constexpr std::size_t kNone = SIZE_MAX;

  explicit TableLabels(std::size_t max);

  // The name's number, below size(); kNone if it has none. For an ARN, the name in it counts.
  std::size_t find(std::string_view table) const;
  // Assigns a number to a new name if any are left. The table must exist, so that clients cannot
  // exhaust the numbers with invented names.
  std::size_t find_or_add(std::string_view table);

  std::size_t max() const { return names_.size(); }
  std::size_t size() const { return size_.load(std::memory_order_acquire); }
  const std::string& name(std::size_t number) const { return names_[number]; }

 private:
  // The slot of the name, or the slot where to insert it.
  std::size_t place_of(std::string_view name) const;

  // Open addressing, at most half full: a number plus one, or 0 if empty. A name is written before
  // its number.
  std::vector<std::atomic<uint32_t>> places_;
  std::vector<std::string> names_;
  std::atomic<std::size_t> size_ = 0;
  std::mutex adding_;
};

}  // namespace stator::server
