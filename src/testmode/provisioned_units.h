// SPDX-License-Identifier: Apache-2.0
// ProvisionedUnits: the remaining capacity units of provisioned tables and their global indexes.
//
// Each has units for reads and units for writes. Every second adds its capacity, up to that of
// `burst_s` seconds. At first it has those of one second. A request may use more than remains; then
// the balance is negative.
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
  // The units for a read, of an index or of the table, or for a write, which needs units of the
  // table and of all its global indexes. Nothing if the table is on demand.
  std::optional<Left> left(const TableDefinition& table, std::string_view index, bool reads);

  // Of tables that left() knows.
  void use(const ConsumedCapacity& used, bool reads);

 private:
  struct Units {
    std::string table_id;  // of another table with the same name: these have gone
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

  double grow(Key key, const std::string& table_id, int64_t second);
  void take(const Key& key, double units);

  const Clock& clock_;
  const int64_t burst_s_;
  std::mutex mutex_;
  std::map<Key, Units> units_;
};

}  // namespace stator::testmode
