// SPDX-License-Identifier: Apache-2.0
// PageRead: reads one page of a Query or Scan from one snapshot.
//
// Rows are examined in place, in the visitor of one read. Only a plan that needs whole items for
// the entries of a local index reads several times, in a view. It collects a few entries at a time,
// then reads their items: a visitor must not use its view, and 1 MB of entries can refer to
// gigabytes of items.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "api/model/responses.h"
#include "engine/core/engine_core.h"
#include "engine/query/range_plan.h"

namespace stator {

inline constexpr std::size_t kPageBytesMax = 1UL << 20;

// A page ends at the limit, after 1 MB of examined items, or at the end of the range.
// `R`: PageResponse or PageResult.
template <class R>
class PageRead {
 public:
  explicit PageRead(RangePlan plan) : plan_(std::move(plan)) { (*this)(); }

  // Reads the page; call it once. This object must not move or be destroyed before `done` has run.
  // Errors: those of read_tables().
  void read(EngineCore& engine, ReadDone done);
  // Returns the page, with its capacity if requested. Call it after a successful read.
  R finish(ReturnConsumedCapacity return_capacity);

  // Called by read(): for a row of a range, with a view for several reads, and to start over.
  bool operator()(std::size_t part, std::string_view key, std::string_view value);
  Result<void> operator()(ReadView& view);
  void operator()();

 private:
  const Item& hash(std::size_t part) const;
  RangeRead take_range(std::size_t part);
  std::size_t rows_left() const;
  std::size_t items_that_fit() const;
  bool count(std::size_t row_bytes);
  void take(ItemView item);
  Result<void> read_fetching(ReadView& view, std::size_t part);
  Result<void> fetch(ReadView& view, std::span<const EncodedItem> entries);

  RangePlan plan_;
  std::vector<RangeRead> ranges_;
  R response_;
  std::size_t examined_bytes_ = 0;
  std::size_t fetched_bytes_ = 0;
  double fetch_units_ = 0;
};

}  // namespace stator
