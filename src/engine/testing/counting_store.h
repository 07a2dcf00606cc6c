// SPDX-License-Identifier: Apache-2.0
// CountingStore: a store of one process that counts the reads that are round trips on a shared
// store.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "storage/stores.h"
#include "support/forwarding_store.h"

namespace stator::test {

struct ReadCounts {
  std::atomic<std::size_t> reads = 0;      // calls of read() with keys or ranges
  std::atomic<std::size_t> bytes_max = 0;  // of the values that one of them visited
};

class CountingStore final : public ForwardingStore {
 public:
  // `counts` must outlive it.
  explicit CountingStore(ReadCounts& counts)
      : ForwardingStore(make_memory_store()), counts_(counts) {}

  void read(const ReadRequest& request, ReadVisitor visit, ReadDone done) override {
    if (!request.keys.empty() || !request.ranges.empty()) ++counts_.reads;
    std::size_t bytes = 0;
    const auto count = [&](std::size_t part, std::string_view key, std::string_view value) {
      bytes += value.size();
      counts_.bytes_max = std::max(counts_.bytes_max.load(), bytes);
      return visit(part, key, value);
    };
    inner_->read(request, count, std::move(done));
  }

 private:
  ReadCounts& counts_;
};

}  // namespace stator::test
