// SPDX-License-Identifier: Apache-2.0
// DescribeLimits, DescribeEndpoints.
#include "engine/admin/support.h"

namespace stator::admin {
namespace {

Result<Item> describe_limits(JobEngine&, const Item&) {
  constexpr int64_t kAccountUnits = 80'000;
  constexpr int64_t kTableUnits = 40'000;
  return Item{{"AccountMaxReadCapacityUnits", kAccountUnits},
              {"AccountMaxWriteCapacityUnits", kAccountUnits},
              {"TableMaxReadCapacityUnits", kTableUnits},
              {"TableMaxWriteCapacityUnits", kTableUnits}};
}

Result<Item> describe_endpoints(JobEngine& engine, const Item&) {
  constexpr int64_t kDayMinutes = 24L * 60;
  return Item{
      {"Endpoints", List{Item{{"Address", "dynamodb." + engine.options.region + ".amazonaws.com"},
                              {"CachePeriodInMinutes", kDayMinutes}}}}};
}

}  // namespace

const Operation kDescribeLimits{shapes::kNothing, describe_limits};
const Operation kDescribeEndpoints{shapes::kNothing, describe_endpoints};

}  // namespace stator::admin
