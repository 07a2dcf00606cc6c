// SPDX-License-Identifier: Apache-2.0
// Rows are examined where they are, in the visitor. Only a plan that needs whole items for the
// entries of a local index gathers entries first, a few at a time, as a view is not to be read from
// within its own scan, and as 1 MB of entries may stand for gigabytes of items.
#include "engine/query/page.h"

#include <utility>

#include "engine/items/capacity.h"
#include "engine/rows/stored_key.h"

namespace stator {
namespace {

constexpr std::size_t kFetchRows = 32;

Item key_of(const RangePlan& plan, ItemView item) {
  Item key;
  add_key(plan.shape(), item, key);
  add_key(plan.table->key(), item, key);
  return key;
}

class Page {
 public:
  Page(ReadView& view, const RangePlan& plan) : view_(view), plan_(plan) {
    response_.items_wanted = !plan.count_only;
  }

  Result<void> read() {
    STATOR_RETURN_IF_ERROR(read_part(plan_.range, plan_.hash));
    for (const RangePlan::Part& part : plan_.more) {
      if (response_.last_evaluated_key) break;
      STATOR_RETURN_IF_ERROR(read_part(part.range, part.hash));
    }
    return {};
  }

  PageResponse finish(ReturnConsumedCapacity return_capacity) && {
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

 private:
  Result<void> read_part(const KeyRange& range, const Item& hash) {
    if (!range.end.empty() && range.begin >= range.end) return {};
    range_ = &range;
    hash_ = &hash;
    return plan_.fetches_items ? read_fetching() : read_in_place();
  }

  // Rows of another partition key with the same hash do not count.
  bool belongs(ItemView item) const {
    return hash_->empty() || has_partition(item, plan_.shape(), *hash_);
  }

  ScanOptions scan_options() const {
    return {
        .range = *range_, .direction = plan_.direction, .expected_rows = plan_.limit.value_or(0)};
  }

  // Counts a row; true where the page ends with it.
  bool count(ItemView row) {
    ++response_.scanned_count;
    examined_bytes_ += item_size_bytes(row);
    return (plan_.limit && static_cast<std::size_t>(response_.scanned_count) >= *plan_.limit) ||
           examined_bytes_ + fetched_bytes_ >= kPageBytesMax;
  }

  void take(ItemView item) {
    if (plan_.filter && !plan_.filter->matches(item)) return;
    ++response_.count;
    if (plan_.count_only) return;
    if (plan_.projection) {
      response_.items.append(plan_.projection->apply(item));
    } else {
      response_.items.append(item.bytes());
    }
  }

  Result<void> read_in_place() {
    return view_.scan(scan_options(), [&](std::string_view, std::string_view value) {
      const ItemView item(value);
      if (!belongs(item)) return true;
      const bool last = count(item);
      take(item);
      if (last) response_.last_evaluated_key = key_of(plan_, item);
      return !last;
    });
  }

  Result<void> read_fetching() {
    ScanOptions options = scan_options();
    bool more = true;
    while (more) {
      std::vector<EncodedItem> entries;
      std::string row;
      STATOR_RETURN_IF_ERROR(view_.scan(options, [&](std::string_view key, std::string_view value) {
        row = key;
        if (belongs(ItemView(value))) entries.emplace_back(value);
        return entries.size() < kFetchRows;
      }));
      more = entries.size() == kFetchRows;
      for (const EncodedItem& entry : entries) {
        STATOR_ASSIGN_OR_RETURN(const bool last, fetch(ItemView(entry)));
        if (last) {
          response_.last_evaluated_key = key_of(plan_, ItemView(entry));
          return {};
        }
      }
      if (plan_.direction == Direction::kForward) {
        options.range.begin = row + '\0';
      } else {
        options.range.end = row;
      }
    }
    return {};
  }

  // The service reads the whole item, each rounded up on its own.
  Result<bool> fetch(ItemView entry) {
    const Table& table = *plan_.table;
    STATOR_RETURN_IF_ERROR(
        view_.get(item_row_key(table.secret(), table.key(), entry), [&](std::string_view value) {
          const ItemView item(value);
          const std::size_t bytes = item_size_bytes(item);
          fetched_bytes_ += bytes;
          fetch_units_ += read_units(bytes);
          take(item);
        }));
    return count(entry);
  }

  ReadView& view_;
  const RangePlan& plan_;
  const KeyRange* range_ = nullptr;  // the part being read
  const Item* hash_ = nullptr;
  PageResponse response_;
  std::size_t examined_bytes_ = 0;
  std::size_t fetched_bytes_ = 0;
  double fetch_units_ = 0;
};

}  // namespace

Result<PageResponse> read_page(Store& store, const RangePlan& plan,
                               ReturnConsumedCapacity return_capacity) {
  STATOR_ASSIGN_OR_RETURN(const auto view, store.read_view());
  Page page(*view, plan);
  STATOR_RETURN_IF_ERROR(page.read());
  return std::move(page).finish(return_capacity);
}

}  // namespace stator
