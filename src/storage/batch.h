// SPDX-License-Identifier: Apache-2.0
// Batch: the writes of one transaction, in order.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stator {

struct Write {
  std::string key;
  std::optional<std::string> value;  // absent: erase
};

class Batch {
 public:
  void put(std::string_view key, std::string_view value) {
    bytes_ += key.size() + value.size() + kOverheadBytes;
    writes_.push_back({std::string(key), std::string(value)});
  }
  void erase(std::string_view key) {
    bytes_ += key.size() + kOverheadBytes;
    writes_.push_back({std::string(key), std::nullopt});
  }
  const std::vector<Write>& writes() const { return writes_; }
  std::vector<Write>& writes() { return writes_; }
  bool empty() const { return writes_.empty(); }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kOverheadBytes = 96;  // of bookkeeping, for the queue's bound
  std::vector<Write> writes_;
  std::size_t bytes_ = kOverheadBytes;
};

}  // namespace stator
