// SPDX-License-Identifier: Apache-2.0
// Spaces: allocates ids of keyspaces in a transaction that reads and writes the row of the next id.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/catalog/catalog_rows.h"
#include "stator/result.h"
#include "storage/transact_store.h"

namespace stator {

class Spaces {
 public:
  // `row`: the stored next id; absent before the first allocation.
  explicit Spaces(const std::optional<std::string>& row)
      : next_(row ? read_big_endian(*row) : kFirstTableSpace) {}

  SpaceId take() { return static_cast<SpaceId>(next_++); }
  std::vector<SpaceId> take(std::size_t count) {
    std::vector<SpaceId> spaces(count);
    for (SpaceId& space : spaces) space = take();
    return spaces;
  }
  // Writes the next id. Errors: kLimitExceeded if the ids are used up.
  Result<void> save(Batch& batch) const {
    if (next_ >= UINT32_MAX) return fail(Code::kLimitExceeded, "no table ids are left");
    std::string row;
    append_big_endian(row, static_cast<uint32_t>(next_));
    batch.put(catalog_row_key(CatalogRow::kNextSpace), row);
    return {};
  }

 private:
  uint64_t next_;
};

}  // namespace stator
