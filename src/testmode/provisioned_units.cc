// SPDX-License-Identifier: Apache-2.0
#include "testmode/provisioned_units.h"

#include <algorithm>
#include <utility>

namespace stator::testmode {
namespace {

constexpr std::size_t kKnownMax = 100'000;  // bounds the entries of deleted tables
constexpr int64_t kSecondMs = 1000;

int64_t of(const Throughput& throughput, bool reads) {
  return reads ? throughput.read : throughput.write;
}

}  // namespace

std::optional<ProvisionedUnits::Left> ProvisionedUnits::left(const TableDefinition& table,
                                                             std::string_view index, bool reads) {
  if (!is_provisioned(table)) return {};
  const CreateTableRequest& settings = table.settings;
  const std::lock_guard lock(mutex_);
  if (units_.size() > kKnownMax) units_.clear();
  const auto units_of = [&](const std::string& name, const Throughput& throughput) {
    // Updates both kinds, because a write can use read units.
    grow({settings.table, name, !reads}, table.id, of(throughput, !reads));
    return grow({settings.table, name, reads}, table.id, of(throughput, reads));
  };
  Left least{.units = units_of("", *settings.throughput), .index = ""};
  if (!settings.global_indexes) return least;
  for (const IndexDefinition& global : *settings.global_indexes) {
    const double units = units_of(global.name, global.throughput.value_or(*settings.throughput));
    if (reads ? global.name == index : units < least.units) least = {units, global.name};
  }
  return least;
}

double ProvisionedUnits::left(const Partition& partition, bool reads) {
  const std::lock_guard lock(mutex_);
  forget_full_partitions();
  return grow(partition, reads).left;
}

void ProvisionedUnits::use(const ConsumedCapacity& used, std::span<const Partition> partitions,
                           bool reads) {
  const std::lock_guard lock(mutex_);
  double of_table = used.total.units;  // with the local indexes
  for (const auto& [index, capacity] : used.global_indexes) {
    of_table -= capacity.units;
    take({used.table, index, reads}, capacity.units, partitions);
  }
  take({used.table, "", reads}, of_table, partitions);
}

double ProvisionedUnits::Units::grow(double next_second, double most, int64_t now_ms) {
  const auto passed_ms = static_cast<double>(std::max<int64_t>(0, now_ms - at_ms));
  left = std::min(left + second * passed_ms / kSecondMs, most);
  second = next_second;
  at_ms = now_ms;
  return left;
}

double ProvisionedUnits::grow(Key key, const std::string& table_id, int64_t second) {
  const auto capacity = static_cast<double>(second);
  const int64_t now_ms = clock_.unix_ms();
  Units& units = units_[std::move(key)];
  if (units.table_id != table_id) {
    units = {.table_id = table_id, .left = capacity, .second = capacity, .at_ms = now_ms};
  }
  return units.grow(capacity, capacity * static_cast<double>(burst_s_), now_ms);
}

ProvisionedUnits::Units& ProvisionedUnits::grow(const Partition& partition, bool reads) {
  const double second = reads ? kPartitionReads : kPartitionWrites;
  const int64_t now_ms = clock_.unix_ms();
  const auto [at, is_new] = partitions_.try_emplace(
      {partition.rows, reads},
      Units{.table_id = "", .left = second, .second = second, .at_ms = now_ms});
  at->second.grow(second, second, now_ms);
  return at->second;
}

void ProvisionedUnits::take(const Key& key, double units, std::span<const Partition> partitions) {
  const auto found = units_.find(key);
  if (found != units_.end()) found->second.left -= units;
  const auto is_there = [&](const Partition& partition) {
    return partition.table == key.table && partition.index == key.index;
  };
  const auto count = static_cast<double>(std::ranges::count_if(partitions, is_there));
  for (const Partition& partition : partitions) {
    if (is_there(partition)) grow(partition, key.reads).left -= units / count;
  }
}

// A full partition is equivalent to one that was never used.
void ProvisionedUnits::forget_full_partitions() {
  const int64_t now_ms = clock_.unix_ms();
  if (now_ms - forgot_ms_ < kSecondMs) return;
  forgot_ms_ = now_ms;
  std::erase_if(partitions_, [&](const auto& entry) {
    Units units = entry.second;
    return units.grow(units.second, units.second, now_ms) >= units.second;
  });
}

}  // namespace stator::testmode
