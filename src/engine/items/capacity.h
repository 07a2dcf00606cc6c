// SPDX-License-Identifier: Apache-2.0
// Capacity units, as DynamoDB bills them.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/catalog/table.h"
#include "stator/client.h"

namespace stator {

// Strongly consistent units; an eventually consistent read costs half, a transactional one twice.
double read_units(std::size_t bytes);   // 4 KB each, at least one
double write_units(std::size_t bytes);  // 1 KB each, at least one

// Adds up the capacity that one request consumes.
class CapacityMeter {
 public:
  // Transactions report read and write units separately.
  enum class Report { kTotalOnly, kRead, kWrite };

  explicit CapacityMeter(ReturnConsumedCapacity wanted, Report report = Report::kTotalOnly)
      : wanted_(wanted), report_(report) {}

  // Whether the request asks for its capacity. If not, sizes are not needed.
  bool wanted() const { return wanted_ != ReturnConsumedCapacity::kNone; }

  void add(const Table& table, double units);
  void add(const Table& table, const Index& index, double units);
  void add(const Table& table, const VectorIndex& index, double bytes);  // written

  // One entry per table, in the order of their names.
  std::vector<ConsumedCapacity> all() const;
  // The entry of a request on one table; absent if the request does not ask for it.
  std::optional<ConsumedCapacity> one() const;

 private:
  ConsumedCapacity& entry(const Table& table);
  Capacity& grow(Capacity& capacity, double units) const;

  ReturnConsumedCapacity wanted_;
  Report report_;
  std::map<std::string, ConsumedCapacity, std::less<>> tables_;
};

}  // namespace stator
