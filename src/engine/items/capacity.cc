// SPDX-License-Identifier: Apache-2.0
#include "engine/items/capacity.h"

#include <algorithm>

namespace stator {
namespace {

double units_of(std::size_t bytes, std::size_t unit_bytes) {
  return static_cast<double>(std::max<std::size_t>(1, (bytes + unit_bytes - 1) / unit_bytes));
}

}  // namespace

double read_units(std::size_t bytes) {
  return units_of(bytes, 4096);
}
double write_units(std::size_t bytes) {
  return units_of(bytes, 1024);
}

Capacity& CapacityMeter::grow(Capacity& capacity, double units) const {
  capacity.units += units;
  if (report_ == Report::kRead) capacity.read = capacity.units;
  if (report_ == Report::kWrite) capacity.write = capacity.units;
  return capacity;
}

ConsumedCapacity& CapacityMeter::entry(const Table& table) {
  ConsumedCapacity& capacity = tables_[table.name()];
  capacity.table = table.name();
  // The table's part is reported even if only an index was used.
  if (wanted_ == ReturnConsumedCapacity::kIndexes && !capacity.table_part) {
    grow(capacity.table_part.emplace(), 0);
  }
  return capacity;
}

void CapacityMeter::add(const Table& table, double units) {
  if (!wanted()) return;
  ConsumedCapacity& capacity = entry(table);
  grow(capacity.total, units);
  if (capacity.table_part) grow(*capacity.table_part, units);
}

void CapacityMeter::add(const Table& table, const Index& index, double units) {
  if (!wanted()) return;
  ConsumedCapacity& capacity = entry(table);
  grow(capacity.total, units);
  if (wanted_ != ReturnConsumedCapacity::kIndexes) return;
  auto& parts = index.local ? capacity.local_indexes : capacity.global_indexes;
  grow(parts[index.definition.name], units);
}

void CapacityMeter::add(const Table& table, const VectorIndex& index, double bytes) {
  if (wanted_ != ReturnConsumedCapacity::kIndexes) return;
  auto& written = entry(table).vector_indexes[index.definition.name].write_bytes;
  written = written.value_or(0) + bytes;
}

std::vector<ConsumedCapacity> CapacityMeter::all() const {
  std::vector<ConsumedCapacity> all;
  all.reserve(tables_.size());
  for (const auto& [name, capacity] : tables_) all.push_back(capacity);
  return all;
}

std::optional<ConsumedCapacity> CapacityMeter::one() const {
  if (tables_.empty()) return std::nullopt;
  return tables_.begin()->second;
}

}  // namespace stator
