// SPDX-License-Identifier: Apache-2.0
// Reading one page of a Query or Scan.
#pragma once

#include "api/model/responses.h"
#include "engine/query/range_plan.h"

namespace stator {

inline constexpr std::size_t kPageBytesMax = 1UL << 20;

// One state of the store, one page: ends at the limit, at 1 MB of items examined, or with the
// range. What was asked for as capacity is reported.
Result<PageResponse> read_page(TransactStore& store, const RangePlan& plan,
                               ReturnConsumedCapacity return_capacity);

}  // namespace stator
