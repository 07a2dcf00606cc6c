// SPDX-License-Identifier: Apache-2.0
// Reading one page of a Query or Scan.
#pragma once

#include "api/model/responses.h"
#include "engine/core/engine_core.h"
#include "engine/query/range_plan.h"

namespace stator {

inline constexpr std::size_t kPageBytesMax = 1UL << 20;

// One state of the store, one page: ends at the limit, at 1 MB of items examined, or with the
// range. What was asked for as capacity is reported. kBehind: see read_tables().
Result<PageResponse> read_page(const EngineCore& engine, const RangePlan& plan,
                               ReturnConsumedCapacity return_capacity);

}  // namespace stator
