// SPDX-License-Identifier: Apache-2.0
// read_values: the values of several keys, from one read of a store.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/transact_store.h"

namespace stator {

// Returns the values of the keys, in their order, with one read; absent for absent keys. The caller
// limits their number and bytes. Blocking: waits for the store.
inline Result<std::vector<std::optional<std::string>>> read_values(
    TransactStore& store, std::span<const std::string> keys) {
  std::vector<std::optional<std::string>> values(keys.size());
  STATOR_RETURN_IF_ERROR(read_and_wait(
      store, {.keys = keys}, [&](std::size_t part, std::string_view, std::string_view value) {
        values[part] = value;
        return true;
      }));
  return values;
}

}  // namespace stator
