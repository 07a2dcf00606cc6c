// SPDX-License-Identifier: Apache-2.0
// What the reads of every store have in common.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "storage/store.h"

namespace stator {

// TransactStore::read() on one state of the store.
Result<ReadResult> read_rows(ReadView& view, ReadRequest request);

// Room for the values of a transaction's keys: most transactions have one key.
class GuardedValues {
 public:
  explicit GuardedValues(std::size_t count) : is_one_(count == 1), many_(is_one_ ? 0 : count) {}
  GuardedRows rows() { return is_one_ ? GuardedRows(&one_, 1) : GuardedRows(many_); }

 private:
  bool is_one_;
  std::optional<std::string> one_;
  std::vector<std::optional<std::string>> many_;
};

}  // namespace stator
