// SPDX-License-Identifier: Apache-2.0
// ProvisionedUnits: what tables and global indexes with provisioned capacity have left to use.
//
// Each has units for reads and for writes, which grow by its capacity every second, up to what it
// did not use for `burst_s` seconds. At first it has those of one second. A request may use more
// than is left; later ones wait until that has grown again.
// Thread safety: every method may be called from any thread at once.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/burst-adaptive-capacity.html
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "engine/catalog/table.h"
#include "stator/client.h"

namespace stator::testmode {

class ProvisionedUnits {
 public:
  ProvisionedUnits(const Clock& clock, int64_t burst_s) : clock_(clock), burst_s_(burst_s) {}

  struct Left {
    double units;
    std::string index;  // the global index that has these; empty: the table
  };
  // What a read, of an index or of the table, or a write can use; a write needs units of the table
  // and of its global indexes. Nothing if the table is on demand.
  std::optional<Left> left(const TableDefinition& table, std::string_view index, bool reads);

  // Of tables that left() knows.
  void use(const ConsumedCapacity& used, bool reads);

 private:
  struct Units {
    double left;
    double second;  // the capacity
    int64_t at_ms;
  };
  struct Key {
    std::string table;
    std::string index;
    bool reads;
    auto operator<=>(const Key&) const = default;
  };

  double grow(Key key, int64_t second);
  void take(const Key& key, double units);

  const Clock& clock_;
  const int64_t burst_s_;
  std::mutex mutex_;
  std::map<Key, Units> units_;
};

}  // namespace stator::testmode
