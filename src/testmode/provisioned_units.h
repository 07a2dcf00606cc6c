// SPDX-License-Identifier: Apache-2.0
// ProvisionedUnits: the remaining capacity units of tables, global indexes and partitions.
//
// Each has read units and write units, and starts with those of one second. A provisioned table or
// index gains its capacity each second, and keeps unused units for `burst_s` seconds. A partition
// gains what DynamoDB gives to one partition key value, and keeps no unused units. A request can
// use more than remains; then the balance is negative.
// Thread safety: any thread. Lifetime: borrows the clock.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/burst-adaptive-capacity.html
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "engine/catalog/table.h"
#include "stator/client.h"
#include "testmode/partitions.h"

namespace stator::testmode {

// Units of a partition per second.
inline constexpr double kPartitionReads = 3000;
inline constexpr double kPartitionWrites = 1000;

class ProvisionedUnits {
 public:
  ProvisionedUnits(const Clock& clock, int64_t burst_s) : clock_(clock), burst_s_(burst_s) {}

  static bool is_provisioned(const TableDefinition& table) {
    return table.settings.throughput && table.settings.billing_mode != BillingMode::kPayPerRequest;
  }

  struct Left {
    double units;
    std::string index;  // the global index that has these; empty: the table
  };
  // The remaining units for a read of the table or an index, or for a write. A write needs units of
  // the table and of all its global indexes, so the least counts. Absent if the table is on demand.
  std::optional<Left> left(const TableDefinition& table, std::string_view index, bool reads);
  double left(const Partition& partition, bool reads);

  // Subtracts `used` from the table and its indexes, except from those that left() was never called
  // for. Also subtracts it, in equal shares, from those of the `partitions` that belong to the same
  // table or index.
  void use(const ConsumedCapacity& used, std::span<const Partition> partitions, bool reads);

 private:
  struct Units {
    std::string table_id;  // a new table with the same name starts again
    double left;
    double second;  // gain per second
    int64_t at_ms;

    // Adds the gain since `at_ms`, up to `most`, and sets the future gain per second. Returns the
    // balance.
    double grow(double next_second, double most, int64_t now_ms);
  };
  struct Key {
    std::string table;
    std::string index;
    bool reads;
    auto operator<=>(const Key&) const = default;
  };

  double grow(Key key, const std::string& table_id, int64_t second);
  Units& grow(const Partition& partition, bool reads);
  void take(const Key& key, double units, std::span<const Partition> partitions);
  void forget_full_partitions();

  const Clock& clock_;
  const int64_t burst_s_;
  std::mutex mutex_;
  std::map<Key, Units> units_;
  std::map<std::pair<std::string, bool>, Units> partitions_;  // by their rows; true: for reads
  int64_t forgot_ms_ = 0;
};

}  // namespace stator::testmode
