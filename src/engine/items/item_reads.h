// SPDX-License-Identifier: Apache-2.0
// Reads items by key, for GetItem, batches and transactions.
#pragma once

#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/model/responses.h"
#include "engine/core/current_tables.h"
#include "engine/core/read_lag.h"
#include "engine/items/capacity.h"
#include "expression/expression.h"

namespace stator {

// `T`: EncodedItem or Item.
template <class T>
struct Found {
  std::optional<T> item;
  std::size_t bytes = 0;  // of the whole item if the size is requested; 0 if the item is absent
};
using FoundItem = Found<EncodedItem>;

// Takes the row `value` of the item with this key into `found`.
template <class T>
void show_row(std::string_view value, const Table& table, const Item& key,
              const std::optional<ProjectionExpression>& projection, bool wants_size,
              Found<T>& found) {
  const ItemView item(value);
  if (!has_partition(item, table.key(), key)) return;
  if (wants_size) found.bytes = item_size_bytes(item);
  if (!projection) {
    add_item(found.item, item);
  } else if constexpr (std::is_same_v<T, EncodedItem>) {
    found.item = projection->apply(item);
  } else {
    found.item = decode_item(ItemView(projection->apply(item)));
  }
}

// Reads items, each with its own projection, in one call of the store (in test mode, one per item).
class ItemReads {
 public:
  struct Part {
    const Table& table;
    const Item& key;
    std::optional<ProjectionExpression> projection;
    bool may_lag = false;
    FoundItem found = {};
  };

  // Adds an item. Borrows the table and the key, which must have been checked. `row_key` is
  // item_row_key() of both. `may_lag`: the read can use an older snapshot, unless all items are
  // read from one.
  void add(const Table& table, const Item& key, std::optional<ProjectionExpression> projection,
           std::string row_key, bool may_lag = false) {
    parts_.push_back(
        {.table = table, .key = key, .projection = std::move(projection), .may_lag = may_lag});
    row_keys_.push_back(std::move(row_key));
  }
  // Reads the items. This object must not move or be destroyed before `done` has run.
  void read(EngineCore& engine, bool one_state, ReadDone done) {
    if (!one_state && engine.lag != nullptr) return done(read_each(engine));
    const auto tables =
        parts_ | std::views::transform([](const Part& part) { return &part.table; });
    read_tables(engine, tables, {.keys = row_keys_, .one_state = one_state}, *this,
                std::move(done));
  }
  bool operator()(std::size_t part, std::string_view, std::string_view value) {
    Part& at = parts_[part];
    show_row(value, at.table, at.key, at.projection, true, at.found);
    return true;
  }
  std::vector<Part>& parts() { return parts_; }

 private:
  Result<void> read_each(EngineCore& engine) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const ReadRequest row{.keys = {&row_keys_[i], 1}};
      const auto visit = [&](std::size_t, std::string_view key, std::string_view value) {
        return (*this)(i, key, value);
      };
      STATOR_RETURN_IF_ERROR(read_with_lag(engine, parts_[i].table, parts_[i].may_lag, row, visit));
    }
    return {};
  }

  std::vector<Part> parts_;
  std::vector<std::string> row_keys_;  // in the order of the parts
};

// Returns the items of a transaction, including absent ones, and adds their capacity to `meter`.
// Errors: kValidation above 4 MB.
Result<std::vector<std::optional<EncodedItem>>> take_transaction(ItemReads& reads,
                                                                 CapacityMeter& meter);

}  // namespace stator
