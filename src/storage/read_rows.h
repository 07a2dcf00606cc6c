// SPDX-License-Identifier: Apache-2.0
// Common parts of the stores' reads.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "storage/transact_store.h"

namespace stator {

// Executes a ReadRequest in a view.
Result<void> read_rows(ReadView& view, const ReadRequest& request, ReadVisitor visit);

// Whether a store must open a view to execute the request.
inline bool needs_state(const ReadRequest& request) {
  return request.one_state && request.keys.size() + request.ranges.size() > 1;
}

// The values of a transaction's keys, without an allocation for the usual single key.
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
