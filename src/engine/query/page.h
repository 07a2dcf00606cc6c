// SPDX-License-Identifier: Apache-2.0
// PageRead: one page of a Query or Scan, from one state of the store.
//
// Rows are examined where they are, in the visitor of one read. Only a plan that needs whole items
// for the entries of a local index reads several times, in a view. It gathers entries first, a few
// at a time: a visitor must not use its view, and 1 MB of entries can stand for gigabytes of items.
#pragma once

#include <string_view>
#include <vector>

#include "api/model/responses.h"
#include "engine/core/engine_core.h"
#include "engine/query/range_plan.h"

namespace stator {

inline constexpr std::size_t kPageBytesMax = 1UL << 20;

// A page ends at the limit, at 1 MB of items examined, or with the range.
class PageRead {
 public:
  explicit PageRead(RangePlan plan) : plan_(std::move(plan)) {
    response_.items_wanted = !plan_.count_only;
  }

  // Must live, in its place, until `done` has run. Once. kBehind: see read_tables().
  void read(EngineCore& engine, ReadDone done);
  // The page, with the consumed capacity if it is wanted. After a successful read.
  PageResponse finish(ReturnConsumedCapacity return_capacity);

  // For read(): a row of a range, and several reads in a view.
  bool operator()(std::size_t part, std::string_view key, std::string_view value);
  Result<void> operator()(ReadView& view);

 private:
  bool belongs(ItemView item, std::size_t part) const;
  RangeRead take_range(std::size_t part);
  bool count(ItemView row);
  void take(ItemView item);
  Result<void> read_fetching(ReadView& view, std::size_t part);
  Result<bool> fetch(ReadView& view, ItemView entry);

  RangePlan plan_;
  std::vector<RangeRead> ranges_;
  PageResponse response_;
  std::size_t examined_bytes_ = 0;
  std::size_t fetched_bytes_ = 0;
  double fetch_units_ = 0;
};

}  // namespace stator
