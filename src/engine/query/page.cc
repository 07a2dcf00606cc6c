// SPDX-License-Identifier: Apache-2.0
#include "engine/query/page.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "engine/core/current_tables.h"
#include "engine/core/read_lag.h"
#include "engine/items/capacity.h"
#include "engine/rows/stored_key.h"
#include "storage/read_rows.h"

namespace stator {
namespace {

constexpr std::size_t kFetchRows = 32;

Item key_of(const RangePlan& plan, ItemView item) {
  const KeyShape& shape = plan.shape();
  const KeyShape& table = plan.table->key();
  return decode_item(ItemView(stored_key(item, shape.hash, shape.range, table.hash, table.range)));
}

}  // namespace

template <class R>
void PageRead<R>::read(EngineCore& engine, ReadDone done) {
  ranges_.reserve(1 + plan_.more.size());
  for (std::size_t part = 0; part <= plan_.more.size(); ++part) ranges_.push_back(take_range(part));
  const ReadRequest rows{.ranges = ranges_, .one_state = true, .start_over = *this};
  const auto older = [&](ReadView& view) {
    return plan_.fetches_items ? (*this)(view) : read_rows(view, rows, *this);
  };
  const bool is_global = plan_.index != nullptr && !plan_.index->local;
  const auto of = is_global ? ReadLag::Of::kGlobalIndex : ReadLag::Of::kTable;
  if (!plan_.consistent && read_older(engine, *plan_.table, of, older, done)) return;
  if (plan_.fetches_items) {
    view_table(engine, *plan_.table, *this, std::move(done));
  } else {
    read_tables(engine, std::span(&plan_.table, 1), rows, *this, std::move(done));
  }
}

template <class R>
R PageRead<R>::finish(ReturnConsumedCapacity return_capacity) {
  CapacityMeter meter(return_capacity);
  const double share = plan_.consistent ? 1 : 0.5;
  const double units = read_units(examined_bytes_) * share;
  if (plan_.index) {
    meter.add(*plan_.table, *plan_.index, units);
    if (fetch_units_ > 0) meter.add(*plan_.table, fetch_units_ * share);
  } else {
    meter.add(*plan_.table, units);
  }
  response_.capacity = meter.one();
  return std::move(response_);
}

template <class R>
bool PageRead<R>::operator()(std::size_t part, std::string_view, std::string_view value) {
  const ItemView item(value);
  const auto bytes = size_in_partition(item, hash(part));
  if (!bytes) return true;  // of another partition key with the same hash
  const bool last = count(*bytes);
  take(item);
  if (last) response_.last_evaluated_key = key_of(plan_, item);
  return !last;
}

template <class R>
Result<void> PageRead<R>::operator()(ReadView& view) {
  for (std::size_t part = 0; part < ranges_.size(); ++part) {
    STATOR_RETURN_IF_ERROR(read_fetching(view, part));
    if (response_.last_evaluated_key) break;
  }
  return {};
}

template <class R>
void PageRead<R>::operator()() {
  response_ = {};
  if constexpr (std::is_same_v<R, PageResponse>) response_.items_wanted = !plan_.count_only;
  examined_bytes_ = 0;
}

template <class R>
const Item& PageRead<R>::hash(std::size_t part) const {
  return part == 0 ? plan_.hash : plan_.more[part - 1].hash;
}

template <class R>
RangeRead PageRead<R>::take_range(std::size_t part) {
  return {.range = std::move(part == 0 ? plan_.range : plan_.more[part - 1].range),
          .direction = plan_.direction,
          .expected_rows = plan_.limit.value_or(0)};
}

// The number of rows after which the page ends at the latest.
template <class R>
std::size_t PageRead<R>::rows_left() const {
  return plan_.limit ? *plan_.limit - static_cast<std::size_t>(response_.scanned_count) : SIZE_MAX;
}

// The number of items of usual size that a page has room for; at least 1.
template <class R>
std::size_t PageRead<R>::items_that_fit() const {
  const auto [items, bytes] = plan_.table->counters(0).totals();
  if (items <= 0 || bytes <= 0) return kPageBytesMax;
  return std::max<std::size_t>(1, kPageBytesMax / static_cast<std::size_t>(bytes / items + 1));
}

// Counts a row. Returns true if the page ends with it.
template <class R>
bool PageRead<R>::count(std::size_t row_bytes) {
  ++response_.scanned_count;
  examined_bytes_ += row_bytes;
  return rows_left() == 0 || examined_bytes_ + fetched_bytes_ >= kPageBytesMax;
}

template <class R>
void PageRead<R>::take(ItemView item) {
  if (plan_.filter && !plan_.filter->matches(item)) return;
  ++response_.count;
  if (plan_.count_only) return;
  if (plan_.projection) {
    add_item(response_.items, ItemView(plan_.projection->apply(item)));
  } else {
    add_item(response_.items, item);
  }
}

template <class R>
Result<void> PageRead<R>::read_fetching(ReadView& view, std::size_t part) {
  RangeRead& rest = ranges_[part];
  bool more = true;
  while (more) {
    const std::size_t wanted = std::min({kFetchRows, rows_left(), items_that_fit()});
    std::vector<EncodedItem> entries;
    std::string row;
    STATOR_RETURN_IF_ERROR(view.scan(rest, [&](std::string_view key, std::string_view value) {
      row = key;
      if (size_in_partition(ItemView(value), hash(part))) entries.emplace_back(value);
      return entries.size() < wanted;
    }));
    more = entries.size() == wanted;
    STATOR_RETURN_IF_ERROR(fetch(view, entries));
    if (response_.last_evaluated_key) return {};
    if (plan_.direction == Direction::kForward) {
      rest.range.begin = row + '\0';
    } else {
      rest.range.end = row;
    }
  }
  return {};
}

// DynamoDB reads the whole item. The read units of each item are rounded up separately.
template <class R>
Result<void> PageRead<R>::fetch(ReadView& view, std::span<const EncodedItem> entries) {
  const Table& table = *plan_.table;
  std::vector<std::string> keys;
  keys.reserve(entries.size());
  for (const EncodedItem& entry : entries) {
    keys.push_back(item_row_key(table.secret(), table.key(), ItemView(entry)));
  }
  return view.get_many(keys, [&](std::size_t i, std::string_view, std::string_view value) {
    const ItemView item(value);
    const std::size_t bytes = item_size_bytes(item);
    fetched_bytes_ += bytes;
    fetch_units_ += read_units(bytes);
    take(item);
    const ItemView entry(entries[i]);
    if (!count(item_size_bytes(entry))) return true;
    response_.last_evaluated_key = key_of(plan_, entry);
    return false;
  });
}

template class PageRead<PageResponse>;
template class PageRead<PageResult>;

}  // namespace stator
