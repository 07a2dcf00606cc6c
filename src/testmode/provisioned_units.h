// SPDX-License-Identifier: Apache-2.0
// ProvisionedUnits: the remaining capacity units of tables, global indexes and partitions.
//
// Each has units for reads and units for writes. A provisioned table or index has those of its
// capacity each second, and unused ones stay for `burst_s` seconds. A partition has as many as the
// service gives to one partition key value, and unused ones do not stay. At first there are those
// of one second. A request may use more than remains; then the balance is negative.
// Thread safety: every method may be called from any thread at once.
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

// Of a partition, each second.
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
  // The units for a read, of an index or of the table, or for a write, which needs units of the
  // table and of all its global indexes. Nothing if the table is on demand.
  std::optional<Left> left(const TableDefinition& table, std::string_view index, bool reads);
  double left(const Partition& partition, bool reads);

  // Counts what a request used: of tables that left() knows, and in equal shares of those of its
  // partitions that are in the same table or index.
  void use(const ConsumedCapacity& used, std::span<const Partition> partitions, bool reads);

 private:
  struct Units {
    std::string table_id;  // of another table with the same name: these have gone
    double left;
    double second;  // what a second adds
    int64_t at_ms;

    // Adds those of the time since `at_ms`. From now on, a second adds `next_second`.
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
