// SPDX-License-Identifier: Apache-2.0
#include "testmode/provisioned_units.h"

#include <algorithm>
#include <utility>

namespace stator::testmode {
namespace {

constexpr std::size_t kKnownMax = 100'000;  // of tables that come and go

int64_t of(const Throughput& throughput, bool reads) {
  return reads ? throughput.read : throughput.write;
}

}  // namespace

std::optional<ProvisionedUnits::Left> ProvisionedUnits::left(const TableDefinition& table,
                                                             std::string_view index, bool reads) {
  const CreateTableRequest& settings = table.settings;
  if (!settings.throughput || settings.billing_mode == BillingMode::kPayPerRequest) return {};
  const std::lock_guard lock(mutex_);
  if (units_.size() > kKnownMax) units_.clear();
  const auto units_of = [&](const std::string& name, const Throughput& throughput) {
    // Both kinds, as a write can use units for reads.
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

void ProvisionedUnits::use(const ConsumedCapacity& used, bool reads) {
  const std::lock_guard lock(mutex_);
  double of_table = used.total.units;  // with the local indexes
  for (const auto& [index, capacity] : used.global_indexes) {
    of_table -= capacity.units;
    take({used.table, index, reads}, capacity.units);
  }
  take({used.table, "", reads}, of_table);
}

double ProvisionedUnits::grow(Key key, const std::string& table_id, int64_t second) {
  const auto capacity = static_cast<double>(second);
  const int64_t now_ms = clock_.unix_ms();
  Units& units = units_[std::move(key)];
  if (units.table_id != table_id) {
    units = {.table_id = table_id, .left = capacity, .second = capacity, .at_ms = now_ms};
  }
  const auto passed_ms = static_cast<double>(std::max<int64_t>(0, now_ms - units.at_ms));
  units.left = std::min(units.left + units.second * passed_ms / 1000,
                        capacity * static_cast<double>(burst_s_));
  units.second = capacity;
  units.at_ms = now_ms;
  return units.left;
}

void ProvisionedUnits::take(const Key& key, double units) {
  const auto found = units_.find(key);
  if (found != units_.end()) found->second.left -= units;
}

}  // namespace stator::testmode
