// SPDX-License-Identifier: Apache-2.0
#include "engine/items/index_maintenance.h"

#include <algorithm>

#include "engine/items/capacity.h"

namespace stator {
namespace {

constexpr std::size_t kVectorWriteBytesMin = 1024;

struct Entry {
  std::string key;
  std::string item;  // the entry's item, or the value of a VectorRow
};

// `known_tie_breaker` is computed for the first entry that needs it.
std::optional<Entry> entry_of(const Table& table, const Index& index,
                              const std::optional<ItemView>& item,
                              std::optional<Hash128>& known_tie_breaker) {
  if (!item) return std::nullopt;
  auto key = index_row_prefix(table.secret(), index.key, *item);
  if (!key) return std::nullopt;
  if (!known_tie_breaker) known_tie_breaker = tie_breaker(table.secret(), table.key(), *item);
  if (!known_tie_breaker) return std::nullopt;
  key->append(known_tie_breaker->begin(), known_tie_breaker->end());
  return Entry{.key = std::move(*key), .item = index.project(*item)};
}

std::optional<Entry> entry_of(const Table& table, const VectorIndex& index,
                              const std::optional<ItemView>& item) {
  if (!item) return std::nullopt;
  auto row = index.row(table.secret(), table.key(), *item);
  if (!row) return std::nullopt;
  return Entry{.key = std::move(row->key), .item = std::move(row->value)};
}

// The row contains only the attributes that a search compares. The others are read from the item.
bool has_changed(const VectorIndex& index, const Entry& old_entry, ItemView before,
                 const Entry& new_entry, ItemView after) {
  return old_entry.key != new_entry.key || old_entry.item != new_entry.item ||
         index.projected.of(before) != index.projected.of(after);
}

IndexChange change_of(std::size_t index, std::optional<Entry> old_entry,
                      std::optional<Entry> new_entry, std::size_t old_bytes,
                      std::size_t new_bytes) {
  IndexChange change{.index = index};
  change.items_delta = (new_entry ? 1 : 0) - (old_entry ? 1 : 0);
  change.bytes_delta = static_cast<int64_t>(new_bytes) - static_cast<int64_t>(old_bytes);
  change.entry_bytes = static_cast<int64_t>(new_bytes);
  if (old_entry && (!new_entry || old_entry->key != new_entry->key)) {
    change.erased_key = std::move(old_entry->key);
  }
  if (new_entry) {
    change.put_key = std::move(new_entry->key);
    change.entry = std::move(new_entry->item);
  }
  return change;
}

}  // namespace

std::vector<IndexChange> index_changes(const Table& table, const std::optional<ItemView>& before,
                                       const std::optional<ItemView>& after) {
  std::vector<IndexChange> changes;
  std::optional<Hash128> shared_tie_breaker;  // both versions of the item have the same key
  for (std::size_t i = 0; i < table.indexes().size(); ++i) {
    const Index& index = table.indexes()[i];
    std::optional<Entry> old_entry = entry_of(table, index, before, shared_tie_breaker);
    std::optional<Entry> new_entry = entry_of(table, index, after, shared_tie_breaker);
    if (!old_entry && !new_entry) continue;
    if (old_entry && new_entry && old_entry->item == new_entry->item) continue;

    const std::size_t old_bytes = old_entry ? item_size_bytes(ItemView(old_entry->item)) : 0;
    const std::size_t new_bytes = new_entry ? item_size_bytes(ItemView(new_entry->item)) : 0;
    const bool stays = old_entry && new_entry && old_entry->key == new_entry->key;
    changes.push_back(
        change_of(i, std::move(old_entry), std::move(new_entry), old_bytes, new_bytes));
    IndexChange& change = changes.back();
    if (stays) {
      change.write_units = write_units(std::max(old_bytes, new_bytes));
    } else {
      if (change.items_delta <= 0) change.write_units += write_units(old_bytes);
      if (change.items_delta >= 0) change.write_units += write_units(new_bytes);
    }
  }
  for (std::size_t i = 0; i < table.vector_indexes().size(); ++i) {
    const VectorIndex& index = table.vector_indexes()[i];
    std::optional<Entry> old_entry = entry_of(table, index, before);
    std::optional<Entry> new_entry = entry_of(table, index, after);
    if (!old_entry && !new_entry) continue;
    if (old_entry && new_entry && !has_changed(index, *old_entry, *before, *new_entry, *after)) {
      continue;
    }
    const std::size_t old_bytes = old_entry ? vector_entry_bytes(old_entry->item) : 0;
    const std::size_t new_bytes = new_entry ? vector_entry_bytes(new_entry->item) : 0;
    const std::size_t billed = new_entry ? new_bytes : old_bytes;
    changes.push_back(change_of(table.indexes().size() + i, std::move(old_entry),
                                std::move(new_entry), old_bytes, new_bytes));
    changes.back().vector_bytes = static_cast<double>(std::max(billed, kVectorWriteBytesMin));
  }
  return changes;
}

void apply_index_changes(std::vector<IndexChange>& changes, Batch& batch) {
  for (IndexChange& change : changes) {
    if (change.erased_key) batch.erase(std::move(*change.erased_key));
    if (change.put_key) batch.put(std::move(*change.put_key), std::move(change.entry));
  }
}

}  // namespace stator
